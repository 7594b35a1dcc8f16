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
  std::uint64_t memory = 256'000'000;  // limit for add_all, in addition to the next member in order
};

enum class Packing { smaller, stored };  // smaller: deflated, or stored if that is not larger

// A member whose contents are read on demand.
struct NewMember {
  std::string name;
  std::uint32_t mode = 0644;
  std::uint64_t size = 0;      // used for the memory budget; open() determines what is written
  std::function<Blob()> open;  // called once, from any thread
};

// A member that is compressed in pieces, several at a time, and so is never in memory as a whole.
struct PiecedMember {
  std::string name;
  std::uint32_t mode = 0644;
  std::uint64_t size = 0;  // exactly
  Packing packing = Packing::smaller;
  std::function<Blob(std::uint64_t offset, std::uint64_t size)> open;  // a part of it; from any thread
  std::function<void(Bytes)> seen;  // may be empty; its contents in order, never two parts of a member at one time
};

// Writes an archive that depends only on names, contents, modes and the given time: members in the order added, no data
// descriptors, no extra fields except ZIP64's, and that only if a value does not fit.
class Writer {
 public:
  // The sink must outlive the writer.
  explicit Writer(Sink& sink, const WriterOptions& options = {});

  // Throws Error for a name that is empty, too long, invalid UTF-8 or a duplicate.
  void add(const std::string& name, Bytes contents, std::uint32_t mode = 0644, Packing packing = Packing::smaller);

  // Copies the compressed bytes of a member of another archive under new headers. Throws Error for encrypted members
  // and methods that wheels do not support. Neither the stream nor the CRC is verified.
  void add_raw(const Archive& archive, const Entry& entry, const std::string& name, std::uint32_t mode = 0644);

  // All of them in this order, deflated in parallel.
  void add_all(const std::vector<NewMember>& members);

  // All of them in this order. If a member has several pieces, its header is rewritten when its sizes are known:
  // `write_at` changes bytes already in the sink.
  void add_pieces(const std::vector<PiecedMember>& members,
                  const std::function<void(std::uint64_t offset, Bytes bytes)>& write_at);

  // Writes the directory; nothing can be added afterwards. Returns the size of the archive.
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
