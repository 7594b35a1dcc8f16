#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "document/value.h"
#include "plan/step/spec.h"
#include "store/store.h"
#include "wheel/interface/interface.h"

// The early cut-off: a step that needs the wheels of other steps is kept if they were rebuilt, but what its build saw
// of them is unchanged. Each finished step has a document of what it saw (Store::seen). Its key stays the exact one, of
// the wheels that it was built with; find_kept() finds such a step for a new key.

namespace wheelsmith::plan {

// A wheel of another step, in the build environment.
struct EnvironmentWheel {
  std::string project, file_name, sha256;
};

// What a build saw of such a wheel.
struct SeenWheel {
  EnvironmentWheel wheel;
  bool all_headers = true;   // false: `headers` are those that its compiles have read
  std::string header_names;  // SHA-256 of the names of all headers: a new one can hide another
  wheel::Interface::Files headers;
  wheel::Interface::Files others;
};

// `headers_read`: SHA-256 of all files that the compiles have read; none: not known, so that all headers count.
SeenWheel seen_wheel(const EnvironmentWheel& wheel, const wheel::Interface& interface,
                     const std::optional<std::set<std::string>>& headers_read);
document::Value seen_value(const std::vector<SeenWheel>& seen);
// Throws Error. The document comes from a store, which other machines may share.
std::vector<SeenWheel> read_seen(const document::Value& value);

// The first difference between what was seen and a wheel, as "include/a.h changed"; "" if there is none.
std::string seen_difference(const SeenWheel& seen, const std::string& file_name, const wheel::Interface& now);

// Whether both wheels have a shared library of the same name: one may be a copy, whose code counts. Extension modules
// are not compared; many packages have a _C.
bool share_a_library(const wheel::Interface& one, const wheel::Interface& other);

// The interface of a wheel in the store, computed once; nothing if the wheel is missing or unreadable.
std::optional<wheel::Interface> stored_interface(const std::string& sha256, store::Store& store);

struct KeptStep {
  store::StepRecord record;
  std::vector<std::string> rebuilt;  // projects whose wheels differ from those that it was built with
};
struct CutOff {
  std::optional<KeptStep> kept;
  std::string why_not;  // "torch: include/a.h changed", of the newest step that differs only in its needs; or ""
};
// A finished step that differs from `spec` only in the keys of the steps that it needs, and that saw nothing of the
// change. `wheels` are all wheels of other steps in the environment.
CutOff find_kept(const BuildSpec& spec, const std::vector<EnvironmentWheel>& wheels, store::Store& store);
// Whether there is a step that find_kept() would compare.
bool may_be_kept(const BuildSpec& spec, const store::Store& store);

// "torch was rebuilt, its ABI is unchanged: torchvision is kept".
std::string kept_reason(const std::string& package, const std::vector<std::string>& rebuilt);

}  // namespace wheelsmith::plan
