#include "run/job.h"

#include "plan/step/spec_fields.h"
#include "run/job_fields.h"

namespace wheelsmith::run {

document::Value Job::to_value() const {
  document::Value value = document::to_document(*this);
  (*value.table())["schema"] = 1;
  return value;
}

Job Job::from_value(const document::Value& value) { return document::from_document<Job>(value, "job"); }

}  // namespace wheelsmith::run
