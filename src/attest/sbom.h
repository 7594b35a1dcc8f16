#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "document/value.h"

// The software bill of materials that a wheel carries in its .dist-info/sboms folder (PEP 770): CycloneDX 1.6 as JSON.
//
// The contents of the wheel are in `components`; its build inputs are in `formulation`, so that a scanner does not
// report a compiler's vulnerabilities as the package's. It contains no time, host or path, and its serial number is
// derived from its content: the same build gives the same bytes.

namespace wheelsmith::attest {

using Properties = std::vector<std::pair<std::string, std::string>>;

struct Component {
  std::string type = "library";  // or "application", "file", "platform"
  std::string name, version;
  std::string purl;    // "" for what has none
  std::string sha256;  // "" if unknown
  Properties properties{};
};

struct VcsSource {
  std::string path;         // of a submodule; "" for the source itself
  std::string url, commit;  // url "": it is not public
};

struct SbomInputs {
  std::string name, version;    // of the wheel
  std::string builder_version;  // of wheelsmith
  std::vector<VcsSource> repositories{};
  std::string sdist{}, sdist_sha256{};                         // file name; "" for other sources
  std::vector<std::pair<std::string, std::string>> patches{};  // name, SHA-256
  Properties properties{};
  std::vector<Component> bundled{};  // shared libraries in the wheel
  std::vector<Component> used{};     // build requirements, compilers, toolkits, libraries
};

document::Value make_sbom(const SbomInputs& inputs);

// "pkg:pypi/flash-attn@2.8.3%2Bcu130"
std::string pypi_purl(std::string_view project, std::string_view version);
// "pkg:generic/gcc@12.2.0"
std::string generic_purl(std::string_view name, std::string_view version);

// "pkg:deb/debian/libgomp1@12.2.0-14?arch=amd64&distro=debian-12": a package of a distribution.
std::string system_purl(std::string_view type, std::string_view vendor, std::string_view name, std::string_view version,
                        const Properties& qualifiers);

// The address without user and password; "" for what is not reachable by others (a folder, file:, an scp-like address
// without a scheme): such an address says nothing to readers and would reveal a path.
std::string public_url(std::string_view url);

}  // namespace wheelsmith::attest
