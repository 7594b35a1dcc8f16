// module: rocm
// A server's answers: a page of a bucket's listing, and BUILD_TOPOLOGY.toml. All resulting names must be safe as local
// file names, and a listing must end.

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "pep/project/project_page.h"
#include "rocm/fetch/fetch.h"

using namespace wheelsmith;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const rocm::BucketPage page = rocm::parse_bucket_page(text, "7-linux/");
    for (const rocm::ListedFile& file : page.files) {
      if (!pep::is_safe_file_name(file.name) || file.name.find('/') != file.name.npos) std::abort();
    }
    rocm::FetchSelection selection;
    selection.include = {"_lib_"};
    for (const rocm::ChosenFile& file : rocm::choose_files(page.files, selection, nullptr)) {
      if (file.file.find("_lib_") == file.file.npos) std::abort();
    }
  } catch (const Error&) {}
  try {
    const rocm::Topology topology = rocm::parse_topology(text, "topology");
    for (const auto& [stage, groups] : topology.stages) {
      for (const std::string& name : topology.inbound(stage, "linux")) {
        const auto found = topology.artifacts.find(name);
        if (found == topology.artifacts.end()) continue;
        for (const std::string& group : groups) {
          if (found->second.group == group) std::abort();  // a stage must not depend on its own output
        }
      }
    }
  } catch (const Error&) {}
  return 0;
}
