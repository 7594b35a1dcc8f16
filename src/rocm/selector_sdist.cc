// The source distribution `rocm`.
//
// It holds the module rocm_sdk, and a build backend of its own that says what is required: the core always, the others
// by extras. All of that is the same on every machine but for the extra `device`, which stands for the GPUs that are
// here. So its PKG-INFO names everything, and says of Requires-Dist that it is dynamic where there is a choice; with
// one target there is none, and installers need not build anything to know what they will install.
//
// The egg-info is what setuptools would have written: tools that promote a release look there.

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <memory>

#include "archive/tar_writer.h"
#include "base/error.h"
#include "base/text.h"
#include "rocm/python/python_side.h"
#include "rocm/python/python_table.h"

namespace wheelsmith::rocm {

namespace {

struct Extra {
  std::string name;
  std::vector<std::pair<std::string, std::string>> requires_dist;  // requirement, marker
};

struct Requirements {
  std::vector<std::string> always;
  std::vector<Extra> extras;
};

// The same rules as in rocm_selector.py, for a machine without GPUs; tests compare the two.
Requirements requirements(const DistInfo& info) {
  Requirements result;
  const auto require = [&](const std::string& name, std::string_view target) {
    return dist_name(info, name, target) + "==" + info.version;
  };
  const PythonPackage* for_targets = nullptr;  // the one that has a package for each target
  for (const PythonPackage& package : python_table().packages) {
    if (package.sdist || !provides(info, package)) continue;
    if (package.required) {
      result.always.push_back(require(package.name, ""));
    } else if (package.kpack_only) {
      for_targets = &package;
    } else {
      result.extras.push_back({package.name, {{require(package.name, info.default_target), ""}}});
    }
  }
  if (for_targets == nullptr) {
    result.extras.push_back({"device", {}});
    return result;
  }
  const auto of_target = [&](const std::string& target) {
    std::string marker;
    const bool linux_has = is_one_of(target, info.linux_targets), windows_has = is_one_of(target, info.windows_targets);
    if (!info.linux_targets.empty() && !info.windows_targets.empty() && linux_has != windows_has)
      marker = linux_has ? "sys_platform == \"linux\"" : "sys_platform == \"win32\"";
    return std::pair(require(for_targets->name, target), marker);
  };
  result.extras.push_back({"device", {of_target(info.default_target)}});
  Extra all{"device-all", {}};
  for (const std::string& target : info.targets) {
    result.extras.push_back({"device-" + target, {of_target(target)}});
    all.requires_dist.push_back(of_target(target));
  }
  result.extras.push_back(std::move(all));
  return result;
}

std::string pkg_info(const DistInfo& info, const Requirements& required) {
  const PythonPackage& meta = python_table().package("meta");
  std::string text = fmt::format("Metadata-Version: 2.2\nName: {}\nVersion: {}\nSummary: {}\nRequires-Python: >=3.8\n",
                                 meta.dist, info.version, meta.summary);
  text += "Description-Content-Type: text/markdown\n";
  for (const std::string& requirement : required.always) text += fmt::format("Requires-Dist: {}\n", requirement);
  for (const Extra& extra : required.extras) {
    text += fmt::format("Provides-Extra: {}\n", extra.name);
    for (const auto& [requirement, marker] : extra.requires_dist)
      text += fmt::format("Requires-Dist: {} ; {}{}extra == \"{}\"\n", requirement, marker,
                          marker.empty() ? "" : " and ", extra.name);
  }
  // Each family has its own release; targets can be chosen.
  if (info.targets.size() > 1) text += "Dynamic: Requires-Dist\n";
  return text + "\n" + std::string(python_source("rocm/README.md"));
}

std::string requires_txt(const Requirements& required) {
  std::string text = join(required.always, "\n") + "\n";
  for (const Extra& extra : required.extras) {
    std::vector<std::string> markers;
    for (const auto& [requirement, marker] : extra.requires_dist) {
      if (!is_one_of(marker, markers)) markers.push_back(marker);
    }
    if (markers.empty()) text += fmt::format("\n[{}]\n", extra.name);
    for (const std::string& marker : markers) {
      text += marker.empty() ? fmt::format("\n[{}]\n", extra.name) : fmt::format("\n[{}:{}]\n", extra.name, marker);
      for (const auto& [requirement, of] : extra.requires_dist) {
        if (of == marker) text += requirement + "\n";
      }
    }
  }
  return text;
}

class GzipSink final : public Sink {
 public:
  explicit GzipSink(Sink& sink) : m_sink(sink) {
    // 16: gzip, whose header zlib writes without a name and a time.
    if (deflateInit2(&m_stream, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK)
      throw Error("not enough memory for zlib");
  }
  ~GzipSink() override { deflateEnd(&m_stream); }
  GzipSink(const GzipSink&) = delete;
  GzipSink& operator=(const GzipSink&) = delete;

  void write(Bytes bytes) override { run(bytes, Z_NO_FLUSH); }
  void finish() { run(Bytes(), Z_FINISH); }

 private:
  void run(Bytes bytes, int flush) {
    m_stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data()));
    m_stream.avail_in = static_cast<uInt>(bytes.size());
    do {
      unsigned char buffer[16384];
      m_stream.next_out = buffer;
      m_stream.avail_out = sizeof buffer;
      if (deflate(&m_stream, flush) == Z_STREAM_ERROR) throw Error("zlib cannot compress the source distribution");
      m_sink.write(Bytes(buffer, sizeof buffer - m_stream.avail_out));
    } while (m_stream.avail_out == 0);
  }

  Sink& m_sink;
  z_stream m_stream{};
};

}  // namespace

std::string selector_sdist_name(const DistInfo& info) {
  return fmt::format("{}-{}.tar.gz", python_table().package("meta").dist, settled(info).version);
}

std::vector<TextFile> selector_sdist_files(const DistInfo& given) {
  const DistInfo info = settled(given);
  const Requirements required = requirements(info);
  std::vector<TextFile> files;
  for (TextFile& file : pure_package_files(info, "meta")) {
    file.path = "src/" + file.path;
    files.push_back(std::move(file));
  }
  for (const PythonSource& source : python_sources()) {
    if (source.path.starts_with("rocm/"))
      files.push_back({std::string(source.path.substr(5)), std::string(source.text)});
  }
  files.push_back({"PKG-INFO", pkg_info(info, required)});
  const std::string egg = "src/rocm.egg-info/";
  files.push_back({egg + "PKG-INFO", pkg_info(info, required)});
  files.push_back({egg + "requires.txt", requires_txt(required)});
  files.push_back({egg + "entry_points.txt", "[console_scripts]\nrocm-sdk = rocm_sdk._cli:main\n"});
  files.push_back({egg + "top_level.txt", "rocm_sdk\n"});
  files.push_back({egg + "dependency_links.txt", "\n"});
  std::sort(files.begin(), files.end(), [](const TextFile& a, const TextFile& b) { return a.path < b.path; });
  std::string sources;
  for (const TextFile& file : files) sources += file.path + "\n";
  files.push_back({egg + "SOURCES.txt", sources + egg + "SOURCES.txt\n"});
  return files;
}

void write_selector_sdist(const DistInfo& given, Sink& sink) {
  const std::string name = selector_sdist_name(given);
  const std::string top = name.substr(0, name.size() - std::string_view(".tar.gz").size());
  GzipSink packed(sink);
  archive::TarWriter tar(packed);
  for (const TextFile& file : selector_sdist_files(given)) tar.add(top + "/" + file.path, file.text);
  tar.finish();
  packed.finish();
}

}  // namespace wheelsmith::rocm
