#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/sink.h"

namespace wheelsmith::archive {

// Reproducible tar (pax where a name or size needs it): files only, mode 0644, time 0, no owner.
class TarWriter {
 public:
  explicit TarWriter(Sink& sink) : m_sink(sink) {}

  // Then exactly `size` bytes by write(). Throws Error for a name that plain_name() would not leave as it is.
  void begin(const std::string& name, std::uint64_t size);
  void write(Bytes bytes);
  // A whole file at once.
  void add(const std::string& name, std::string_view content);
  // The end mark; throws Error when a file is not complete.
  void finish();

 private:
  void header(const std::string& name, std::uint64_t size, char type);
  void pad();

  Sink& m_sink;
  std::uint64_t m_left = 0;  // of the file at hand
  std::uint64_t m_size = 0;
};

}  // namespace wheelsmith::archive
