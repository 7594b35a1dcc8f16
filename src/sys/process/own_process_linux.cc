#include <unistd.h>

#include <array>
#include <cerrno>

#include "sys/file.h"
#include "sys/process/child_linux.h"
#include "sys/process/own_process.h"

namespace wheelsmith::sys {

std::string host_name() {
  std::array<char, 256> text{};
  return ::gethostname(text.data(), text.size() - 1) == 0 ? text.data() : "?";
}

Captured capture_to_the_end(const Command& command) {
  constexpr std::size_t k_most = 64 << 20;
  Captured captured;
  const auto keep = [](std::string& text) {
    return
        [&text](std::string_view piece) { text.append(piece.substr(0, std::min(piece.size(), k_most - text.size()))); };
  };
  Child child(command, ErrorStream::separate);
  captured.exit = child.wait(keep(captured.output), keep(captured.errors), {}, std::chrono::seconds(2));
  return captured;
}

void become(const std::filesystem::path& program, const std::vector<std::string>& argv) {
  std::vector<std::string> copies = argv;
  std::vector<char*> words;
  for (std::string& word : copies) words.push_back(word.data());
  words.push_back(nullptr);
  ::execv(program.c_str(), words.data());
  throw_sys_error(errno, "start", program);
}

}  // namespace wheelsmith::sys
