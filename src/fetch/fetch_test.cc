// Uses a real server on the loopback device and the real curl.

#include "fetch/fetch.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "fetch/part_file.h"
#include "fetch/test_server.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::fetch {
namespace {

namespace fs = std::filesystem;

struct Server {
  Server() {
    sys::Command command;
    command.argv = {"python3", "-c", k_test_server};
    process.emplace(command);
    std::string line;
    while (line.find('\n') == std::string::npos) {
      const auto part = process->read();
      if (!part) throw Error("the test server did not start: " + line);
      line += *part;
      if (part->empty()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    const auto words = split(trim(line), ' ');
    url = "http://127.0.0.1:" + std::string(words.at(0));
    sha256 = words.at(1);
  }
  std::optional<sys::Process> process;
  std::string url, sha256;
};

class FetchFromServer : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    ::setenv("no_proxy", "127.0.0.1", 1);
    if (!sys::find_program("python3").empty() && !sys::find_program("curl").empty())
      s_server = std::make_unique<Server>();
  }
  static void TearDownTestSuite() { s_server.reset(); }
  void SetUp() override {
    if (!s_server) GTEST_SKIP() << "needs python3 and curl";
    m_options.index.index_url = url("/simple");
    m_options.index.timeout_seconds = 3;
    m_options.index.retries = 1;
  }

  static std::string url(const std::string& path) { return s_server->url + path; }
  [[nodiscard]] Fetcher fetcher() { return {m_store, m_options}; }
  fs::path download(const std::string& path, const std::string& sha256) {
    return fetcher().download(url(path), "demo-1.0.tar.gz", sha256);
  }
  // The error message; the call must fail.
  template <class Action>
  static std::string failure(const Action& action) {
    try {
      action();
    } catch (const Error& error) {
      return error.what();
    }
    return "it went well";
  }
  [[nodiscard]] std::string download_failure(const std::string& path) {
    return failure([&] { download(path, s_server->sha256); });
  }
  [[nodiscard]] std::size_t stored_files() const {
    std::size_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(m_store.root() / "downloads"))
      count += entry.is_regular_file();
    return count;
  }
  [[nodiscard]] std::vector<std::string> requests(const std::string& path) const {
    const std::string log = get(url("/log"), m_options).body;
    std::vector<std::string> result;
    for (const std::string_view line : lines(log)) {
      if (line.starts_with(path + " ")) result.emplace_back(line.substr(path.size() + 1));
    }
    return result;
  }

  static inline std::unique_ptr<Server> s_server;  // NOLINT: gtest's way to share a fixture
  sys::TempDir m_folder;
  store::Store m_store{m_folder.path() / "store"};
  FetchOptions m_options;
};

TEST_F(FetchFromServer, ReadsHtmlAndJsonPages) {
  m_options.index.extra_index_urls = {url("/json/"), url("/nothing")};
  Fetcher fetcher(m_store, m_options);
  const pep::ProjectPage& page = fetcher.project("Demo");
  ASSERT_EQ(page.files.size(), 2U);
  EXPECT_EQ(page.files[0].name, "demo-1.0.tar.gz");
  EXPECT_EQ(page.files[0].url, url("/files/demo-1.0.tar.gz"));
  EXPECT_EQ(page.files[0].requires_python, ">=3.8");
  EXPECT_EQ(page.files[1].name, "demo-2.0.tar.gz");
  EXPECT_EQ(&fetcher.project("demo"), &page);
  EXPECT_TRUE(fetcher.warnings().empty());
}

TEST_F(FetchFromServer, ReportsAMissingProject) {
  const std::string why = failure([&] { fetcher().project("absent"); });
  EXPECT_EQ(why, "no project absent in " + url("/simple"));
  EXPECT_NE(failure([&] { fetcher().project("../x"); }).find("not a valid project name"), std::string::npos);
  EXPECT_EQ(fetcher().find_project("absent"), nullptr);
}

