#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "document/value.h"
#include "sys/process/process.h"

// Settings: one name for an option everywhere. What the command line calls --arch is WHEELSMITH_ARCH in the environment
// and `arch` in wheelsmith.toml. The first of these that says something holds: the command line, the environment, the
// nearest wheelsmith.toml (this folder or one above it), the user's own config.toml. Lists are replaced, tables (set,
// mirrors) merged key by key. Where each value came from is kept: `config show` prints it.

namespace wheelsmith::settings {

// texts: a list whose items may hold commas (arch lists, sources); one to a line in the environment.
enum class Kind { text, list, texts, flag, folder, table };

struct Option {
  std::string name;  // "torch-index"
  Kind kind = Kind::text;
  std::string help;
  std::string fallback;              // shown, and used by value(); "" for none
  std::vector<std::string> choices;  // empty: any
};
// Every option that may stand in a file or in the environment, sorted by name.
const std::vector<Option>& all_options();
bool is_table(std::string_view name);

struct Held {
  document::Value value;  // a text, a list of texts, a boolean, or a table of texts
  std::string origin;     // "--arch", "WHEELSMITH_ARCH", "wheelsmith.toml:3", "default"
};

class Settings {
 public:
  // What the command line said; values of lists in order; of a table "NAME=VALUE" each.
  void set_from_command_line(const std::string& name, document::Value value);
  // WHEELSMITH_* variables. Lists: ',' between words (packages, python, variant), or ';' ; flags 1/0/true/false/yes/no.
  // An unknown WHEELSMITH_ name is an Error with the nearest.
  void read_environment(const sys::Environment& environment);
  // Throws Error "FILE:LINE: unknown key …". Folders are taken relative to the file's.
  void read_file(const std::filesystem::path& path);
  // The nearest wheelsmith.toml and the user's config.toml, as far as they are there.
  void read_files(const std::filesystem::path& current_folder, const sys::Environment& environment);

  [[nodiscard]] const Held* find(std::string_view name) const;  // null: nobody said anything and there is no default
  [[nodiscard]] std::string text(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> list(std::string_view name) const;
  [[nodiscard]] bool flag(std::string_view name) const;
  [[nodiscard]] std::map<std::string, std::string> table(std::string_view name) const;
  // All that hold, sorted by name.
  [[nodiscard]] std::map<std::string, Held> all() const;

 private:
  enum Level { command_line, environment, project, user, levels };
  void put(Level level, const std::string& name, Held held);
  std::map<std::string, Held> m_levels[levels];
  std::map<std::string, Held> m_defaults = defaults();
  static std::map<std::string, Held> defaults();
};

// Lines "NAME=VALUE" of an --env-file; '#' comments, quotes as a shell has them, "export" allowed. Throws with the
// line.
std::map<std::string, std::string> parse_env_file(std::string_view text, std::string_view file_name);

// The nearest wheelsmith.toml: of this folder or one above it; empty where there is none.
std::filesystem::path project_file(const std::filesystem::path& folder);

// Where the user's own files for us lie: $XDG_CONFIG_HOME/wheelsmith or ~/.config/wheelsmith; empty where neither is
// set.
std::filesystem::path user_folder(const sys::Environment& variables);

}  // namespace wheelsmith::settings
