#include "remote/protocol.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace wheelsmith::remote {
namespace {

const std::string k_digest(64, 'a');

TEST(StorePath, IsAStepABlobOrTheList) {
  EXPECT_EQ(parse_store_path("steps.json")->kind, StorePath::Kind::listing);
  EXPECT_EQ(parse_store_path(step_path(k_digest))->kind, StorePath::Kind::step);
  EXPECT_EQ(parse_store_path(step_path(k_digest))->name, k_digest);
  EXPECT_EQ(parse_store_path(blob_path(k_digest))->name, k_digest);
}

TEST(StorePath, NamesNothingElse) {
  const std::string upper(64, 'A'), shorter(63, 'a'), longer(65, 'a');
  for (const std::string& path :
       {std::string(""), std::string("steps"), std::string("steps/"), std::string("blobs/"), std::string("store.json"),
        std::string("index.sqlite"), std::string("blobs/../store.json"), "steps/../blobs/" + k_digest, "blobs/" + upper,
        "blobs/" + shorter, "blobs/" + longer, "blobs/" + k_digest + "/x", "steps/" + k_digest,
        "steps/" + k_digest + ".json.json", std::string("steps/.json"), "trees/" + k_digest, "/blobs/" + k_digest,
        "blobs/" + k_digest + ".json", std::string("steps/") + std::string(60, 'a') + "/../.json"})
    EXPECT_FALSE(parse_store_path(path)) << path;
}

TEST(Listing, IsReadAsItWasWritten) {
  const Listing listing{true, {{k_digest, "texture", "1.0", "texture-1.0-py3-none-any.whl", 12}}};
  const Listing read = parse_listing(to_text(listing));
  EXPECT_TRUE(read.writable);
  EXPECT_EQ(read.steps, listing.steps);
}

TEST(Listing, LeavesOutWhatIsNotAStep) {
  EXPECT_TRUE(parse_listing(R"({"schema":1,"kind":"wheelsmith-store","steps":[1,{"key":"../x"},{}]})").steps.empty());
  for (const char* text :
       {"", "[]", R"({"schema":1,"steps":[]})", R"({"schema":2,"kind":"wheelsmith-store","steps":[]})",
        R"({"schema":1,"kind":"wheelsmith-store","steps":{}})", "<html>"})
    EXPECT_THROW(parse_listing(text), Error) << text;
}

store::StepRecord sample_record() {
  store::StepRecord record;
  record.manifest.set("source", "1");
  record.key = record.manifest.key();
  record.identity = record.package = "texture";
  record.version = "1.0";
  record.wheel_name = "texture-1.0-py3-none-any.whl";
  record.wheel_sha256 = k_digest;
  record.wheel_size = 5;
  return record;
}

TEST(Record, IsOfItsKey) {
  const store::StepRecord record = sample_record();
  const std::string text = document::to_json(record.to_value());
  EXPECT_EQ(parse_record(text, record.key).wheel_sha256, k_digest);
  EXPECT_THROW(parse_record(text, k_digest), Error) << "a record of another key";
  store::StepRecord lie = record;
  lie.manifest.set("source", "2");
  EXPECT_THROW(parse_record(document::to_json(lie.to_value()), record.key), Error) << "the key is not its manifest's";
  lie = record;
  lie.wheel_sha256 = "../../etc/passwd";
  EXPECT_THROW(parse_record(document::to_json(lie.to_value()), record.key), Error);
  lie = record;
  lie.wheel_name = "../x.whl";
  EXPECT_THROW(parse_record(document::to_json(lie.to_value()), record.key), Error);
}

TEST(Wheel, IsBuiltByUsOrRefused) {
  EXPECT_THROW(check_wheel(Bytes(std::string_view("no wheel")), sample_record()), Error);
}

}  // namespace
}  // namespace wheelsmith::remote
