#include "run/step/cache_owner.h"

#include <gtest/gtest.h>

namespace wheelsmith::run {
namespace {

source::Pin archive(const std::string& url, const std::string& version) {
  source::Pin pin;
  pin.url = url;
  pin.version = version;
  return pin;
}

TEST(CacheOwner, IsSharedByTheReleasesOfAPackage) {
  const std::string digest(60, 'a');
  const std::string other(60, 'b');
  const struct {
    source::Pin first, second;
    bool same;
  } rows[] = {
      // As package indexes lay out files.
      {archive("https://files.example/packages/5f/3b/" + digest + "/small-1.0.tar.gz", "1.0"),
       archive("https://files.example/packages/07/c2/" + other + "/small-1.1.tar.gz", "1.1"), true},
      {archive("https://files.example/team/+f/abc/0123456789abc/small-1.0.tar.gz#sha256=00", "1.0"),
       archive("https://files.example/team/+f/def/abcdef0123456/small-1.1.tar.gz#sha256=11", "1.1"), true},
      // As code hosts do.
      {archive("https://host.example/us/small/archive/refs/tags/v1.0.tar.gz", "1.0"),
       archive("https://host.example/us/small/archive/refs/tags/v1.1.tar.gz?token=x", "1.1"), true},
      {archive("https://host.example/us/small/releases/download/v1.0/small-1.0.tar.gz", "1.0"),
       archive("https://host.example/us/small/releases/download/v1.1/small-1.1.tar.gz", "1.1"), true},
      // A fork, another index, another file name.
      {archive("https://host.example/us/small/archive/refs/tags/v1.0.tar.gz", "1.0"),
       archive("https://host.example/others/small/archive/refs/tags/v1.0.tar.gz", "1.0"), false},
      {archive("https://files.example/packages/5f/3b/" + digest + "/small-1.0.tar.gz", "1.0"),
       archive("https://elsewhere.example/packages/5f/3b/" + digest + "/small-1.0.tar.gz", "1.0"), false},
      // Names that look like digests but are too short.
      {archive("https://host.example/beef/small-1.0.tar.gz", "1.0"),
       archive("https://host.example/cafe/small-1.0.tar.gz", "1.0"), false},
      // Numbers that are not digests may be users; a query may choose the file; a host is never a digest.
      {archive("https://host.example/5f3b5f3b5f3b5f3b5f3b5f3b/small-1.0.tar.gz", "1.0"),
       archive("https://host.example/07c207c207c207c207c207c2/small-1.0.tar.gz", "1.0"), false},
      {archive("https://host.example/123456789012345678/1234567890123456789/small-1.0.tar.gz", "1.0"),
       archive("https://host.example/223456789012345678/1234567890123456789/small-1.0.tar.gz", "1.0"), false},
      {archive("https://host.example/uc?id=1", "1.0"), archive("https://host.example/uc?id=2", "1.0"), false},
      {archive("https://host.example/get.tar.gz?repository=us", "1.0"),
       archive("https://host.example/get.tar.gz?repository=others", "1.0"), false},
      {archive("http://cafe/" + digest + "aaaa/small-1.0.tar.gz", "1.0"),
       archive("http://feed/" + digest + "aaaa/small-1.0.tar.gz", "1.0"), false},
      {archive("file:///cache/" + digest + "aaaa/small-1.0.tar.gz", "1.0"),
       archive("file:///cache/" + other + "bbbb/small-1.0.tar.gz", "1.0"), false},
      // A version that an archive claims for itself cannot replace a name.
      {archive("https://host.example/us/small-1.0.tar.gz", "1.0"),
       archive("https://host.example/others/small-1.0.tar.gz", "others"), false},
  };
  for (const auto& row : rows)
    EXPECT_EQ(cache_owner("small", row.first) == cache_owner("small", row.second), row.same) << row.first.url << "\n"
                                                                                             << row.second.url;
  EXPECT_NE(cache_owner("small", rows[0].first), cache_owner("large", rows[0].first));
}

TEST(CacheOwner, OfFoldersAndRepositories) {
  source::Pin folder;
  folder.kind = source::Pin::Kind::folder;
  folder.folder = "/src/small-1.0";
  folder.version = "1.0";
  source::Pin next = folder;
  next.folder = "/src/small-1.1";
  next.version = "1.1";
  EXPECT_EQ(cache_owner("small", folder), cache_owner("small", next));
  next.folder = "/other/small-1.1";
  EXPECT_NE(cache_owner("small", folder), cache_owner("small", next));

  source::Pin repository;
  repository.kind = source::Pin::Kind::git;
  repository.git_url = "https://host.example/us/small.git";
  repository.git_commit = "1";
  source::Pin later = repository;
  later.git_commit = "2";
  EXPECT_EQ(cache_owner("small", repository), cache_owner("small", later));
  later.git_url = "https://host.example/others/small.git";
  EXPECT_NE(cache_owner("small", repository), cache_owner("small", later)) << "a fork";
}

}  // namespace
}  // namespace wheelsmith::run
