#include "attest/verify.h"

#include <fmt/format.h>

#include <algorithm>

#include "attest/statement.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::attest {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t k_most_statement = 64 << 20;

std::vector<CheckedSignature> check_signatures(const fs::path& file, const Trusted& trusted) {
  std::vector<CheckedSignature> result;
  for (const SignMethod method : k_sign_methods) {
    const fs::path signature = signature_of(file, method);
    std::error_code ignored;
    if (!fs::exists(signature, ignored)) continue;
    CheckedSignature checked{signature, method, {}};
    try {
      checked.result = verify_file(method, file, signature, trusted);
    } catch (const Error& error) {  // one signature becomes an answer
      checked.result = {Verification::State::unchecked, "", error.what()};
    }
    result.push_back(std::move(checked));
  }
  return result;
}

void check_statement(WheelVerification& result, Bytes wheel, const Trusted& trusted) {
  const fs::path path = result.path.string() + std::string(k_statement_ending);
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return;
  result.statement = path;
  try {
    const document::Value statement =
        document::parse_json(sys::read_file(path, k_most_statement), path.filename().string());
    result.statement_problems =
        compare_statement(statement, result.path.filename().string(), result.sha256, read_carried_files(wheel));
  } catch (const Error& error) {  // an input becomes an answer
    result.statement_problems = {error.what()};
  }
  result.statement_signatures = check_signatures(path, trusted);
}

const CheckedSignature* find_state(const std::vector<CheckedSignature>& signatures, Verification::State state) {
  const auto found =
      std::ranges::find_if(signatures, [&](const CheckedSignature& one) { return one.result.state == state; });
  return found == signatures.end() ? nullptr : &*found;
}

}  // namespace

std::string WheelVerification::why() const {
  using State = Verification::State;
  if (!error.empty()) return error;
  for (const auto* list : {&signatures, &statement_signatures}) {
    if (const CheckedSignature* bad = find_state(*list, State::bad))
      return fmt::format("{} is not a valid signature: {}", bad->path.filename().string(), bad->result.why);
  }
  if (!statement_problems.empty())
    return fmt::format("{} does not belong to the wheel: {}", statement.filename().string(), statement_problems[0]);
  if (signatures.empty()) return "there is no signature next to it (.asc, .sig or .sigstore.json)";
  if (find_state(signatures, State::good) == nullptr)
    return fmt::format("{} was not checked: {}", signatures[0].path.filename().string(), signatures[0].result.why);
  return "";
}

bool WheelVerification::good() const { return why().empty(); }

WheelVerification verify_wheel(const fs::path& wheel, const Trusted& trusted) {
  WheelVerification result;
  result.path = wheel;
  try {
    const Blob file = sys::map_file(wheel);
    result.sha256 = to_hex(sha256(file.bytes));
    result.signatures = check_signatures(wheel, trusted);
    check_statement(result, file.bytes, trusted);
    // The signature programs read the file themselves, so it must be the same file that was hashed.
    if (to_hex(sha256(sys::map_file(wheel).bytes)) != result.sha256) throw Error("the wheel changed while it was read");
  } catch (const Error& error) {  // one input becomes an item with an error
    result.error = error.what();
  }
  return result;
}

}  // namespace wheelsmith::attest
