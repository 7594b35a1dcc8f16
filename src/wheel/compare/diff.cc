#include "wheel/compare/diff.h"

// Two trees side by side. Files are paired by their paths, with the version taken out of the names of .dist-info and
// .data folders: demo-1.0.dist-info/METADATA and demo-1.1.dist-info/METADATA are one file that changed.
//
// METADATA and WHEEL are compared by fields. RECORD follows from the other files, so it is compared only if they are
// all equal. In installed folders, byte code caches are skipped: they contain the time of installation.
//
// Members of two archives whose packed bytes are equal are not unpacked.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <set>

#include "base/error.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "base/text.h"
#include "pep/wheel_name.h"
#include "wheel/compare/compare.h"
#include "wheel/read/distribution.h"

namespace wheelsmith::wheel {

namespace {

using Kind = Difference::Kind;

// "demo-1.0.dist-info/RECORD" -> "demo.dist-info/RECORD", "Demo-1.0.data/x" -> "demo.data/x".
std::string pairing_path(const std::string& path) {
  const std::size_t slash = path.find('/');
  if (slash == path.npos) return path;
  const std::string top = path.substr(0, slash);
  for (const std::string_view ending : {".dist-info", ".data"}) {
    if (!top.ends_with(ending)) continue;
    const std::string stem = top.substr(0, top.size() - ending.size());
    const std::size_t dash = stem.find('-');
    if (dash == stem.npos) return path;
    return pep::escaped_name(stem.substr(0, dash)) + std::string(ending) + path.substr(slash);
  }
  return path;
}

bool is_byte_code_cache(std::string_view path) {
  return path.find("__pycache__/") != path.npos || path.ends_with(".pyc");
}

bool is_in_dist_info(std::string_view path, std::string_view file) {
  const std::size_t slash = path.find('/');
  return slash != path.npos && path.substr(0, slash).ends_with(".dist-info") && path.substr(slash + 1) == file;
}

std::string size_and_hash(Bytes bytes) {
  return fmt::format("{} bytes, sha256 {}", bytes.size(), to_hex(sha256(bytes)).substr(0, 16));
}

class TreeDiff {
 public:
  TreeDiff(const DiffSide& left, const DiffSide& right, const DiffOptions& options)
      : m_left(left), m_right(right), m_options(options) {}

  Diff run() {
    if (same_bytes(m_left.bytes, m_right.bytes) && m_left.bytes.size() != 0 && m_left.file_name == m_right.file_name)
      return {};
    pair_files();
    compare_distributions();
    compare_files();
    compare_records();
    if (m_left.archive != nullptr && m_right.archive != nullptr) compare_containers();
    return finish();
  }

 private:
  struct Pair {
    std::string left, right;  // names; "" if absent
    std::uint64_t left_size = 0, right_size = 0;
  };

  static bool same_bytes(Bytes a, Bytes b) {
    return a.size() == b.size() && (a.size() == 0 || std::memcmp(a.data(), b.data(), a.size()) == 0);
  }

  void add(Kind kind, std::string subject, std::string left, std::string right, std::vector<std::string> reasons = {}) {
    m_differences.push_back({kind, std::move(subject), std::move(left), std::move(right), std::move(reasons)});
  }

  void pair_files() {
    const bool installed = m_left.archive == nullptr || m_right.archive == nullptr;
    const auto take = [&](const FileTree& tree, std::string Pair::* name, std::uint64_t Pair::* size) {
      for (const FileTree::File& file : tree.files()) {
        if (installed && is_byte_code_cache(file.name)) continue;
        Pair& pair = m_pairs[pairing_path(file.name)];
        pair.*name = file.name;
        pair.*size = file.size;
      }
    };
    take(*m_left.tree, &Pair::left, &Pair::left_size);
    take(*m_right.tree, &Pair::right, &Pair::right_size);
    // A lone binary has one file, whatever it is called.
    if (m_pairs.size() == 2 && m_left.archive == nullptr && m_right.archive == nullptr && m_left.bytes.size() != 0 &&
        m_right.bytes.size() != 0) {
      Pair only = m_pairs.begin()->second;
      const Pair& other = std::next(m_pairs.begin())->second;
      (only.left.empty() ? only.left : only.right) = only.left.empty() ? other.left : other.right;
      (only.left_size == 0 ? only.left_size : only.right_size) =
          only.left_size == 0 ? other.left_size : other.right_size;
      m_pairs = {{only.left, only}};
    }
  }

  // By the normal form of the project's name.
  std::map<std::string, Distribution> distributions_of(const FileTree& tree) {
    std::map<std::string, Distribution> result;
    for (Distribution& one : find_distributions(tree, tree.files())) {
      std::string name = pep::normalized_name(one.name().empty() ? one.dist_info : one.name());
      result.emplace(std::move(name), std::move(one));
    }
    return result;
  }

