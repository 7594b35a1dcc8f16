#include "wheel/write/seal.h"

// Writes members to a wheel. RECORD contains a hash of every other member and comes last, so each member is read,
// hashed, deflated and written in one pass, several at a time, and RECORD is built from the bytes of that pass: it
// cannot disagree with the wheel. Where compressed bytes are copied, the pass only reads and hashes (which verifies the
// stream and its CRC), and copying follows. A caller that trusts the RECORD of the source wheel passes its lines; then
// members are only copied.
//
// The order follows the wheel specification's recommendation: .dist-info at the end, so that metadata, directory and
// end record are close together, and tools that change metadata rewrite only the tail.

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/error.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "base/text.h"
#include "pep/record.h"
#include "wheel/check/names.h"

namespace wheelsmith::wheel {

namespace {

void arrange(std::vector<SealedMember>& members, const std::string& dist_info) {
  const std::string metadata = dist_info + "/";
  std::sort(members.begin(), members.end(), [&](const SealedMember& a, const SealedMember& b) {
    return std::tuple(a.name.starts_with(metadata), std::string_view(a.name)) <
           std::tuple(b.name.starts_with(metadata), std::string_view(b.name));
  });
  for (std::size_t i = 0; i < members.size(); ++i) {
    refuse_hostile_name(members[i].name);
    if (members[i].name == pep::record_path(dist_info)) {
      throw Error(members[i].name + " is generated and cannot be passed as a member");
    }
    if (i > 0 && members[i].name == members[i - 1].name) {
      throw Error(printable(members[i].name) + " occurs twice in the wheel; the intended one is ambiguous");
    }
  }
}

// Reading a member's contents records its RECORD line.
std::vector<zip::NewMember> hashing(const std::vector<SealedMember>& members, std::vector<pep::RecordLine>& lines) {
  std::vector<zip::NewMember> result;
  result.reserve(members.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    zip::NewMember member = members[i];
    member.open = [&member = members[i], &line = lines[i]] {
      Blob blob = member.open();
      line = pep::record_line(member.name, sha256(blob.bytes), blob.bytes.size());
      return blob;
    };
    result.push_back(std::move(member));
  }
  return result;
}

bool is_in_parts(const SealedMember& member, const SealOptions& options) {
  return member.open_part && options.write_at;
}

void add_in_parts(const std::vector<const SealedMember*>& members, const std::vector<pep::RecordLine*>& lines,
                  const SealOptions& options, zip::Writer& writer) {
  std::vector<Sha256> hashes(members.size());
  std::vector<zip::PiecedMember> pieced;
  for (std::size_t i = 0; i < members.size(); ++i) {
    pieced.push_back({.name = members[i]->name,
                      .mode = members[i]->mode,
                      .size = members[i]->size,
                      .open = members[i]->open_part,
                      .seen = [&hash = hashes[i]](Bytes part) { hash.update(part); }});
  }
  writer.add_pieces(pieced, options.write_at);
  for (std::size_t i = 0; i < members.size(); ++i)
    *lines[i] = pep::record_line(members[i]->name, hashes[i].finish(), members[i]->size);
}

// Consecutive new members are hashed and deflated in parallel, whole or in parts.
void add_new(const std::vector<SealedMember>& members, std::size_t begin, std::size_t end,
             const std::vector<zip::NewMember>& sources, std::vector<pep::RecordLine>& lines,
             const SealOptions& options, zip::Writer& writer) {
  while (begin < end) {
    const bool in_parts = is_in_parts(members[begin], options);
    std::vector<zip::NewMember> whole;
    std::vector<const SealedMember*> parted;
    std::vector<pep::RecordLine*> parted_lines;
    for (; begin < end && is_in_parts(members[begin], options) == in_parts; ++begin) {
      if (in_parts) {
        parted.push_back(&members[begin]);
        parted_lines.push_back(&lines[begin]);
      } else {
        whole.push_back(sources[begin]);
      }
    }
    if (in_parts)
      add_in_parts(parted, parted_lines, options, writer);
    else
      writer.add_all(whole);
  }
}

void copy_raw(const std::vector<SealedMember>& members, const std::vector<zip::NewMember>& sources,
              std::vector<pep::RecordLine>& lines, const SealOptions& options, zip::Writer& writer) {
  std::vector<std::size_t> raw;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (members[i].raw == nullptr) continue;
    if (members[i].recorded) {
      lines[i] = *members[i].recorded;
      lines[i].path = members[i].name;
    } else {
      raw.push_back(i);
    }
  }
  parallel_for(raw.size(), options.threads, [&](std::size_t i) {
    try {
      (void)sources[raw[i]].open();
    } catch (const Error& error) {
      throw error.in(printable(sources[raw[i]].name));
    }
  });
  for (std::size_t i = 0; i < members.size();) {
    if (members[i].raw != nullptr) {
      writer.add_raw(*options.raw_from, *members[i].raw, members[i].name, members[i].mode);
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < members.size() && members[end].raw == nullptr) ++end;
    add_new(members, i, end, sources, lines, options, writer);
    i = end;
  }
}

bool is_tag_word(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

}  // namespace

std::uint64_t seal(std::vector<SealedMember> members, const std::string& dist_info, const SealOptions& options,
                   Sink& sink) {
  arrange(members, dist_info);
  zip::Writer writer(sink, {.time = options.time, .threads = options.threads});
  std::vector<pep::RecordLine> lines(members.size());
  const std::vector<zip::NewMember> sources = hashing(members, lines);
  if (options.raw_from != nullptr) {
    copy_raw(members, sources, lines, options, writer);
  } else {
    writer.add_all(sources);
  }
  writer.add(pep::record_path(dist_info), Bytes(pep::record_text(lines, dist_info)));
  return writer.finish();
}

void refuse_hostile_name(const std::string& name) {
  const auto refuse = [&](std::string_view why) {
    throw Error(fmt::format("member {} {}", printable(std::string_view(name).substr(0, 200)), why));
  };
  if (name.empty()) refuse("has no name");
  if (is_unsafe_path(name)) refuse("points outside the installation folder");
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::any_of(name.begin(), name.end(), is_control)) refuse("has a control character in its name");
  if (name.find('\\') != std::string::npos) refuse("has a backslash in its name");
  if (!is_valid_utf8(name)) refuse("has a name that is not valid UTF-8");
  for (const std::string_view part : split(name, '/')) {
    if (part.empty() || part == ".") refuse("has an empty component or \".\" in its name");
  }
}

