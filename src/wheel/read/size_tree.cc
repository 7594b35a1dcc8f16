// The sizes behind `inspect --html`. A file is divided by its sections, and a section with device code by the
// architectures in it. What no section holds (headers, padding, parts that overlap in a hostile file) is a node of its
// own, so that every level adds up to the level above. Small nodes are put together: a page with 100,000 rectangles of
// less than a pixel shows nothing.

#include "wheel/read/size_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "base/attempt.h"
#include "base/error.h"
#include "base/text.h"
#include "wheel/read/scan.h"
#include "wheel/read/wheel_tree.h"
#include "zip/archive.h"

namespace wheelsmith::wheel {

namespace {

constexpr std::size_t k_most_children = 400;
constexpr std::size_t k_most_sections = 60;
constexpr std::uint32_t k_no_bits = 8;  // SHT_NOBITS: no bytes in the file
constexpr std::size_t k_deepest_folder = 64;

struct SectionSize {
  std::string name;
  std::uint64_t bytes = 0;
};
using SectionSizes = std::vector<SectionSize>;

SectionSizes section_sizes(Bytes bytes) {
  const auto file = if_valid([&] { return elf::ElfFile::parse(bytes); });
  SectionSizes result;
  if (!file) return result;
  std::map<std::string, std::uint64_t> sizes;
  for (const elf::Section& section : file->sections) {
    if (section.type == 0 || section.type == k_no_bits || section.size == 0 || section.size > bytes.size()) continue;
    std::uint64_t& size = sizes[section.name.empty() ? "(no name)" : std::string(section.name.substr(0, 100))];
    size = std::min<std::uint64_t>(size + section.size, bytes.size());
  }
  for (const auto& [name, size] : sizes) result.push_back({name, size});
  return result;
}

// Sorts the children, and puts the smallest together.
void tidy(SizeNode& node, std::size_t most, std::string_view noun) {
  std::ranges::sort(node.children, [](const SizeNode& a, const SizeNode& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.name < b.name;
  });
  if (node.children.size() <= most) return;
  SizeNode rest;
  rest.kind = SizeKind::rest;
  rest.name = fmt::format("{} smaller {}s", node.children.size() - most + 1, noun);
  for (std::size_t i = most - 1; i < node.children.size(); ++i) {
    rest.bytes += node.children[i].bytes;
    rest.packed_bytes += node.children[i].packed_bytes;
  }
  node.children.resize(most - 1);
  node.children.push_back(std::move(rest));
}

// Children that are too large are cut, so that hostile sizes cannot exceed the parent; what is left is a child too.
void complete(SizeNode& node, const char* rest_name) {
  std::uint64_t left = node.bytes;
  for (SizeNode& child : node.children) {
    child.bytes = std::min(child.bytes, left);
    left -= child.bytes;
  }
  std::erase_if(node.children, [](const SizeNode& child) { return child.bytes == 0; });
  if (left > 0 && !node.children.empty()) {
    SizeNode rest;
    rest.kind = SizeKind::rest;
    rest.name = rest_name;
    rest.bytes = left;
    node.children.push_back(std::move(rest));
  }
}

std::vector<SizeNode> arch_nodes(const gpu::DeviceCode& code, const std::string& section) {
  std::map<std::string, SizeNode> nodes;
  for (const gpu::CodeSum& sum : code.sums) {
    if (sum.section != section) continue;
    std::string name = gpu::display_name(sum.arch, sum.kind);
    if (sum.kind == gpu::CodeKind::ltoir) name += " (LTO IR)";
    if (sum.relocatable) name += " (link material)";
    SizeNode& node = nodes[name];
    node.kind = SizeKind::arch;
    node.type = gpu::to_string(sum.kind);
    node.name = name;
    node.bytes += sum.bytes;
  }
  std::vector<SizeNode> result;
  for (auto& [name, node] : nodes) result.push_back(std::move(node));
  return result;
}

void add_archs(SizeNode& node, const gpu::DeviceCode& code, const std::string& section) {
  node.children = arch_nodes(code, section);
  tidy(node, k_most_children, "architecture");
  complete(node, "container headers and padding");
}

void add_sections(SizeNode& node, const SectionSizes& sections, const gpu::DeviceCode& code) {
  for (const SectionSize& section : sections) {
    SizeNode child;
    child.name = section.name;
    child.kind = SizeKind::section;
    child.bytes = section.bytes;
    add_archs(child, code, section.name);
    node.children.push_back(std::move(child));
  }
  if (node.children.empty()) return add_archs(node, code, "");
  tidy(node, k_most_sections, "section");
  complete(node, "headers and padding");
}

std::string_view type_of(std::string_view name) {
  const std::string_view base = base_name(name);
  const std::size_t dot = base.rfind('.');
  const std::string_view ending = dot == base.npos ? std::string_view() : base.substr(dot + 1);
  return ending == "py" || ending == "pyi" || ending == "pyc" ? "python" : "other";
}

class SizeTreeMaker {
 public:
  SizeTreeMaker(const FileTree& tree, unsigned threads) : m_files(tree.files()) {
    ScanOptions options{.threads = threads};
    options.each = [this](const std::string& name, Bytes bytes) {
      if (!elf::ElfFile::has_magic(bytes)) return;
      SectionSizes sizes = section_sizes(bytes);
      const std::lock_guard lock(m_mutex);
      m_sections.emplace(name, std::move(sizes));
    };
    const Scan found = scan(tree, options);
    for (const ElfFacts& file : found.elf) m_code.emplace(file.path, file.device_code);
    for (const DeviceFile& file : found.device_files) {
      m_code.emplace(file.path, file.code);
      m_gpu_files.emplace(file.path, true);
    }
  }