  void compare_distributions() {
    const auto here = distributions_of(*m_left.tree), there = distributions_of(*m_right.tree);
    // In a wheel there is one; in an environment the subject says which.
    const bool one_each = here.size() == 1 && there.size() == 1;
    if (one_each) {
      compare_distribution("", here.begin()->second, there.begin()->second);
      return;
    }
    for (const auto& [name, distribution] : here) {
      const auto found = there.find(name);
      if (found == there.end())
        add(Kind::metadata, name, distribution.version(), "");
      else
        compare_distribution(name + ": ", distribution, found->second);
    }
    for (const auto& [name, distribution] : there) {
      if (!here.contains(name)) add(Kind::metadata, name, "", distribution.version());
    }
  }

  void compare_distribution(const std::string& prefix, const Distribution& left, const Distribution& right) {
    compare_words(Kind::tag, prefix, left.tags(), right.tags());
    const pep::Headers none;
    const auto fields = [&](const std::optional<pep::Headers>& one) -> const pep::Headers& {
      return one ? *one : none;
    };
    compare_fields(prefix, fields(left.metadata), fields(right.metadata));
    compare_fields(prefix + "WHEEL ", fields(left.wheel), fields(right.wheel));
    const std::string &body = fields(left.metadata).body, &other = fields(right.metadata).body;
    if (body != other)
      add(Kind::metadata, prefix + "description", size_and_hash(Bytes(body)), size_and_hash(Bytes(other)),
          why_different("METADATA", Bytes(body), Bytes(other)));
  }

  void compare_words(Kind kind, const std::string& prefix, std::vector<std::string> left,
                     std::vector<std::string> right) {
    std::ranges::sort(left);
    std::ranges::sort(right);
    std::vector<std::string> only;
    std::ranges::set_difference(left, right, std::back_inserter(only));
    for (const std::string& word : only) add(kind, prefix + word, word, "");
    only.clear();
    std::ranges::set_difference(right, left, std::back_inserter(only));
    for (const std::string& word : only) add(kind, prefix + word, "", word);
  }

  // A field that occurs once on both sides has a left and a right value; for other fields each value is a difference.
  void compare_fields(const std::string& prefix, const pep::Headers& left, const pep::Headers& right) {
    std::map<std::string, std::pair<std::vector<std::string>, std::vector<std::string>>> fields;
    std::map<std::string, std::string> spelling;
    const auto take = [&](const pep::Headers& headers, bool is_left) {
      for (const auto& [field, value] : headers.fields) {
        const std::string key = to_lower(field);
        if (key == "tag") continue;
        spelling.try_emplace(key, field);
        (is_left ? fields[key].first : fields[key].second).emplace_back(trim(value));
      }
    };
    take(left, true);
    take(right, false);
    for (auto& [key, values] : fields) {
      auto& [here, there] = values;
      std::ranges::sort(here);
      std::ranges::sort(there);
      if (here == there) continue;
      if (here.size() <= 1 && there.size() <= 1) {
        add(Kind::metadata, prefix + spelling[key], here.empty() ? "" : here[0], there.empty() ? "" : there[0]);
        continue;
      }
      std::vector<std::string> only;
      std::ranges::set_difference(here, there, std::back_inserter(only));
      for (const std::string& value : only) add(Kind::metadata, prefix + spelling[key], value, "");
      only.clear();
      std::ranges::set_difference(there, here, std::back_inserter(only));
      for (const std::string& value : only) add(Kind::metadata, prefix + spelling[key], "", value);
    }
  }

  [[nodiscard]] bool same_packed(const Pair& pair) const {
    if (m_left.archive == nullptr || m_right.archive == nullptr || pair.left_size != pair.right_size) return false;
    const zip::Entry* here = m_left.archive->find(pair.left);
    const zip::Entry* there = m_right.archive->find(pair.right);
    return here != nullptr && there != nullptr && here->method == there->method && here->crc32 == there->crc32 &&
           here->packed_size == there->packed_size && !here->is_encrypted() && !there->is_encrypted() &&
           same_bytes(m_left.archive->packed(*here), m_right.archive->packed(*there));
  }

  void compare_files() {
    std::vector<std::pair<std::string, Pair>> both;
    for (const auto& [path, pair] : m_pairs) {
      if (pair.right.empty())
        add(Kind::file, pair.left, fmt::format("{} bytes", pair.left_size), "");
      else if (pair.left.empty())
        add(Kind::file, pair.right, "", fmt::format("{} bytes", pair.right_size));
      else
        both.emplace_back(path, pair);
    }
    std::mutex mutex;
    parallel_for(both.size(), m_options.threads, [&](std::size_t i) {
      std::vector<Difference> found = compare_file(both[i].first, both[i].second);
      const std::lock_guard lock(mutex);
      std::ranges::move(found, std::back_inserter(m_differences));
    });
  }

