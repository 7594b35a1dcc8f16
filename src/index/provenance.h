#pragma once

#include <array>
#include <string>
#include <string_view>

// What proves where a file of an index came from, and lies beside it.

namespace wheelsmith::index {

// Files that are published with theirs, as they are: signatures, statements, attestations that wait for a publisher.
inline constexpr std::array<std::string_view, 8> k_beside = {
    ".asc", ".intoto.json",   ".intoto.json.asc",     ".intoto.json.sig", ".intoto.json.sigstore.json",
    ".sig", ".sigstore.json", ".publish.attestation",
};

// FILE.provenance as PEP 740 defines it: a version, bundles of a publisher and its attestations, each of them with
// verification material and an envelope whose statement is about this file. "" or what is wrong. Signatures are left to
// clients: they know whom they trust.
std::string provenance_problem(std::string_view text, const std::string& file_name, const std::string& sha256);
// The same for one attestation by itself (FILE.publish.attestation).
std::string attestation_problem(std::string_view text, const std::string& file_name, const std::string& sha256);

}  // namespace wheelsmith::index