  void set_packed(std::map<std::string, std::uint64_t> sizes) { m_packed = std::move(sizes); }

  [[nodiscard]] SizeNode make(const std::string& name) const {
    SizeNode root;
    root.name = name;
    for (const FileTree::File& file : m_files) add(root, file.name, file_node(file), 0);
    finish(root);
    return root;
  }

 private:
  [[nodiscard]] SizeNode file_node(const FileTree::File& file) const {
    SizeNode node;
    node.kind = SizeKind::file;
    node.bytes = file.size;
    if (const auto packed = m_packed.find(file.name); packed != m_packed.end()) node.packed_bytes = packed->second;
    const auto sections = m_sections.find(file.name);
    const auto code = m_code.find(file.name);
    node.type = sections != m_sections.end() ? "elf" : m_gpu_files.contains(file.name) ? "gpu" : type_of(file.name);
    static const gpu::DeviceCode k_none;
    if (sections != m_sections.end())
      add_sections(node, sections->second, code != m_code.end() ? code->second : k_none);
    else if (code != m_code.end())
      add_archs(node, code->second, "");
    return node;
  }

  static void add(SizeNode& folder, std::string_view path, SizeNode&& file, std::size_t depth) {
    const std::size_t slash = depth < k_deepest_folder ? path.find('/') : path.npos;
    if (slash == path.npos) {
      file.name = path;
      folder.children.push_back(std::move(file));
      return;
    }
    const std::string_view name = path.substr(0, slash);
    // Files are sorted, so that the folder of the last file is the only one that can be meant again.
    if (folder.children.empty() || folder.children.back().kind != SizeKind::folder ||
        folder.children.back().name != name) {
      SizeNode made;
      made.name = name;
      folder.children.push_back(std::move(made));
    }
    add(folder.children.back(), path.substr(slash + 1), std::move(file), depth + 1);
  }

  // Sums up; joins a folder that has nothing but another folder with it.
  static void finish(SizeNode& folder) {
    for (SizeNode& child : folder.children) {
      if (child.kind == SizeKind::folder) finish(child);
      folder.bytes += child.bytes;
      folder.packed_bytes += child.packed_bytes;
    }
    for (SizeNode& child : folder.children) {
      while (child.kind == SizeKind::folder && child.children.size() == 1 &&
             child.children[0].kind == SizeKind::folder) {
        SizeNode inner = std::move(child.children[0]);
        inner.name = child.name + "/" + inner.name;
        child = std::move(inner);
      }
    }
    tidy(folder, k_most_children, "file");
  }

  std::vector<FileTree::File> m_files;
  std::mutex m_mutex;
  std::map<std::string, SectionSizes> m_sections;
  std::map<std::string, gpu::DeviceCode> m_code;
  std::map<std::string, bool> m_gpu_files;
  std::map<std::string, std::uint64_t> m_packed;
};

}  // namespace

std::string_view to_string(SizeKind kind) {
  switch (kind) {
    case SizeKind::folder: return "folder";
    case SizeKind::file: return "file";
    case SizeKind::section: return "section";
    case SizeKind::arch: return "arch";
    case SizeKind::rest: break;
  }
  return "rest";
}

SizeNode size_tree(const std::string& path, const FileTree& tree, unsigned threads) {
  return SizeTreeMaker(tree, threads).make(std::string(base_name(path)));
}

SizeNode size_tree(const std::string& path, Bytes file, unsigned threads) {
  const gpu::FileKind kind = gpu::file_kind(file.clamp(0, 64));
  if (kind != gpu::FileKind::other) {
    SizeNode node;
    node.name = base_name(path);
    node.kind = SizeKind::file;
    node.bytes = file.size();
    if (kind == gpu::FileKind::elf) {
      node.type = "elf";
      add_sections(node, section_sizes(file), elf_facts(path, file, {}).device_code);
    } else {
      node.type = "gpu";
      add_archs(node, gpu::read_device_code(kind, file), "");
    }
    return node;
  }
  const zip::Archive archive = zip::Archive::open(file);
  const WheelTree tree(archive);
  SizeTreeMaker maker(tree, threads);
  std::map<std::string, std::uint64_t> packed;
  for (const zip::Entry& entry : archive.entries()) packed.emplace(entry.name, entry.packed_size);
  maker.set_packed(std::move(packed));
  return maker.make(std::string(base_name(path)));
}

}  // namespace wheelsmith::wheel