  std::vector<Difference> compare_file(const std::string& path, const Pair& pair) {
    std::vector<Difference> result;
    if (is_in_dist_info(path, "RECORD")) return result;
    try {
      if (same_packed(pair)) return result;
      const auto left = m_left.tree->open(pair.left), right = m_right.tree->open(pair.right);
      if (!left || !right || same_bytes(left->bytes, right->bytes)) return result;
      const bool by_fields = is_in_dist_info(path, "METADATA") || is_in_dist_info(path, "WHEEL");
      diff_binaries(pair.left, left->bytes, right->bytes, result);
      result.push_back({by_fields ? Kind::bytes : Kind::file, pair.left, size_and_hash(left->bytes),
                        size_and_hash(right->bytes), why_different(path, left->bytes, right->bytes)});
    } catch (const Error& error) {  // becomes a difference
      result.push_back({Kind::file, pair.left, error.what(), error.what()});
    }
    return result;
  }

  // Byte differences of METADATA and WHEEL are reported only if their fields are equal.
  void drop_explained_bytes() {
    const bool has_fields = std::ranges::any_of(
        m_differences, [](const Difference& one) { return one.kind == Kind::metadata || one.kind == Kind::tag; });
    if (!has_fields) return;
    std::erase_if(m_differences, [](const Difference& one) {
      return one.kind == Kind::bytes && (one.subject.ends_with("/METADATA") || one.subject.ends_with("/WHEEL"));
    });
  }

  void compare_records() {
    drop_explained_bytes();
    if (!m_differences.empty()) return;
    for (const auto& [path, pair] : m_pairs) {
      if (!is_in_dist_info(path, "RECORD") || pair.left.empty() || pair.right.empty()) continue;
      const auto left = m_left.tree->open(pair.left), right = m_right.tree->open(pair.right);
      if (left && right && !same_bytes(left->bytes, right->bytes))
        add(Kind::bytes, pair.left, size_and_hash(left->bytes), size_and_hash(right->bytes),
            why_different(path, left->bytes, right->bytes));
    }
  }

  void compare_containers() {
    compare_file_names();
    // With equal members, compare the archives themselves.
    const std::vector<std::string> reasons = compare_archive_headers(*m_left.archive, *m_right.archive);
    if (!reasons.empty())
      add(Kind::bytes, "archive", size_and_hash(m_left.bytes), size_and_hash(m_right.bytes), reasons);
    else if (m_differences.empty() && !same_bytes(m_left.bytes, m_right.bytes))
      add(Kind::bytes, "archive", size_and_hash(m_left.bytes), size_and_hash(m_right.bytes),
          {"headers of the archive that do not describe members"});
  }

  // The tags of the file name count for installers; those of WHEEL are compared with the metadata.
  void compare_file_names() {
    const auto here = pep::WheelName::try_parse(m_left.file_name), there = pep::WheelName::try_parse(m_right.file_name);
    if (!here || !there) return;
    const auto field = [&](Kind kind, const char* what, const std::string& left, const std::string& right) {
      if (left != right) add(kind, fmt::format("file name: {}", what), left, right);
    };
    field(Kind::tag, "tags", fmt::format("{}-{}-{}", here->python, here->abi, here->platform),
          fmt::format("{}-{}-{}", there->python, there->abi, there->platform));
    field(Kind::metadata, "build", here->build, there->build);
    field(Kind::tag, "variant label", here->label, there->label);
    if (!pep::same_name(here->name, there->name)) field(Kind::metadata, "name", here->name, there->name);
    field(Kind::metadata, "version", here->version, there->version);
  }

  [[nodiscard]] bool is_ignored(const Difference& difference) const {
    return std::ranges::any_of(m_options.ignore, [&](const std::string& pattern) {
      const std::string_view subject = difference.subject;
      return pattern == enum_name(difference.kind) || glob_match(pattern, subject) ||
             glob_match(pattern, subject.substr(0, subject.find(": ")));
    });
  }

  Diff finish() {
    std::erase_if(m_differences, [&](const Difference& one) { return is_ignored(one); });
    std::ranges::stable_sort(m_differences, [](const Difference& a, const Difference& b) {
      return std::tie(a.kind, a.subject, a.left, a.right) < std::tie(b.kind, b.subject, b.left, b.right);
    });
    return {std::move(m_differences)};
  }

  const DiffSide& m_left;
  const DiffSide& m_right;
  const DiffOptions& m_options;
  std::map<std::string, Pair> m_pairs;
  std::vector<Difference> m_differences;
};

}  // namespace

Diff diff(const DiffSide& left, const DiffSide& right, const DiffOptions& options) {
  return TreeDiff(left, right, options).run();
}

}  // namespace wheelsmith::wheel
