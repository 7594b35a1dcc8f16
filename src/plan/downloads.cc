#include "plan/downloads.h"

#include "base/error.h"
#include "base/text.h"
#include "fetch/size.h"

namespace wheelsmith::plan {

namespace {

namespace fs = std::filesystem;

struct RemoteFile {
  std::string project, name, url, sha256;
};

std::optional<std::uint64_t> size_on_page(const RemoteFile& file, fetch::Fetcher& fetcher) {
  try {
    const pep::ProjectPage* page = fetcher.find_project(file.project);
    if (page == nullptr) return std::nullopt;
    for (const pep::ProjectFile& one : page->files) {
      if (one.name == file.name && one.size) return one.size;
    }
  } catch (const Error&) {  // only an estimate; the download itself reports the error
  }
  return std::nullopt;
}

std::optional<std::uint64_t> size_of(const RemoteFile& file, const PlanInputs& inputs) {
  if (const auto known = inputs.store.remembered("size", file.name, file.sha256)) return to_number(*known);
  auto size = size_on_page(file, inputs.fetcher);
  if (!size) size = fetch::remote_size(file.url, inputs.fetcher.options());
  if (size) inputs.store.remember("size", file.name, file.sha256, std::to_string(*size));
  return size;
}

// Files on this machine are copied, not downloaded.
bool is_here(const RemoteFile& file, const PlanInputs& inputs) {
  std::error_code ignored;
  return file.url.empty() || pep::path_of_file_url(file.url) || file.url.starts_with('/') ||
         fs::exists(inputs.store.folder("downloads") / file.sha256 / file.name, ignored);
}

}  // namespace

DownloadForecast forecast_downloads(const BuildSpec& spec, const PlanInputs& inputs) {
  DownloadForecast forecast;
  if (inputs.host.described || inputs.fetcher.options().offline) return forecast;
  std::vector<RemoteFile> files;
  for (const env::PinnedWheel& wheel : spec.environment.lock.wheels)
    files.push_back({wheel.name, wheel.file_name, wheel.url, wheel.sha256});
  if (spec.source.kind == source::Pin::Kind::archive && !spec.source.sha256.empty())
    files.push_back({spec.source.project, spec.source.file_name, spec.source.url, spec.source.sha256});
  for (const RemoteFile& file : files) {
    if (is_here(file, inputs)) continue;
    ++forecast.files;
    const auto size = size_of(file, inputs);
    forecast.bytes += size.value_or(0);
    if (!size) ++forecast.unknown;
  }
  return forecast;
}

}  // namespace wheelsmith::plan
