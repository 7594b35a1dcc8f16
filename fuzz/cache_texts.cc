// module: cache
// Messages of a build to the compile cache: requests, dependencies, sources.

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "cache/compile.h"
#include "cache/dependencies.h"
#include "cache/scan.h"
#include "cache/words.h"

using namespace wheelsmith;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  (void)cache::scan_text(text);
  if (const auto names = cache::read_dependencies(text)) (void)cache::write_dependencies("t", *names, true);
  const cache::FileQuestions files{
      [&](const std::string&) -> std::optional<std::string> { return text.substr(size / 2); },
      [](const std::string& path) { return path.size() % 2 == 0; }};
  for (const char* program : {"/usr/bin/gcc", "/usr/bin/nvcc"}) {
    cache::CompileRequest request;
    request.program = program;
    request.identity = "clang version 19";
    request.folder = "/tree";
    request.argv = cache::split_words(text);
    request.environment = {"NVCC_APPEND_FLAGS=" + text.substr(0, size / 2), "CPATH=" + text};
    (void)cache::read_compile(request, files);
    (void)cache::nvcc_host_compiler(request.argv, request.environment, files);
  }
  try {
    const cache::CompileRequest request = cache::CompileRequest::from_bytes(text);
    if (cache::CompileRequest::from_bytes(request.to_bytes()).to_bytes() != request.to_bytes()) std::abort();
  } catch (const Error&) {  // not a request
  }
  return 0;
}
