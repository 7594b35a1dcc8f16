#include <gtest/gtest.h>

#include "base/error.h"
#include "fetch/curl.h"
#include "fetch/fetch.h"
#include "fetch/ini.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::fetch {
namespace {

namespace fs = std::filesystem;

std::string shown(const std::vector<IniEntry>& entries) {
  std::string text;
  for (const IniEntry& entry : entries) text += entry.section + "." + entry.key + "=" + entry.value + "|";
  return text;
}

// Every expectation is the result of Python's RawConfigParser.
TEST(Ini, MatchesConfigparser) {
  struct Row {
    const char *text, *entries;
  };
  for (const Row& row : {Row{"", ""},
                         {"[global]\nindex-url = https://a/b\n", "global.index-url=https://a/b|"},
                         {"[global]\nIndex-URL: x = y\n", "global.index-url=x = y|"},
                         {"[a]\nx=1\n[b]\nx = 2", "a.x=1|b.x=2|"},
                         {"[a]\nlist =\n  one\n\n  # no\n  two\nnext=3\n", "a.list=\none\n\ntwo|a.next=3|"},
                         {"[a]\nlist = one\n\ttwo  \n", "a.list=one\ntwo|"},
                         {"  [a]\n  x = 1\n    more\n  y = 2\n", "a.x=1\nmore|a.y=2|"},
                         {"# c\n; c\n[a]\nx = 1 ; no comment\n", "a.x=1 ; no comment|"},
                         {"[a]\r\nx = 1\r\n", "a.x=1|"},
                         {"[a]\nx =\n", "a.x=|"},
                         {"[a b] rest\nx=1\n", "a b.x=1|"},
                         {"\xef\xbb\xbf[a]\nx=1", "a.x=1|"}}) {
    EXPECT_EQ(shown(parse_ini(row.text, "pip.conf")), row.entries) << row.text;
  }
  for (const char* text : {"x = 1\n", "[a]\nrubbish\n", "[a]\n= 1\n", "[]\n"}) {
    EXPECT_THROW(parse_ini(text, "pip.conf"), Error) << text;
  }
  try {
    parse_ini("[a]\n\nrubbish", "pip.conf");
    FAIL();
  } catch (const Error& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("pip.conf:3: ")) << error.what();
  }
}

class PipSettings : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    sys::make_folders((m_folder.path() / name).parent_path());
    sys::write_file(m_folder.path() / name, text);
  }
  [[nodiscard]] std::string at(const std::string& name) const { return (m_folder.path() / name).string(); }
  [[nodiscard]] IndexSettings read(const sys::Environment& more) const {
    sys::Environment environment{{"HOME", at("home")}, {"XDG_CONFIG_DIRS", at("xdg")}};
    for (const auto& [name, value] : more) environment[name] = value;
    // The machine's own /etc/pip.conf cannot be disabled: each test overrides what it may set.
    return read_pip_settings(environment, m_folder.path() / "site");
  }

  sys::TempDir m_folder;
};

TEST_F(PipSettings, LaterFilesOverrideEarlierOnes) {
  write("xdg/pip/pip.conf",
        "[global]\ntimeout = 1\nretries = 1\nproxy = global\nclient-cert = global\ncert = global\n");
  write("home/.pip/pip.conf", "[global]\nretries = 2\nproxy = legacy\nclient_cert = legacy\ncert = legacy\n");
  write("home/.config/pip/pip.conf", "[global]\nproxy = user\nclient-cert = user\ncert = user\n");
  write("site/pip.conf", "[global]\nclient-cert = site\ncert = site\n");
  IndexSettings settings = read({{"PIP_CERT", "env"}});
  EXPECT_EQ(settings.timeout_seconds, 1);
  EXPECT_EQ(settings.retries, 2);
  EXPECT_EQ(settings.proxy, "user");
  EXPECT_EQ(settings.client_cert, "site");
  EXPECT_EQ(settings.cert, "env");

  write("own.conf", "[global]\nclient-cert = own\n");
  settings = read({{"PIP_CONFIG_FILE", at("own.conf")}, {"PIP_CERT", ""}});
  EXPECT_EQ(settings.client_cert, "own");
  EXPECT_EQ(settings.cert, "site");
  EXPECT_EQ(settings.proxy, "global");  // the user's files are ignored then

  settings = read({{"PIP_CONFIG_FILE", "/dev/null"}});
  EXPECT_EQ(settings, IndexSettings{});
}

