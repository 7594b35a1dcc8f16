#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/hash.h"
#include "base/text.h"
#include "cache/texts.h"
#include "governor/model/oom_signs.h"
#include "governor/model/unit.h"
#include "governor/model/unit_words.h"
#include "governor/shim/grant.h"
#include "governor/shim/part_cache.h"
#include "governor/shim/part_task.h"
#include "governor/shim/shim.h"
#include "governor/shim/shim_child.h"
#include "sys/process/process.h"

namespace wheelsmith::governor {

namespace {

constexpr unsigned k_most_part_tries = 3;
constexpr unsigned k_most_part_set_backs = 3;

Kind kind_of_part(PartKind kind) {
  switch (kind) {
    case PartKind::preprocess: return Kind::preprocess;
    case PartKind::front: return Kind::front;
    case PartKind::device: return Kind::device;
    case PartKind::assemble: return Kind::assemble;
    case PartKind::bundle: return Kind::bundle;
    case PartKind::host:
    case PartKind::dependencies: break;
  }
  return Kind::host;
}

std::uint64_t size_of(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0;
}

// As a shell would find it.
std::string program_of(const std::string& name, const std::vector<std::string>& environment) {
  if (name.find('/') != name.npos) return name;
  for (const std::string& entry : environment) {
    if (entry.starts_with("PATH=")) return sys::find_program(name, std::string_view(entry).substr(5)).string();
  }
  return "";
}

}  // namespace

std::string PartResult::to_bytes() const {
  return cache::TextWriter()
      .add_number(static_cast<std::uint64_t>(code))
      .add_number(static_cast<std::uint64_t>(signal))
      .add(output)
      .add(errors)
      .add(enum_name(cache))
      .add_number(ungoverned ? 1 : 0)
      .add(why)
      .add_number(cpu_ms)
      .add_number(saved_ms)
      .take();
}

PartResult PartResult::from_bytes(std::string_view bytes) {
  cache::TextReader reader(bytes);
  PartResult result;
  result.code = static_cast<int>(std::min<std::uint64_t>(reader.number(), 255));
  result.signal = static_cast<int>(std::min<std::uint64_t>(reader.number(), 64));
  result.output = reader.text();
  result.errors = reader.text();
  result.cache = enum_named<CacheUse>(reader.text()).value_or(CacheUse::none);
  result.ungoverned = reader.number() != 0;
  result.why = reader.text();
  result.cpu_ms = reader.number();
  result.saved_ms = reader.number();
  return result;
}

std::string part_label(const Part& part) {
  std::string label(part.kind == PartKind::preprocess || part.kind == PartKind::host || part.argv.empty()
                        ? enum_name(part.kind)
                        : base_name(part.argv.front()));
  return part.arch.empty() ? label : label + " " + part.arch;
}

std::string part_unit(const Part& part, const std::vector<std::string>& digests) {
  Sha256 hash;
  const auto add = [&hash](std::string_view text) {
    hash.update(text);
    hash.update(std::string_view("\0", 1));
  };
  add("part");
  add(enum_name(part.kind));
  add(part.arch);
  for (std::size_t i = 0; i < part.argv.size(); ++i) {
    const std::string& word = part.argv[i];
    if (word.find(k_place.front()) != word.npos || word.starts_with("-D__CUDA_ARCH_LIST__=")) continue;
    if (const std::string_view place = words::place_option(word); !place.empty()) {
      i += word.size() == place.size() ? 1 : 0;
      continue;
    }
    add(words::without_paths(word));
  }
  for (const std::string& digest : digests) add(digest);
  return to_hex(hash.finish()).substr(0, 32);
}

std::vector<std::string> with_variables(std::vector<std::string> environment, const std::vector<std::string>& more) {
  for (const std::string& entry : more) {
    const std::string name = entry.substr(0, entry.find('=') + 1);
    std::erase_if(environment, [&](const std::string& known) { return known.starts_with(name); });
    environment.push_back(entry);
  }
  return environment;
}

PartResult run_part(const Part& part, const PartSite& site) {
  const std::string unit = part_unit(part, site.digests);
  const Kind kind = kind_of_part(part.kind);
  const std::string family = fmt::format("{}/{}/{}", to_string(kind), 1, words::without_parameters(site.name));
  std::uint64_t size = 0;
  for (const std::string& name : part.reads) size += size_of(site.folder + "/" + name);
  unsigned tries = 0;
  unsigned set_backs = 0;
  std::uint64_t need = 0;
  bool alone = false;
  Grant grant(site.run_file, site.run, [&](Word word, bool hurry) {
    return Message{word,
                   {{"run", site.run_file},
                    {"unit", unit},
                    {"family", family},
                    {"kind", std::string(to_string(kind))},
                    {"size", std::to_string(size)},
                    {"archs", "1"},
                    {"threads", "1"},
                    {"name", site.name},
                    {"output", site.output},
                    {"part", part_label(part)},
                    {"of", site.token},
                    {"try", std::to_string(tries)},
                    {"need", std::to_string(need)},
                    {"hurry", hurry ? "1" : "0"},
                    {"alone", alone ? "1" : "0"}}};
  });
  // The tools' own temporary files vanish with the folder, too.
  const std::vector<std::string> environment = with_variables(
      environment_below(site.environment, site.shims, fmt::format("{}={}", k_grant_variable, ::getpid())),
      {"TMPDIR=" + site.folder});
  const std::string program = program_of(part.argv.front(), environment);
  PartResult result;
  const std::unique_ptr<PartCache> cache = PartCache::find(part, site, program, environment);
  if (cache && cache->look(result)) return result;
  for (;;) {
    grant.forget_set_back();
    result.ungoverned = !grant.get();
    sys::ForegroundExit end;
    result.output.clear();
    result.errors.clear();
    for (const std::vector<std::string>* words : {&part.argv, &part.then}) {
      if (words->empty() || end.code != 0) continue;
      ShimChild child(program_of(words->front(), environment), argv_in(*words, site.folder), environment, true);
      const std::uint64_t largest = end.largest_process;
      const double cpu = end.cpu_seconds;
      end = grant.wait(child);
      end.largest_process = std::max(end.largest_process, largest);
      end.cpu_seconds += cpu;
      result.output += child.output();
      result.errors += child.errors();
    }
    result.code = end.code;
    result.signal = end.signal;
    result.cpu_ms = static_cast<std::uint64_t>(end.cpu_seconds * 1000);
    const bool again = grant.set_back() && end.code != 0;
    const bool out_of_memory =
        !grant.set_back() && end.code != 0 && ended_for_memory(end.code, end.signal, result.output + result.errors);
    const bool last = tries + 1 >= k_most_part_tries;
    if (cache && end.code == 0) cache->store(result);
    if (result.ungoverned) return result;
    const Message verdict =
        grant.done({Word::done,
                    {{"exit", std::to_string(end.code)},
                     {"oom", out_of_memory ? "1" : "0"},
                     {"set_back", again ? "1" : "0"},
                     {"last", last ? "1" : "0"},
                     {"cache", std::string(enum_name(end.code == 0 ? result.cache : CacheUse::none))},
                     {"cpu", std::to_string(result.cpu_ms)},
                     {"maxrss", std::to_string(end.largest_process)}}},
                   end.code != 0);
    if (again) {
      alone = alone || ++set_backs >= k_most_part_set_backs;
      continue;
    }
    if (end.code != 0 && (out_of_memory || verdict.flag("oom")) && !last) {
      ++tries;
      alone = true;
      need = std::max(need, verdict.number("peak") / 2 * 3);
      continue;
    }
    return result;
  }
}

}  // namespace wheelsmith::governor
