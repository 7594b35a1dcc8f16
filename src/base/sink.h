#pragma once

#include <string>

#include "base/bytes.h"

namespace wheelsmith {

// The sequential output of a writer: an unpublished file, a hash, a string in a test. Writers do not use the operating
// system; write() throws Error if it fails.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void write(Bytes bytes) = 0;
};

class StringSink final : public Sink {
 public:
  void write(Bytes bytes) override { m_text += bytes.text(); }
  [[nodiscard]] const std::string& text() const { return m_text; }

 private:
  std::string m_text;
};

}  // namespace wheelsmith
