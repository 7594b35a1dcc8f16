#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "base/text.h"
#include "report/versions.h"
#include "report/wheel/text.h"

namespace wheelsmith::report {

namespace {

constexpr std::size_t k_libraries_shown = 15;
constexpr std::size_t k_obstacles_shown = 3;
constexpr std::size_t k_largest_shown = 5;
constexpr std::size_t k_label_width = 11;

std::string upper(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return result;
}

std::string row(const Style& style, std::string_view label, const std::string& text) {
  return "  " + style.dim(pad_right(label, k_label_width)) + style.wrap(text, k_label_width + 2) + "\n";
}

std::string identity(const wheel::Inspection& item, const Style& style) {
  std::string text;
  if (!item.name.empty()) {
    text +=
        row(style, "package",
            printable(item.name + " " + item.version) + (item.build.empty() ? "" : printable(", build " + item.build)) +
                (item.label.empty() ? "" : printable(", variant " + item.label)));
  } else if (item.distributions.size() > 1) {
    text += row(style, "packages", std::to_string(item.distributions.size()));
  }
  if (!item.tags.empty()) text += row(style, "tags", printable(join(item.tags, " ")));
  std::string size = human_bytes(item.size);
  if (item.kind == wheel::ItemKind::wheel) {
    size += fmt::format(", {} unpacked, {}", human_bytes(item.unpacked_size), counted(item.file_count, "file"));
  } else if (item.kind == wheel::ItemKind::folder) {
    size += ", " + counted(item.file_count, "file");
  }
  return text + row(style, "size", size);
}

std::string platform(const wheel::Inspection& item, const Style& style) {
  if (!item.platform || !item.platform_beside_others) return "";
  std::string text = row(style, "platform", style.bold(printable(item.platform->tag)));
  if (item.platform_beside_others->tag != item.platform->tag && !item.used_packages.empty()) {
    text +=
        row(style, "",
            style.bold(printable(item.platform_beside_others->tag)) +
                " when installed with the packages whose libraries it uses (" + join(item.used_packages, ", ") + ")");
  }
  // A CUDA wheel always needs CUDA's libraries; show the other obstacles.
  const auto& obstacles = item.platform_beside_others->obstacles;
  const std::size_t shown = style.details ? obstacles.size() : std::min(obstacles.size(), k_obstacles_shown);
  for (std::size_t i = 0; i < shown; ++i) {
    text += row(style, "",
                style.dim("not ") + printable(obstacles[i].policy) + style.dim(": ") +
                    printable(obstacles[i].subject + " " + obstacles[i].what));
  }
  if (shown < obstacles.size()) {
    text += row(style, "", style.dim(fmt::format("and {} more (--all)", obstacles.size() - shown)));
  }
  return text;
}

std::string gpu_table(const wheel::Inspection& item, const Style& style) {
  if (item.gpu.empty()) return "";
  std::uint64_t most = 1;
  std::size_t arch_width = 4;
  std::size_t section_width = 7;
  for (const gpu::CodeSum& sum : item.gpu) {
    most = std::max(most, sum.bytes);
    arch_width = std::max(arch_width, columns(gpu::display_name(sum.arch, sum.kind)));
    section_width = std::max(section_width, columns(printable(sum.section)));
  }
  std::string text = "\n  " + style.bold("GPU code") + "\n";
  text += "  " +
          style.dim(pad_right("arch", arch_width) + "  kind   " + pad_right("section", section_width) +
                    "   count   on disk  unpacked") +
          "\n";
  for (const gpu::CodeSum& sum : item.gpu) {
    const std::string note = sum.relocatable ? " (for device linking)" : sum.wrapped ? "" : " (no wrapper)";
    text += "  " + style.cyan(pad_right(gpu::display_name(sum.arch, sum.kind), arch_width)) + "  " +
            pad_right(upper(gpu::to_string(sum.kind)), 5) + "  " + pad_right(printable(sum.section), section_width) +
            pad_left(std::to_string(sum.count), 8) + pad_left(human_bytes(sum.bytes), 10) +
            pad_left(human_bytes(sum.unpacked_bytes), 10) + "  " +
            style.green(style.bar(static_cast<double>(sum.bytes) / static_cast<double>(most), 20)) + style.dim(note) +
            "\n";
  }
  return text;
}

std::string archs_of(const gpu::DeviceCode& code) {
  std::vector<std::string> names;
  for (const gpu::CodeSum& sum : code.sums) {
    const std::string name = gpu::display_name(sum.arch, sum.kind);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return join(names, " ");
}

std::string library_details(const wheel::ElfFacts& file, const Style& style) {
  const auto line = [&](std::string_view label, const std::string& text) {
    return text.empty() ? "" : "      " + style.dim(pad_right(label, 10)) + style.wrap(printable(text), 16) + "\n";
  };
  std::string versions;
  for (const auto& [library, names] : file.versions_needed) versions += library + ": " + join(names, " ") + "  ";
  std::string text = line("soname", file.soname) + line("needed", join(file.needed, " ")) +
                     line("rpath", join(file.rpath, ":")) + line("runpath", join(file.runpath, ":")) +
                     line("versions", versions) + line("provides", join(file.versions_provided, " ")) +
                     line("build-id", file.build_id) + line("GPU code", archs_of(file.device_code));
  if (file.device_code.kpack) text += line("kpack", join(file.device_code.kpack->search_paths, " "));
  for (const std::string& problem : file.problems) text += line("problem", problem);
  for (const std::string& problem : file.device_code.problems) text += line("problem", problem);
  return text;
}

std::string library_line(const wheel::ElfFacts& file, const Style& style) {
  std::vector<std::string> facts;
  if (file.machine != "x86_64") facts.push_back(file.machine);
  const std::map<std::string, std::string> highest = highest_versions(file);
  for (const char* family : {"GLIBC", "GLIBCXX", "CXXABI"}) {
    if (const auto found = highest.find(family); found != highest.end())
      facts.push_back(found->first + " " + found->second);
  }
  if (file.python_extension) facts.emplace_back("Python extension");
  if (file.cxx11_abi == wheel::Cxx11Abi::old_abi) facts.emplace_back("old C++ ABI");
  if (!file.stripped) facts.emplace_back(file.debug_info ? "with debug information" : "not stripped");
  if (!file.rpath.empty()) facts.emplace_back("RPATH " + join(file.rpath, ":"));
  if (!file.runpath.empty()) facts.emplace_back("RUNPATH " + join(file.runpath, ":"));
  return "  " + pad_left(human_bytes(file.size), 7) + "  " + printable(file.path) + "\n" +
         (facts.empty() || style.details
              ? ""
              : "           " + style.dim(style.wrap(printable(join(facts, ", ")), 11)) + "\n");
}

std::string libraries(const wheel::Inspection& item, const Style& style) {
  if (item.elf.empty()) return "";
  std::vector<const wheel::ElfFacts*> files;
  for (const wheel::ElfFacts& file : item.elf) files.push_back(&file);
  if (!style.details) {
    std::stable_sort(files.begin(), files.end(), [](const auto* a, const auto* b) { return a->size > b->size; });
  }
  const std::size_t shown = style.details ? files.size() : std::min(files.size(), k_libraries_shown);
  std::string text = "\n  " + style.bold("Binaries") + style.dim(fmt::format(" ({})", files.size())) + "\n";
  for (std::size_t i = 0; i < shown; ++i) {
    text += library_line(*files[i], style);
    if (style.details) text += library_details(*files[i], style);
  }
  if (shown < files.size())
    text += style.dim(fmt::format("           and {} smaller binaries (--all)\n", files.size() - shown));
  return text;
}

std::string largest(const wheel::Inspection& item, const Style& style) {
  if (item.largest.size() < 2) return "";
  std::string text = "\n  " + style.bold("Largest files") + "\n";
  const std::size_t shown = style.details ? item.largest.size() : std::min(item.largest.size(), k_largest_shown);
  for (std::size_t i = 0; i < shown; ++i) {
    const wheel::LargeFile& file = item.largest[i];
    text += "  " + pad_left(human_bytes(file.size), 7) + "  " + printable(file.path) +
            (file.packed_size > 0 ? style.dim("  packed " + human_bytes(file.packed_size)) : "") + "\n";
  }
  return text;
}

}  // namespace

std::string to_text(const wheel::Inspection& item, const Style& style) {
  if (!item.error.empty()) return style.red("error") + " " + printable(item.path) + ": " + printable(item.error) + "\n";
  std::string text = style.bold(printable(item.path)) + style.dim(fmt::format("  ({})", to_string(item.kind))) + "\n";
  text += identity(item, style) + platform(item, style) + gpu_table(item, style) + libraries(item, style) +
          largest(item, style);
  for (const Finding& problem : item.problems) {
    text += "  " + style.red("unreadable") + " " + printable(problem.subject) + ": " + printable(problem.what) + "\n";
  }
  return text;
}

}  // namespace wheelsmith::report
