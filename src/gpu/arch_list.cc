// Lists of architectures, in every notation that a build system, a variable or a log uses:
//
//   list    = word { (";" | "," | blank) word }          in any case; quotes and brackets around words are dropped
//   word    = number | name | target | family | flag
//   number  = [ "sm_" | "sm" | "compute_" | "lto_" ] version [ "a" | "f" ] [ form ] [ "+PTX" ]
//   version = "9.0" | "90" | "12.1" | "121"              20 to 199, including unknown GPUs
//   form    = "-real" | "_real" | "-virtual" | "_virtual"
//   name    = "Hopper" | "Blackwell+Tegra" | …           a generation, as torch expands it
//   target  = "gfx" 3 to 5 hex digits { ":" feature ("+"|"-") } | "gfx9-4-generic" … | "amdgcnspirv"
//   family  = "gfx94X-dcgpu" | "dgpu-all" | …
//   flag    = "-gencode arch=compute_90a,code=[sm_90a,compute_90a]" | "-arch=sm_90" | "--offload-arch=gfx942" | …
//
// A bare number requests binary code only. Only for CMake does "80" mean binary and PTX; for torch, FBGEMM,
// flash-attention and vLLM it means the binary, and an accidental request for PTX would reject correct wheels. In a
// flag, "arch=" says which features the code may use and only "code=" says what is embedded; but nvcc 13.0 marks code
// compiled with arch=compute_100f,code=sm_100 as sm_100f, and so does this parser.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/attempt.h"
#include "base/error.h"
#include "base/text.h"
#include "gpu/arch.h"
#include "gpu/arch_words.h"