TEST_F(FetchFromServer, SkipsAFailingIndexWhenAnotherAnswers) {
  m_options.index.extra_index_urls = {url("/forbidden")};
  Fetcher one(m_store, m_options);
  EXPECT_EQ(one.project("demo").files.size(), 1U);
  ASSERT_EQ(one.warnings().size(), 1U);
  EXPECT_NE(one.warnings()[0].find("403"), std::string::npos);
  EXPECT_NE(failure([&] { one.project("absent"); }).find("403"), std::string::npos);
  EXPECT_NE(failure([&] { one.find_project("absent"); }).find("403"), std::string::npos);
}

TEST_F(FetchFromServer, UsesButHidesIndexCredentials) {
  m_options.index.index_url = url("/secret");
  EXPECT_NE(failure([&] { fetcher().project("demo"); }).find("requires a user and a password"), std::string::npos);
  m_options.index.index_url.insert(std::string("http://").size(), "me:p%40ss@");
  Fetcher known(m_store, m_options);
  const pep::ProjectFile file = known.project("demo").files.at(0);
  EXPECT_EQ(file.url, url("/secret/demo-3.0.tar.gz"));
  EXPECT_TRUE(fs::exists(known.download(file.url, file.name, "")));
  const std::string why = failure([&] { known.project("demo2"); });
  EXPECT_EQ(why.find("p%40ss"), std::string::npos) << why;
}

TEST_F(FetchFromServer, DownloadsOnceAndKeeps) {
  std::uint64_t done = 0;
  m_options.on_progress = [&](const Progress& progress) { done = progress.done; };
  const fs::path path = download("/files/a", s_server->sha256);
  EXPECT_EQ(path, m_store.root() / "downloads" / s_server->sha256 / "demo-1.0.tar.gz");
  EXPECT_EQ(to_hex(sha256(Bytes(sys::read_file(path)))), s_server->sha256);
  EXPECT_EQ(done, 1U << 20);
  EXPECT_EQ(download("/files/a", s_server->sha256), path);
  m_options.offline = true;
  EXPECT_EQ(download("/files/a", s_server->sha256), path);
  m_options.offline = false;
  EXPECT_EQ(requests("/files/a").size(), 1U);
  EXPECT_EQ(stored_files(), 1U);
}

TEST_F(FetchFromServer, RefetchesADamagedDownload) {
  const fs::path path = download("/files/damaged", s_server->sha256);
  for (const bool whole : {true, false}) {
    const std::string text = sys::read_file(path);
    std::ofstream(path, std::ios::trunc) << (whole ? "x" + text.substr(1) : text.substr(0, 1000));
    m_options.offline = true;
    EXPECT_NE(download_failure("/files/damaged").find("is damaged in the store"), std::string::npos);
    m_options.offline = false;
    EXPECT_EQ(download("/files/damaged", s_server->sha256), path);
    EXPECT_EQ(to_hex(sha256(Bytes(sys::read_file(path)))), s_server->sha256);
  }
  EXPECT_EQ(requests("/files/damaged").size(), 3U);
  EXPECT_EQ(stored_files(), 1U);
}

TEST_F(FetchFromServer, FetchesNothingOffline) {
  m_options.offline = true;
  EXPECT_NE(download_failure("/files/offline").find("--offline"), std::string::npos);
  EXPECT_NE(failure([&] { fetcher().project("demo"); }).find("--offline"), std::string::npos);
}

TEST_F(FetchFromServer, DiscardsAFileWithAWrongHash) {
  const std::string wrong(64, '0');
  const std::string why = failure([&] { download("/files/b", wrong); });
  EXPECT_NE(why.find(wrong), std::string::npos) << why;
  EXPECT_NE(why.find(s_server->sha256), std::string::npos) << why;
  EXPECT_EQ(stored_files(), 0U);
  EXPECT_NE(failure([&] { download("/files/b", "12"); }).find("not a SHA-256"), std::string::npos);
  EXPECT_NE(failure([&] { fetcher().download(url("/files/b"), "../x", ""); }).find("not a valid file name"),
            std::string::npos);
}

