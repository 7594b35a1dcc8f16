// The libraries outside the checked folder whose symbols its files may use. Only the loader's default folders are
// searched: a library found by a run path is in the folder itself, or must be given with --against.

#include <deque>
#include <set>

#include "wheel/check/loader/loader.h"
#include "wheel/check/symbols/symbol_index.h"
#include "wheel/read/symbol_names.h"

namespace wheelsmith::wheel {

namespace {

constexpr std::size_t k_most_libraries = 300;
constexpr std::size_t k_most_searched = 5000;

class MachineLibraries {
 public:
  MachineLibraries(const std::vector<ElfFacts>& files, const LoaderMachine& machine) : m_machine(machine) {
    for (const ElfFacts& file : files) m_known.emplace(library_name(file));
  }

  // The libraries that the file needs, transitively.
  void add(const ElfFacts& file, Provider& provider) {
    std::deque<std::pair<std::string, std::string>> queue;  // library, processor
    const auto ask_for = [&](const ElfFacts& user) {
      for (const std::string& library : user.needed) {
        if (m_known.size() < k_most_searched && m_known.insert(library).second)
          queue.emplace_back(library, user.machine);
      }
    };
    ask_for(file);
    for (; !queue.empty() && m_count < k_most_libraries; queue.pop_front()) {
      auto found = find(queue.front().first, queue.front().second);
      if (!found) continue;
      ++m_count;
      ask_for(*found);
      provider.files.push_back(std::move(*found));
    }
  }

 private:
  [[nodiscard]] std::optional<ElfFacts> find(const std::string& library, const std::string& processor) const {
    if (library.find('/') != std::string::npos) return std::nullopt;
    for (const std::vector<std::string>* folders : {&m_machine.library_path, &m_machine.default_folders}) {
      for (const std::string& folder : *folders) {
        auto found = m_machine.library_at(folder + "/" + library);
        if (found && found->machine == processor) return found;
      }
    }
    return std::nullopt;
  }

  const LoaderMachine& m_machine;
  std::set<std::string> m_known;
  std::size_t m_count = 0;
};

}  // namespace

std::vector<Provider> machine_libraries(const std::vector<ElfFacts>& files, const LoaderMachine& machine) {
  if (!machine.library_at) return {};
  MachineLibraries libraries(files, machine);
  std::vector<Provider> providers(2);
  providers[0] = {"the interpreter", {}, Provider::Kind::interpreter};
  providers[1] = {"this machine", {}, Provider::Kind::machine};
  if (!machine.interpreter.empty()) {
    if (auto interpreter = machine.library_at(machine.interpreter)) {
      libraries.add(*interpreter, providers[0]);
      providers[0].files.push_back(std::move(*interpreter));
    }
  }
  for (const ElfFacts& file : files) {
    if (has_symbols_to_bind(file)) libraries.add(file, providers[1]);
  }
  return providers;
}

}  // namespace wheelsmith::wheel
