// Lists all pages and their inputs. A page is rendered only if its fingerprint changed: for one new wheel among 2,000
// projects, one page is rendered.

#include "index/pages/pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "base/hash.h"
#include "base/text.h"
#include "index/pages/page_parts.h"

namespace wheelsmith::index {

namespace {

// Strings with length prefixes, so that different lists give different digests.
class Fingerprint {
 public:
  Fingerprint& add(std::string_view text) {
    fmt::format_to(std::back_inserter(m_text), "{}:", text.size());
    m_text += text;
    if (m_text.size() > 65536) flush();
    return *this;
  }
  Fingerprint& add(const File& file) {
    add(file.folder).add(file.name).add(file.facts.sha256).add(file.facts.metadata_sha256);
    add(file.facts.requires_python).add(file.facts.variant).add(file.upload_time).add(file.yanked ? "y" : "");
    add(file.yanked.value_or("")).add(file.has_provenance ? "p" : "").add(file.has_sidecar ? "s" : "");
    add(file.has_beside(".asc") ? "g" : "");
    return add(std::to_string(file.stat.size));
  }
  std::string take() {
    flush();
    return to_hex(m_hash.finish()).substr(0, 32);
  }

 private:
  void flush() {
    m_hash.update(m_text);
    m_text.clear();
  }
  Sha256 m_hash;
  std::string m_text;
};

class PageMaker {
 public:
  PageMaker(const std::vector<Index>& indexes, const Catalogue& catalogue, const PageOptions& options)
      : m_indexes(indexes),
        m_catalogue(catalogue),
        m_options(std::make_shared<PageOptions>(options)),
        m_version(page_version()) {}

  std::vector<Page> take(std::vector<Finding>* findings) {
    for (const Index& index : m_indexes) {
      const std::string folder = index.place.empty() ? "" : index.place + "/";
      for (const Project& project : index.projects) {
        add_project(index, folder, project, index.place.empty() ? findings : nullptr);
      }
      add_root(index, folder);
    }
    std::sort(m_pages.begin(), m_pages.end(), [](const Page& a, const Page& b) { return a.path < b.path; });
    return std::move(m_pages);
  }

 private:
  static unsigned depth_of(const Index& index) {
    return index.place.empty() ? 0 : 1 + static_cast<unsigned>(std::count(index.place.begin(), index.place.end(), '/'));
  }

  // A file next to the page is linked without a path, as on hosts generated from such folders.
  static std::string url_of(const PageOptions& options, const File& file, unsigned depth,
                            std::string_view page_folder) {
    if (!options.base_url.empty()) return options.base_url + url_escaped(file.path());
    if (options.to_files.empty() && depth > 0 && file.folder == page_folder) return url_escaped(file.name);
    std::string url;
    for (unsigned i = 0; i < depth; ++i) url += "../";
    return url + options.to_files + url_escaped(file.path());
  }

  static Link link_of(const PageOptions& options, const File& file, unsigned depth, std::string_view page_folder) {
    return {file.name, url_of(options, file, depth, page_folder), file.facts.sha256, file.stat.size, &file};
  }

  [[nodiscard]] const Control::Status* status_of(const std::string& project) const {
    const auto found = m_catalogue.control.projects.find(project);
    return found == m_catalogue.control.projects.end() ? nullptr : &found->second;
  }

  void add_project(const Index& index, const std::string& folder, const Project& project,
                   std::vector<Finding>* findings) {
    Fingerprint print;
    print.add(m_version).add(index.place).add(project.name).add(m_options->base_url).add(m_options->to_files);
    const Control::Status* status = status_of(project.name);
    if (status != nullptr) print.add(enum_name(status->status)).add(status->reason);
    for (const File* file : project.files) print.add(*file);
    const std::string fingerprint = print.take();
    const auto variants = std::make_shared<const std::vector<VariantsFile>>(make_variants(project, findings));
    const auto view = [&project, status, variants, options = m_options, depth = depth_of(index) + 1,
                       page_folder = folder + project.name] {
      ProjectView result{&project, status, {}, 1};
      for (const File* file : project.files) result.links.push_back(link_of(*options, *file, depth, page_folder));
      for (const VariantsFile& file : *variants)
        result.links.push_back(
            {file.name, url_escaped(file.name), to_hex(sha256(Bytes(file.text))), file.text.size(), nullptr});
      return result;
    };
    const std::string own = folder + project.name + "/";
    if (m_options->html) add(own + "index.html", fingerprint, [view] { return project_html(view()); });
    if (m_options->json) add(own + "index.v1_json", fingerprint, [view] { return project_json(view()); });
    for (const VariantsFile& file : *variants)
      add(own + file.name, to_hex(sha256(Bytes(file.text))).substr(0, 32), [text = file.text] { return text; });
  }

  void add_root(const Index& index, const std::string& folder) {
    Fingerprint print;
    print.add(m_version).add(m_options->title).add(index.place);
    std::vector<std::string> below;
    if (index.place.empty()) {
      for (const Index& other : m_indexes) {
        if (!other.place.empty()) below.push_back(other.place);
      }
    }
    for (const std::string& place : below) print.add(place);
    std::uint64_t total = 0;
    for (const Project& project : index.projects) {
      for (const File* file : project.files) total += file->stat.size;
      print.add(project.name).add(std::to_string(project.files.size()));
      if (!project.files.empty()) print.add(project.files.front()->parts.version);
    }
    print.add(std::to_string(total));
    const std::string title =
        index.place.empty() ? m_options->title : m_options->title + ": " + std::string(base_name(index.place));
    const auto view = [&index, below, title, options = m_options, depth = depth_of(index)](bool projects, bool files) {
      RootView result{title, &index, below, {}, projects};
      if (!files) return result;
      for (const Project& project : index.projects) {
        for (const File* file : project.files) result.links.push_back(link_of(*options, *file, depth, index.place));
      }
      return result;
    };
    std::string with_files;
    if (index.lists_files || m_options->find_links) {
      Fingerprint files;
      files.add(m_version).add(title).add(m_options->base_url).add(m_options->to_files);
      for (const Project& project : index.projects) {
        for (const File* file : project.files) files.add(*file);
      }
      with_files = files.take();
    }
    const std::string own = print.take();
    if (m_options->html)
      add(folder + "index.html", index.lists_files ? own + with_files : own,
          [view, files = index.lists_files] { return root_html(view(true, files)); });
    if (m_options->json) add(folder + "index.v1_json", own, [&index] { return root_json(index); });
    if (m_options->find_links)
      add(folder + "find-links.html", with_files, [view] { return root_html(view(false, true)); });
  }

  void add(std::string path, std::string fingerprint, std::function<std::string()> render) {
    m_pages.push_back({std::move(path), std::move(fingerprint), std::move(render)});
  }

  const std::vector<Index>& m_indexes;
  const Catalogue& m_catalogue;
  std::shared_ptr<const PageOptions> m_options;
  std::string m_version;
  std::vector<Page> m_pages;
};

}  // namespace

std::vector<Page> make_pages(const std::vector<Index>& indexes, const Catalogue& catalogue, const PageOptions& options,
                             std::vector<Finding>* findings) {
  return PageMaker(indexes, catalogue, options).take(findings);
}

}  // namespace wheelsmith::index
