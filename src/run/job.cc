#include "run/job.h"

#include <fmt/format.h>

#include "pep/project_page.h"

namespace wheelsmith::run {

using document::Array;
using document::Table;
using document::Value;

std::string NeededWheel::requirement() const { return fmt::format("{} @ {}", project, pep::file_url(wheel.string())); }

Value Job::to_value() const {
  Table table;
  table["schema"] = 1;
  table["step"] = step.to_value();
  table["store"] = store.string();
  table["out"] = out.string();
  table["log"] = log.string();
  Array wheels;
  for (const NeededWheel& need : needs)
    wheels.emplace_back(Array{need.project, need.version, need.wheel.string(), need.direct ? "direct" : "indirect"});
  table["needs"] = std::move(wheels);
  Table places;
  for (const auto& [from, to] : mirrors) places[from] = to;
  table["mirrors"] = std::move(places);
  table["jobs"] = static_cast<std::int64_t>(jobs);
  Table cached;
  cached["program"] = cache.program.string();
  cached["folder"] = cache.folder.string();
  cached["size"] = cache.size;
  cached["compression"] = cache.compression;
  table["cache"] = std::move(cached);
  table["governed"] = governed;
  table["most_jobs"] = most_jobs;
  table["memory"] = memory;
  table["silence_seconds"] = silence_seconds;
  table["clean"] = clean;
  table["offline"] = offline;
  return table;
}

Job Job::from_value(const Value& value) {
  Job job;
  job.step = plan::Step::from_value(value["step"]);
  job.store = value["store"].text_or();
  job.out = value["out"].text_or();
  job.log = value["log"].text_or();
  if (const Array* wheels = value["needs"].array()) {
    for (const Value& wheel : *wheels) {
      const std::vector<std::string> words = wheel.texts();
      if (words.size() == 4) job.needs.push_back({words[0], words[1], words[2], words[3] == "direct"});
    }
  }
  if (const Table* places = value["mirrors"].table()) {
    for (const auto& [from, to] : *places) job.mirrors[from] = to.text_or();
  }
  job.jobs = static_cast<unsigned>(value["jobs"].integer_or(1));
  const Value& cached = value["cache"];
  job.cache.program = cached["program"].text_or();
  job.cache.folder = cached["folder"].text_or();
  job.cache.size = static_cast<std::uint64_t>(cached["size"].integer_or(0));
  job.cache.compression = cached["compression"].text_or("1");
  job.governed = value["governed"].boolean_or(true);
  job.most_jobs = static_cast<unsigned>(value["most_jobs"].integer_or(0));
  job.memory = static_cast<std::uint64_t>(value["memory"].integer_or(0));
  job.silence_seconds = value["silence_seconds"].number();
  job.clean = value["clean"].boolean_or(false);
  job.offline = value["offline"].boolean_or(false);
  return job;
}

}  // namespace wheelsmith::run
