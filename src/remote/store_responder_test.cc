#include "remote/store_responder.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/hash.h"
#include "sys/file.h"

namespace wheelsmith::remote {
namespace {

struct TestServer {
  sys::TempDir temp;
  store::Store store{temp.path() / "store"};
  StoreResponder responder{store, {.token = "secret", .largest_upload = 100, .most_uploads = 2}};

  static index::Request request(const std::string& method, const std::string& target) {
    index::Request request;
    request.method = method;
    request.target = target;
    return request;
  }
  static index::Request put(const std::string& target, std::uint64_t size, const std::string& token = "secret") {
    index::Request request = TestServer::request("PUT", target);
    request.has_body = true;
    request.body_size = size;
    if (!token.empty()) request.headers.emplace_back("authorization", "Bearer " + token);
    return request;
  }
  [[nodiscard]] unsigned get(const std::string& target) const {
    return responder.answer(request("GET", target)).status;
  }
  // As the server would: what is accepted gets the body, what is not gets its answer.
  [[nodiscard]] unsigned send(const index::Request& request, const std::string& body) const {
    const auto upload = responder.accept(request);
    if (!upload) return responder.answer(request).status;
    upload->take(body.substr(0, body.size() / 2));
    upload->take(body.substr(body.size() / 2));
    return upload->finish().status;
  }
};

std::string digest_of(const std::string& text) { return to_hex(sha256(Bytes(text))); }

TEST(StoreResponder, TakesABlobOfItsHashAndNoOther) {
  const TestServer at;
  const std::string body = "the bytes of a wheel", sha256 = digest_of(body);
  EXPECT_EQ(at.get("/blobs/" + sha256), 404u);
  EXPECT_EQ(at.send(TestServer::put("/blobs/" + sha256, body.size()), "other bytes, same size"), 422u);
  EXPECT_FALSE(at.store.blob(sha256));
  EXPECT_EQ(at.send(TestServer::put("/blobs/" + sha256, body.size()), body), 201u);
  ASSERT_TRUE(at.store.blob(sha256));
  EXPECT_TRUE(at.store.has_sha256(*at.store.blob(sha256), sha256));
  const index::Response response = at.responder.answer(TestServer::request("GET", "/blobs/" + sha256));
  EXPECT_EQ(response.status, 200u);
  EXPECT_TRUE(response.immutable);
}

TEST(StoreResponder, RefusesWhatIsNotAllowed) {
  const TestServer at;
  const std::string body = "bytes", sha256 = digest_of(body);
  const std::string blob = "/blobs/" + sha256;
  EXPECT_EQ(at.send(TestServer::put(blob, 5, ""), body), 401u);
  EXPECT_EQ(at.send(TestServer::put(blob, 5, "secre"), body), 401u);
  EXPECT_EQ(at.send(TestServer::put(blob, 5, "secret2"), body), 401u);
  EXPECT_EQ(at.send(TestServer::put(blob, 101), body), 413u);
  index::Request without_size = TestServer::put(blob, 5);
  without_size.body_size.reset();
  EXPECT_EQ(at.responder.answer(without_size).status, 411u);
  for (const char* target : {"/", "/steps.json", "/store.json", "/blobs/x", "/blobs/../store.json", "/tmp/x"})
    EXPECT_EQ(at.send(TestServer::put(target, 5), body), 404u) << target;
  EXPECT_EQ(at.responder.answer(TestServer::request("DELETE", blob)).status, 405u);
  EXPECT_EQ(at.responder.answer(TestServer::request("POST", blob)).status, 405u);
  const StoreResponder read_only(const_cast<store::Store&>(at.store), {});
  EXPECT_EQ(read_only.answer(TestServer::put(blob, 5)).status, 403u);
  EXPECT_FALSE(at.store.blob(sha256));
}

TEST(StoreResponder, TakesAFewUploadsAtATime) {
  const TestServer at;
  const std::string blob = "/blobs/" + digest_of("x");
  auto one = at.responder.accept(TestServer::put(blob, 1));
  const auto two = at.responder.accept(TestServer::put(blob, 1));
  ASSERT_TRUE(one && two);
  EXPECT_EQ(at.responder.answer(TestServer::put(blob, 1)).status, 503u);
  one.reset();  // a client that hung up
  EXPECT_TRUE(at.responder.accept(TestServer::put(blob, 1)));
}

TEST(StoreResponder, RefusesAStepThatIsNotWhole) {
  const TestServer at;
  store::StepRecord record;
  record.manifest.set("source", "1");
  record.key = record.manifest.key();
  record.wheel_name = "texture-1.0-py3-none-any.whl";
  record.wheel_sha256 = digest_of("no wheel");
  record.wheel_size = 8;
  const std::string text = document::to_json(record.to_value());
  const std::string target = "/" + step_path(record.key);
  EXPECT_EQ(at.send(TestServer::put(target, text.size()), text), 409u) << "without its wheel";
  ASSERT_EQ(at.send(TestServer::put("/" + blob_path(record.wheel_sha256), 8), "no wheel"), 201u);
  EXPECT_EQ(at.send(TestServer::put(target, text.size()), text), 422u) << "not a wheel";
  EXPECT_EQ(at.send(TestServer::put(target, 1), "{"), 422u);
  EXPECT_FALSE(at.store.find_step(record.key));
  EXPECT_EQ(at.send(TestServer::put(target, (16 << 20) + 1), text), 413u);
}

TEST(StoreResponder, ListsNothingOfAnEmptyStore) {
  const TestServer at;
  const index::Response response = at.responder.answer(TestServer::request("GET", "/steps.json"));
  ASSERT_TRUE(response.text);
  const Listing listing = parse_listing(*response.text);
  EXPECT_TRUE(listing.writable);
  EXPECT_TRUE(listing.steps.empty());
}

}  // namespace
}  // namespace wheelsmith::remote
