// An extension module counts as a whole, because a build that imports it sees functions that are in no symbol table.
// Other shared libraries count by their dynamic symbols: a linker reads nothing else of them. Undefined symbols and
// their versions are left out: they name what the code calls, and a changed function may call another one.

#include "wheel/interface/interface.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>
#include <vector>

#include "base/hash.h"
#include "base/parallel.h"
#include "base/text.h"
#include "elf/elf_file.h"
#include "wheel/read/wheel_tree.h"
#include "zip/archive.h"

namespace wheelsmith::wheel {

namespace {

constexpr std::string_view k_library_format = "shared library interface 1";
constexpr std::array<std::string_view, 10> k_header_endings{".h",   ".hh",  ".hpp", ".hxx", ".h++",
                                                            ".cuh", ".inl", ".ipp", ".tpp", ".tcc"};
constexpr std::string_view k_dist_info = ".dist-info/";
constexpr std::uint8_t k_object_symbol = 1, k_common_symbol = 5, k_tls_symbol = 6;

bool is_header(std::string_view name) {
  return std::any_of(k_header_endings.begin(), k_header_endings.end(),
                     [&](std::string_view ending) { return name.ends_with(ending); });
}

// RECORD follows from the other files; Wheelsmith's own files describe how this wheel was built.
bool describes_own_build(std::string_view name) {
  const std::size_t slash = name.find('/');
  if (slash == name.npos || !name.substr(0, slash + 1).ends_with(k_dist_info)) return false;
  const std::string_view file = name.substr(slash + 1);
  return file == "RECORD" || file.starts_with("wheelsmith/") || file.starts_with("sboms/wheelsmith.");
}

// The path in site-packages; nothing for files that are installed elsewhere.
std::optional<std::string> installed_path(std::string_view name) {
  const std::size_t slash = name.find('/');
  if (slash == name.npos || !name.substr(0, slash).ends_with(".data")) return std::string(name);
  const std::string_view rest = name.substr(slash + 1);
  for (const std::string_view folder : {"purelib/", "platlib/"}) {
    if (rest.starts_with(folder)) return std::string(rest.substr(folder.size()));
  }
  return std::nullopt;
}

// torch and its companions write the commit that they were built from into version.py, as `git_version = '…'`. It
// names the source, but no compile reads it.
std::string without_commit(std::string_view text) {
  constexpr std::string_view k_start = "git_version = ";
  constexpr std::size_t k_commit = 40;
  std::string result;
  for (const std::string_view line : lines(text)) {
    const std::string_view value = line.starts_with(k_start) ? line.substr(k_start.size()) : "";
    const bool commit = value.size() == k_commit + 2 && (value.front() == '\'' || value.front() == '"') &&
                        value.back() == value.front() &&
                        value.find_first_not_of("0123456789abcdef", 1) == value.size() - 1;
    result += commit ? k_start : line;
    result += '\n';
  }
  return result;
}

std::string digest_of_file(std::string_view name, Bytes bytes) {
  if (const std::string library = library_interface(name, bytes); !library.empty())
    return to_hex(sha256(Bytes(library)));
  if (base_name(name) == "version.py") return to_hex(sha256(Bytes(without_commit(bytes.text()))));
  return to_hex(sha256(bytes));
}

// Fields of C strings and numbers, each with a NUL behind it: no name can imitate two fields.
class InterfaceText {
 public:
  InterfaceText& add(std::string_view field) {
    m_text += field;
    m_text += '\0';
    return *this;
  }
  InterfaceText& add(std::uint64_t number) { return add(std::to_string(number)); }
  [[nodiscard]] std::string take() { return std::move(m_text); }

 private:
  std::string m_text;
};

}  // namespace

std::string library_interface(std::string_view name, Bytes bytes) {
  if (!elf::ElfFile::has_magic(bytes)) return "";
  const auto file = elf::ElfFile::try_parse(bytes);
  if (!file || file->type != elf::k_type_dyn || !file->has_dynamic || file->interpreter || !file->problems.empty())
    return "";
  const std::string_view base = base_name(name);
  if (file->is_python_extension(base.substr(0, base.find('.')))) return "";
  InterfaceText text;
  text.add(k_library_format).add(file->is_64bit ? 64 : 32).add(file->endian == Endian::little ? "little" : "big");
  text.add(file->machine).add(file->flags).add(file->os_abi);
  const elf::Dynamic& dynamic = file->dynamic;
  text.add("soname").add(dynamic.soname ? 1 : 0).add(dynamic.soname.value_or(""));
  text.add("needed").add(dynamic.needed.size());
  for (const std::string_view needed : dynamic.needed) text.add(needed);
  text.add("rpath").add(dynamic.rpath.value_or("")).add("runpath").add(dynamic.runpath.value_or(""));
  std::vector<std::string> symbols, versions;
  for (const elf::VersionDefinition& version : file->version_definitions)
    versions.push_back(InterfaceText().add(version.version).add(version.base ? 1 : 0).take());
  for (const elf::Symbol& symbol : file->symbols) {
    if (!symbol.is_exported()) continue;
    const bool data = symbol.type == k_object_symbol || symbol.type == k_common_symbol || symbol.type == k_tls_symbol;
    InterfaceText one;
    one.add(symbol.name).add(file->defined_version(symbol)).add(symbol.hidden_version ? 1 : 0);
    one.add(static_cast<std::uint64_t>(symbol.binding)).add(symbol.type).add(symbol.visibility);
    one.add(data ? symbol.size : 0);
    symbols.push_back(one.take());
  }
  for (std::vector<std::string>* list : {&versions, &symbols}) {
    std::sort(list->begin(), list->end());
    text.add(list->size());
    for (const std::string& one : *list) text.add(one);
  }
  return text.take();
}

Interface read_interface(Bytes bytes, unsigned threads) {
  const zip::Archive archive = zip::Archive::open(bytes);
  const WheelTree tree(archive);
  std::vector<FileTree::File> files = tree.files();
  std::erase_if(files, [](const FileTree::File& file) { return describes_own_build(file.name); });
  std::stable_sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.size > b.size; });
  Interface result;
  std::mutex mutex;
  parallel_for(files.size(), threads, [&](std::size_t at) {
    const std::string& name = files[at].name;
    const std::optional<Blob> blob = tree.open(name);
    std::string digest = blob ? digest_of_file(name, blob->bytes) : "";
    const std::optional<std::string> path = installed_path(name);
    const std::lock_guard guard(mutex);
    // A name that two members share counts with both.
    std::string& known = path && is_header(name) ? result.headers[*path] : result.others[name];
    known = known.empty() ? digest : to_hex(sha256(Bytes(std::min(known, digest) + std::max(known, digest))));
  });
  return result;
}

}  // namespace wheelsmith::wheel
