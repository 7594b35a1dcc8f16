#include "plan/cutoff.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "base/text.h"
#include "sys/file.h"

namespace wheelsmith::plan {

namespace {

using Files = wheel::Interface::Files;

constexpr std::string_view k_memo_kind = "interface";
constexpr std::string_view k_memo_format = "1";  // increment when read_interface() gives another result
constexpr std::string_view k_step_input = "step:";

std::string names_digest(const Files& files) {
  std::string text;
  for (const auto& [name, digest] : files) text += name + '\0';
  return to_hex(sha256(Bytes(text)));
}

document::Value files_value(const Files& files) {
  std::vector<document::Member> members;
  for (const auto& [name, digest] : files) members.emplace_back(name, digest);
  return document::Table(std::move(members));
}

std::string required_text(const document::Value& value, std::string_view name) {
  const std::string* text = value[name].text();
  if (text == nullptr) throw Error(fmt::format("{} is {}, not a string", name, value[name].kind()));
  return *text;
}

Files read_files(const document::Value& value) {
  const document::Table* table = value.table();
  if (table == nullptr) throw Error(fmt::format("a list of files is {}, not a table", value.kind()));
  Files files;
  for (const auto& [name, value_of_file] : *table) {
    const std::string* digest = value_of_file.text();
    if (digest == nullptr) throw Error("the digest of a file is not a string");
    files.emplace(name, *digest);
  }
  return files;
}

// File names in a wheel may be any bytes, but a document contains only UTF-8.
bool is_plain_text(const Files& files) {
  return std::all_of(files.begin(), files.end(), [](const auto& file) { return is_valid_utf8(file.first); });
}

std::string files_difference(const Files& before, const Files& after) {
  for (const auto& [name, digest] : before) {
    const auto found = after.find(name);
    if (found == after.end()) return printable(name) + " was removed";
    if (found->second != digest) return printable(name) + " changed";
  }
  for (const auto& [name, digest] : after) {
    if (!before.contains(name)) return printable(name) + " is new";
  }
  return "";
}

// Equal except for the keys of the steps that they need.
bool differs_only_in_needs(const store::Manifest& before, const store::Manifest& after) {
  const std::vector<store::Change> changed = store::changes(before, after);
  return !changed.empty() && std::all_of(changed.begin(), changed.end(), [](const store::Change& change) {
    return change.kind == store::Change::Kind::changed && change.name.starts_with(k_step_input);
  });
}

std::vector<SeenWheel> seen_by(const store::StepRecord& record, const store::Store& store) {
  const auto text = store.seen(record.key);
  const auto value = text ? document::try_parse_json(*text) : std::nullopt;
  if (!value) return {};
  try {
    return read_seen(*value);
  } catch (const Error&) {  // written by another version: the step is built
    return {};
  }
}

// "" if nothing that the step saw has changed.
std::string compare_wheels(const std::vector<SeenWheel>& seen, const std::vector<EnvironmentWheel>& wheels,
                           store::Store& store, std::vector<std::string>& rebuilt) {
  if (seen.size() != wheels.size()) return "the packages in its environment changed";
  for (const EnvironmentWheel& wheel : wheels) {
    const auto before = std::find_if(seen.begin(), seen.end(),
                                     [&](const SeenWheel& one) { return one.wheel.project == wheel.project; });
    if (before == seen.end()) return fmt::format("{} is new in its environment", wheel.project);
    if (before->wheel.sha256 == wheel.sha256) continue;
    const auto now = stored_interface(wheel.sha256, store);
    if (!now) return fmt::format("{}: its wheel cannot be read", wheel.project);
    const std::string difference = seen_difference(*before, wheel.file_name, *now);
    if (!difference.empty()) return fmt::format("{}: {}", wheel.project, difference);
    rebuilt.push_back(wheel.project);
  }
  return "";
}

// "libfoo" of libfoo.so.1 and of auditwheel's libfoo-1a2b3c4d.so.1.
std::string library_stem(const std::string& name) {
  constexpr std::size_t k_hash_digits = 8;
  std::string stem = name.substr(0, name.find(".so"));
  const std::size_t dash = stem.rfind('-');
  if (dash != stem.npos && stem.size() - dash == k_hash_digits + 1 &&
      stem.find_first_not_of("0123456789abcdef", dash + 1) == stem.npos)
    stem.resize(dash);
  return stem;
}

}  // namespace

SeenWheel seen_wheel(const EnvironmentWheel& wheel, const wheel::Interface& interface,
                     const std::optional<std::set<std::string>>& headers_read) {
  SeenWheel seen{.wheel = wheel,
                 .all_headers = !headers_read,
                 .header_names = names_digest(interface.headers),
                 .headers = interface.headers,
                 .others = interface.others};
  if (headers_read) std::erase_if(seen.headers, [&](const auto& file) { return !headers_read->contains(file.second); });
  return seen;
}

document::Value seen_value(const std::vector<SeenWheel>& seen) {
  document::Array wheels;
  for (const SeenWheel& one : seen) {
    document::Table table;
    table["project"] = one.wheel.project;
    table["file_name"] = one.wheel.file_name;
    table["sha256"] = one.wheel.sha256;
    table["all_headers"] = one.all_headers;
    table["header_names"] = one.header_names;
    table["headers"] = files_value(one.headers);
    table["others"] = files_value(one.others);
    wheels.emplace_back(std::move(table));
  }
  document::Table table;
  table["schema"] = 1;
  table["wheels"] = std::move(wheels);
  return table;
}

std::vector<SeenWheel> read_seen(const document::Value& value) {
  if (value["schema"].integer_or(0) != 1) throw Error("its format is not supported (expected schema 1)");
  const document::Array* wheels = value["wheels"].array();
  if (wheels == nullptr) throw Error(fmt::format("\"wheels\" is {}, not a list", value["wheels"].kind()));
  std::vector<SeenWheel> seen;
  for (const document::Value& one : *wheels) {
    SeenWheel wheel;
    wheel.wheel = {required_text(one, "project"), required_text(one, "file_name"), required_text(one, "sha256")};
    wheel.all_headers = one["all_headers"].boolean_or(true);
    wheel.header_names = required_text(one, "header_names");
    wheel.headers = read_files(one["headers"]);
    wheel.others = read_files(one["others"]);
    seen.push_back(std::move(wheel));
  }
  return seen;
}

std::string seen_difference(const SeenWheel& seen, const std::string& file_name, const wheel::Interface& now) {
  if (seen.wheel.file_name != file_name) return fmt::format("its wheel is now {}", printable(file_name));
  // Which of them is new or missing is not known if the compiles read only some.
  if (seen.all_headers) {
    if (std::string difference = files_difference(seen.headers, now.headers); !difference.empty()) return difference;
  }
  if (seen.header_names != names_digest(now.headers)) return "a header was added or removed";
  for (const auto& [name, digest] : seen.headers) {
    const auto found = now.headers.find(name);
    if (found == now.headers.end() || found->second != digest) return printable(name) + " changed";
  }
  return files_difference(seen.others, now.others);
}

bool share_a_library(const wheel::Interface& one, const wheel::Interface& other) {
  const auto libraries = [](const wheel::Interface& interface) {
    std::set<std::string> names;
    for (const auto& [path, digest] : interface.others) {
      const std::string name(base_name(path));
      const bool module = name.find(".cpython-") != name.npos || name.ends_with(".abi3.so");
      if (!module && (name.ends_with(".so") || name.find(".so.") != name.npos)) names.insert(library_stem(name));
    }
    return names;
  };
  const std::set<std::string> ours = libraries(one), theirs = libraries(other);
  return std::any_of(ours.begin(), ours.end(), [&](const std::string& name) { return theirs.contains(name); });
}

std::optional<wheel::Interface> stored_interface(const std::string& sha256, store::Store& store) {
  if (const auto known = store.remembered(k_memo_kind, sha256, k_memo_format)) {
    if (const auto value = document::try_parse_json(*known)) {
      try {
        return wheel::Interface{read_files((*value)["headers"]), read_files((*value)["others"])};
      } catch (const Error&) {  // computed again
      }
    }
  }
  const auto blob = store.blob(sha256);
  if (!blob || !store.has_sha256(*blob, sha256)) return std::nullopt;
  try {
    wheel::Interface interface = wheel::read_interface(sys::map_file(*blob).bytes, usable_threads());
    if (!is_plain_text(interface.headers) || !is_plain_text(interface.others)) return std::nullopt;
    document::Table table;
    table["headers"] = files_value(interface.headers);
    table["others"] = files_value(interface.others);
    store.remember(k_memo_kind, sha256, k_memo_format, document::to_json(table, -1));
    return interface;
  } catch (const Error&) {  // its dependents are built
    return std::nullopt;
  }
}

CutOff find_kept(const BuildSpec& spec, const std::vector<EnvironmentWheel>& wheels, store::Store& store) {
  CutOff result;
  if (wheels.empty()) return result;
  std::vector<std::string> rebuilt;
  auto record = store.newest_step(spec.identity, [&](const store::StepRecord& one) {
    if (!differs_only_in_needs(one.manifest, spec.manifest)) return false;
    const std::vector<SeenWheel> seen = seen_by(one, store);
    if (seen.empty()) return false;
    rebuilt.clear();
    const std::string difference = compare_wheels(seen, wheels, store, rebuilt);
    if (result.why_not.empty()) result.why_not = difference;
    return difference.empty();
  });
  if (!record) return result;
  return {KeptStep{std::move(*record), std::move(rebuilt)}, ""};
}

bool may_be_kept(const BuildSpec& spec, const store::Store& store) {
  return store
      .newest_step(spec.identity,
                   [&](const store::StepRecord& one) {
                     return differs_only_in_needs(one.manifest, spec.manifest) && store.seen(one.key);
                   })
      .has_value();
}

std::string kept_reason(const std::string& package, const std::vector<std::string>& rebuilt) {
  // A need that was kept, too, has another key and the same wheel.
  if (rebuilt.empty()) return fmt::format("the wheels that it needs are unchanged: {} is kept", package);
  const bool one = rebuilt.size() == 1;
  return fmt::format("{} {} rebuilt, {} unchanged: {} is kept", join(rebuilt, ", "), one ? "was" : "were",
                     one ? "its ABI is" : "their ABIs are", package);
}

}  // namespace wheelsmith::plan
