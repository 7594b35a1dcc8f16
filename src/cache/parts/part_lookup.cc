#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "cache/lookup.h"
#include "cache/parts/device_text.h"
#include "cache/texts.h"

// Parts of GPU compiles: one file is read, so the key is the digest of that file, of the tool and of its arguments, and
// there is nothing to compare afterwards. src/cache/parts/device_text.cc explains what of the file counts.
//
// The same part may be found under three keys, from the most general to the most special:
//
//   without positions, without spelling    the tool printed nothing, and nothing of its output depends on lines
//   with positions, without spelling       it printed warnings, which name lines
//   with positions, as spelled             an output contains the list of architectures where it cannot be replaced

namespace wheelsmith::cache {

namespace {

constexpr std::string_view k_part_format = "wheelsmith part 1";
constexpr std::uint64_t k_largest_text = 1ULL << 30;
constexpr char k_neutral = 't';  // before a stored output: spelled when it is used
constexpr char k_as_is = 'b';

std::string piece(std::string_view text) { return fmt::format("{} ", text.size()) + std::string(text); }

// "800,900" as names contain it.
std::string in_names(std::string archs) {
  std::replace(archs.begin(), archs.end(), ',', '_');
  const bool plain = archs.find_first_not_of("0123456789_") == archs.npos;
  return plain ? archs : std::string();
}

Spelling spelling_of(const PartRequest& request, const std::vector<std::string>& spaces) {
  Spelling spelling{spaces.empty() ? std::string() : in_names(request.archs), spaces, request.id, request.sources};
  spelling.files.insert(spelling.files.end(), request.files.begin(), request.files.end());
  return spelling;
}

std::optional<PartFiles> neutral_files(const PartFiles& made, const Spelling& spelling, bool texts) {
  PartFiles result;
  result.milliseconds = made.milliseconds;
  for (const std::string& output : made.outputs) {
    auto text = texts ? neutral_text(output, spelling) : std::optional(output);
    if (!text) return std::nullopt;
    result.outputs.push_back((texts ? k_neutral : k_as_is) + *text);
  }
  // A message also points below the words that it quotes.
  const auto names_a_space = [&](const std::string& text) {
    return std::any_of(spelling.spaces.begin(), spelling.spaces.end(),
                       [&](const std::string& space) { return text.find(space) != text.npos; });
  };
  if (names_a_space(made.output) || names_a_space(made.errors)) return std::nullopt;
  auto output = neutral_text(made.output, spelling);
  auto errors = neutral_text(made.errors, spelling);
  if (!output || !errors) return std::nullopt;
  result.output = std::move(*output);
  result.errors = std::move(*errors);
  return result;
}

PathMap map_of(const PartRequest& request) {
  PathMap map;
  for (const std::string& word : request.maps) map.add_from(word);
  return map;
}

// Where PTX shows lines or files of the source.
bool shows_positions(std::string_view text) {
  for (const std::string_view mark : {"\n\t.loc", "\n.loc", "\n\t.file", "\n.file", ".section"}) {
    if (text.find(mark) != text.npos) return true;
  }
  return false;
}

}  // namespace

std::optional<std::string> Lookup::read_text(const sys::RootView& view, const std::string& path) {
  const auto open = view.open_file(path);
  if (!open || open->state.stat.size > k_largest_text) return std::nullopt;
  std::string text(open->state.stat.size, '\0');
  text.resize(open->file.read_at(0, {reinterpret_cast<std::uint8_t*>(text.data()), text.size()}));
  return text;
}

std::optional<Lookup::PartKeys> Lookup::part_keys(const sys::RootView& view, const PartRequest& request) {
  std::string head = piece(k_part_format) + piece(m_options.scope);
  std::vector<std::string> programs{request.program};
  programs.insert(programs.end(), request.tools.begin(), request.tools.end());
  for (const std::string& program : programs) {
    const std::string digest = m_memo.digest(view, program);
    if (digest.empty()) return std::nullopt;
    head += piece(digest);
  }
  for (const std::string& word : request.words) head += piece(word);
  for (const std::size_t count : {request.outputs.size(), request.sources.size(), request.files.size()})
    head += piece(std::to_string(count));
  const auto text = read_text(view, request.text);
  if (!text) return std::nullopt;
  PartKeys keys;
  const auto key = [&head](std::string_view kind, const Digest& digest, std::string_view more) {
    const std::string_view bytes(reinterpret_cast<const char*>(digest.data()), digest.size());
    return to_hex(sha256(Bytes(head + piece(kind) + piece(bytes) + std::string(more))));
  };
  if (!request.device_text) {
    keys.exact = key("bytes", sha256(Bytes(*text)), "");
    return keys;
  }
  const std::string archs = in_names(request.archs);
  // Debug information contains the folders themselves.
  const PathMap map = request.positions ? PathMap() : map_of(request);
  const TextDigest with = digest_of_text(*text, archs, true, map);
  keys.spaces = with.spaces;
  keys.with_positions = key("positions", with.digest, "");
  if (!request.positions) keys.without_positions = key("text", digest_of_text(*text, archs, false).digest, "");
  keys.exact = key("exact", digest_of_text(*text, "", true).digest,
                   piece(request.archs) + piece(request.id) + piece(join(request.sources, "\n")));
  return keys;
}

std::optional<PartFiles> Lookup::load_part(const std::string& key, const Spelling& spelling, const PathMap& map,
                                           bool& remote, bool& failed) {
  if (key.empty()) return std::nullopt;
  auto content = get_local(key);
  if (!content) {
    content = get_remote(key, failed);
    remote = content.has_value();
  }
  if (!content) return std::nullopt;
  try {
    TextReader reader(*content);
    const std::uint64_t id_size = reader.number();
    PartFiles stored = PartFiles::from_bytes(reader.text());
    // Lengths are part of mangled names.
    if (id_size != spelling.id.size()) return std::nullopt;
    const auto spell = [&](std::string& text) {
      auto spelled = spelled_text(text, spelling);
      if (spelled) text = std::move(*spelled);
      return spelled.has_value();
    };
    for (std::string& text : stored.outputs) {
      const bool spelled = text.starts_with(k_neutral);
      text.erase(0, 1);
      if (spelled && !spell(text)) return std::nullopt;
    }
    if (!spell(stored.output) || !spell(stored.errors)) return std::nullopt;
    stored.output = map.local_text(stored.output);
    stored.errors = map.local_text(stored.errors);
    if (remote) m_storage.put(key, pack_entry(key, *content, m_level));
    return stored;
  } catch (const Error&) {  // a full disk, or an entry of another version: compiled again
    return std::nullopt;
  }
}

Lookup::PartAnswer Lookup::find_part(const sys::RootView& view, const PartRequest& request) {
  PartAnswer answer;
  auto keys = part_keys(view, request);
  if (!keys) return answer;
  const Spelling general = spelling_of(request, keys->spaces);
  const Spelling exact = spelling_of(request, {});
  for (const std::string& key : {keys->without_positions, keys->with_positions, keys->exact}) {
    const bool is_exact = key == keys->exact;
    answer.found =
        load_part(key, is_exact ? exact : general, is_exact || request.positions ? PathMap() : map_of(request),
                  answer.remote, answer.remote_failed);
    if (answer.found) return answer;
  }
  answer.pending = std::move(keys);
  return answer;
}

void Lookup::store_part(const PartRequest& request, const PartKeys& keys, const PartFiles& made) {
  const bool texts = request.device_text;
  const Spelling exact = spelling_of(request, {});
  std::optional<PartFiles> stored;
  std::string key;
  if (texts) {
    PartFiles mapped = made;
    if (!request.positions) {
      const PathMap map = map_of(request);
      mapped.output = map.known_text(made.output);
      mapped.errors = map.known_text(made.errors);
    }
    stored = neutral_files(mapped, spelling_of(request, keys.spaces), true);
    const bool free = !request.positions && made.output.empty() && made.errors.empty() &&
                      std::none_of(made.outputs.begin(), made.outputs.end(), shows_positions);
    key = free ? keys.without_positions : keys.with_positions;
  }
  if (!stored) {
    stored = neutral_files(made, exact, texts);
    key = keys.exact;
  }
  if (!stored) return;
  const std::string bytes =
      pack_entry(key, TextWriter().add_number(request.id.size()).add(stored->to_bytes()).take(), m_level);
  m_storage.put(key, bytes);
  {
    const std::lock_guard guard(m_mutex);
    m_written += bytes.size();
  }
  put_remote(key, bytes);
}

}  // namespace wheelsmith::cache
