#include "governor/server/nodes_file.h"

#include <algorithm>

#include "document/value.h"
#include "sys/files.h"

namespace wheelsmith::governor {

std::filesystem::path nodes_file_of(const std::filesystem::path& run_file) { return run_file.string() + ".nodes"; }

void NodesFile::write(const std::filesystem::path& path) const {
  document::Array rooms;
  for (const NodeRoom& node : nodes) {
    document::Table table;
    table["name"] = node.name;
    table["cores"] = node.cores;
    table["memory"] = node.memory;
    rooms.emplace_back(std::move(table));
  }
  document::Table table;
  table["nodes"] = std::move(rooms);
  table["launcher"] = launcher;
  table["environment"] = document::Array(environment.begin(), environment.end());
  table["command"] = document::Array(command.begin(), command.end());
  table["input"] = input.string();
  sys::write_private_file(path, document::to_json(table));
}

std::optional<NodesFile> NodesFile::read(const std::filesystem::path& path) {
  const auto text = sys::read_file_if_possible(path, 16 << 20);
  const auto value = text ? document::try_parse_json(*text) : std::nullopt;
  if (!value) return std::nullopt;
  NodesFile file;
  if (const document::Array* rooms = (*value)["nodes"].array()) {
    for (const document::Value& node : *rooms)
      file.nodes.push_back({node["name"].text_or(),
                            static_cast<unsigned>(std::clamp<std::int64_t>(node["cores"].integer_or(1), 1, 1 << 20)),
                            static_cast<std::uint64_t>(std::max<std::int64_t>(node["memory"].integer_or(0), 0))});
  }
  file.launcher = (*value)["launcher"].text_or();
  file.environment = (*value)["environment"].texts();
  file.command = (*value)["command"].texts();
  file.input = (*value)["input"].text_or();
  if (file.nodes.empty() || file.launcher.empty() || file.command.empty()) return std::nullopt;
  return file;
}

}  // namespace wheelsmith::governor
