#pragma once

#include "document/fields.h"
#include "plan/step/spec_fields.h"
#include "run/job.h"

// Every member of a Job, for its document and its test.

namespace wheelsmith::document {

template <>
struct Codec<cache::CacheOptions> {
  static Value write(const cache::CacheOptions& cache) {
    Table table;
    table["enabled"] = cache.enabled;
    table["folder"] = cache.folder.string();
    table["scope"] = cache.scope;
    table["size"] = cache.size;
    table["compression"] = cache.compression;
    table["remote"] = cache.remote;
    return table;
  }
  static cache::CacheOptions read(const Value& value, const std::string& where) {
    cache::CacheOptions cache;
    cache.enabled = from_document<bool>(value["enabled"], where + ".enabled");
    cache.folder = from_document<std::string>(value["folder"], where + ".folder");
    cache.scope = from_document<std::string>(value["scope"], where + ".scope");
    cache.size = from_document<std::uint64_t>(value["size"], where + ".size");
    cache.compression = from_document<std::string>(value["compression"], where + ".compression");
    cache.remote = from_document<std::string>(value["remote"], where + ".remote");
    return cache;
  }
  static_assert(member_count<cache::CacheOptions>() == 6, "serialize new members here");
};

template <>
struct Fields<run::Artifact> {
  using T = run::Artifact;
  static constexpr auto list =
      fields_of<T>(field("file_name", &T::file_name), field("sha256", &T::sha256), field("size", &T::size));
};

template <>
struct Fields<run::NeededWheel> {
  using T = run::NeededWheel;
  static constexpr auto list = fields_of<T>(field("project", &T::project), field("version", &T::version),
                                            field("wheel", &T::wheel), field("direct", &T::direct));
};

template <>
struct Fields<governor::NodeRoom> {
  using T = governor::NodeRoom;
  static constexpr auto list =
      fields_of<T>(field("name", &T::name), field("cores", &T::cores), field("memory", &T::memory));
};

template <>
struct Fields<run::JobLimits> {
  using T = run::JobLimits;
  static constexpr auto list =
      fields_of<T>(field("jobs", &T::jobs), field("governed", &T::governed), field("parts", &T::parts),
                   field("most_jobs", &T::most_jobs), field("cores", &T::cores), field("memory", &T::memory),
                   field("silence_seconds", &T::silence_seconds), field("nodes", &T::nodes));
};

template <>
struct Fields<run::SandboxOptions> {
  using T = run::SandboxOptions;
  static constexpr auto list = fields_of<T>(field("mode", &T::mode), field("open", &T::open));
};

template <>
struct Fields<run::Job> {
  using T = run::Job;
  static constexpr auto list =
      fields_of<T>(field("spec", &T::spec), field("reason", &T::reason), field("store", &T::store),
                   field("log", &T::log), field("scratch", &T::scratch), field("claim_timeout", &T::claim_timeout),
                   field("needs", &T::needs), field("mirrors", &T::mirrors), field("cache", &T::cache),
                   field("limits", &T::limits), field("sandbox", &T::sandbox), field("clean", &T::clean),
                   field("offline", &T::offline), field("no_test", &T::no_test), field("keep_failed", &T::keep_failed),
                   field("held", &T::held), field("test_held", &T::test_held), field("rebuild", &T::rebuild));
};

}  // namespace wheelsmith::document
