#include "run/job.h"

#include "plan/step/spec_fields.h"
#include "run/job_fields.h"

namespace wheelsmith::run {

store::StoreOptions Job::store_options() const {
  return {.scratch = scratch, .claim_timeout = std::chrono::seconds(claim_timeout)};
}

document::Value Job::to_value() const {
  document::Value value = document::to_document(*this);
  (*value.table())["schema"] = 1;
  return value;
}

Job Job::from_value(const document::Value& value) { return document::from_document<Job>(value, "job"); }

}  // namespace wheelsmith::run
