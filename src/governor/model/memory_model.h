#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "governor/model/tail.h"
#include "governor/model/unit.h"

// Predicts a compile's need from past compiles. Values in, values out; UnitJournal stores them on disk.

namespace wheelsmith::governor {

struct UnitFacts {
  std::string unit;    // unit_id()
  std::string family;  // family_of()
  Kind kind = Kind::c;
  std::uint64_t size = 0;  // of the source, or of all link inputs
  unsigned archs = 1;
  unsigned threads = 1;  // architectures compiled in parallel
};

struct Estimate {
  enum class From { unit, family, prior };
  std::uint64_t memory = 0;
  double seconds = 0;
  From from = From::prior;
  // Measured for it, or its largest similar unit, with one thread; without with_slack().
  std::uint64_t peak = 0;
  Tails tails;
};
std::string_view to_string(Estimate::From from);

struct Observation {
  UnitFacts facts;
  std::uint64_t peak = 0;
  double seconds = 0;
  std::int64_t when = 0;       // seconds since 1970
  std::optional<Tails> tails;  // nothing: its beginning was not observed
};

class MemoryModel {
 public:
  [[nodiscard]] Estimate estimate(const UnitFacts& facts) const;
  // A successful compile.
  void learn(const Observation& observation);
  // A compile that ran out of memory, or that is using this much and not done: it needs more than this.
  void needs_more_than(const UnitFacts& facts, std::uint64_t bytes);

  // All observations, newest last; at most `most`.
  [[nodiscard]] std::vector<Observation> known(std::size_t most) const;
  [[nodiscard]] std::size_t size() const { return m_units.size(); }

 private:
  struct Unit {
    Observation last;
    std::uint64_t peak = 0;
    double seconds = 0;
    std::optional<Tails> tails;  // with one thread
  };
  struct Family {
    std::uint64_t peak = 0;
    double seconds = 0;  // mean
    unsigned count = 0;
    struct TailShare {
      unsigned falls = 0;
      double memory = 0;  // as a share of the peak, the largest of all
    };
    std::optional<std::vector<TailShare>> tails;  // as far as all known ones agree
  };
  static void learn_tails(Unit& unit, Family& family, const Observation& observation);
  // Errors of the prior, as logarithms.
  struct Correction {
    double memory_sum = 0, memory_squares = 0, seconds_sum = 0;
    unsigned count = 0;
  };

  std::map<std::string, Unit, std::less<>> m_units;
  std::map<std::string, Family, std::less<>> m_families;
  std::map<std::string, std::uint64_t, std::less<>> m_floors;         // by unit
  std::map<std::string, std::uint64_t, std::less<>> m_family_floors;  // while a build runs
  std::map<Kind, Correction> m_corrections;
};

// The reservation for a measured need: the same input needs the same, up to what changes between two samples.
std::uint64_t with_slack(std::uint64_t seen);

// The estimate for a unit without measurements of it or any similar unit.
Estimate prior(const UnitFacts& facts);

}  // namespace wheelsmith::governor
