#include "attest/sbom.h"

#include <fmt/format.h>

#include <set>

#include "base/hash.h"
#include "base/text.h"
#include "pep/wheel_name.h"

namespace wheelsmith::attest {

namespace {

using document::Array;
using document::Table;
using document::Value;

// Of a package URL: everything but letters, digits and ".-_~" is encoded.
std::string purl_encoded(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
                       c == '-' || c == '_' || c == '~';
    if (plain)
      result += c;
    else
      result += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return result;
}

std::string purl(std::string_view type, std::string_view name, std::string_view version) {
  std::string result = fmt::format("pkg:{}/{}", type, purl_encoded(name));
  if (!version.empty()) result += "@" + purl_encoded(version);
  return result;
}

Value property(const std::string& name, const std::string& value) {
  Table item;
  item["name"] = "wheelsmith:" + name;
  item["value"] = value;
  return item;
}

Array properties_of(const Properties& properties) {
  Array items;
  for (const auto& [name, value] : properties) items.push_back(property(name, value));
  return items;
}

Array hashes_of(const std::string& sha256) {
  Table hash;
  hash["alg"] = "SHA-256";
  hash["content"] = sha256;
  return {hash};
}

// References must be unique in the document, and two libraries of one name may be in a wheel.
class References {
 public:
  std::string make(const Component& component) {
    std::string wanted = component.purl.empty() ? component.type + ":" + component.name : component.purl;
    for (int again = 2; !m_taken.insert(wanted).second; ++again)
      wanted = fmt::format("{}#{}", component.purl.empty() ? component.name : component.purl, again);
    return wanted;
  }

