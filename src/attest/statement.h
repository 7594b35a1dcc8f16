#pragma once

#include <string>
#include <vector>

#include "attest/carried_files.h"
#include "document/value.h"

// The provenance of a wheel as an in-toto Statement (v1) with a SLSA Provenance predicate (v1). A statement names the
// wheel's own hash, so it cannot be inside: it is stored next to the wheel as WHEEL.intoto.json. It is derived from the
// wheel's bytes alone, so anyone with the wheel can recreate and compare it; it adds a form that other tools read and
// that can be signed.

namespace wheelsmith::attest {

inline constexpr std::string_view k_statement_ending = ".intoto.json";
inline constexpr std::string_view k_statement_type = "https://in-toto.io/Statement/v1";
inline constexpr std::string_view k_provenance_type = "https://slsa.dev/provenance/v1";
inline constexpr std::string_view k_build_type = "urn:wheelsmith:build-type:1";
inline constexpr std::string_view k_builder_id = "urn:wheelsmith:builder:local";

document::Value make_statement(const std::string& file_name, const std::string& sha256, const CarriedFiles& files);

// Problems of a statement about this wheel, as sentences; none if it agrees with the wheel. `statement` is untrusted.
std::vector<std::string> compare_statement(const document::Value& statement, const std::string& file_name,
                                           const std::string& sha256, const CarriedFiles& files);

}  // namespace wheelsmith::attest