TEST_F(PipSettings, ReadsListsFlagsAndSections) {
  write("home/x/pip/pip.conf",
        "[global]\nfind-links =\n    ~/wheels\n    https://a/links.html\nindex-url = https://a/simple\nno-index = no\n"
        "[install]\nextra-index-url = https://b/simple https://c/simple\n[download]\nno-index = yes\n"
        "[list]\nindex-url = https://wrong/\n");
  IndexSettings settings = read({{"XDG_CONFIG_HOME", at("home/x")}, {"PIP_TRUSTED_HOST", "b\nc:8080"}});
  EXPECT_EQ(settings.find_links, (std::vector<std::string>{at("home/wheels"), "https://a/links.html"}));
  EXPECT_EQ(settings.extra_index_urls, (std::vector<std::string>{"https://b/simple", "https://c/simple"}));
  EXPECT_EQ(settings.index_url, "https://a/simple");
  EXPECT_EQ(settings.trusted_hosts, (std::vector<std::string>{"b", "c:8080"}));
  EXPECT_TRUE(settings.no_index);
  settings = read({{"XDG_CONFIG_HOME", at("home/x")}, {"PIP_NO_INDEX", "0"}, {"PIP_FIND_LINKS", "/one"}});
  EXPECT_FALSE(settings.no_index);
  EXPECT_EQ(settings.find_links, std::vector<std::string>{"/one"});
  EXPECT_EQ(read({{"PIP_DEFAULT_TIMEOUT", "180"}}).timeout_seconds, 180);
  EXPECT_EQ(read({{"PIP_DEFAULT_TIMEOUT", "180"}, {"PIP_TIMEOUT", "2.5"}}).timeout_seconds, 2);
  EXPECT_THROW(read({{"PIP_RETRIES", "many"}}), Error);
  EXPECT_THROW(read({{"PIP_NO_INDEX", "perhaps"}}), Error);
}

TEST(FetchUrl, RemovesCredentials) {
  struct Row {
    const char *url, *shown;
  };
  for (const Row& row : {Row{"https://me:secret@a.example/x", "https://a.example/x"},
                         {"https://me@a.example", "https://a.example"},
                         {"https://me:p@ss@a.example/x@y", "https://a.example/x@y"},
                         {"https://a.example/x@y:z", "https://a.example/x@y:z"},
                         {"https://a.example?x=me:y@z", "https://a.example?x=me:y@z"},
                         {"/folder/a@b", "/folder/a@b"},
                         {"file:///a@b", "file:///a@b"}}) {
    EXPECT_EQ(without_credentials(row.url), row.shown);
  }
}

TEST(FetchUrl, SendsCredentialsToTheirOriginOnly) {
  IndexSettings settings;
  settings.index_url = "https://me:p%40ss@a.example/simple";
  settings.extra_index_urls = {"http://you:x@b.example:8080/"};
  EXPECT_EQ(credentials_for("https://a.example:443/files/1", settings), "me:p@ss");
  EXPECT_EQ(credentials_for("https://A.Example/files/1", settings), "me:p@ss");
  EXPECT_EQ(credentials_for("http://a.example/files/1", settings), "");
  EXPECT_EQ(credentials_for("https://a.example.evil/", settings), "");
  EXPECT_EQ(credentials_for("http://b.example:8080/x", settings), "you:x");
  EXPECT_EQ(credentials_for("http://b.example/x", settings), "");
  EXPECT_EQ(credentials_for("https://own:1@a.example/", settings), "own:1");
}

TEST(FetchUrl, ReadsLocalPaths) {
  EXPECT_EQ(local_path("file:///a%20b/c#sha256=1"), fs::path("/a b/c"));
  EXPECT_EQ(local_path("file://localhost/a"), fs::path("/a"));
  EXPECT_EQ(local_path("/a/b"), fs::path("/a/b"));
  EXPECT_EQ(local_path("https://a/b"), std::nullopt);
  EXPECT_THROW(local_path("file://elsewhere/a"), Error);
  EXPECT_THROW(local_path("file:///a%00b"), Error);
}