TEST_F(FetchFromServer, RemembersTheFirstHashWithoutAnExpectedOne) {
  const fs::path path = download("/files/c", "");
  EXPECT_EQ(download("/files/c", ""), path);
  EXPECT_EQ(requests("/files/c").size(), 1U);
}

TEST_F(FetchFromServer, ResumesABrokenDownload) {
  const fs::path path = download("/cut/a", s_server->sha256);
  EXPECT_EQ(fs::file_size(path), 1U << 20);
  EXPECT_EQ(requests("/cut/a"), (std::vector<std::string>{"-", "bytes=524288-"}));
}

TEST_F(FetchFromServer, ResumesThePartOfAnEarlierRun) {
  m_options.index.retries = 0;
  EXPECT_NE(download_failure("/half/a").find("broke off"), std::string::npos);
  EXPECT_NE(download_failure("/half/a").find("503"), std::string::npos);
  EXPECT_EQ(requests("/half/a"), (std::vector<std::string>{"-", "bytes=524288-"}));
  // The same file through a working mirror.
  m_options.mirrors = {{url("/half"), url("/files")}};
  EXPECT_TRUE(fs::exists(download("/half/a", s_server->sha256)));
}

TEST_F(FetchFromServer, DiscardsAStalePart) {
  m_options.index.retries = 0;
  for (const std::string path : {"/files/stale", "/norange/stale"}) {
    const std::string key = to_hex(sha256(Bytes(url(path) + "\n" + s_server->sha256))).substr(0, 32);
    const fs::path part = m_store.root() / "downloads" / ("part-" + key);
    sys::make_folders(part);
    sys::write_file(part / "body", "what stood here before");
    const fs::path stored = download(path, s_server->sha256);
    EXPECT_EQ(fs::file_size(stored), 1U << 20) << path;
    EXPECT_FALSE(fs::exists(part));
    sys::remove_tree(stored.parent_path());
  }
}

TEST_F(FetchFromServer, FetchesOnceForConcurrentCalls) {
  fs::path paths[2];
  const auto fetch = [&](std::size_t i) {
    store::Store store(m_store.root());
    paths[i] = Fetcher(store, m_options).download(url("/files/two"), "demo-1.0.tar.gz", s_server->sha256);
  };
  std::thread other(fetch, 1);
  fetch(0);
  other.join();
  EXPECT_EQ(paths[0], paths[1]);
  EXPECT_TRUE(fs::exists(paths[0]));
  EXPECT_EQ(requests("/files/two").size(), 1U);
}

TEST_F(FetchFromServer, FollowsRedirects) {
  EXPECT_EQ(get(url("/redirect/simple/demo/"), m_options).url, url("/simple/demo/"));
  EXPECT_NE(download_failure("/loop").find("too many redirects"), std::string::npos);
  const std::string why = download_failure("/escape");
  EXPECT_NE(why.find("not followed"), std::string::npos) << why;
  EXPECT_TRUE(fs::exists(download("/redirect/redirect/files/d", s_server->sha256)));
}

TEST_F(FetchFromServer, ExplainsFailures) {
  EXPECT_NE(download_failure("/absent").find("not found (HTTP 404)"), std::string::npos);
  EXPECT_NE(download_failure("/forbidden/x").find("HTTP 403"), std::string::npos);
  EXPECT_NE(download_failure("/broken/x").find("HTTP 500"), std::string::npos);
  EXPECT_EQ(requests("/broken/x").size(), 2U);
  EXPECT_EQ(requests("/absent").size(), 1U);
  EXPECT_TRUE(fs::exists(download("/flaky/x", s_server->sha256)));
  EXPECT_EQ(stored_files(), 1U);
}