std::uint32_t canonical_mode(std::string_view name, std::uint32_t mode) {
  const std::string_view top = name.substr(0, name.find('/'));
  const bool is_script = top.ends_with(".data") && name.substr(top.size()).starts_with("/scripts/");
  return is_script || (mode & 0111) != 0 ? 0755 : 0644;
}

std::string wheel_file_text(const pep::Headers& old, const pep::WheelName& name) {
  std::string text;
  for (const auto& [field, value] : old.fields) {
    const std::string lower = to_lower(field);
    if (lower == "tag") continue;
    const bool has_binaries = lower == "root-is-purelib" && name.platform != "any";
    text += field + ": " + (has_binaries ? "false" : std::string(trim(value))) + "\n";
  }
  if (!old.has("Root-Is-Purelib")) text += fmt::format("Root-Is-Purelib: {}\n", name.platform == "any");
  std::vector<std::string> tags;
  for (const pep::Tag& tag : name.tags()) tags.push_back(tag.to_string());
  std::sort(tags.begin(), tags.end());
  tags.erase(std::unique(tags.begin(), tags.end()), tags.end());
  for (const std::string& tag : tags) text += "Tag: " + tag + "\n";
  return text;
}

std::string canonical_tag_set(std::string_view set) {
  std::vector<std::string> words;
  for (const std::string_view word : split(set, '.')) {
    if (!is_tag_word(word))
      throw Error(fmt::format("{} is not a valid tag: bad part {}", printable(set), printable(word)));
    words.emplace_back(word);
  }
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return join(words, ".");
}

}  // namespace wheelsmith::wheel
