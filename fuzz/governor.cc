// module: governor
// Messages of shims, the journal of units, compiler command lines, and compilers' output about themselves.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "governor/model/unit.h"
#include "governor/model/unit_journal.h"
#include "governor/server/wire.h"
#include "governor/shim/compiler_facts.h"
#include "governor/shim/node_compile.h"

using namespace wheelsmith::governor;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // A parsed message must round-trip.
  if (const auto message = parse_message(text)) {
    const std::string line = to_line(*message);
    const auto again = parse_message(std::string_view(line).substr(0, line.size() - 1));
    if (!again || again->word != message->word || again->fields != message->fields) std::abort();
  }
  if (const auto observation = parse_line(text)) {
    const std::string line = to_line(*observation);
    const auto again = parse_line(std::string_view(line).substr(0, line.size() - 1));
    if (!again || again->facts.unit != observation->facts.unit || again->peak != observation->peak ||
        again->tails != observation->tails)
      std::abort();
    MemoryModel model;
    model.learn(*observation);
    (void)model.estimate(observation->facts);
  }
  std::vector<std::string> argv;
  for (const std::string_view word : wheelsmith::split(text, '\n')) argv.emplace_back(word);
  const auto command = read_command(argv, [&](const std::string& name) { return std::optional(name); });
  if (command) {
    const std::string family = family_of(*command);
    if (unit_id(*command, {}).size() != 32 || family.find_first_of(" \t\n") != family.npos) std::abort();
    (void)with_threads(argv, 2);
  }
  if (const auto request = NodeRequest::parse(text); request && request->argv.empty()) std::abort();
  if (const auto result = NodeResult::parse(text); result && (result->exit.code < 0 || result->exit.signal > 64))
    std::abort();
  (void)CompilerFacts::from_verbose(text);
  (void)CompilerFacts::from_nvcc(text, text);
  return 0;
}