TEST_F(FetchFromServer, TimesOutOnASlowServer) {
  m_options.index.timeout_seconds = 1;
  m_options.index.retries = 0;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_NE(download_failure("/slow").find("did not answer within 1 s"), std::string::npos);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST_F(FetchFromServer, LimitsAnEndlessPage) {
  EXPECT_NE(failure([&] { get(url("/endless"), m_options); }).find("too large"), std::string::npos);
}

TEST_F(FetchFromServer, StopsOnRequest) {
  m_options.stop = [] { return true; };
  EXPECT_NE(download_failure("/slow/stop").find("interrupted"), std::string::npos);
}

TEST_F(FetchFromServer, ReportsAnUnreachableServer) {
  m_options.index.retries = 0;
  const std::string why = failure([&] { get("http://127.0.0.1:1/x", m_options); });
  EXPECT_NE(why.find("no network, or the server is down"), std::string::npos) << why;
  EXPECT_NE(failure([&] { get("ftp://127.0.0.1/x", m_options); }).find("only http:"), std::string::npos);
}

class FetchFromFolder : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    sys::make_folders((m_folder.path() / name).parent_path());
    sys::write_file(m_folder.path() / name, text);
  }
  [[nodiscard]] std::string at(const std::string& name) const { return (m_folder.path() / name).string(); }

  sys::TempDir m_folder;
  store::Store m_store{m_folder.path() / "store"};
};

TEST_F(FetchFromFolder, ReadsFindLinksAndFileIndexes) {
  write("wheels #1/demo-1.0-py3-none-any.whl", "one");
  write("wheels #1/demo-1.0+a.tar.gz", "two");
  write("wheels #1/demolition-1.0.tar.gz", "no");
  write("links/page.html", "<a href='../files/demo-2.0.tar.gz'>x</a><a href='about.html'>y</a>");
  write("files/demo-2.0.tar.gz", "three");
  write("simple/demo/index.html", "<a href='../../files/demo-3.0.tar.gz'>x</a>");
  write("plain/demo/demo-4.0.tar.gz", "five");
  FetchOptions options;
  options.offline = true;  // local files are not the network
  options.index.index_url = "file://" + at("simple");
  options.index.extra_index_urls = {at("plain")};
  options.index.find_links = {at("wheels #1"), "file://" + at("links/page.html"), at("files/demo-2.0.tar.gz")};
  Fetcher fetcher(m_store, options);
  const pep::ProjectPage& page = fetcher.project("demo");
  std::vector<std::string> names;
  for (const pep::ProjectFile& file : page.files) names.push_back(file.name);
  EXPECT_EQ(names, (std::vector<std::string>{"demo-1.0+a.tar.gz", "demo-1.0-py3-none-any.whl", "demo-2.0.tar.gz",
                                             "demo-3.0.tar.gz", "demo-4.0.tar.gz"}));
  for (const std::size_t i : {0U, 1U, 2U, 4U}) {
    const fs::path path = fetcher.download(page.files[i].url, page.files[i].name, "");
    EXPECT_EQ(path.filename(), page.files[i].name);
    EXPECT_EQ(fetcher.download(page.files[i].url, page.files[i].name, ""), path);
  }
  EXPECT_THROW(fetcher.download(page.files[3].url, page.files[3].name, ""), Error);
  EXPECT_THROW(fetcher.download(page.files[0].url, page.files[0].name, std::string(64, '0')), Error);
  // A changed file is a different file.
  const fs::path before = fetcher.download(page.files[2].url, page.files[2].name, "");
  write("files/demo-2.0.tar.gz", "changed since");
  EXPECT_NE(fetcher.download(page.files[2].url, page.files[2].name, ""), before);
}

TEST(ContentLength, IsThatOfTheLastResponse) {
  EXPECT_EQ(content_length("HTTP/1.1 302 x\r\nContent-Length: 5\r\n\r\nHTTP/1.1 200 OK\r\ncontent-LENGTH:  77 \r\n"),
            77U);
  EXPECT_EQ(content_length("HTTP/1.1 302 x\r\nContent-Length: 5\r\n\r\nHTTP/1.1 200 OK\r\n"), 0U);
  EXPECT_EQ(content_length("Content-Length: 99999999999999999999999"), 0U);
}

}  // namespace
}  // namespace wheelsmith::fetch
