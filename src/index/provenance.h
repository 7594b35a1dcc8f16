#pragma once

#include <array>
#include <string>
#include <string_view>

// Provenance of the files of an index, stored next to them.

namespace wheelsmith::index {

// Companion files that are published unchanged: signatures, statements, attestations without a publisher yet.
inline constexpr std::array<std::string_view, 8> k_beside = {
    ".asc", ".intoto.json",   ".intoto.json.asc",     ".intoto.json.sig", ".intoto.json.sigstore.json",
    ".sig", ".sigstore.json", ".publish.attestation",
};

// FILE.provenance as PEP 740 defines it: a version, bundles of a publisher and its attestations, each with verification
// material and an envelope whose statement is about this file. Returns "" or the problem. Clients verify signatures:
// they decide whom to trust.
std::string provenance_problem(std::string_view text, const std::string& file_name, const std::string& sha256);
// The same for one attestation by itself (FILE.publish.attestation).
std::string attestation_problem(std::string_view text, const std::string& file_name, const std::string& sha256);

}  // namespace wheelsmith::index