 private:
  std::set<std::string> m_taken;
};

Table component_value(const Component& component, const std::string& reference) {
  Table table;
  table["type"] = component.type;
  table["bom-ref"] = reference;
  table["name"] = component.name;
  if (!component.version.empty()) table["version"] = component.version;
  if (!component.sha256.empty()) table["hashes"] = hashes_of(component.sha256);
  if (!component.purl.empty()) table["purl"] = component.purl;
  if (!component.properties.empty()) table["properties"] = properties_of(component.properties);
  return table;
}

Component package_component(const SbomInputs& inputs) {
  return {"library", inputs.name, inputs.version, pypi_purl(inputs.name, inputs.version), ""};
}

// Where its source came from.
Array source_references(const SbomInputs& inputs) {
  Array references;
  for (const VcsSource& repository : inputs.repositories) {
    if (repository.url.empty() || !repository.path.empty()) continue;
    Table item;
    item["type"] = "vcs";
    item["url"] = repository.url;
    item["comment"] = "commit " + repository.commit;
    references.emplace_back(std::move(item));
  }
  if (!inputs.sdist.empty()) {
    Table item;
    item["type"] = "source-distribution";
    item["url"] = pypi_purl(inputs.name, inputs.version) + "?file_name=" + purl_encoded(inputs.sdist);
    item["hashes"] = hashes_of(inputs.sdist_sha256);
    references.emplace_back(std::move(item));
  }
  return references;
}

Table main_component(const SbomInputs& inputs, const std::string& reference) {
  Table table = component_value(package_component(inputs), reference);
  if (Array references = source_references(inputs); !references.empty())
    table["externalReferences"] = std::move(references);
  Array commits;
  Array properties = properties_of(inputs.properties);
  for (const VcsSource& repository : inputs.repositories) {
    if (!repository.path.empty()) {
      properties.push_back(property("submodule:" + repository.path, repository.url + "@" + repository.commit));
      continue;
    }
    Table commit;
    commit["uid"] = repository.commit;
    if (!repository.url.empty()) commit["url"] = repository.url;
    commits.emplace_back(std::move(commit));
  }
  if (!commits.empty()) {
    Table pedigree;
    pedigree["commits"] = std::move(commits);
    table["pedigree"] = std::move(pedigree);
  }
  for (const auto& [name, sha256] : inputs.patches) properties.push_back(property("patch:" + name, "sha256:" + sha256));
  if (!properties.empty()) table["properties"] = std::move(properties);
  return table;
}

Value builder_value(const std::string& version) {
  Table builder;
  builder["type"] = "application";
  builder["name"] = "wheelsmith";
  builder["version"] = version;
  Table tools;
  tools["components"] = Array{builder};
  return tools;
}

// A UUID of version 8 (RFC 9562: the maker's own rule), here the first bytes of a SHA-256.
std::string content_uuid(std::string_view text) {
  Digest digest = sha256(Bytes(text));
  digest.resize(16);
  digest[6] = static_cast<std::uint8_t>((digest[6] & 0x0f) | 0x80);
  digest[8] = static_cast<std::uint8_t>((digest[8] & 0x3f) | 0x80);
  const std::string hex = to_hex(digest);
  return fmt::format("{}-{}-{}-{}-{}", hex.substr(0, 8), hex.substr(8, 4), hex.substr(12, 4), hex.substr(16, 4),
                     hex.substr(20));
}

}  // namespace

document::Value make_sbom(const SbomInputs& inputs) {
  References references;
  const std::string self = references.make(package_component(inputs));
  Array bundled, used, contained;
  for (const Component& component : inputs.bundled) {
    const std::string reference = references.make(component);
    bundled.emplace_back(component_value(component, reference));
    contained.emplace_back(reference);
  }
  for (const Component& component : inputs.used)
    used.emplace_back(component_value(component, references.make(component)));

  Table phase;
  phase["phase"] = "build";
  Table metadata;
  metadata["lifecycles"] = Array{phase};
  metadata["tools"] = builder_value(inputs.builder_version);
  metadata["component"] = main_component(inputs, self);
  Table dependency;
  dependency["ref"] = self;
  dependency["dependsOn"] = std::move(contained);
  Table formula;
  formula["bom-ref"] = "build";
  formula["components"] = std::move(used);

  Table bom;
  bom["$schema"] = "http://cyclonedx.org/schema/bom-1.6.schema.json";
  bom["bomFormat"] = "CycloneDX";
  bom["specVersion"] = "1.6";
  bom["serialNumber"] = "";  // its place; the value follows from all the others
  bom["version"] = 1;
  bom["metadata"] = std::move(metadata);
  bom["components"] = std::move(bundled);
  bom["dependencies"] = Array{dependency};
  bom["formulation"] = Array{formula};
  bom["serialNumber"] = "urn:uuid:" + content_uuid(document::canonical_json(bom));
  return bom;
}

std::string pypi_purl(std::string_view project, std::string_view version) {
  return purl("pypi", pep::normalized_name(project), version);
}

std::string generic_purl(std::string_view name, std::string_view version) { return purl("generic", name, version); }

std::string system_purl(std::string_view type, std::string_view vendor, std::string_view name, std::string_view version,
                        const Properties& qualifiers) {
  const std::string space = vendor.empty() ? std::string(type) : fmt::format("{}/{}", type, purl_encoded(vendor));
  std::string result = purl(space, name, version);
  char mark = '?';
  for (const auto& [key, value] : qualifiers) {
    result += mark + key + "=" + purl_encoded(value);
    mark = '&';
  }
  return result;
}

std::string public_url(std::string_view url) {
  constexpr std::string_view k_schemes[] = {"https", "http", "git", "ssh", "git+https", "git+http", "git+ssh"};
  const std::size_t colon = url.find("://");
  if (colon == std::string_view::npos || !is_one_of(to_lower(url.substr(0, colon)), k_schemes)) return "";
  const std::size_t begin = colon + 3;
  const std::size_t end = std::min(url.find_first_of("/?#", begin), url.size());
  const std::size_t at = url.substr(0, end).rfind('@');
  const std::size_t host = at == std::string_view::npos || at < begin ? begin : at + 1;
  return std::string(url.substr(0, begin)) + std::string(url.substr(host));
}

}  // namespace wheelsmith::attest
