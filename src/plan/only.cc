#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "plan/plan.h"

namespace wheelsmith::plan {

namespace {

const Step& chosen_step(const Plan& plan, const std::string& name) {
  if (const Step* step = plan.find(name)) return *step;
  std::vector<const Step*> found;
  for (const Step& step : plan.steps) {
    if (step.spec.package == name || step.spec.project == name) found.push_back(&step);
  }
  if (found.size() == 1) return *found.front();
  std::vector<std::string> ids;
  for (const Step& step : plan.steps) ids.push_back(step.id());
  if (found.empty())
    throw Error(fmt::format("--only {}: the plan has no such step; it has {}", printable(name), join(ids, ", ")));
  throw Error(fmt::format("--only {}: the plan has {} steps for it; give the id of one: {}", printable(name),
                          found.size(), join(ids, ", ")));
}

}  // namespace

void keep_only(Plan& plan, const std::string& name) {
  const std::string wanted = chosen_step(plan, name).id();
  std::set<std::string> kept{wanted};
  for (auto step = plan.steps.rbegin(); step != plan.steps.rend(); ++step) {
    if (!kept.contains(step->id())) continue;
    // Other jobs build what is delivered alongside, and optional dependencies that are in no store.
    std::erase_if(step->needs, [&](const Edge& need) {
      const Step* other = plan.find(need.step);
      return need.kind == Edge::Kind::alongside || (need.optional && !other->decision.cached);
    });
    for (const Edge& need : step->needs) {
      const Step* other = plan.find(need.step);
      if (!other->decision.cached)
        throw Error(
            fmt::format("--only {}: it needs {}, which is neither in this store nor in a remote one; build that "
                        "first: --only {}",
                        printable(wanted), printable(need.step), printable(need.step)));
      kept.insert(need.step);
    }
  }
  std::erase_if(plan.steps, [&](const Step& step) { return !kept.contains(step.id()); });
}

}  // namespace wheelsmith::plan
