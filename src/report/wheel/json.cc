#include "report/wheel/json.h"

#include <nlohmann/json.hpp>

#include "report/versions.h"

namespace wheelsmith::report {

namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& document) { return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

Json json_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json gpu_json(const std::vector<gpu::CodeSum>& sums) {
  Json list = Json::array();
  for (const gpu::CodeSum& sum : sums) {
    list.push_back({{"arch", gpu::display_name(sum.arch, sum.kind)},
                    {"kind", gpu::to_string(sum.kind)},
                    {"section", sum.section},
                    {"count", sum.count},
                    {"bytes", sum.bytes},
                    {"unpacked_bytes", sum.unpacked_bytes},
                    {"wrapped", sum.wrapped},
                    {"relocatable", sum.relocatable}});
  }
  return list;
}

Json device_code_json(const gpu::DeviceCode& code) {
  Json item;
  item["gpu"] = gpu_json(code.sums);
  if (!code.problems.empty()) item["gpu_problems"] = code.problems;
  if (code.kpack) {
    item["kpack"] = {{"kernel_name", code.kpack->kernel_name}, {"search_paths", code.kpack->search_paths}};
  }
  return item;
}

const char* cxx11_abi_name(wheel::Cxx11Abi abi) {
  switch (abi) {
    case wheel::Cxx11Abi::unused: return "unused";
    case wheel::Cxx11Abi::old_abi: return "0";
    case wheel::Cxx11Abi::new_abi: return "1";
    case wheel::Cxx11Abi::both: return "both";
  }
  return "unused";
}

const char* type_name(std::uint16_t type) {
  switch (type) {
    case elf::k_type_rel: return "object";
    case elf::k_type_exec: return "executable";
    case elf::k_type_dyn: return "shared";
    default: return "other";
  }
}

Json elf_json(const wheel::ElfFacts& file) {
  Json item = {{"path", file.path},
               {"size", file.size},
               {"machine", file.machine},
               {"bits", file.is_64bit ? 64 : 32},
               {"type", type_name(file.type)},
               {"soname", json_or_null(file.soname)},
               {"needed", file.needed},
               {"rpath", file.rpath},
               {"runpath", file.runpath},
               {"symbol_versions", file.versions_needed},
               {"highest_versions", highest_versions(file)},
               {"versions_provided", file.versions_provided},
               {"python_extension", file.python_extension},
               {"build_id", json_or_null(file.build_id)},
               {"stripped", file.stripped},
               {"debug_info", file.debug_info},
               {"cxx11_abi", cxx11_abi_name(file.cxx11_abi)},
               {"interpreter", json_or_null(file.interpreter)}};
  item.update(device_code_json(file.device_code));
  if (!file.problems.empty()) item["problems"] = file.problems;
  return item;
}

Json platform_json(const wheel::Platform& platform) {
  Json list = Json::array();
  for (const wheel::Obstacle& obstacle : platform.obstacles) {
    list.push_back({{"policy", obstacle.policy}, {"subject", obstacle.subject}, {"what", obstacle.what}});
  }
  return list;
}

Json finding_json(const Finding& finding) {
  return {{"id", finding.id},           {"severity", to_string(finding.severity)},
          {"subject", finding.subject}, {"what", finding.what},
          {"why", finding.why},         {"fix", finding.fix}};
}

Json findings_json(const std::vector<Finding>& findings) {
  Json list = Json::array();
  for (const Finding& finding : findings) list.push_back(finding_json(finding));
  return list;
}

Json distributions_json(const std::vector<wheel::Distribution>& distributions) {
  Json list = Json::array();
  for (const wheel::Distribution& distribution : distributions) {
    list.push_back({{"name", distribution.name()},
                    {"version", distribution.version()},
                    {"tags", distribution.tags()},
                    {"dist_info", distribution.dist_info},
                    {"requires_python", distribution.metadata ? distribution.metadata->get("Requires-Python") : ""},
                    {"requires_dist",
                     distribution.metadata ? distribution.metadata->all("Requires-Dist") : std::vector<std::string>()},
                    {"generator", distribution.wheel ? distribution.wheel->get("Generator") : ""}});
  }
  return list;
}

Json inspection_json(const wheel::Inspection& item) {
  if (!item.error.empty()) return {{"path", item.path}, {"error", item.error}};
  Json json = {{"path", item.path},
               {"kind", to_string(item.kind)},
               {"name", json_or_null(item.name)},
               {"version", json_or_null(item.version)},
               {"build", json_or_null(item.build)},
               {"variant_label", json_or_null(item.label)},
               {"tags", item.tags},
               {"platform_tag", item.platform ? Json(item.platform->tag) : Json(nullptr)},
               {"platform_obstacles", item.platform ? platform_json(*item.platform) : Json::array()},
               {"platform_tag_beside_others",
                item.platform_beside_others ? Json(item.platform_beside_others->tag) : Json(nullptr)},
               {"size", item.size},
               {"unpacked_size", item.unpacked_size},
               {"file_count", item.file_count}};
  Json largest = Json::array();
  for (const wheel::LargeFile& file : item.largest) {
    largest.push_back({{"path", file.path}, {"size", file.size}, {"packed_size", file.packed_size}});
  }
  json["uses_libraries_of"] = item.used_packages;
  json["largest"] = std::move(largest);
  json["distributions"] = distributions_json(item.distributions);
  json["elf"] = Json::array();
  for (const wheel::ElfFacts& file : item.elf) json["elf"].push_back(elf_json(file));
  json["gpu"] = gpu_json(item.gpu);
  json["device_files"] = Json::array();
  for (const wheel::DeviceFile& file : item.device_files) {
    Json entry = {{"path", file.path}, {"size", file.size}};
    entry.update(device_code_json(file.code));
    json["device_files"].push_back(std::move(entry));
  }
  if (!item.problems.empty()) json["problems"] = findings_json(item.problems);
  return json;
}

Json verdict_json(const wheel::Verdict& item) {
  Json json = {{"path", item.path}, {"verdict", item.is_good() ? "good" : "bad"}};
  json["findings"] = findings_json(item.findings);
  if (!item.error.empty()) json["error"] = item.error;
  return json;
}

template <class Items, class ToJson>
std::string document(const Items& items, ToJson to_item) {
  Json list = Json::array();
  for (const auto& item : items) list.push_back(to_item(item));
  return dump({{"schema", 1}, {"items", std::move(list)}});
}

}  // namespace

std::string to_json(const std::vector<wheel::Inspection>& items) { return document(items, inspection_json); }

std::string to_json(const std::vector<wheel::Verdict>& items) { return document(items, verdict_json); }

std::string explanation_json(const std::string& id, const std::string& text) {
  return dump({{"schema", 1}, {"items", Json::array({Json{{"id", id}, {"text", text}}})}});
}

std::string error_json(const std::string& message, const std::string& list) {
  return dump({{"schema", 1}, {list, Json::array()}, {"error", message}});
}

}  // namespace wheelsmith::report
