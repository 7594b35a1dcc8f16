#include <fmt/format.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "store/store.h"

namespace wheelsmith::store {

namespace {

std::string text_of(const document::Value& value, std::string_view name) {
  const std::string* text = value[name].text();
  if (text == nullptr) throw Error(fmt::format("a step's {} is {}, not a string", name, value[name].kind()));
  return *text;
}

std::uint64_t size_of(const document::Value& value, std::string_view name) {
  const std::int64_t size = value[name].integer_or(0);
  if (size < 0) throw Error(fmt::format("a step's {} is negative", name));
  return static_cast<std::uint64_t>(size);
}

std::string digest_without_itself(document::Table table) {
  table.erase("digest");
  return to_hex(sha256(Bytes(document::canonical_json(table))));
}

}  // namespace

document::Value StepRecord::to_value() const {
  document::Table table;
  table["schema"] = 2;
  table["key"] = key;
  table["identity"] = identity;
  table["package"] = package;
  table["version"] = version;
  table["wheel_name"] = wheel_name;
  table["wheel_sha256"] = wheel_sha256;
  table["wheel_size"] = wheel_size;
  table["seconds"] = seconds;
  table["disk"] = disk;
  table["finished"] = finished;
  table["manifest"] = manifest.to_value();
  table["provenance"] = provenance;
  table["tests"] = tests;
  table["digest"] = digest_without_itself(table);
  return table;
}

StepRecord StepRecord::from_value(const document::Value& value) {
  if (value["schema"].integer_or(0) == 1) throw Error("the step was stored by an older version, without a digest");
  if (value["schema"].integer_or(0) != 2) throw Error("unsupported step format (expected schema 2)");
  // Otherwise a disk error in a name would deliver a good wheel under a wrong name.
  const document::Table* table = value.table();
  if (table == nullptr || text_of(value, "digest") != digest_without_itself(*table))
    throw Error("a step's digest does not match its values: the file was changed");
  StepRecord record;
  record.key = text_of(value, "key");
  record.identity = text_of(value, "identity");
  record.package = text_of(value, "package");
  record.version = text_of(value, "version");
  record.wheel_name = text_of(value, "wheel_name");
  // It becomes a file name in the user's wheelhouse, and the store may be shared.
  if (record.wheel_name != base_name(record.wheel_name) || record.wheel_name == "." || record.wheel_name == ".." ||
      record.wheel_name.find('\0') != std::string::npos)
    throw Error(fmt::format("a step's wheel_name is not a file name: {}", printable(record.wheel_name)));
  record.wheel_sha256 = text_of(value, "wheel_sha256");
  record.wheel_size = size_of(value, "wheel_size");
  record.seconds = value["seconds"].number();
  record.disk = size_of(value, "disk");
  record.finished = value["finished"].integer_or(0);
  record.manifest = Manifest::from_value(value["manifest"]);
  record.provenance = value["provenance"];
  record.tests = value["tests"];
  return record;
}

}  // namespace wheelsmith::store
