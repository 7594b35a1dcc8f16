#include "bundle/make_bundle.h"

#include <memory>

#include "base/request_error.h"
#include "base/text.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::bundle {

namespace {

namespace fs = std::filesystem;

// A folder, or the members of a wheel, with what keeps them alive.
struct OpenSdk {
  Blob file;
  std::unique_ptr<zip::Archive> archive;
  std::unique_ptr<FileTree> tree;
};

OpenSdk open_sdk(const std::string& path) {
  OpenSdk sdk;
  if (sys::is_folder(path)) {
    sdk.tree = std::make_unique<sys::FolderTree>(path);
    return sdk;
  }
  sdk.file = sys::map_file(path);
  try {
    sdk.archive = std::make_unique<zip::Archive>(zip::Archive::open(sdk.file.bytes));
  } catch (const Error& error) {
    throw error.in(printable(path) + " is neither a folder nor a wheel");
  }
  sdk.tree = std::make_unique<wheel::WheelTree>(*sdk.archive);
  return sdk;
}

void write_bundle(const BundleInputs& inputs, const BundleRequest& request, BundledWheel& made) {
  const Bundler bundler(inputs);
  made.summary = bundler.summary();
  sys::make_folders(request.out);
  made.path = request.out / made.summary.file_name;
  if (fs::exists(made.path) && fs::equivalent(made.path, request.wheel))
    throw RequestError(
        "the bundled wheel would have the same name: pass another folder (--out DIR) or a --local label");
  sys::AtomicFile target(made.path);
  made.size = bundler.write(target);
  target.commit();
}

}  // namespace

BundledWheel make_bundle(const BundleRequest& request) {
  BundleInputs inputs;
  inputs.file_name = fs::path(request.wheel).filename().string();
  inputs.local_label = request.local_label;
  inputs.time = request.time;
  inputs.threads = request.threads;
  const Blob file = sys::map_file(request.wheel);
  inputs.wheel = file.bytes;
  std::vector<OpenSdk> sdks;
  for (const std::string& path : request.from) {
    sdks.push_back(open_sdk(path));
    inputs.sdks.push_back({path, sdks.back().tree.get()});
  }
  BundledWheel made;
  try {
    write_bundle(inputs, request, made);
  } catch (const RequestError&) {  // about the command, not about the wheel
    throw;
  } catch (const Error& error) {
    throw error.in(printable(inputs.file_name));
  }
  // The result is checked in the same way as users would check it.
  const Blob written = sys::map_file(made.path);
  wheel::CheckOptions options;
  options.threads = inputs.threads;
  made.verdict = wheel::check_wheel(made.path.filename().string(), written.bytes, options);
  return made;
}

}  // namespace wheelsmith::bundle
