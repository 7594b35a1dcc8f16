#include "index/serve/request.h"

#include <gtest/gtest.h>

namespace wheelsmith::index {
namespace {

TEST(Target, NamesWhatLiesBelowAFolder) {
  struct Case {
    const char *target, *path;
    bool folder;
  };
  for (const Case& item :
       {Case{"/", "", true}, Case{"/a", "a", false}, Case{"/a/", "a", true},
        Case{"/a/b%2Bc.whl?x#y", "a/b+c.whl", false}, Case{"http://h", "", true}, Case{"HTTP://h:80/a/", "a", true},
        Case{"/%252e%252e", "%2e%2e", false}, Case{"/%C3%A4/...", "\u00e4/...", false}}) {
    const auto target = parse_target(item.target);
    ASSERT_TRUE(target) << item.target;
    EXPECT_EQ(target->path, item.path);
    EXPECT_EQ(target->folder, item.folder) << item.target;
  }
  EXPECT_EQ(parse_target("/a?format=x&y")->query, "format=x&y");
}

TEST(Target, RefusesAllWaysOut) {
  for (const char* target : {"",
                             "a",
                             "*",
                             "//",
                             "//a",
                             "/a//b",
                             "/.",
                             "/..",
                             "/../a",
                             "/a/..",
                             "/a/../b",
                             "/%2e%2e/a",
                             "/%2e",
                             "/.%2E/",
                             "/a%2fb",
                             "/a%2Fb",
                             "/a\\b",
                             "/a%5cb",
                             "/%00",
                             "/a%00b",
                             "/%0a",
                             "/%7f",
                             "/%",
                             "/%2",
                             "/%zz",
                             "/%c0%ae%c0%ae/",
                             "/%ff",
                             "/%ed%a0%80",
                             "/a#b",
                             "http:/a/../b",
                             "file:///etc/passwd"})
    EXPECT_FALSE(parse_target(target)) << target;
  EXPECT_FALSE(parse_target("/" + std::string(256, 'a')));
}

TEST(Page, IsChosenByAccept) {
  constexpr const char* k_json = "application/vnd.pypi.simple.v1+json";
  constexpr const char* k_v1_html = "application/vnd.pypi.simple.v1+html; charset=utf-8";
  constexpr const char* k_html = "text/html; charset=utf-8";
  struct Case {
    std::optional<std::string> accept;
    const char* type;  // null: none
  };
  for (const Case& item :
       {Case{std::nullopt, k_html}, Case{"", k_html}, Case{"*/*", k_html}, Case{"text/html", k_html},
        Case{"text/*", k_html}, Case{"text/html, */*;q=0.8", k_html}, Case{k_json, k_json},
        Case{"application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, "
             "text/html;q=0.01",
             k_json},
        Case{"application/vnd.pypi.simple.latest+json", k_json}, Case{"application/vnd.pypi.simple.v1+html", k_v1_html},
        Case{"text/html;q=0.9, application/vnd.pypi.simple.v1+json;q=0.8", k_html},
        Case{"application/vnd.pypi.simple.v1+json;q=0, */*", k_html},
        Case{"APPLICATION/VND.PYPI.SIMPLE.V1+JSON", k_json}, Case{"application/json", nullptr},
        Case{"application/vnd.pypi.simple.v2+json", nullptr}, Case{"*/*;q=0", nullptr},
        Case{"text/html;q=0.000", nullptr}}) {
    const auto choice = choose_page(item.accept, "");
    const std::string name = item.accept.value_or("(none)");
    ASSERT_EQ(choice.has_value(), item.type != nullptr) << name;
    EXPECT_EQ(choice ? choice->content_type : "", item.type != nullptr ? item.type : "") << name;
  }
  EXPECT_TRUE(choose_page("text/html", "a=b&format=application/vnd.pypi.simple.v1%2bjson")->json);
  EXPECT_FALSE(choose_page("text/html", "format=application/json"));
}

TEST(Range, IsOnePartOrTheWhole) {
  using Kind = ByteRange::Kind;
  struct Case {
    const char* header;
    Kind kind;
    std::uint64_t begin, end;
  };
  for (const Case& item :
       {Case{"bytes=0-0", Kind::part, 0, 1}, Case{"bytes=10-19", Kind::part, 10, 20},
        Case{"bytes=90-200", Kind::part, 90, 100}, Case{"bytes=99-", Kind::part, 99, 100},
        Case{"bytes=-1", Kind::part, 99, 100}, Case{"bytes=-500", Kind::part, 0, 100},
        Case{"Bytes= 1 - 2 ", Kind::part, 1, 3}, Case{"bytes=0-18446744073709551615", Kind::part, 0, 100},
        Case{"bytes=100-", Kind::unsatisfiable, 0, 0}, Case{"bytes=-0", Kind::unsatisfiable, 0, 0},
        Case{"bytes=2-1", Kind::whole, 0, 100}, Case{"bytes=1-2,3-4", Kind::whole, 0, 100},
        Case{"bytes=x-", Kind::whole, 0, 100}, Case{"bytes=-", Kind::whole, 0, 100}, Case{"bytes", Kind::whole, 0, 100},
        Case{"lines=1-2", Kind::whole, 0, 100}, Case{"bytes=99999999999999999999-", Kind::whole, 0, 100}}) {
    const ByteRange range = parse_range(item.header, 100);
    EXPECT_EQ(range.kind, item.kind) << item.header;
    EXPECT_EQ(range.begin, item.begin) << item.header;
    EXPECT_EQ(range.end, item.end) << item.header;
  }
  EXPECT_EQ(parse_range("bytes=0-", 0).kind, Kind::unsatisfiable);
  EXPECT_EQ(parse_range("bytes=-5", 0).kind, Kind::unsatisfiable);
}

TEST(Request, ComesInPieces) {
  const std::string text = "\r\nGET /a HTTP/1.1\r\nHost: x\r\nAccept: a\r\naccept: b\r\n\r\n";
  Request request;
  std::size_t used = 0;
  for (std::size_t size = 0; size < text.size(); ++size)
    ASSERT_EQ(parse_request(text.substr(0, size), request, used), RequestState::incomplete) << size;
  ASSERT_EQ(parse_request(text + "GET /next", request, used), RequestState::complete);
  EXPECT_EQ(used, text.size());
  EXPECT_EQ(request.method, "GET");
  EXPECT_EQ(request.target, "/a");
  EXPECT_EQ(request.header("accept"), "a, b");
  EXPECT_TRUE(request.keep_alive);
  EXPECT_FALSE(request.has_body);
}

TEST(Request, IsRefusedWhereItCouldBeReadTwoWays) {
  Request request;
  std::size_t used = 0;
  for (const char* text :
       {"GET / HTTP/1.1\r\n\r\n", "GET / HTTP/2.0\r\nHost: x\r\n\r\n", "GET /\r\n\r\n",
        "GET / HTTP/1.1\r\nHost : x\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: +1\r\n\r\n", "G\x01T / HTTP/1.1\r\nHost: x\r\n\r\n"})
    EXPECT_EQ(parse_request(text, request, used), RequestState::bad) << text;
  EXPECT_EQ(parse_request("GET /" + std::string(k_most_request, 'a'), request, used), RequestState::too_large);
  ASSERT_EQ(parse_request("GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", request, used),
            RequestState::complete);
  EXPECT_TRUE(request.has_body);
  ASSERT_EQ(parse_request("GET / HTTP/1.0\r\n\r\n", request, used), RequestState::complete);
  EXPECT_FALSE(request.keep_alive);
}

}  // namespace
}  // namespace wheelsmith::index
