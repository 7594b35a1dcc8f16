// Runs a fuzz target over its stored corpus: a text file with one input per line, as hex (so that a corpus can be
// reviewed and merged by git). Lines that start with '#' are comments. An empty corpus is a failure.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
  std::size_t count = 0;
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i]);
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with('#')) continue;
      std::vector<std::uint8_t> input;
      for (std::size_t at = 0; at + 1 < line.size(); at += 2) {
        input.push_back(static_cast<std::uint8_t>(std::stoul(line.substr(at, 2), nullptr, 16)));
      }
      LLVMFuzzerTestOneInput(input.data(), input.size());
      ++count;
    }
  }
  std::printf("%zu inputs replayed\n", count);
  return count > 0 ? 0 : 1;
}
