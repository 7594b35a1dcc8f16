#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/bytes.h"
#include "base/sink.h"
#include "base/zip_epoch.h"
#include "zip/archive.h"

namespace wheelsmith::zip {

struct WriterOptions {
  std::int64_t time = k_zip_epoch;  // of every member, in seconds since 1970 (SOURCE_DATE_EPOCH); clamped to 1980…2107
  int level = 6;                    // libdeflate's, 1 to 12
  unsigned threads = 1;
  std::uint64_t memory = 256'000'000;  // what add_all may hold at one time, beside the member that is next in order
};

enum class Packing { smaller, stored };  // smaller: deflated, or stored where that is no larger

// A member whose contents are fetched when their turn comes.
struct NewMember {
  std::string name;
  std::uint32_t mode = 0644;
  std::uint64_t size = 0;      // memory is reckoned by it; what is written is what open() returns
  std::function<Blob()> open;  // called once, from any thread
};

// A member that is packed in pieces, several at a time, and so never lies in memory whole.
struct PiecedMember {
  std::string name;
  std::uint32_t mode = 0644;
  std::uint64_t size = 0;  // exactly
  Packing packing = Packing::smaller;
  std::function<Blob(std::uint64_t offset, std::uint64_t size)> open;  // a part of it; from any thread
  std::function<void(Bytes)> seen;  // may be empty; its contents in order, never two parts of a member at one time
};

// Writes an archive that depends on nothing but names, contents, modes and the time given: members in the order added,
// no data descriptors, no extra fields but ZIP64's, and that only where a value does not fit.
class Writer {
 public:
  // The sink must outlive the writer.
  explicit Writer(Sink& sink, const WriterOptions& options = {});

  // Throws Error for a name that is empty, too long, no UTF-8 or there already.
  void add(const std::string& name, Bytes contents, std::uint32_t mode = 0644, Packing packing = Packing::smaller);

  // The packed bytes of a member of another archive as they are, under headers of our own. Throws Error for encrypted
  // members and methods that wheels do not have. Neither the stream nor the CRC is verified.
  void add_raw(const Archive& archive, const Entry& entry, const std::string& name, std::uint32_t mode = 0644);

  // All of them in this order, deflated side by side.
  void add_all(const std::vector<NewMember>& members);

  // All of them in this order. Where a member has several pieces, its header is written again when its sizes are known:
  // `write_at` changes what the sink has got already.
  void add_pieces(const std::vector<PiecedMember>& members,
                  const std::function<void(std::uint64_t offset, Bytes bytes)>& write_at);

  // The directory; nothing can be added any more. Returns the size of the whole archive.
  std::uint64_t finish();

 private:
  struct Packed {
    Method method = Method::stored;
    std::uint32_t crc32 = 0;
    std::uint64_t size = 0;
    Blob data;
  };
  class Line;
  class PieceLine;
  [[nodiscard]] static Packed pack(Blob contents, int level, Packing packing);
  void claim(const std::string& name);
  void write(const std::string& name, std::uint32_t mode, const Packed& member);
  void put(Bytes bytes);
  [[nodiscard]] std::string local_header(const std::string& name, const Packed& member,
                                         std::uint64_t packed_size) const;
  void add_to_directory(const std::string& name, std::uint32_t mode, const Packed& member, std::uint64_t packed_size,
                        std::uint64_t offset);

  Sink& m_sink;
  WriterOptions m_options;
  std::uint16_t m_time = 0;
  std::uint16_t m_date = 0;
  std::uint64_t m_offset = 0;
  std::uint64_t m_count = 0;
  std::string m_directory;
  std::unordered_set<std::string> m_names;
};

}  // namespace wheelsmith::zip
