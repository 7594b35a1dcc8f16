#include "index/provenance.h"

#include <fmt/format.h>

#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "document/value.h"

namespace wheelsmith::index {

namespace {

using document::Array;
using document::Value;

// Standard base64 with its padding; nothing for anything else.
std::optional<std::string> base64_decoded(std::string_view text) {
  constexpr std::string_view k_alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (text.empty() || text.size() % 4 != 0) return std::nullopt;
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  std::string result;
  std::uint32_t bits = 0, count = 0;
  for (const char c : text.substr(0, text.size() - padding)) {
    const std::size_t value = k_alphabet.find(c);
    if (value == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    result += static_cast<char>(bits >> count & 0xff);
  }
  return result;
}

std::string statement_problem(const Value& statement, const std::string& file_name, const std::string& sha256) {
  if (statement["_type"].text_or() != "https://in-toto.io/Statement/v1")
    return "its statement is not an in-toto statement";
  if (statement["predicateType"].text_or().empty()) return "its statement has no predicateType";
  const Array* subjects = statement["subject"].array();
  if (subjects == nullptr || subjects->size() != 1) return "its statement does not have exactly one subject";
  const Value& subject = subjects->front();
  if (subject["name"].text_or() != file_name)
    return fmt::format("its statement is about {}", printable(subject["name"].text_or("no file")));
  if (subject["digest"]["sha256"].text_or() != sha256) return "its statement has another SHA-256 for that name";
  return "";
}

std::string check_attestation(const Value& attestation, const std::string& file_name, const std::string& sha256) {
  if (attestation["version"].integer_or(0) != 1) return "an attestation does not have version 1";
  const Value& material = attestation["verification_material"];
  if (!base64_decoded(material["certificate"].text_or())) return "an attestation has no certificate";
  const Array* entries = material["transparency_entries"].array();
  if (entries == nullptr || entries->empty() || entries->front().table() == nullptr)
    return "an attestation has no transparency entries";
  const Value& envelope = attestation["envelope"];
  if (!base64_decoded(envelope["signature"].text_or())) return "an attestation has no signature";
  const auto statement = base64_decoded(envelope["statement"].text_or());
  if (!statement) return "an attestation has no statement";
  const auto document = document::try_parse_json(*statement);
  if (!document) return "the statement of an attestation is not JSON";
  return statement_problem(*document, file_name, sha256);
}

std::string check_provenance(const Value& provenance, const std::string& file_name, const std::string& sha256) {
  if (provenance["version"].integer_or(0) != 1) return "it does not have version 1";
  const Array* bundles = provenance["attestation_bundles"].array();
  if (bundles == nullptr || bundles->empty()) return "it has no attestation_bundles";
  for (const Value& bundle : *bundles) {
    if (bundle["publisher"]["kind"].text_or().empty()) return "a bundle does not name the kind of its publisher";
    const Array* attestations = bundle["attestations"].array();
    if (attestations == nullptr || attestations->empty()) return "a bundle has no attestations";
    for (const Value& attestation : *attestations) {
      if (std::string problem = check_attestation(attestation, file_name, sha256); !problem.empty()) return problem;
    }
  }
  return "";
}

}  // namespace

std::string provenance_problem(std::string_view text, const std::string& file_name, const std::string& sha256) {
  const auto document = document::try_parse_json(text);
  return document ? check_provenance(*document, file_name, sha256) : "it is not JSON";
}

std::string attestation_problem(std::string_view text, const std::string& file_name, const std::string& sha256) {
  const auto document = document::try_parse_json(text);
  return document ? check_attestation(*document, file_name, sha256) : "it is not JSON";
}

}  // namespace wheelsmith::index
