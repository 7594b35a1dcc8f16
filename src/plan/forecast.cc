#include "plan/forecast.h"

#include <algorithm>
#include <map>

#include "base/parallel.h"

namespace wheelsmith::plan {

namespace {

constexpr std::uint64_t k_largest_code = 1ull << 40;  // recipes are untrusted; sums must not overflow

}  // namespace

Forecast estimate(const gpu::ArchList& archs, const recipe::Estimate& known, unsigned cores) {
  Forecast result;
  result.memory_per_job = known.memory_per_job;
  if (known.seconds <= 0) return result;
  const std::size_t more = archs.requests.empty() ? 0 : archs.requests.size() - 1;
  result.seconds = (known.seconds + static_cast<double>(more) * known.seconds_per_arch) / std::max(1u, cores);
  result.disk = known.disk;
  result.wheel_size = known.wheel_size + more * std::min(known.wheel_size_per_arch, k_largest_code);
  result.from = Forecast::From::recipe;
  return result;
}

Forecast forecast(const BuildSpec& spec, const recipe::Estimate& known, const store::Store& store) {
  const auto cost = store.last_cost(spec.identity);
  if (!cost) return estimate(spec.archs, known, usable_threads());
  Forecast result;
  result.memory_per_job = known.memory_per_job;
  result.seconds = cost->seconds;
  result.disk = cost->disk;
  result.wheel_size = cost->wheel_size;
  result.from = Forecast::From::history;
  return result;
}

// Dependencies come first, so one pass from the end visits all dependents before the step itself.
std::vector<double> critical_seconds(const Plan& plan) {
  std::map<std::string_view, double> behind;
  std::vector<double> result(plan.steps.size());
  for (std::size_t i = plan.steps.size(); i-- > 0;) {
    const Step& step = plan.steps[i];
    // An unknown time counts as one minute: more than nothing, but less than a known long time.
    const double own = step.decision.cached                 ? 0
                       : step.decision.forecast.seconds > 0 ? step.decision.forecast.seconds
                                                            : 60;
    result[i] = own + behind[step.id()];
    for (const Edge& need : step.needs) behind[need.step] = std::max(behind[need.step], result[i]);
  }
  return result;
}

}  // namespace wheelsmith::plan
