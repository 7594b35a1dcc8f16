#pragma once

#include <string>

#include "base/bytes.h"

namespace wheelsmith {

// Where a writer's bytes go, one after the other: a file that is not published yet, a hash, a string in a test. Writers
// know nothing of the operating system; write() throws Error when it cannot take the bytes.
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
