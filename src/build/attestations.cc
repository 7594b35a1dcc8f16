#include "build/attestations.h"

#include <fmt/format.h>

#include "attest/statement.h"
#include "base/error.h"
#include "base/hash.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::build {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t k_most_statement = 64 << 20;

void remove_signatures(const fs::path& file) {
  std::error_code ignored;
  for (const attest::SignMethod method : attest::k_sign_methods)
    fs::remove(attest::signature_of(file, method), ignored);
}

fs::path put_statement(const run::StepOutcome& outcome) {
  const fs::path& wheel = outcome.wheel;
  const Blob file = sys::map_file(wheel);
  const document::Value statement = attest::make_statement(wheel.filename().string(), outcome.artifact->sha256,
                                                           attest::read_carried_files(file.bytes));
  const fs::path path = wheel.string() + std::string(attest::k_statement_ending);
  const std::string text = document::to_json(statement) + "\n";
  if (outcome.replaced) remove_signatures(wheel);
  if (sys::read_file_if_possible(path, k_most_statement) == text) return path;
  remove_signatures(path);
  sys::write_file(path, text);
  return path;
}

// Sign only the wheel that was built, not a file that replaced it.
void sign_outcome(run::StepOutcome& outcome, const attest::Signer& signer) {
  const std::string found = to_hex(sha256(sys::map_file(outcome.wheel).bytes));
  if (found != outcome.artifact->sha256)
    throw Error(fmt::format("{} is not signed: it changed after it was built", outcome.wheel.string()));
  for (const fs::path& file : {outcome.wheel, outcome.statement})
    outcome.signatures.push_back(attest::sign_file(signer, file));
}

}  // namespace

void attest_wheels(std::vector<run::StepOutcome>& outcomes, const std::optional<attest::Signer>& signer) {
  for (run::StepOutcome& outcome : outcomes) {
    if (outcome.wheel.empty() || !outcome.artifact || !outcome.made()) continue;
    outcome.statement = put_statement(outcome);
    if (signer) sign_outcome(outcome, *signer);
  }
}

}  // namespace wheelsmith::build
