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
// project's wheelsmith.toml, the user's own config.toml. Lists are replaced, tables (set, mirrors) merged key by key.
// Where each value came from is kept: `config show` prints it.
//
// A project's file comes with the repository that somebody cloned. project_file.h says where it is looked for, trust.h
// when it is trusted.

namespace wheelsmith::settings {

// texts: a list whose items may hold commas (arch lists, sources); one to a line in the environment.
// program: a name, or a path where it has a '/'; programs: a list of these. places: a folder, URLs, or both; one of
// them is held as a text, several as a list.
enum class Kind { text, list, texts, flag, folder, table, program, programs, places };

// Whether a wheelsmith.toml may set an option only after the user has trusted it (trust.h). not_for_versions: a value
// that is a version needs no trust.
enum class Trust { needed, not_for_versions, not_needed };
enum class Allowed { everywhere, not_in_files };

// Under which heading `--help` shows an option.
enum class Group { source, target, toolchain, resources, output, advanced };
// What a text must look like. It is checked wherever the text comes from, before anything else happens.
enum class Form { any, count, positive, size };

struct Option {
  std::string name;  // "torch-index"
  Kind kind = Kind::text;
  Group group = Group::advanced;
  std::string argument;  // what help calls the value: "DIR"; "" for a flag
  std::string help;
  std::string fallback{};              // shown, and used by value(); "" for none
  std::vector<std::string> choices{};  // empty: any
  Trust trust = Trust::needed;
  Allowed allowed = Allowed::everywhere;
  Form form = Form::any;
  char short_name = '\0';
  bool common = false;  // shown by the short help (-h), too
};
std::string_view to_string(Group group);
// Null for a name that is not an option.
const Option* option_named(std::string_view name);
// Every option that may stand in a file or in the environment, sorted by name.
const std::vector<Option>& all_options();
bool is_table(std::string_view name);
// Throws Error for a value that the option does not take, and names the accepted form: "jobs abc: must be a whole
// number". Lists as the environment has them.
document::Value read_value(const Option& option, const std::string& text);

struct Held {
  document::Value value;  // a text, a list of texts, a boolean, or a table of texts
  std::string origin;     // "--arch", "WHEELSMITH_ARCH", "wheelsmith.toml:3", "default"
};

// A secret for remote stores. Only the environment holds it: files are shown, copied and committed.
inline constexpr std::string_view k_token_variable = "WHEELSMITH_STORE_TOKEN";

class Settings {
 public:
  // What the command line said; values of lists in order; of a table "NAME=VALUE" each.
  void set_from_command_line(const std::string& name, document::Value value);
  // WHEELSMITH_* variables. Lists: ',' between words (packages, python, variant), or ';' ; flags 1/0/true/false/yes/no.
  // An unknown WHEELSMITH_ name is an Error with the nearest.
  void read_environment(const sys::Environment& environment);
  // The project's file. Throws Error "FILE:LINE: unknown key …". Folders and programs with a '/' are taken relative to
  // the file's folder.
  void read_project(const std::filesystem::path& file, std::string_view text);
  // The user's own config.toml, where there is one.
  void read_user_file(const sys::Environment& environment);

  // What the project's file sets that needs trust, sorted by name.
  struct RiskyOption {
    std::string name;
    Held held;
  };
  [[nodiscard]] std::vector<RiskyOption> risky_options() const;
  // Empty: none was read.
  [[nodiscard]] const std::filesystem::path& project_file() const { return m_project_file; }
  // Whether the user vouches for the project's file: then what lies beside it may be used, too.
  [[nodiscard]] bool project_is_trusted() const { return m_project_is_trusted; }
  void trust_project() { m_project_is_trusted = true; }

  [[nodiscard]] const Held* find(std::string_view name) const;  // null: nobody said anything and there is no default
  [[nodiscard]] std::string text(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> list(std::string_view name) const;
  // Of places: the last folder, "" for none, and the URLs.
  [[nodiscard]] std::string folder(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> urls(std::string_view name) const;
  [[nodiscard]] bool flag(std::string_view name) const;
  [[nodiscard]] std::map<std::string, std::string> table(std::string_view name) const;
  // All that hold, sorted by name.
  [[nodiscard]] std::map<std::string, Held> all() const;

 private:
  enum Level { command_line, environment, project, user, levels };
  void put(Level level, const std::string& name, Held held);
  void read_text(Level level, const std::filesystem::path& file, std::string_view text);
  std::map<std::string, Held> m_levels[levels];
  std::map<std::string, Held> m_defaults = defaults();
  static std::map<std::string, Held> defaults();
  std::filesystem::path m_project_file;
  bool m_project_is_trusted = false;
};

// Lines "NAME=VALUE" of an --env-file; '#' comments, quotes as a shell has them, "export" allowed. Throws with the
// line.
std::map<std::string, std::string> parse_env_file(std::string_view text, std::string_view file_name);

// Where the user's own files for us lie: $XDG_CONFIG_HOME/wheelsmith or ~/.config/wheelsmith; empty where neither is
// set.
std::filesystem::path user_folder(const sys::Environment& variables);
// Where decisions of the user are remembered: $XDG_STATE_HOME/wheelsmith or ~/.local/state/wheelsmith; empty likewise.
std::filesystem::path state_folder(const sys::Environment& variables);

}  // namespace wheelsmith::settings
