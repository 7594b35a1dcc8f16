#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "env/env.h"
#include "sys/file.h"
#include "sys/files.h"
#include "testing/wheel_builder.h"

namespace wheelsmith::env {

// A store, an interpreter of this machine and a folder for wheels, without any network.
struct TestEnv {
  sys::TempDir temp;
  store::Store store{temp.path() / "store"};
  std::filesystem::path links = temp.path() / "links";
  toolchain::Python python = machine_python();
  fetch::Fetcher fetcher = make_fetcher();

  static toolchain::Python machine_python() {
    static const toolchain::Python python = [] {
      toolchain::Host where;
      where.environment = sys::current_environment();
      return *toolchain::read_python(sys::find_program("python3"), where);
    }();
    return python;
  }
  fetch::Fetcher make_fetcher() {
    std::filesystem::create_directories(links);
    fetch::FetchOptions options;
    options.index.no_index = true;
    options.index.find_links = {links.string()};
    return {store, options};
  }
  std::filesystem::path put(const testing::WheelBuilder& wheel) const {
    const std::filesystem::path file = links / wheel.file_name();
    std::filesystem::remove(file);
    std::ofstream(file, std::ios::binary) << wheel.build();
    return file;
  }
  Environment scratch(const std::string& name = "scratch") {
    return make_scratch_environment(python, {}, temp.path() / name);
  }
};

inline std::string output_of(const std::vector<std::string>& argv, const std::string& folder = "/") {
  const sys::Captured done = sys::capture({.argv = argv, .folder = folder});
  EXPECT_TRUE(done.exit.good()) << sys::shell_quoted(argv) << "\n" << done.output << done.errors;
  return done.output;
}

template <class Function>
std::string error_of(Function function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

inline std::string text_in(const std::filesystem::path& file) { return sys::read_file(file); }

}  // namespace wheelsmith::env
