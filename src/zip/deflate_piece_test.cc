#include "zip/deflate_piece.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <random>

#include "base/hash.h"
#include "zip/writer.h"

namespace wheelsmith::zip {
namespace {

std::string inflated(const std::string& stream, std::size_t size) {
  std::string result(size + 1, '\0');
  z_stream state{};
  EXPECT_EQ(inflateInit2(&state, -15), Z_OK);
  std::string copy = stream;
  state.next_in = reinterpret_cast<Bytef*>(copy.data());
  state.avail_in = static_cast<uInt>(copy.size());
  state.next_out = reinterpret_cast<Bytef*>(result.data());
  state.avail_out = static_cast<uInt>(result.size());
  EXPECT_EQ(inflate(&state, Z_FINISH), Z_STREAM_END);
  EXPECT_EQ(state.avail_in, 0U) << "bytes follow the end of the stream";
  result.resize(result.size() - state.avail_out);
  inflateEnd(&state);
  return result;
}

// Text, runs, machine-like bytes and noise, in stretches.
std::string contents_of(std::mt19937_64& random, std::size_t size) {
  std::string text;
  while (text.size() < size) {
    const std::size_t stretch = 1 + random() % 70'000;
    const unsigned kind = random() % 4;
    for (std::size_t i = 0; i < stretch; ++i) {
      if (kind == 0) text += static_cast<char>('a' + random() % 7);
      if (kind == 1) text += 'x';
      if (kind == 2) text += static_cast<char>(i % 16 < 9 ? i / 64 : random() & 0xff);
      if (kind == 3) text += static_cast<char>(random() & 0xff);
    }
  }
  text.resize(size);
  return text;
}

TEST(DeflatePiece, PiecesBehindOneAnotherAreOneStream) {
  const std::uint64_t seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 60; ++round) {
    const std::string contents = contents_of(random, random() % 300'000);
    std::string stream;
    std::size_t at = 0;
    while (at < contents.size()) {
      const std::size_t size = std::min<std::size_t>(contents.size() - at, 1 + random() % 120'000);
      const Bytes part = Bytes(contents).slice(at, size);
      at += size;
      stream += deflate_piece(part, 1 + static_cast<int>(random() % 9), at == contents.size()).bytes.text();
    }
    if (contents.empty()) stream += deflate_piece({}, 6, true).bytes.text();
    ASSERT_EQ(inflated(stream, contents.size()), contents) << "round " << round;
  }
}

TEST(DeflatePiece, NoiseIsNotWorthTheTimeAndTextIs) {
  std::mt19937_64 random(1);
  std::string noise(1'000'000, '\0');
  for (char& c : noise) c = static_cast<char>(random());
  EXPECT_TRUE(is_packed_already(Bytes(noise)));
  EXPECT_LE(deflate_piece(Bytes(noise), 6, true).bytes.size(), noise.size() + 100);
  EXPECT_FALSE(is_packed_already(Bytes(contents_of(random, 1'000'000))));
  EXPECT_FALSE(is_packed_already(Bytes(std::string_view("short"))));
}

class PatchedText final : public Sink {
 public:
  void write(Bytes bytes) override { text += bytes.text(); }
  std::string text;
};

std::string archive_of(const std::vector<std::string>& members, unsigned threads, Packing packing,
                       std::vector<std::string>* hashes = nullptr) {
  PatchedText sink;
  Writer writer(sink, {.threads = threads, .memory = 10'000'000});
  std::vector<PiecedMember> pieced;
  std::vector<Sha256> seen(members.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    PiecedMember member;
    member.name = "member" + std::to_string(i);
    member.size = members[i].size();
    member.packing = packing;
    member.open = [&members, i](std::uint64_t offset, std::uint64_t size) {
      return Blob{nullptr, Bytes(members[i]).slice(offset, size)};
    };
    member.seen = [&seen, i](Bytes bytes) { seen[i].update(bytes); };
    pieced.push_back(std::move(member));
  }
  writer.add_pieces(pieced,
                    [&](std::uint64_t offset, Bytes bytes) { sink.text.replace(offset, bytes.size(), bytes.text()); });
  writer.finish();
  if (hashes != nullptr) {
    for (Sha256& one : seen) hashes->push_back(to_hex(one.finish()));
  }
  return sink.text;
}

TEST(Writer, MembersInPiecesAreReadLikeOthersAndNeverDependOnThreads) {
  std::mt19937_64 random(7);
  // Below, at and above the size of a piece, and of many.
  std::vector<std::string> members;
  for (const std::size_t size : {0UL, 1UL, 5'000UL, (4UL << 20), (4UL << 20) + 1, 11'000'000UL})
    members.push_back(contents_of(random, size));
  for (const Packing packing : {Packing::smaller, Packing::stored}) {
    std::vector<std::string> hashes;
    const std::string file = archive_of(members, 1, packing, &hashes);
    EXPECT_EQ(archive_of(members, 4, packing), file);
    const Archive archive = Archive::open(Bytes(file));
    for (const Finding& finding : archive.check()) ADD_FAILURE() << finding.id << ": " << finding.what;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const Entry* entry = archive.find("member" + std::to_string(i));
      ASSERT_NE(entry, nullptr);
      EXPECT_TRUE(archive.read(*entry).bytes.text() == members[i]) << i;
      EXPECT_EQ(hashes[i], to_hex(sha256(Bytes(members[i]))));
      if (packing == Packing::stored) {
        EXPECT_EQ(entry->packed_size, entry->size);
      }
    }
  }
}

}  // namespace
}  // namespace wheelsmith::zip