TEST(FetchUrl, UsesTheLongestMirror) {
  const std::map<std::string, std::string> mirrors{
      {"https://a/", "https://m/all/"}, {"https://a/x", "/srv/x"}, {"https://a/x/y", "file:///srv/y"}};
  EXPECT_EQ(mirrored("https://a/q/1", mirrors), "https://m/all/q/1");
  EXPECT_EQ(mirrored("https://a/x/b%2Bc.whl#sha256=1", mirrors), "/srv/x/b+c.whl");
  EXPECT_EQ(mirrored("https://a/x/y/z%2B", mirrors), "file:///srv/y/z%2B");
  EXPECT_EQ(mirrored("https://a/xy", mirrors), "https://m/all/xy");
  EXPECT_EQ(mirrored("https://ab/x", mirrors), "https://ab/x");
}

TEST(CurlConfig, ContainsEverythingEscaped) {
  FetchOptions options;
  options.index.proxy = "http://p:w@proxy:3128";
  options.index.cert = "/no/such\"\\file";
  options.index.trusted_hosts = {"B.example"};
  options.index.timeout_seconds = 7;
  Transfer transfer;
  transfer.url = "https://me:se%22cret@a.example/x y?z#sha256=1";
  transfer.headers = {"Accept: text/html"};
  transfer.output = "/out";
  const std::string config = curl_config(transfer, options);
  for (const char* line : {"url = \"https://a.example/x%20y?z\"\n", "user = \"me:se\\\"cret\"\n",
                           "proxy = \"http://p:w@proxy:3128\"\n", "cacert = \"/no/such\\\"\\\\file\"\n",
                           "proto-redir = \"=https\"\n", "connect-timeout = 7\n", "output = \"/out\"\n", "fail\n"}) {
    EXPECT_NE(config.find(line), std::string::npos) << line << config;
  }
  EXPECT_EQ(config.find("insecure"), std::string::npos);
  EXPECT_EQ(config.find("netrc"), std::string::npos);
  transfer.url = "https://b.example:8443/";
  EXPECT_NE(curl_config(transfer, options).find("insecure\n"), std::string::npos);
  transfer.headers = {"X: 1\noutput = /etc/passwd"};
  EXPECT_THROW(curl_config(transfer, options), Error);
  transfer.headers = {};
  transfer.url = "https://me:a%0aoutput=x@b.example/";
  EXPECT_THROW(curl_config(transfer, options), Error);
}

TEST(CurlOutput, HasStatusUrlAndType) {
  Transferred result;
  read_curl_output(
      "curl: (22) The requested URL returned error: 404\nwheelsmith-transfer 404 http://a/b text/html; x=Y\n", result);
  EXPECT_EQ(result.status, 404);
  EXPECT_EQ(result.url, "http://a/b");
  EXPECT_EQ(result.content_type, "text/html; x=y");
  EXPECT_EQ(result.message, "curl: (22) The requested URL returned error: 404");
}

TEST(CurlFailure, IsExplained) {
  struct Row {
    int curl, status;
    const char* part;
    bool transient;
  };
  for (const Row& row : {Row{6, 0, "no network", true},
                         {7, 0, "no network", true},
                         {5, 0, "the proxy's name", true},
                         {28, 0, "did not answer within 15 s", true},
                         {18, 200, "broke off", true},
                         {60, 0, "PIP_CERT", false},
                         {77, 0, "PIP_CERT", false},
                         {47, 302, "too many redirects", false},
                         {23, 200, "cannot write", false},
                         {99, 0, "curl exited with status 99", false},
                         {22, 401, "requires a user and a password", false},
                         {22, 403, "denied", false},
                         {22, 404, "not found", false},
                         {22, 429, "too many requests", true},
                         {22, 502, "HTTP 502", true}}) {
    Transferred result;
    result.curl = row.curl;
    result.status = row.status;
    const std::string text = failure_text(result, "https://me:secret@a.example/x", {});
    EXPECT_NE(text.find(row.part), std::string::npos) << row.curl << ": " << text;
    EXPECT_EQ(text.find("secret"), std::string::npos);
    EXPECT_EQ(is_transient(result), row.transient) << row.curl << " " << row.status;
  }
}

}  // namespace
}  // namespace wheelsmith::fetch
