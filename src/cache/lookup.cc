#include "cache/lookup.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_set>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "cache/dependencies.h"
#include "cache/texts.h"
#include "sys/file_state.h"
#include "sys/files.h"

// A lookup takes two steps, as in every compile cache that does not preprocess:
//
// The unit's key covers everything known before compiling: the compiler's files, the arguments, the source. It leads to
// a list of variants: the headers the compiler read, with their digests, and where it searched for others. A variant
// whose files and folders are unchanged is a hit, and contains the key of the result.
//
// A key also contains the scope: the package and its source URL. A build can submit any object for its own sources, but
// no other package can find it.

namespace wheelsmith::cache {

namespace {

constexpr std::string_view k_format = "wheelsmith object 1";
constexpr std::int64_t k_remote_rest = 30'000'000'000;
constexpr std::size_t k_most_files = 100'000;
constexpr std::size_t k_most_places = 4'000'000;

std::string part(std::string_view text) { return fmt::format("{} ", text.size()) + std::string(text); }

// The meaning of -march=native on this machine.
std::string cpu_identity() {
  const std::string text = sys::read_file_if_possible("/proc/cpuinfo", 1 << 20).value_or("");
  std::string result;
  for (const std::string_view line : lines(text)) {
    if (line.empty()) break;  // the first core suffices
    for (const std::string_view name : {"vendor_id", "model", "stepping", "flags", "Features", "CPU "}) {
      if (line.starts_with(name)) result += std::string(line) + "\n";
    }
  }
  return result;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? "." : path.substr(0, slash);
}

// What of the date counts: a release often sets another one, and few files use it.
std::string date_state(const Compile& compile, bool used) { return used ? " date " + compile.date : std::string(); }

// Why a file's text makes every compile that reads it uncacheable; "" for most files.
std::string problem_of(const ScannedText& text, bool fixed_time) {
  if (text.timestamp) return "__TIMESTAMP__";
  if (text.time && !fixed_time) return "__DATE__ or __TIME__";
  return text.other_files ? ".incbin" : "";
}

}  // namespace

Lookup::Lookup(const CacheOptions& options)
    : m_options(options),
      m_storage(options.folder / options.scope),
      m_remote(options.remote.empty() ? nullptr : open_remote(options.remote)),
      m_memo((options.folder / "digests").string()),
      m_level(options.compression == "off" ? 0 : static_cast<int>(to_number(options.compression).value_or(1))) {}

// The size is only counted when it could exceed the limit: that lists the whole folder.
Lookup::~Lookup() {
  if (m_written == 0 || m_options.size == 0) return;
  try {
    const std::filesystem::path file = m_options.folder / "used";
    const auto text = sys::read_file_if_possible(file, 100);
    const auto known = text ? to_number(trim(*text)) : std::nullopt;
    std::uint64_t used = known.value_or(m_options.size) + m_written;
    if (used > m_options.size) used = trim_folder(m_options.folder, m_options.size);
    sys::write_file(file, std::to_string(used) + "\n");
  } catch (const Error&) {  // counted again by the next build
  }
}

std::string Lookup::unit_key(const sys::RootView& view, const CompileRequest& request, const Compile& compile,
                             const std::string& source_digest) {
  std::string text = part(k_format) + part(m_options.scope) + part(request.identity);
  std::vector<std::string> programs{request.program};
  programs.insert(programs.end(), request.tools.begin(), request.tools.end());
  for (const std::string& program : programs) {
    const std::string digest = m_memo.digest(view, program);
    if (digest.empty()) return "";
    text += part(base_name(program)) + part(digest);
  }
  for (const std::string& word : compile.words) text += part(word);
  for (const std::string& input : compile.inputs) text += part(m_memo.digest(view, input));
  if (compile.native) text += part(cpu_identity());
  return to_hex(sha256(Bytes(text + part(source_digest))));
}

bool Lookup::matches(Glance& glance, const Compile& compile, const Variant& variant) {
  bool uses_date = false;
  for (std::size_t i = 0; i < variant.files.size(); ++i) {
    const std::string path = compile.map.local(variant.files[i]);
    const auto known = path.empty() ? std::nullopt : glance.file(path);
    if (!known || known->facts->digest != variant.digests[i]) return false;
    uses_date = uses_date || known->facts->text.time;
  }
  for (const std::string& name : variant.beside) {
    const std::string path = name.empty() ? "" : compile.map.local(std::string_view(name).substr(1));
    if (path.empty() || glance.has(folder_of(path), std::string(base_name(path))) != (name.front() == '+'))
      return false;
  }
  return search_state(glance, compile, variant.names) + date_state(compile, uses_date) == variant.search;
}

std::optional<std::string> Lookup::get_local(const std::string& key) {
  const auto bytes = m_storage.get(key);
  if (!bytes) return std::nullopt;
  auto content = unpack_entry(key, *bytes, k_largest_entry);
  if (!content) m_storage.remove(key);  // damaged: it would block its replacement
  return content;
}

std::optional<std::string> Lookup::get_remote(const std::string& key, bool& failed) {
  if (!m_remote) return std::nullopt;
  {
    const std::lock_guard guard(m_mutex);
    if (sys::file_clock_nanoseconds() < m_remote_rests_until) return std::nullopt;
  }
  try {
    const auto bytes = m_remote->get(key);
    return bytes ? unpack_entry(key, *bytes, k_largest_entry) : std::nullopt;
  } catch (const Error&) {  // counted; the compile continues without it
    failed = true;
    const std::lock_guard guard(m_mutex);
    m_remote_rests_until = sys::file_clock_nanoseconds() + k_remote_rest;
    return std::nullopt;
  }
}

void Lookup::put_remote(const std::string& key, const std::string& bytes) {
  {
    const std::lock_guard guard(m_mutex);
    if (!m_remote || sys::file_clock_nanoseconds() < m_remote_rests_until) return;
  }
  try {
    m_remote->put(key, bytes);
  } catch (const Error&) {  // other machines compile it again
    const std::lock_guard guard(m_mutex);
    m_remote_rests_until = sys::file_clock_nanoseconds() + k_remote_rest;
  }
}

std::optional<Unit> Lookup::read_unit(const std::optional<std::string>& content) {
  if (!content) return std::nullopt;
  try {
    return Unit::from_bytes(*content);
  } catch (const Error&) {  // written by another version
    return std::nullopt;
  }
}

std::optional<Lookup::Found> Lookup::load(Glance& glance, const Pending& pending, const Unit& unit, bool from_remote,
                                          bool& failed) {
  for (const Variant& variant : unit.variants) {
    if (!matches(glance, pending.compile, variant)) continue;
    auto content = get_local(variant.result);
    bool remote = false;
    if (!content) {
      content = get_remote(variant.result, failed);
      remote = content.has_value();
    }
    if (!content) continue;
    try {
      Found found{Result::from_bytes(*content), {}, {}, remote || from_remote};
      const PathMap& map = pending.compile.map;
      found.result.output = map.local_text(found.result.output);
      found.result.errors = map.local_text(found.result.errors);
      for (const std::string& file : variant.files) found.files.push_back(map.local(file));
      found.digests = variant.digests;
      if (remote) m_storage.put(variant.result, pack_entry(variant.result, *content, m_level));
      return found;
    } catch (const Error&) {  // a full disk, or an entry of another version: recompile
      continue;
    }
  }
  return std::nullopt;
}

Lookup::Answer Lookup::find(const sys::RootView& view, const CompileRequest& request) {
  const FileQuestions files{
      [&](const std::string& path) -> std::optional<std::string> {
        const auto open = view.open_file(path);
        if (!open || open->state.stat.size > 16 << 20) return std::nullopt;
        std::string text(open->state.stat.size, '\0');
        text.resize(open->file.read_at(0, {reinterpret_cast<std::uint8_t*>(text.data()), text.size()}));
        return text;
      },
      [&](const std::string& path) {
        const auto state = view.state(path);
        return state && state->kind == sys::PathState::Kind::file;
      }};
  auto read = read_compile(request, files);
  if (const auto* uncacheable = std::get_if<Uncacheable>(&read)) return {.why = uncacheable->why};
  Pending pending;
  pending.request = request;
  pending.compile = std::move(std::get<Compile>(read));
  const Compile& compile = pending.compile;
  Glance glance(m_memo, view, request.folder);
  pending.started = sys::file_clock_nanoseconds();
  const auto source = glance.file(compile.source);
  if (!source) return {.why = "the source cannot be read"};
  if (const std::string problem = problem_of(source->facts->text, compile.fixed_time); !problem.empty())
    return {.why = fmt::format("{} uses {}", compile.source, problem)};
  pending.source_digest = source->facts->digest;
  pending.key = unit_key(view, request, compile, pending.source_digest);
  if (pending.key.empty()) return {.why = "the compiler's files cannot be read"};

  if (auto unit = read_unit(get_local(pending.key))) {
    if (auto found = load(glance, pending, *unit, false, pending.remote_failed))
      return {.found = std::move(found), .compile = std::move(pending.compile), .why = ""};
  }
  if (auto unit = read_unit(get_remote(pending.key, pending.remote_failed))) {
    pending.unit = std::move(*unit);
    if (auto found = load(glance, pending, pending.unit, true, pending.remote_failed)) {
      // Record its inputs here from now on.
      const std::lock_guard guard(m_mutex);
      try {
        Unit merged = read_unit(get_local(pending.key)).value_or(Unit());
        for (auto variant = pending.unit.variants.rbegin(); variant != pending.unit.variants.rend(); ++variant)
          merged.add(*variant);
        m_storage.put(pending.key, pack_entry(pending.key, merged.to_bytes(), m_level));
      } catch (const Error&) {  // a full disk: still a hit
      }
      return {.found = std::move(found), .compile = std::move(pending.compile), .why = ""};
    }
  }
  return {.pending = std::move(pending), .why = ""};
}

std::variant<Variant, Uncacheable> Lookup::describe(const sys::RootView& view, const Pending& pending,
                                                    const Made& made) {
  const Compile& compile = pending.compile;
  auto files = read_dependencies(made.dependencies);
  if (!files || files->empty()) return Uncacheable{"the compiler wrote no dependencies"};
  std::unordered_set<std::string> seen(files->begin(), files->end());
  for (const std::string_view line : lines(made.headers)) {
    std::string name(trim(line));
    if (!name.empty() && seen.insert(name).second) files->push_back(std::move(name));
  }
  if (files->size() > k_most_files) return Uncacheable{"it reads too many files"};
  Glance glance(m_memo, view, pending.request.folder);
  Variant variant;
  std::unordered_set<std::string> asked;
  std::set<std::string> beside;
  bool has_source = false;
  bool uses_date = false;
  for (const std::string& file : *files) {
    const auto known = glance.file(file);
    if (!known) return Uncacheable{fmt::format("{} cannot be read", file)};
    if (known->state.stat.changed >= pending.started)
      return Uncacheable{fmt::format("{} changed while it was compiled", file)};
    const ScannedText& text = known->facts->text;
    if (const std::string problem = problem_of(text, compile.fixed_time); !problem.empty())
      return Uncacheable{fmt::format("{} uses {}", file, problem)};
    if (file.ends_with(".gch") || file.ends_with(".pch")) return Uncacheable{"it uses a precompiled header"};
    has_source = has_source || file == compile.source;
    uses_date = uses_date || text.time;
    if (file == compile.source && known->facts->digest != pending.source_digest)
      return Uncacheable{"the source changed while it was compiled"};
    variant.files.push_back(compile.map.known(file));
    variant.digests.push_back(known->facts->digest);
    for (const std::string& name : text.asked) asked.insert(name);
    // Both are searched for beside the file first. An included one that exists is among the dependencies.
    for (const std::vector<std::string>* names : {&text.quoted, &text.asked}) {
      for (const std::string& name : *names) {
        if (name.starts_with('/')) continue;
        const std::string path = file.find('/') == file.npos ? name : folder_of(file) + "/" + name;
        const bool there = glance.has(folder_of(path), std::string(base_name(path)));
        if (there && seen.contains(path)) continue;
        const auto state = there ? glance.state(path) : std::nullopt;
        if (state && state->stat.changed >= pending.started)
          return Uncacheable{fmt::format("{} appeared while it was compiled", path)};
        if (!there || names == &text.asked) beside.insert((there ? "+" : "-") + compile.map.known(path));
      }
    }
  }
  if (!has_source) return Uncacheable{"the source is not among its own dependencies"};
  variant.beside.assign(beside.begin(), beside.end());
  variant.names = names_below(compile.search, *files);
  for (const std::string& name : variant.names) asked.erase(name);
  variant.names.insert(variant.names.end(), asked.begin(), asked.end());
  std::sort(variant.names.begin(), variant.names.end());
  if (variant.names.size() * compile.search.size() > k_most_places || beside.size() > k_most_places / 10)
    return Uncacheable{"it searches too many places"};
  // A file that appeared during the compile may have been missing when the compiler searched.
  for (const SearchFolder& folder : compile.search) {
    for (const std::string& name : variant.names) {
      const std::string path = folder.name + "/" + name;
      if (seen.contains(path) || !glance.has(folder.name, name)) continue;
      const auto state = glance.state(path);
      if (!state || state->stat.changed >= pending.started)
        return Uncacheable{fmt::format("{} appeared while it was compiled", path)};
    }
  }
  variant.search = search_state(glance, compile, variant.names) + date_state(compile, uses_date);
  Unit alone;
  alone.variants.push_back(variant);
  variant.result = to_hex(sha256(Bytes("result" + pending.key + alone.to_bytes())));
  return variant;
}

void Lookup::store(const Pending& pending, Variant variant, const Made& made) {
  const PathMap& map = pending.compile.map;
  const Result result{made.object, map.known_text(made.output), map.known_text(made.errors), made.milliseconds};
  const std::string key = variant.result;
  const std::string packed = pack_entry(key, result.to_bytes(), m_level);
  m_storage.put(key, packed);
  std::string unit_bytes;
  {
    const std::lock_guard guard(m_mutex);
    Unit unit = read_unit(get_local(pending.key)).value_or(Unit());
    for (auto known = pending.unit.variants.rbegin(); known != pending.unit.variants.rend(); ++known) unit.add(*known);
    unit.add(std::move(variant));
    unit_bytes = pack_entry(pending.key, unit.to_bytes(), m_level);
    m_storage.put(pending.key, unit_bytes);
    m_written += packed.size() + unit_bytes.size();
  }
  put_remote(key, packed);
  put_remote(pending.key, unit_bytes);
}

}  // namespace wheelsmith::cache
