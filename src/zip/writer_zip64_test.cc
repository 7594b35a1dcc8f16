// Sizes beyond 32 bits. The gigabytes are memory that is never touched: such pages are zeros and take no space.

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

#include "base/error.h"
#include "zip/format.h"
#include "zip/test_archive.h"
#include "zip/writer.h"

namespace wheelsmith::zip {
namespace {

constexpr std::uint64_t k_4_gib = std::uint64_t{1} << 32;

class Zeros {
 public:
  explicit Zeros(std::uint64_t size) : m_size(size) {
    m_data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (m_data == MAP_FAILED) throw Error("no address space");
  }
  Zeros(const Zeros&) = delete;
  Zeros& operator=(const Zeros&) = delete;
  ~Zeros() { munmap(m_data, m_size); }
  [[nodiscard]] std::uint8_t* data() const { return static_cast<std::uint8_t*>(m_data); }
  [[nodiscard]] Bytes bytes(std::uint64_t size) const { return Bytes(m_data, m_size).slice(0, size); }

 private:
  void* m_data;
  std::uint64_t m_size;
};

// An archive in memory of which only the small pieces are really there: the large ones are zeros anyway.
class SparseSink final : public Sink {
 public:
  explicit SparseSink(std::uint64_t size) : m_memory(size), m_room(size) {}
  void write(Bytes bytes) override {
    if (bytes.size() > m_room - m_size) throw Error("more than was expected");
    if (bytes.size() < 1'000'000) std::memcpy(m_memory.data() + m_size, bytes.data(), bytes.size());
    m_size += bytes.size();
  }
  [[nodiscard]] Bytes bytes() const { return m_memory.bytes(m_size); }

 private:
  Zeros m_memory;
  std::uint64_t m_room;
  std::uint64_t m_size = 0;
};

bool has_record64(Bytes file) {
  return file.size() > 100 &&
         find_at<Locator64>(file, file.size() - sizeof(EndRecord) - sizeof(Locator64), k_locator64_signature);
}

TEST(WriterZip64, AMemberOfFourGibibytesAndOneBehindIt) {
  const Zeros zeros(k_4_gib);
  SparseSink sink(k_4_gib + 100'000);
  Writer writer(sink);
  writer.add("large", zeros.bytes(k_4_gib), 0644, Packing::stored);
  writer.add("behind", Bytes(std::string_view("here")));
  const std::uint64_t size = writer.finish();
  EXPECT_EQ(size, sink.bytes().size());

  const Archive archive = Archive::open(sink.bytes());
  expect_clean(archive);
  ASSERT_EQ(archive.entries().size(), 2u);
  EXPECT_EQ(archive.entries()[0].size, k_4_gib);
  EXPECT_EQ(archive.entries()[0].packed_size, k_4_gib);
  EXPECT_TRUE(archive.entries()[1].zip64) << "its offset";
  EXPECT_EQ(archive.read(archive.entries()[1]).bytes.text(), "here");
  const auto header = sink.bytes().get<LocalHeader>(0);
  EXPECT_EQ(header.needed, 45);
  EXPECT_EQ(header.size, k_in_zip64);
  EXPECT_EQ(header.packed_size, k_in_zip64);
  EXPECT_EQ(header.extra_size, 20);
  EXPECT_EQ(sink.bytes().get<LocalHeader>(archive.entries()[1].header_offset).extra_size, 0);
  EXPECT_TRUE(has_record64(sink.bytes()));

  // The largest number of 32 bits is taken for the mark, so the last size that needs no extra is one below it.
  for (const std::uint64_t limit : {std::uint64_t{0xfffffffe}, std::uint64_t{0xffffffff}}) {
    Entry entry = archive.entries()[0];
    entry.size = entry.packed_size = limit;
    SparseSink copy(k_4_gib + 100'000);
    Writer copier(copy);
    copier.add_raw(archive, entry, "large");
    copier.finish();
    const Archive copied = Archive::open(copy.bytes());
    expect_clean(copied);
    EXPECT_EQ(copied.entries().at(0).size, limit);
    EXPECT_EQ(copied.entries().at(0).zip64, limit == 0xffffffff);
    EXPECT_EQ(copy.bytes().get<LocalHeader>(0).extra_size, limit == 0xffffffff ? 20 : 0);
  }
}

TEST(WriterZip64, CountsPastSixteenBits) {
  for (const unsigned count : {65534u, 65535u, 65536u, 70000u}) {
    StringSink sink;
    Writer writer(sink);
    for (unsigned i = 0; i < count; ++i) writer.add("m" + std::to_string(i), Bytes());
    writer.finish();
    const Archive archive = Archive::open(Bytes(sink.text()));
    EXPECT_EQ(archive.entries().size(), count);
    expect_clean(archive);
    EXPECT_EQ(has_record64(Bytes(sink.text())), count >= 65535) << count;
  }
}

}  // namespace
}  // namespace wheelsmith::zip