namespace wheelsmith::gpu {

namespace {

constexpr std::uint32_t k_first_number = 20, k_last_number = 199;

bool take_front(std::string_view& text, std::string_view front) {
  if (!text.starts_with(front)) return false;
  text.remove_prefix(front.size());
  return true;
}

bool take_back(std::string_view& text, std::string_view back) {
  if (!text.ends_with(back)) return false;
  text.remove_suffix(back.size());
  return true;
}

std::string_view unquoted(std::string_view word) {
  constexpr std::string_view k_around = "\"'[](){}\\";
  const std::size_t first = word.find_first_not_of(k_around);
  if (first == std::string_view::npos) return {};
  return word.substr(first, word.find_last_not_of(k_around) - first + 1);
}

[[noreturn]] void refuse(std::string_view word, std::string_view why) {
  constexpr std::size_t k_longest = 64;
  throw Error(fmt::format("GPU architecture '{}': {}", printable(word.substr(0, k_longest)), why));
}

[[noreturn]] void refuse_unknown(std::string_view word) {
  constexpr std::size_t k_longest_typo = 40;
  if (word.size() <= k_longest_typo) {
    if (const auto meant = nearest(word, known_arch_words())) refuse(word, "unknown; did you mean " + *meant + "?");
  }
  refuse(word, "unknown; expected for example 9.0a, sm_90a, 90, Hopper, gfx942 or gfx94X-dcgpu");
}

// "9.0" and "90" to 90; nothing if it is neither.
std::optional<std::uint32_t> read_version(std::string_view text) {
  std::string digits(text);
  const std::size_t dot = text.find('.');
  if (dot != std::string_view::npos) {
    if (dot == 0 || dot + 2 != text.size()) return std::nullopt;
    digits.erase(dot, 1);
  }
  if (!is_digits(digits) || digits.starts_with('0') || digits.size() > 3) return std::nullopt;
  return static_cast<std::uint32_t>(*to_number(digits));
}

void check_number(std::string_view word, const Arch& arch) {
  if (arch.number < k_first_number || arch.number > k_last_number) {
    const bool only_major = arch.number < k_first_number && arch.number > 1 && word.find('.') == std::string_view::npos;
    refuse(word, only_major ? fmt::format("not a compute capability; did you mean {}.0?", arch.number)
                            : std::string("not a compute capability; valid values are 2.0 to 19.9"));
  }
  if (arch.suffix == "a" && arch.number < 90) refuse(word, "architecture-specific code (a) exists from 9.0a on");
  if (arch.suffix == "f" && arch.number < 100) refuse(word, "family-specific code (f) exists from 10.0f on");
}

// Any notation of a number; nothing if the word is of another kind.
std::optional<ArchRequest> read_nvidia(std::string_view word) {
  std::string_view rest = word;
  const bool plus_ptx = take_back(rest, "+ptx");
  const bool real = take_back(rest, "-real") || take_back(rest, "_real");
  const bool is_virtual = !real && (take_back(rest, "-virtual") || take_back(rest, "_virtual"));
  const bool compute = take_front(rest, "compute_");
  // SASS of that architecture is linked from LTO IR.
  const bool sm = !compute && (take_front(rest, "sm_") || take_front(rest, "lto_") || take_front(rest, "sm"));
  ArchRequest request;
  if (rest.ends_with('a') || rest.ends_with('f')) {
    request.arch.suffix = rest.back();
    rest.remove_suffix(1);
  }
  const auto number = read_version(rest);
  if (!number) return std::nullopt;
  if ((compute || sm) && (real || is_virtual)) return std::nullopt;
  request.arch.number = *number;
  check_number(word, request.arch);
  request.binary = !compute && !is_virtual;
  request.ptx = compute || is_virtual || plus_ptx;
  return request;
}

void check_features(std::string_view word, const std::vector<std::string_view>& parts) {
  std::vector<std::string_view> seen;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::string_view feature = parts[i].substr(0, parts[i].find_first_of("+-"));
    if (parts[i].size() != feature.size() + 1 || (feature != "sramecc" && feature != "xnack")) {
      refuse(word, fmt::format("unknown feature '{}'; valid features are sramecc+, sramecc-, xnack+ and xnack-",
                               printable(parts[i])));
    }
    if (std::ranges::find(seen, feature) != seen.end()) refuse(word, fmt::format("{} is given twice", feature));
    seen.push_back(feature);
  }
}

std::optional<Arch> read_amd(std::string_view word) {
  if (word == "amdgcnspirv") return amd_arch(word);
  const auto parts = split(word, ':');
  std::string_view hex = parts[0];
  const bool generic =
      std::ranges::any_of(amd_generics(), [&](const NamedTargets& row) { return row.name == parts[0]; });
  const bool processor = take_front(hex, "gfx") && hex.size() >= 3 && hex.size() <= 5 && is_digits(hex.substr(0, 1)) &&
                         hex.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  if (!generic && !processor) return std::nullopt;
  check_features(word, parts);
  return amd_arch(word);
}

const NamedTargets* find_family(std::string_view word) {
  for (const NamedTargets& row : amd_families()) {
    if (to_lower(row.name) == word) return &row;
  }
  return nullptr;
}

void refuse_machine_words(std::string_view word) {
  if (word == "native" || word == "auto") {
    refuse(word, "depends on the local GPU; name the architectures instead");
  }
  if (word == "all" || word == "all-major" || word == "common") {
    refuse(word, "depends on the compiler; name the architectures instead");
  }
}

class ArchListReader {
 public:
  void word(std::string_view raw);
  void finish();
  std::vector<ArchRequest> take() { return std::move(m_requests); }

 private:
  bool flag(std::string_view text);
  void value(std::string_view text);
  void code(std::string_view text);
  void add(const ArchRequest& request);

