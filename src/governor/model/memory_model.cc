#include "governor/model/memory_model.h"

#include <algorithm>
#include <cmath>

// Three estimates, best first. A unit compiled before needs what it needed: its peak, lowered slowly when it needs
// less, raised at once when it needs more. A unit with similar units needs as much as the largest of them: too much
// idles a core for a minute, too little gets a process killed. Otherwise there is a prior by compiler, architectures
// and source size, multiplied by how far priors of that compiler have been off here. Beside the peak the model records
// what is needed after it (tail.cc); priors have no such data.

namespace wheelsmith::governor {

namespace {

constexpr double k_megabyte = 1e6;
constexpr std::uint64_t k_least = 16'000'000;
// Observations needed to correct a prior downwards. Upwards one is enough: of 72 unknown kernels, the first that took
// three times the prior stands for the rest.
constexpr unsigned k_enough = 3;

// nvcc compiles `threads` architectures in parallel: the need of one is known, more take more. Host passes are shared,
// so the total does not double.
double thread_factor(unsigned wanted, unsigned known) {
  const auto weight = [](unsigned threads) { return 0.4 + 0.6 * std::max(1U, threads); };
  return wanted <= known ? 1.0 : weight(wanted) / weight(known);
}

std::uint64_t bytes(double value) { return std::max(k_least, static_cast<std::uint64_t>(std::max(0.0, value))); }

}  // namespace

std::uint64_t with_slack(std::uint64_t seen) { return seen + seen / 64 + 16'000'000; }

std::string_view to_string(Estimate::From from) {
  switch (from) {
    case Estimate::From::unit: return "unit";
    case Estimate::From::family: return "family";
    case Estimate::From::prior: break;
  }
  return "prior";
}

Estimate prior(const UnitFacts& facts) {
  const double size = static_cast<double>(facts.size);
  const double archs = std::max(1U, facts.archs);
  double memory = 0;
  double seconds = 0;
  switch (facts.kind) {
    // Large C sources are mostly tables of numbers: measured, 22 bytes of memory per byte of text.
    case Kind::c:
      memory = 40 * k_megabyte + 22 * size;
      seconds = 0.3 + size / 4e6;
      break;
    case Kind::fortran:
    case Kind::cxx:
      memory = 300 * k_megabyte + 40 * size;
      seconds = 5 + size / 2e4;
      break;
    case Kind::cuda:
      memory = (2000 * k_megabyte + 40 * size) * thread_factor(facts.threads, 1);
      seconds = 60 + 40 * (archs - 1);
      break;
    case Kind::hip:
      memory = 1200 * k_megabyte + 40 * size;
      seconds = 30 + 20 * (archs - 1);
      break;
    case Kind::link:
      memory = 30 * k_megabyte + 1.6 * size;
      seconds = 0.2 + size / 2e8;
      break;
    // Parts of nvcc, by the size of the text that they read: measured with 18 MB of torch's headers.
    case Kind::preprocess:
      memory = 220 * k_megabyte;
      seconds = 2.5;
      break;
    case Kind::front:
      memory = 60 * k_megabyte + 130 * size;
      seconds = 0.2 + size / 5e5;
      break;
    case Kind::device:
      memory = 1000 * k_megabyte + 150 * size;
      seconds = 10 + size / 4e5;
      break;
    case Kind::assemble:
      memory = 100 * k_megabyte + 45 * size;
      seconds = 1 + size / 6e5;
      break;
    case Kind::bundle:
      memory = 40 * k_megabyte + 4 * size;
      seconds = 0.1 + size / 1e8;
      break;
    case Kind::host:
      memory = 150 * k_megabyte + 100 * size;
      seconds = 0.5 + size / 5e5;
      break;
  }
  return {bytes(memory), seconds, Estimate::From::prior, 0, {}};
}

Estimate MemoryModel::estimate(const UnitFacts& facts) const {
  Estimate result = prior(facts);
  const auto unit = m_units.find(facts.unit);
  const auto family = m_families.find(facts.family);
  if (unit != m_units.end()) {
    const double factor = thread_factor(facts.threads, unit->second.last.facts.threads);
    result = {bytes(static_cast<double>(with_slack(unit->second.peak)) * factor), unit->second.seconds,
              Estimate::From::unit, unit->second.last.peak, unit->second.tails.value_or(Tails())};
  } else if (family != m_families.end()) {
    const double memory = static_cast<double>(family->second.peak) * 1.05 + 8 * k_megabyte;
    result = {bytes(memory), family->second.seconds, Estimate::From::family, family->second.peak, {}};
    for (const auto& tail : family->second.tails.value_or(std::vector<Family::TailShare>()))
      result.tails.push_back({tail.falls, bytes(memory * tail.memory)});
  } else if (const auto found = m_corrections.find(facts.kind);
             found != m_corrections.end() && (found->second.count >= k_enough || found->second.memory_sum > 0)) {
    const Correction& correction = found->second;
    const double mean = correction.memory_sum / correction.count;
    const double spread = std::sqrt(std::max(0.0, correction.memory_squares / correction.count - mean * mean));
    result.memory = bytes(static_cast<double>(result.memory) * std::exp(std::clamp(mean + spread, -3.0, 3.0)));
    result.seconds *= std::exp(std::clamp(correction.seconds_sum / correction.count, -4.0, 4.0));
  }
  if (const auto floor = m_floors.find(facts.unit); floor != m_floors.end()) {
    result.memory = std::max(result.memory, floor->second);
  }
  if (const auto floor = m_family_floors.find(facts.family);
      floor != m_family_floors.end() && result.from != Estimate::From::unit) {
    result.memory = std::max(result.memory, floor->second);
  }
  return result;
}

// Where two runs differ, nothing after that point is certain.
void MemoryModel::learn_tails(Unit& unit, Family& family, const Observation& observation) {
  // In parallel, architectures fall together.
  if (!observation.tails || observation.facts.threads != 1) return;
  const Tails& seen = *observation.tails;
  const double peak = static_cast<double>(std::max(k_least, observation.peak));
  if (!unit.tails) unit.tails = seen;
  if (!family.tails) {
    family.tails.emplace();
    for (const Tail& tail : seen) family.tails->push_back({tail.falls, 0});
  }
  const auto agree = [&seen](auto& known, const auto& raise) {
    std::size_t i = 0;
    for (; i < std::min(known.size(), seen.size()) && known[i].falls == seen[i].falls; ++i) raise(known[i], seen[i]);
    known.resize(i);
  };
  agree(*unit.tails, [](Tail& known, const Tail& now) { known.memory = std::max(known.memory, now.memory); });
  agree(*family.tails, [peak](Family::TailShare& known, const Tail& now) {
    known.memory = std::max(known.memory, static_cast<double>(now.memory) / peak);
  });
}

void MemoryModel::learn(const Observation& observation) {
  const UnitFacts& facts = observation.facts;
  Unit& unit = m_units[facts.unit];
  const bool known = unit.peak != 0;
  // A compile cache hit: says nothing about compiling.
  if (known && observation.peak < unit.peak / 2 && observation.seconds < unit.seconds / 4) return;
  // A sampled peak is a lower bound; a lower value today may be luck.
  unit.peak =
      !known || observation.peak >= unit.peak ? observation.peak : unit.peak - (unit.peak - observation.peak) / 2;
  unit.seconds = known ? (unit.seconds + observation.seconds) / 2 : observation.seconds;
  unit.last = observation;
  m_floors.erase(facts.unit);

  Family& family = m_families[facts.family];
  family.peak = std::max(family.peak, observation.peak);
  if (!known) family.seconds += (observation.seconds - family.seconds) / ++family.count;
  learn_tails(unit, family, observation);

  if (known) return;
  const Estimate expected = prior(facts);
  const double memory =
      std::log(static_cast<double>(std::max(k_least, observation.peak)) / static_cast<double>(expected.memory));
  Correction& correction = m_corrections[facts.kind];
  correction.memory_sum += memory;
  correction.memory_squares += memory * memory;
  correction.seconds_sum += std::log(std::max(0.02, observation.seconds) / expected.seconds);
  ++correction.count;
}

void MemoryModel::needs_more_than(const UnitFacts& facts, std::uint64_t amount) {
  std::uint64_t& unit = m_floors[facts.unit];
  unit = std::max(unit, amount);
  std::uint64_t& family = m_family_floors[facts.family];
  family = std::max(family, amount);
}

std::vector<Observation> MemoryModel::known(std::size_t most) const {
  std::vector<Observation> result;
  for (const auto& [id, unit] : m_units) {
    result.push_back(unit.last);
    result.back().peak = unit.peak;
    result.back().tails = unit.tails;
    result.back().seconds = unit.seconds;
  }
  std::sort(result.begin(), result.end(), [](const Observation& a, const Observation& b) { return a.when < b.when; });
  if (result.size() > most) result.erase(result.begin(), result.end() - static_cast<std::ptrdiff_t>(most));
  return result;
}

}  // namespace wheelsmith::governor
