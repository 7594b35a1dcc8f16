#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/sink.h"
#include "base/zip_epoch.h"
#include "bundle/sdk_view.h"
#include "elf/edit.h"
#include "pep/wheel_name.h"
#include "wheel/read/distribution.h"
#include "wheel/read/scan.h"
#include "wheel/read/wheel_tree.h"
#include "wheel/write/seal.h"

// A framework's wheel and the SDK libraries that it needs as one wheel that runs without the SDK; see bundler.cc.

namespace wheelsmith::bundle {

struct BundleInputs {
  std::string file_name;  // of the wheel
  Bytes wheel;
  std::vector<SdkView::Source> sdks;  // the first counts
  std::string local_label;            // "": the version stays as it is
  std::int64_t time = k_zip_epoch;    // SOURCE_DATE_EPOCH
  unsigned threads = 1;
};

// The files that are copied into the wheel, and the consequences for its users.
struct Summary {
  struct Library {
    std::string path;  // in the wheel
    std::string from;  // the SDK it is from, as the user gave it
    std::uint64_t size = 0;
  };
  std::string file_name;
  std::vector<Library> libraries;
  std::uint64_t data_files = 0, data_size = 0;
  std::vector<std::string> edited;          // members of the old wheel whose run paths change
  std::vector<std::string> dropped;         // requirements
  std::vector<std::string> from_elsewhere;  // needed, but neither in the wheel nor in the SDK nor of the system's own
  std::vector<std::string> notes;
};

class Bundler {
 public:
  // Reads the wheel and chooses the files. The objects that the inputs point to must outlive it. Throws Error.
  explicit Bundler(const BundleInputs& inputs);
  Bundler(const Bundler&) = delete;
  Bundler& operator=(const Bundler&) = delete;

  [[nodiscard]] const Summary& summary() const { return m_summary; }
  // Returns the size of the wheel.
  std::uint64_t write(Sink& sink) const;

 private:
  struct Chosen {
    std::string source;  // path in the SDK
    std::vector<std::string> needed;
    bool runpath = false;
  };

  // bundler.cc: what comes along
  void choose();
  std::string add_library(const std::string& sdk_path, bool by_soname = true);
  void add_what_belongs(const std::string& path);
  void add_data(const std::string& sdk_path);
  void add_kpack(const std::string& path, const elf::ElfFile& file);
  void need(const std::string& name, const std::string& asking);

  // init_module.cc: the module that loads libraries
  void add_init_modules();

  // bundle_members.cc: how it is written
  [[nodiscard]] std::vector<std::string> library_folders() const;
  [[nodiscard]] elf::Edit edit_for_library(const std::string& path, const Chosen& chosen) const;
  [[nodiscard]] elf::Edit edit_for_member(const wheel::ElfFacts& facts) const;
  [[nodiscard]] std::map<std::string, std::string> renamed(const std::vector<std::string>& needed) const;
  void finish();
  void add_old_members(const std::string& metadata);
  void add_sdk_members();
  void add_list();
  void add_sbom();
  void add_member(std::string name, std::uint32_t mode, std::uint64_t size, std::function<Blob()> open);

  const BundleInputs& m_inputs;
  const SdkTable& m_sdk_table;
  pep::WheelName m_name;
  zip::Archive m_archive;
  wheel::WheelTree m_tree;
  SdkView m_view;
  wheel::Scan m_scan;
  wheel::Distribution m_distribution;
  std::string m_root;                            // "demo.libs": the SDK's root in the wheel
  std::set<std::string> m_own;                   // names of libraries that the wheel has
  std::map<std::string, Chosen> m_chosen;        // by path below the root
  std::map<std::string, std::string> m_by_name;  // NEEDED name -> path below the root
  std::set<std::string> m_data;                  // paths in the SDK, and below the root
  std::set<std::string> m_elsewhere;
  std::map<std::string, std::string> m_init_modules;  // member -> new text
  std::vector<std::string> m_queue;
  std::string m_dist_info;  // of the new wheel
  std::vector<wheel::SealedMember> m_members;
  Summary m_summary;
};

}  // namespace wheelsmith::bundle
