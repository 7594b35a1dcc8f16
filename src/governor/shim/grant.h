#pragma once

#include <functional>
#include <string>

#include "governor/server/connection.h"
#include "governor/server/run_file.h"
#include "governor/shim/shim_child.h"

namespace wheelsmith::governor {

// One place in the governor's queue: asking for it, waiting, and what the governor says while the compiler runs. Only
// src/governor includes this.
class Grant {
 public:
  // The request at this moment, with `word` (ask or adopt).
  using Question = std::function<Message(Word word, bool hurry)>;
  Grant(std::string run_file, const RunFile& run, Question question)
      : m_run_file(std::move(run_file)), m_run(run), m_question(std::move(question)) {}

  // Waits until the compile may start. False when no governor is available.
  bool get();
  [[nodiscard]] unsigned threads() const { return m_threads; }
  [[nodiscard]] const std::string& node() const { return m_node; }  // "": this one
  [[nodiscard]] Connection& connection() { return m_connection; }

  // Waits for a compiler. Afterwards set_back() says whether the governor killed it.
  sys::ForegroundExit wait(ShimChild& child);
  [[nodiscard]] bool set_back() const { return m_set_back; }
  void forget_set_back() { m_set_back = false; }
  // The report of its end; after a failure, the governor's verdict.
  Message done(const Message& report, bool failed);

 private:
  // A stopped governor costs its timeout once per build, not once per compile: the first shim that waited in vain
  // records it, and later ones check again occasionally.
  [[nodiscard]] std::string silence_note() const { return m_run_file + ".silent"; }
  void note_silence() const;
  // How long to wait for the first message; 0 where another shim has just waited in vain.
  [[nodiscard]] int patience_ms();
  // What to watch from then on, in the form of ShimChild::wait().
  const sys::Fd* watch();
  const sys::Fd* tick();

  std::string m_run_file;
  const RunFile& m_run;
  Question m_question;
  Connection m_connection;
  unsigned m_threads = 1, m_lost = 0;
  std::string m_node;
  bool m_set_back = false;
  bool m_hurry = false;  // the governor did not answer; any message shows that it is back
};

}  // namespace wheelsmith::governor
