#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "document/value.h"
#include "sys/process/process.h"

// Settings: an option has the same name everywhere. --arch on the command line is WHEELSMITH_ARCH in the environment
// and `arch` in wheelsmith.toml. Precedence, highest first: the command line, the environment, the project's
// wheelsmith.toml, the user's config.toml. Lists are replaced; tables (set, mirrors) are merged key by key. Each value
// keeps its origin, which `config show` prints. A project's file comes with a cloned repository. project_file.h
// describes how it is found, trust.h when it is trusted.

namespace wheelsmith::settings {

// texts: a list whose items may contain commas (arch lists, sources); one per line in the environment.
// program: a name, or a path if it contains a '/'; programs: a list of these. places: a folder, URLs, or both; a single
// one is stored as a text, several as a list.
enum class Kind { text, list, texts, flag, folder, table, program, programs, places };

// Whether a wheelsmith.toml may set an option only after the user has trusted it (trust.h). not_for_versions: a value
// that is a version needs no trust.
enum class Trust { needed, not_for_versions, not_needed };
enum class Allowed { everywhere, not_in_files };

// The heading of an option in `--help`.
enum class Group { source, target, toolchain, resources, output, advanced };
// The accepted form of a text. It is checked first, wherever the text comes from.
enum class Form { any, count, positive, size, price };

struct Option {
  std::string name;  // "torch-index"
  Kind kind = Kind::text;
  Group group = Group::advanced;
  std::string argument;  // placeholder in the help: "DIR"; "" for a flag
  std::string help;
  std::string fallback{};              // shown in the help and used by value(); "" if there is none
  std::vector<std::string> choices{};  // empty: any
  Trust trust = Trust::needed;
  Allowed allowed = Allowed::everywhere;
  Form form = Form::any;
  char short_name = '\0';
  bool common = false;  // also shown by the short help (-h)
};
std::string_view to_string(Group group);
// Null if there is no option of this name.
const Option* option_named(std::string_view name);
// All options, sorted by name.
const std::vector<Option>& all_options();
bool is_table(std::string_view name);
// Throws Error with the accepted form for an invalid value: "jobs abc: must be a whole number". Lists are written as in
// the environment.
document::Value read_value(const Option& option, const std::string& text);

// What an hour of one core costs: "0.04", "0.04 EUR".
struct Price {
  double per_core_hour = 0;
  std::string currency;  // "" if none is given
};
// Nothing for an invalid price.
std::optional<Price> read_price(std::string_view text);

struct Held {
  document::Value value;  // a string, a list of strings, a boolean, or a table of strings
  std::string origin;     // "--arch", "WHEELSMITH_ARCH", "wheelsmith.toml:3", "default"
};

// The token for remote stores. Read only from the environment, since files are shown, copied and committed.
inline constexpr std::string_view k_token_variable = "WHEELSMITH_STORE_TOKEN";

class Settings {
 public:
  // Sets an option from the command line. Lists keep their order; each value of a table is "NAME=VALUE".
  void set_from_command_line(const std::string& name, document::Value value);
  // Reads WHEELSMITH_* variables. Lists are separated by ',' (packages, python, variant) or ';'; flags are
  // 1/0/true/false/yes/no. An unknown WHEELSMITH_ name is an Error that suggests the nearest one.
  void read_environment(const sys::Environment& environment);
  // The project's file. Throws Error "FILE:LINE: unknown key …". Folders, and programs with a '/', are relative to the
  // file's folder.
  void read_project(const std::filesystem::path& file, std::string_view text);
  // Reads the user's config.toml if it exists.
  void read_user_file(const sys::Environment& environment);

  // The options of the project's file that need trust, sorted by name.
  struct RiskyOption {
    std::string name;
    Held held;
  };
  [[nodiscard]] std::vector<RiskyOption> risky_options() const;
  // Empty if none was read.
  [[nodiscard]] const std::filesystem::path& project_file() const { return m_project_file; }
  // Whether the user trusts the project's file. If so, files beside it may be used, too.
  [[nodiscard]] bool project_is_trusted() const { return m_project_is_trusted; }
  void trust_project() { m_project_is_trusted = true; }

  [[nodiscard]] const Held* find(std::string_view name) const;  // null: not set, and there is no default
  [[nodiscard]] std::string text(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> list(std::string_view name) const;
  // For places: the last folder, or "", and the URLs.
  [[nodiscard]] std::string folder(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> urls(std::string_view name) const;
  [[nodiscard]] bool flag(std::string_view name) const;
  [[nodiscard]] std::map<std::string, std::string> table(std::string_view name) const;
  // All effective settings, sorted by name.
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

// Parses an --env-file: lines "NAME=VALUE", '#' comments, shell quotes, optional "export". Throws Error with the line.
std::map<std::string, std::string> parse_env_file(std::string_view text, std::string_view file_name);

// The user's configuration folder: $XDG_CONFIG_HOME/wheelsmith or ~/.config/wheelsmith; empty if neither variable is
// set.
std::filesystem::path user_folder(const sys::Environment& variables);
// The folder for remembered decisions: $XDG_STATE_HOME/wheelsmith or ~/.local/state/wheelsmith; empty likewise.
std::filesystem::path state_folder(const sys::Environment& variables);

}  // namespace wheelsmith::settings
