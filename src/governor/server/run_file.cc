#include "governor/server/run_file.h"

#include "base/text.h"
#include "governor/server/wire.h"
#include "sys/files.h"

namespace wheelsmith::governor {

void RunFile::write(const std::filesystem::path& path) const {
  Message message{Word::run,
                  {{"id", id},
                   {"name", name},
                   {"jobs", std::to_string(jobs)},
                   {"cores", std::to_string(cores)},
                   {"memory", std::to_string(memory)},
                   {"record", record.string()},
                   {"units", units.string()},
                   {"runtime", runtime.string()},
                   {"program", program.string()},
                   {"versions", versions.string()},
                   {"cache", cache.string()},
                   {"exchange", exchange.string()},
                   {"private_tmp", private_tmp ? "1" : "0"},
                   {"parts", parts ? "1" : "0"}}};
  sys::write_file(path, to_line(message));
}

std::optional<RunFile> RunFile::read(const std::filesystem::path& path) {
  const auto text = sys::read_file_if_possible(path, k_longest_line);
  const auto message = text ? parse_message(trim(*text)) : std::nullopt;
  if (!message || message->word != Word::run || message->text("id").empty()) return std::nullopt;
  RunFile run;
  run.id = message->text("id");
  run.name = message->text("name").substr(0, 200);
  run.jobs = static_cast<unsigned>(std::min<std::uint64_t>(message->number("jobs"), 1 << 20));
  run.cores = static_cast<unsigned>(std::min<std::uint64_t>(message->number("cores"), 1 << 20));
  run.memory = message->number("memory");
  run.record = message->text("record");
  run.units = message->text("units");
  run.runtime = message->text("runtime");
  run.program = message->text("program");
  run.versions = message->text("versions");
  run.cache = message->text("cache");
  run.exchange = message->text("exchange");
  run.private_tmp = message->flag("private_tmp");
  run.parts = message->flag("parts");
  return run;
}

}  // namespace wheelsmith::governor
