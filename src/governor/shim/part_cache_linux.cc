#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/text.h"
#include "governor/parts/clang_jobs.h"
#include "governor/shim/part_cache.h"
#include "sys/files.h"
#include "sys/io/new_file.h"

// What a part's result depends on, as the cache wants to know it: the tool, its arguments without the names of
// temporary files, and the text that it reads. The cache itself (outside of the sandbox) reads and compares them.

namespace wheelsmith::governor {

namespace {

constexpr std::uint64_t k_largest_part_output = 1ULL << 30;

// cicc and ptxas read variables that begin with these; the others are places that the digests of files stand for.
bool is_tool_variable(std::string_view entry) {
  if (entry.starts_with("NVVMIR_LIBRARY_DIR=") || entry.starts_with("CICC_PATH=")) return false;
  for (const std::string_view prefix : {"NVVM", "CICC", "PTXAS", "LIBNVVM", "NVPTX", "NVCC_INTERNAL"}) {
    if (entry.starts_with(prefix)) return true;
  }
  return false;
}

// A file that an argument names, such as a list of options.
void add_named_file(const std::string& word, std::vector<std::string>& files) {
  const std::size_t equals = word.find('=');
  for (const std::string& name : {word, equals == word.npos ? std::string() : word.substr(equals + 1)}) {
    std::error_code error;
    if (name.empty() || name.front() == '-' || !std::filesystem::is_regular_file(name, error) || error) continue;
    const std::string path = std::filesystem::absolute(name, error).string();
    if (!error) files.push_back(path);
  }
}

// Generated texts contain the source's path in lines like `# 4 "FILE"`.
void add_source(const std::string& path, cache::PartRequest& request) {
  const bool in_folder = path.find('/') != path.npos;
  if (in_folder) request.sources.push_back(path);
  request.words.emplace_back(in_folder ? "SOURCE" : "NAME");
}

void write_part(const std::string& path, std::string_view bytes) {
  sys::NewFile file = sys::NewFile::replacing(path, 0666);
  file.write(Bytes(bytes));
  file.close();
}

}  // namespace

std::unique_ptr<PartCache> PartCache::find(const Part& part, const PartSite& site, const std::string& program,
                                           const std::vector<std::string>& environment) {
  if (!site.run.cache.empty() && !part.headers.empty()) return find_offload(part, site);
  if (site.run.cache.empty() || program.empty() || !part.output.empty()) return nullptr;
  if (part.kind != PartKind::device && part.kind != PartKind::assemble) return nullptr;
  cache::PartRequest request;
  request.program = program;
  request.device_text = part.kind == PartKind::device;
  for (std::size_t i = 1; i < part.argv.size(); ++i) {
    const std::string& word = part.argv[i];
    if (const std::size_t at = word.find(k_place); at != word.npos) {
      request.files.push_back(site.folder + word.substr(at + 1));
      request.words.push_back(word.substr(0, at) + "FILE");
    } else if (word == "--orig_src_path_name" && i + 1 < part.argv.size()) {
      add_source(part.argv[++i], request);
    } else if (word == "--orig_src_file_name" && i + 1 < part.argv.size()) {
      add_source(part.argv[++i], request);
      request.words.emplace_back(base_name(part.argv[i]));  // the text says what it contains
    } else {
      request.words.push_back(word);
      add_named_file(word, request.tools);
    }
  }
  for (const std::string& name : part.reads) {
    const std::string path = site.folder + "/" + name;
    if (name.ends_with(".module_id")) {
      request.id = trim(sys::read_file_if_possible(path, 1 << 16).value_or(""));
    } else {
      if (!request.text.empty()) return nullptr;
      request.text = path;
    }
  }
  for (const std::string& name : part.writes) {
    if (name.ends_with(".cudafe1.c") || name.ends_with(".gpu")) continue;  // nothing reads these
    // Optimized later, by names that are not visible here.
    if (name.ends_with(".ltoir") || name.ends_with(".module_id")) return nullptr;
    request.outputs.push_back(site.folder + "/" + name);
  }
  request.maps = site.maps;
  if (request.device_text) {
    request.archs = site.archs;
    request.positions = site.positions;
    for (const std::string& entry : environment) {
      if (is_tool_variable(entry)) request.words.push_back("variable " + entry);
      constexpr std::string_view k_library = "NVVMIR_LIBRARY_DIR=";
      if (entry.starts_with(k_library))
        add_named_file(entry.substr(k_library.size()) + "/libdevice.10.bc", request.tools);
    }
  } else {
    for (const std::string& entry : environment) {
      if (is_tool_variable(entry)) request.words.push_back("variable " + entry);
    }
  }
  cache::Conversation conversation(site.run.cache);
  if (!conversation.is_open()) return nullptr;
  auto result = std::unique_ptr<PartCache>(new PartCache(std::move(conversation)));
  result->m_request = std::move(request);
  return result;
}

// HIP: the code of one GPU is a compile like any other, by options that select it.
std::unique_ptr<PartCache> PartCache::find_offload(const Part& part, const PartSite& site) {
  if (!site.offload || part.writes.size() != 1) return nullptr;
  const std::string object = site.folder + "/" + part.writes.front();
  const std::string headers = site.folder + "/" + part.headers;
  auto argv = offload_request(site.offload->argv, part.arch, object, headers);
  if (!argv) return nullptr;
  cache::Conversation conversation(site.run.cache);
  if (!conversation.is_open()) return nullptr;
  auto result = std::unique_ptr<PartCache>(new PartCache(std::move(conversation)));
  result->m_offload = site.offload;
  result->m_offload->argv = std::move(*argv);
  result->m_object = object;
  result->m_headers = headers;
  return result;
}

bool PartCache::look_offload(PartResult& result) {
  const cache::Conversation::Answer answer = m_conversation.find(*m_offload);
  m_can_store = answer.miss.has_value();
  result.cache = m_can_store ? CacheUse::miss : CacheUse::pass;
  if (!answer.hit) return false;
  try {
    write_part(m_object, answer.hit->result.object);
    write_part(m_headers, answer.hit->dependency_text);
  } catch (const Error&) {  // a full disk: the tool reports it better
    return false;
  }
  result.output = answer.hit->result.output;
  result.errors = answer.hit->result.errors;
  result.saved_ms = answer.hit->result.milliseconds;
  result.cache = CacheUse::hit;
  return true;
}

bool PartCache::look(PartResult& result) {
  if (m_offload) return look_offload(result);
  const cache::Conversation::PartAnswer answer = m_conversation.find_part(m_request);
  m_can_store = answer.can_store;
  result.cache = answer.can_store ? CacheUse::miss : CacheUse::pass;
  if (!answer.found || answer.found->outputs.size() != m_request.outputs.size()) return false;
  try {
    for (std::size_t i = 0; i < m_request.outputs.size(); ++i) {
      write_part(m_request.outputs[i], answer.found->outputs[i]);
    }
  } catch (const Error&) {  // a full disk: the tool reports it better
    return false;
  }
  result.output = answer.found->output;
  result.errors = answer.found->errors;
  result.saved_ms = answer.found->milliseconds;
  result.cache = CacheUse::hit;
  return true;
}

void PartCache::store(const PartResult& result) {
  if (!m_can_store) return;
  if (m_offload) {
    auto object = sys::read_file_if_possible(m_object, k_largest_part_output);
    auto headers = sys::read_file_if_possible(m_headers, k_largest_part_output);
    if (object && headers)
      m_conversation.store({std::move(*object), std::move(*headers), "", result.output, result.errors, result.cpu_ms});
    return;
  }
  cache::PartFiles made;
  for (const std::string& path : m_request.outputs) {
    auto content = sys::read_file_if_possible(path, k_largest_part_output);
    if (!content) return;
    made.outputs.push_back(std::move(*content));
  }
  made.output = result.output;
  made.errors = result.errors;
  made.milliseconds = result.cpu_ms;
  m_conversation.store_part(made);
}

}  // namespace wheelsmith::governor
