// The bill of materials of the copied libraries, in addition to the one that the wheel may have from its build (PEP
// 770 allows any number).

#include "attest/sbom.h"
#include "base/hash.h"
#include "base/text.h"
#include "bundle/bundler.h"

namespace wheelsmith::bundle {

void Bundler::add_sbom() {
  attest::SbomInputs sbom{.name = pep::normalized_name(m_name.name),
                          .version = pep::WheelName::parse(m_summary.file_name).version,
                          .builder_version = WHEELSMITH_VERSION};
  for (const auto& [path, chosen] : m_chosen) {
    attest::Component library;
    library.name = base_name(path);
    library.properties.emplace_back("path", m_root + "/" + path);
    // Bundling changes its run path; RECORD has the hash of the result.
    library.properties.emplace_back("sdk-sha256", to_hex(sha256(m_view.open(chosen.source).bytes)));
    sbom.bundled.push_back(std::move(library));
  }
  const auto text = std::make_shared<const std::string>(document::to_json(attest::make_sbom(sbom)) + "\n");
  add_member(m_dist_info + "/sboms/wheelsmith-bundle.cdx.json", 0644, text->size(),
             [text] { return Blob{text, Bytes(*text)}; });
}

}  // namespace wheelsmith::bundle