  std::vector<ArchRequest> m_requests;
  std::map<Arch, std::size_t> m_places;
  std::string m_pending;  // a flag whose value is the next word: "-arch sm_90"
  std::string m_virtual;  // the value of "arch=" until its "code=" comes
  bool m_in_code = false;
};

void ArchListReader::add(const ArchRequest& request) {
  const auto [place, is_new] = m_places.try_emplace(request.arch, m_requests.size());
  if (is_new) {
    m_requests.push_back(request);
    return;
  }
  ArchRequest& known = m_requests[place->second];
  known.binary |= request.binary;
  known.ptx |= request.ptx;
}

void ArchListReader::value(std::string_view text) {
  if (const auto request = read_nvidia(text)) return add(*request);
  if (const auto arch = read_amd(text)) return add({*arch, true, false});
  if (const NamedTargets* family = find_family(text)) {
    for (const std::string& member : family->members) add({amd_arch(member), true, false});
    return;
  }
  std::string_view name = text;
  take_back(name, "+ptx");
  for (const Generation& generation : generations()) {
    if (generation.name != name) continue;
    std::string list = to_lower(generation.list);
    if (name != text && !list.ends_with("+ptx")) list += "+ptx";
    for (const std::string_view item : split(list, ';')) add(*read_nvidia(item));
    return;
  }
  refuse_machine_words(text);
  refuse_unknown(text);
}

// One item of "code=": with arch=compute_100f, sm_100 is family-specific code.
void ArchListReader::code(std::string_view text) {
  auto request = read_nvidia(text);
  if (!request) refuse_unknown(text);
  if (m_virtual.ends_with('f') && request->arch.suffix.empty()) request->arch.suffix = "f";
  check_number(text, request->arch);
  add(*request);
}

// True if the word was a flag or part of one.
bool ArchListReader::flag(std::string_view text) {
  if (text == "-gencode" || text == "--generate-code") return true;
  for (const std::string_view name : {"-gencode=", "--generate-code="}) take_front(text, name);
  for (const std::string_view name :
       {"--offload-arch", "--cuda-gpu-arch", "-arch", "--gpu-architecture", "-code", "--gpu-code"}) {
    if (text != name) continue;
    m_pending = std::string(name) + "=";
    return true;
  }
  for (const std::string_view name : {"--offload-arch=", "--cuda-gpu-arch="}) {
    if (!take_front(text, name)) continue;
    value(unquoted(text));
    return true;
  }
  for (const std::string_view name : {"arch=", "-arch=", "--gpu-architecture="}) {
    if (!take_front(text, name)) continue;
    finish();
    m_virtual = unquoted(text);
    m_in_code = false;
    if (read_nvidia(m_virtual)) return true;
    refuse_machine_words(m_virtual);
    refuse_unknown(m_virtual);
  }
  for (const std::string_view name : {"code=", "-code=", "--gpu-code="}) {
    if (!take_front(text, name)) continue;
    m_in_code = true;
    code(unquoted(text));
    return true;
  }
  return false;
}

void ArchListReader::word(std::string_view raw) {
  const std::string text = m_pending + to_lower(unquoted(raw));
  if (text.size() == m_pending.size()) return;
  m_pending.clear();
  if (flag(text)) return;
  if (m_in_code && (text.starts_with("sm_") || text.starts_with("compute_") || text.starts_with("lto_"))) {
    return code(text);
  }
  finish();
  value(text);
}

// An "arch=" that no "code=" followed: nvcc generates binary code and PTX for sm_90, PTX only for compute_90.
void ArchListReader::finish() {
  if (!m_pending.empty()) refuse(m_pending, "the value is missing");
  if (!m_virtual.empty() && !m_in_code) {
    auto request = read_nvidia(m_virtual);
    request->ptx = true;
    add(*request);
  }
  m_virtual.clear();
  m_in_code = false;
}

}  // namespace

ArchList ArchList::parse(std::string_view text) {
  constexpr std::string_view k_separators = ";, \t\r\n\v\f";
  ArchListReader reader;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(k_separators, at), text.size());
    if (end > at) reader.word(text.substr(at, end - at));
    at = end + 1;
  }
  reader.finish();
  ArchList list{reader.take()};
  if (list.requests.empty()) throw Error("the list of GPU architectures is empty");
  return list;
}

std::optional<ArchList> ArchList::try_parse(std::string_view text) {
  return if_valid([&] { return parse(text); });
}

std::string to_string(const ArchRequest& request) {
  const Arch& arch = request.arch;
  if (arch.vendor == Vendor::amd) return arch.target;
  if (!request.binary) return display_name(arch, CodeKind::ptx);
  return fmt::format("{}.{}{}{}", arch.number / 10, arch.number % 10, arch.suffix, request.ptx ? "+PTX" : "");
}

std::string ArchList::to_string() const {
  std::vector<std::string> words;
  for (const ArchRequest& request : requests) words.push_back(gpu::to_string(request));
  return join(words, ";");
}

}  // namespace wheelsmith::gpu
