// Every fact comes from the program itself, and queries are slow: an interpreter takes 30 ms, nvcc 100 ms, `import
// torch` two seconds, and a build queries a dozen programs. So each answer is stored with the stat fingerprints of the
// files it depends on: the interpreter and its link target, its pyvenv.cfg, its sysconfig data, Python.h. Only the
// answer says which files these are; so the memo is looked up by the one file known before (the program), and the rest
// is compared afterwards. A repeated query costs a few dozen stat calls and starts no process.

#include "toolchain/ask.h"

#include <algorithm>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "sys/file.h"
#include "sys/file_state.h"
#include "sys/files.h"

namespace wheelsmith::toolchain {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t k_most_output = 1u << 20;
constexpr std::size_t k_most_files = 10'000;
constexpr const char* k_absent = "absent";

sys::Environment asking_environment(const Host& where) {
  sys::Environment environment;
  if (where.confine) {
    // Package code answers: it must not see the user's shell variables.
    for (const char* name : {"PATH", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES"}) {
      if (const auto found = where.environment.find(name); found != where.environment.end())
        environment[name] = found->second;
    }
    environment["HOME"] = "/nonexistent";
    environment["PYTHONNOUSERSITE"] = "1";
  } else {
    environment = where.environment;
  }
  environment["LC_ALL"] = "C";
  // Flags that a user adds to every call would look like the program's own properties.
  for (const char* name : {"LANGUAGE", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "PYTHONHOME", "PYTHONPATH"}) {
    environment.erase(name);
  }
  return environment;
}

std::optional<document::Table> still_true(const std::string& text) {
  // An answer from another version, or a damaged one, is queried again.
  const document::Value value = document::try_parse_json(text).value_or(document::Value());
  const document::Table* files = value["files"].table();
  const document::Table* facts = value["facts"].table();
  if (files == nullptr || facts == nullptr) return std::nullopt;
  for (const auto& [file, fingerprint] : *files) {
    if (fingerprint_of(file) != fingerprint.text_or()) return std::nullopt;
  }
  return *facts;
}

// Nothing if one of the files has changed so recently that a later change might not show.
std::optional<document::Table> states_to_keep(const std::vector<fs::path>& files, std::int64_t before) {
  document::Table states;
  for (const fs::path& file : files) {
    if (file.empty() || states.size() >= k_most_files) continue;
    const sys::FileState state(file, before);
    const auto key = state.key().empty() ? std::optional<std::string>(k_absent) : state.key_to_keep();
    if (!key) return std::nullopt;
    states[file.string()] = *key;
  }
  return states;
}

}  // namespace

Reply ask(const std::vector<std::string>& argv, const Host& where, std::string_view input,
          std::chrono::seconds timeout) {
  sys::Command command;
  command.argv = argv;
  command.environment = asking_environment(where);
  command.input = std::string(input);
  command.timeout = timeout;
  // Sandboxes with their own network namespace do not need it.
  command.no_network = where.confine && sys::can_isolate_network();
  Reply reply;
  try {
    sys::Captured captured = sys::capture(where.confine ? where.confine(command) : command, k_most_output);
    const sys::Exit& exit = captured.exit;
    reply.ran = !exit.timed_out && exit.signal == 0 && exit.code != 126 && exit.code != 127;
    reply.good = exit.good();
    if (!exit.timed_out && exit.signal == 0) reply.code = exit.code;
    reply.output = std::move(captured.output);
    reply.errors = std::move(captured.errors);
    if (!reply.good) reply.problem = sys::to_string(exit);
  } catch (const Error& error) {
    reply.problem = error.what();
  }
  // A program that was interrupted with us has not failed, so nothing is remembered.
  if (sys::interrupted()) throw Error("interrupted");
  return reply;
}

std::optional<document::Table> remembered(std::string_view kind, std::string_view subject, std::string_view fingerprint,
                                          const Host& where, const std::function<std::optional<Answer>()>& question) {
  if (where.memo.find) {
    if (const std::optional<std::string> text = where.memo.find(kind, subject, fingerprint)) {
      if (std::optional<document::Table> facts = still_true(*text)) return facts;
    }
  }
  const std::int64_t before = where.memo.clock();
  std::optional<Answer> answer = question();
  if (!answer) return std::nullopt;
  std::optional<document::Table> files = where.memo.keep ? states_to_keep(answer->files, before) : std::nullopt;
  if (files) {
    document::Table whole;
    whole["files"] = std::move(*files);
    whole["facts"] = answer->facts;
    where.memo.keep(kind, subject, fingerprint, document::to_json(std::move(whole), -1));
  }
  return std::move(answer->facts);
}

std::string fingerprint_of(const fs::path& file) { return sys::stat_fingerprint(file).value_or(k_absent); }

std::string file_digest(const fs::path& file, const Memo& memo) {
  if (auto digest = try_file_digest(file, memo)) return std::move(*digest);
  return to_hex(sha256(sys::map_file(file).bytes));  // throws, and says why
}

std::optional<std::string> try_file_digest(const fs::path& file, const Memo& memo) {
  const sys::FileState state(file, memo.clock());
  if (memo.find) {
    const std::optional<std::string> kept = memo.find("sha256", file.string(), state.key());
    if (kept && kept->size() == 64) return *kept;
  }
  const auto blob = sys::map_file_if_possible(file);
  if (!blob) return std::nullopt;
  std::string digest = to_hex(sha256(blob->bytes));
  if (const auto key = memo.keep ? state.key_to_keep() : std::nullopt) memo.keep("sha256", file.string(), *key, digest);
  return digest;
}

std::string combined_digest(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += std::to_string(part.size()) + ":" + part + "\n";
  return to_hex(sha256(Bytes(text)));
}

}  // namespace wheelsmith::toolchain
