#include "surgery/retag.h"

// Another name for the same files. The project's name and version stand in the file name, in METADATA and in the names
// of the .dist-info and .data folders; tags in the file name and in WHEEL; the build number in both. All of them change
// together, and RECORD follows.
//
// A tag is a promise about binaries, so it is checked against them before the wheel is written. That costs the time of
// unpacking them. Where the new tags promise no more than the old ones (another build number, manylinux_2_28 instead of
// manylinux_2_17), there is nothing to check, and retagging takes as long as copying. Python and ABI tags are checked
// against modules that name their interpreter in their suffix; only those are unpacked.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/request_error.h"
#include "base/text.h"
#include "pep/policy.h"
#include "pep/requirement.h"
#include "pep/version.h"
#include "surgery/draft.h"
#include "surgery/metadata_text.h"
#include "surgery/publish.h"
#include "wheel/check/claimed_platform.h"
#include "wheel/read/inspect.h"
#include "wheel/tags/true_tags.h"

namespace wheelsmith::surgery {

namespace {

std::string joined_tags(const std::set<std::string>& words) {
  return wheel::canonical_tag_set(join(std::vector<std::string>(words.begin(), words.end()), "."));
}

// "+x.y" and "-x" change the old set, anything else replaces it.
std::string changed_set(std::string_view option, const std::string& old, std::string_view asked) {
  try {
    std::set<std::string> words;
    const char mark = asked.empty() ? '\0' : asked.front();
    if (mark != '+' && mark != '-') return wheel::canonical_tag_set(asked);
    for (const std::string_view word : split(old, '.')) words.emplace(word);
    const std::string change = wheel::canonical_tag_set(asked.substr(1));
    for (const std::string_view word : split(change, '.')) {
      if (mark == '+')
        words.emplace(word);
      else if (words.erase(std::string(word)) == 0)
        throw Error(fmt::format("the wheel does not have the tag {}", word));
    }
    if (words.empty()) throw Error("no tag would remain");
    return joined_tags(words);
  } catch (const Error& error) {
    throw RequestError(fmt::format("{} {}: {}", option, printable(asked), error.what()));
  }
}

std::string new_version(const InputWheel& input, const RetagRequest& request) {
  const std::string old = input.distribution().version();
  if (!request.version && !request.local_version) return old;
  std::string text = request.version.value_or(old);
  if (request.local_version) {
    text = text.substr(0, text.find('+'));
    if (!request.local_version->empty()) text += "+" + *request.local_version;
  }
  const auto version = pep::Version::try_parse(text);
  if (!version || (request.local_version && request.local_version->find('+') != std::string::npos))
    throw RequestError(fmt::format("{} is not a valid version (PEP 440)", printable(text)));
  return version->to_string();
}

bool is_valid_project_name(std::string_view name) {
  const auto is_alphanumeric = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !name.empty() && is_alphanumeric(name.front()) && is_alphanumeric(name.back()) &&
         std::ranges::all_of(name, [&](char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

// "demo[gui]; extra == 'all'" in demo's own METADATA: extras that are made of other extras. They name the project.
std::string renamed_requirement(std::string_view requirement, std::string_view name) {
  const std::size_t end = std::min(requirement.find_first_of(" \t[(<>=!~;@"), requirement.size());
  return std::string(name) + std::string(requirement.substr(end));
}

void change_project(Draft& draft, const RetagRequest& request) {
  if (!request.name && !request.version && !request.local_version) return;
  const InputWheel& input = draft.input();
  const std::string old_name = input.distribution().name();
  if (request.name && !is_valid_project_name(*request.name))
    throw RequestError(fmt::format("{} is not a valid project name", printable(*request.name)));
  const std::string version = new_version(input, request);
  draft.set_project(request.name ? pep::escaped_name(*request.name) : draft.name().name, version);
  std::string text = edit_metadata_text(
      input.metadata_text(), [&](std::string_view field, std::string_view value) -> std::optional<std::string> {
        if (field == "name" && request.name) return *request.name;
        if (field == "version") return version;
        if (field == "requires-dist" && request.name) {
          const auto requirement = pep::Requirement::try_parse(value);
          if (requirement && pep::same_name(requirement->name, old_name))
            return renamed_requirement(value, *request.name);
        }
        return std::nullopt;
      });
  draft.put_text(draft.in_dist_info("METADATA"), std::move(text));
  if (request.name)
    draft.note(
        fmt::format("code that asks importlib.metadata for \"{}\" does not find \"{}\"", old_name, *request.name));
}

void change_build(Draft& draft, const RetagRequest& request) {
  if (!request.build) return;
  const std::string& build = *request.build;
  const bool valid =
      build.empty() || (build.front() >= '0' && build.front() <= '9' && std::ranges::all_of(build, [](char c) {
                          return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                                 c == '_' || c == '.';
                        }));
  if (!valid)
    throw RequestError(
        fmt::format("--build {}: a build number begins with a digit, and has letters, digits, '_' and "
                    "'.' after it",
                    printable(build)));
  draft.name().build = build;
}

// The tags that the binaries qualify for: "cp311" is asked of the old name where binaries leave it open.
void set_automatic_tags(Draft& draft, const wheel::Inspection& inspection, const RetagRequest& request) {
  const pep::WheelName& old = draft.input().name();
  std::string building;
  for (const std::string_view abi : split(old.abi, '.')) {
    if (abi.starts_with("cp") || abi.starts_with("pypy")) building = abi;
  }
  if (building.empty()) building = std::string(split(old.python, '.').front());
  const wheel::TrueTags tags = wheel::true_tags(inspection.elf, building, old);
  if (!request.python_tag) draft.name().python = wheel::canonical_tag_set(tags.python);
  if (!request.abi_tag) draft.name().abi = wheel::canonical_tag_set(tags.abi);
  draft.note(fmt::format("{}-{}: {}", tags.python, tags.abi, tags.why));
  if (request.platform_tag) return;
  if (tags.pure) {
    // Without binaries a platform in the name may still mean something: data or programs of another kind.
    if (old.platform != "any")
      draft.note(fmt::format("the platform stays {}: there are no binaries to judge it by", old.platform));
    return;
  }
  const auto& qualified = inspection.platform_beside_others;
  if (!qualified) return;
  std::set<std::string> platforms = {qualified->tag};
  const std::string machine = qualified->tag.substr(std::min(qualified->tag.size(), [&] {
    const auto policy = wheel::policy_named(qualified->tag, {});
    return policy ? policy->name.size() + 1 : qualified->tag.size();
  }()));
  if (const auto policy = wheel::policy_named(qualified->tag, {})) {
    for (const std::string& alias : policy->aliases) platforms.insert(alias + "_" + machine);
  }
  draft.name().platform = joined_tags(platforms);
  for (std::size_t i = 0; i < qualified->obstacles.size() && i < 3; ++i)
    draft.note(fmt::format("not {}: {} {}", qualified->obstacles[i].policy, qualified->obstacles[i].subject,
                           qualified->obstacles[i].what));
}

// "x.cpython-311-x86_64-linux-gnu.so", "x.abi3.so", "x.pypy310-pp73-….so".
bool names_its_python(std::string_view path) {
  const std::string_view name = base_name(path);
  const std::size_t dot = name.find('.');
  if (dot == name.npos || !name.ends_with(".so")) return false;
  const std::string_view suffix = name.substr(dot + 1);
  return suffix.starts_with("cpython-") || suffix.starts_with("pypy") || suffix.find("abi3.so") != suffix.npos;
}

document::Table shown_options(const RetagRequest& request) {
  document::Table options;
  const auto add = [&](const char* key, const std::optional<std::string>& value) {
    if (value) options[key] = *value;
  };
  add("python_tag", request.python_tag);
  add("abi_tag", request.abi_tag);
  add("platform_tag", request.platform_tag);
  add("build", request.build);
  add("version", request.version);
  add("local_version", request.local_version);
  add("name", request.name);
  if (request.automatic) options["auto"] = true;
  return options;
}

}  // namespace

bool promises_no_more(const std::string& old_platforms, const std::string& new_platforms) {
  const std::vector<std::string_view> old_tags = split(old_platforms, '.');
  const std::vector<std::string_view> new_tags = split(new_platforms, '.');
  return std::ranges::all_of(new_tags, [&](std::string_view tag) {
    if (std::ranges::find(old_tags, tag) != old_tags.end()) return true;
    const auto policy = wheel::policy_named(std::string(tag), {});
    if (!policy) return false;
    return std::ranges::any_of(old_tags, [&](std::string_view old_tag) {
      const auto old_policy = wheel::policy_named(std::string(old_tag), {});
      // The same words around the version: one libc, one machine.
      const auto rest = [](std::string_view word, const pep::Policy& one) {
        for (const std::string& name : one.aliases) {
          if (word.starts_with(name + "_")) return word.substr(name.size());
        }
        return word.substr(std::min(word.size(), one.name.size()));
      };
      if (!old_policy || rest(tag, *policy) != rest(old_tag, *old_policy)) return false;
      if (policy->is_linux()) return true;
      const bool one_libc =
          policy->name.substr(0, policy->name.find('_')) == old_policy->name.substr(0, old_policy->name.find('_'));
      return one_libc && !old_policy->is_linux() && old_policy->priority >= policy->priority;
    });
  });
}

void retag(InputWheel& input, const RetagRequest& request, const WriteOptions& options, Item& item) {
  input.start_hash();
  Draft draft(input, "retag");
  draft.details()["options"] = shown_options(request);
  const pep::WheelName& old = input.name();
  wheel::Scan scan;
  KnownBinaries known;
  if (request.automatic) {
    wheel::InspectOptions inspect;
    inspect.threads = options.threads;
    const wheel::Inspection inspection = wheel::inspect_file(input.path(), input.bytes(), inspect);
    set_automatic_tags(draft, inspection, request);
  }
  if (request.python_tag) draft.name().python = changed_set("--python-tag", old.python, *request.python_tag);
  if (request.abi_tag) draft.name().abi = changed_set("--abi-tag", old.abi, *request.abi_tag);
  if (request.platform_tag) draft.name().platform = changed_set("--platform-tag", old.platform, *request.platform_tag);
  change_build(draft, request);
  change_project(draft, request);
  const pep::WheelName& made = draft.name();
  if (!promises_no_more(old.platform, made.platform)) {
    scan = wheel::scan(input.tree(), {.threads = options.threads, .exported = true, .layout = true});
    known = {&scan, true};
  } else if (made.python != old.python || made.abi != old.abi) {
    wheel::ScanOptions modules{.threads = options.threads};
    modules.skip = [](const std::string& name) { return !names_its_python(name); };
    scan = wheel::scan(input.tree(), modules);
    known = {&scan, false};
  }
  publish(draft, known, options, item);
}

}  // namespace wheelsmith::surgery
