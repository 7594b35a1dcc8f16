#include "wheel/read/distribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/text.h"

namespace wheelsmith::wheel {

namespace {

// Headers of all distributions are kept in memory, so each is limited (1 MB is a long description) and so is the total
// (a site-packages with 1000 packages has about 20 MB).
constexpr std::uint64_t k_most_header_bytes = 4'000'000;
constexpr std::uint64_t k_most_memory = 64'000'000;

std::uint64_t memory_of(const pep::Headers& headers) {
  std::uint64_t bytes = headers.body.size();
  for (const auto& [name, value] : headers.fields) bytes += 2 * sizeof(std::string) + name.size() + value.size();
  return bytes;
}

std::optional<pep::Headers> read_headers(const FileTree& tree, const std::string& name, std::uint64_t& memory_left,
                                         std::vector<std::string>& problems) {
  try {
    const std::optional<Blob> blob = tree.open(name);
    if (!blob) return std::nullopt;
    if (blob->bytes.size() > k_most_header_bytes) {
      throw Error(fmt::format("is {}, larger than the limit of {}", human_bytes(blob->bytes.size()),
                              human_bytes(k_most_header_bytes)));
    }
    pep::Headers headers = pep::Headers::parse(blob->bytes);
    const std::uint64_t memory = memory_of(headers);
    if (memory > memory_left)
      throw Error("was not read: the other packages' metadata already reached the memory limit");
    memory_left -= memory;
    return headers;
  } catch (const Error& error) {
    problems.emplace_back(error.in(name).what());
    return std::nullopt;
  }
}

}  // namespace

bool Distribution::is_purelib() const { return wheel && to_lower(wheel->get("Root-Is-Purelib")) == "true"; }

std::vector<Distribution> find_distributions(const FileTree& tree, const std::vector<FileTree::File>& files) {
  std::set<std::string> folders;
  for (const FileTree::File& file : files) {
    const std::string_view top = std::string_view(file.name).substr(0, file.name.find('/'));
    if (top.size() < file.name.size() && top.ends_with(".dist-info")) folders.emplace(top);
  }
  std::uint64_t memory_left = k_most_memory;
  std::vector<Distribution> result;
  for (const std::string& folder : folders) {
    Distribution distribution;
    distribution.dist_info = folder;
    distribution.metadata = read_headers(tree, folder + "/METADATA", memory_left, distribution.problems);
    distribution.wheel = read_headers(tree, folder + "/WHEEL", memory_left, distribution.problems);
    const auto has = [&](const std::string& name) {
      return std::binary_search(files.begin(), files.end(), FileTree::File{name, 0},
                                [](const auto& x, const auto& y) { return x.name < y.name; });
    };
    distribution.has_record = has(folder + "/RECORD");
    distribution.is_installed = has(folder + "/INSTALLER");
    result.push_back(std::move(distribution));
  }
  return result;
}

}  // namespace wheelsmith::wheel
