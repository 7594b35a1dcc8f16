#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "base/error.h"
#include "sys/file.h"
#include "sys/file_state.h"
#include "sys/files.h"
#include "sys/io/event_queue.h"
#include "sys/io/memory_file.h"
#include "sys/io/new_file.h"
#include "sys/io/socket.h"
#include "sys/io/wait.h"
#include "sys/process/process.h"

namespace wheelsmith::sys {
namespace {

namespace fs = std::filesystem;
using State = Moved::State;

TEST(Sockets, PairTransfersDataAndEnds) {
  auto [near, far] = socket_pair();
  std::array<char, 8> piece{};
  EXPECT_EQ(far.receive_now(piece).state, State::would_wait);
  EXPECT_TRUE(near.send_all("hello"));
  const Moved got = far.receive_now(piece);
  ASSERT_EQ(got.state, State::moved);
  EXPECT_EQ(std::string_view(piece.data(), got.size), "hello");
  near.end_sending();
  EXPECT_EQ(far.receive_now(piece).state, State::ended);
  EXPECT_TRUE(far.send_all("answer"));
  far.close();
  EXPECT_EQ(near.receive_all(100), "answer");
  EXPECT_FALSE(near.send_all("unread"));
  EXPECT_FALSE(far.send_all("not open"));
}

TEST(Sockets, PassesASocketToAChild) {
  auto [near, far] = socket_pair();
  const std::string number = far.share_with_children();
  EXPECT_TRUE(Socket::from_parent(std::to_string(::dup(static_cast<int>(std::stol(number))))).is_open());
  for (const char* none : {"", "x", "-1", "0", "2", "1048577", "987654"})
    EXPECT_FALSE(Socket::from_parent(none).is_open()) << none;
}

TEST(Sockets, ListensAtAPath) {
  const TempDir temp;
  const fs::path path = temp.path() / "socket";
  EXPECT_FALSE(connect_local(path, 1).is_open());
  {
    const LocalListener listener(path);
    EXPECT_EQ(fs::status(path).permissions() & fs::perms::mask, fs::perms::owner_read | fs::perms::owner_write);
    EXPECT_FALSE(listener.accept().is_open());
    const Socket client = connect_local(path, 1);
    ASSERT_TRUE(client.is_open());
    std::array<Waiting, 1> waiting{{{&listener.fd()}}};
    EXPECT_EQ(wait_readable(waiting, 5000), Waited::ready);
    const Socket server = listener.accept();
    ASSERT_TRUE(server.is_open());
    ASSERT_TRUE(server.peer());
    EXPECT_EQ(server.peer()->uid, ::getuid());
    EXPECT_EQ(server.peer()->pid, ::getpid());
    EXPECT_TRUE(client.send_all("x"));
  }
  EXPECT_FALSE(fs::exists(path));
  EXPECT_FALSE(connect_local(temp.path() / std::string(200, 'x'), 1).is_open());
  EXPECT_THROW(LocalListener(temp.path() / std::string(200, 'x')), Error);
}

// As curl or a browser would connect; the kernel chose the port.
TEST(Sockets, ListensOnThisMachine) {
  const TcpListener listener("127.0.0.1:0");
  EXPECT_TRUE(listener.address().starts_with("127.0.0.1:")) << listener.address();
  EXPECT_FALSE(listener.accept().socket.is_open());
  EXPECT_FALSE(listener.accept().out_of_handles);
  EXPECT_THROW(TcpListener{listener.address()}, Error) << "taken";
  for (const char* bad : {"", "example.org:80", "127.0.0.1:x", "127.0.0.1:65536", "1.2.3:80", "[::1:80"})
    EXPECT_THROW(TcpListener{bad}, Error) << bad;
}

TEST(Waiting, ReportsWhichIsReady) {
  auto [one, other] = socket_pair();
  auto [quiet, silent] = socket_pair();
  std::array<Waiting, 4> waiting{{{nullptr}, {&quiet.fd()}, {&one.fd()}, {}}};
  EXPECT_EQ(wait_readable(waiting, 0), Waited::timeout);
  other.send_all("x");
  EXPECT_EQ(wait_readable(waiting, -1), Waited::ready);
  EXPECT_FALSE(waiting[0].ready);
  EXPECT_FALSE(waiting[1].ready);
  EXPECT_TRUE(waiting[2].ready);
  silent.close();
  EXPECT_EQ(wait_readable(waiting, -1), Waited::ready);
  EXPECT_TRUE(waiting[1].ready) << "end of file counts as readable";
}

TEST(EventQueues, ReturnTokensOfReadyHandles) {
  const EventQueue queue;
  const WakeUp wake;
  auto [near, far] = socket_pair();
  queue.add_shared(wake.fd(), 7);
  queue.add(near.fd(), EventQueue::Interest::read, 1ULL << 40);
  std::array<std::uint64_t, 4> tokens{};
  EXPECT_EQ(queue.wait(tokens, 0), 0U);
  far.send_all("x");
  ASSERT_EQ(queue.wait(tokens, 5000), 1U);
  EXPECT_EQ(tokens[0], 1ULL << 40);
  queue.change(near.fd(), EventQueue::Interest::write, 3);
  ASSERT_EQ(queue.wait(tokens, 5000), 1U);
  EXPECT_EQ(tokens[0], 3U);
  queue.remove(near.fd());
  EXPECT_EQ(queue.wait(tokens, 0), 0U);
  std::thread([&] { wake.signal(); }).join();
  ASSERT_EQ(queue.wait(tokens, 5000), 1U);
  EXPECT_EQ(tokens[0], 7U);
}

TEST(MemoryFiles, AcceptWritesFromAnotherProcess) {
  const MemoryFile file = MemoryFile::make("test");
  ASSERT_TRUE(file.is_open());
  EXPECT_EQ(file.content(), "");
  for (const char* text : {"one ", "two"})
    ASSERT_TRUE(capture({.argv = {"sh", "-c", "printf '%s' \"$1\" >>\"$2\"", "sh", text, file.path()}}).exit.good());
  EXPECT_EQ(file.content(), "one two");
  EXPECT_EQ(file.content(5), "one t");
  EXPECT_EQ(MemoryFile().content(), "");
}

TEST(NewFiles, ReplaceAFileWithOtherHardLinks) {
  const TempDir temp;
  const fs::path file = temp.path() / "file", other = temp.path() / "other", link = temp.path() / "link";
  write_file(file, "old");
  fs::create_hard_link(file, other);
  fs::create_symlink(other, link);
  for (const fs::path& path : {file, link}) {
    NewFile made = NewFile::replacing(path, 0777);
    made.write(Bytes(std::string_view("new")));
    made.close();
    EXPECT_EQ(read_file(path), "new");
    EXPECT_FALSE(fs::is_symlink(path));
    EXPECT_NE(fs::status(path).permissions() & fs::perms::owner_exec, fs::perms::none);
  }
  EXPECT_EQ(read_file(other), "old");
  EXPECT_THROW(NewFile::replacing(temp.path() / "no/such", 0666), Error);
  EXPECT_THROW(NewFile::replacing(temp.path(), 0666), Error);
}

TEST(NewFiles, FillAFolderWithoutFollowingLinks) {
  const TempDir temp, outside;
  const FolderHandle folder(temp.path());
  folder.make_folder("a");
  const FolderHandle inner = folder.open_folder("a");
  {
    NewFile file = inner.make_file("x");
    file.write(Bytes(std::string_view("text")));
    file.set_mode(0644);
    file.set_time(1'000'000'000);
  }
  EXPECT_EQ(read_file(temp.path() / "a/x"), "text");
  EXPECT_EQ(stat_fingerprint(temp.path() / "a/x")->find(":1000000000000000000:") == std::string::npos, false);
  EXPECT_THROW((void)inner.make_file("x"), Error);
  folder.make_hard_link("y", inner, "x");
  EXPECT_EQ(fs::hard_link_count(temp.path() / "y"), 2U);
  folder.remove_file("y");
  EXPECT_FALSE(fs::exists(temp.path() / "y"));
  folder.make_symlink("out", outside.path().string());
  EXPECT_THROW((void)folder.open_folder("out"), Error);
  EXPECT_THROW((void)folder.make_file("out"), Error);
  EXPECT_THROW(FolderHandle(temp.path() / "out"), Error);
}

TEST(SmallFiles, AppendStartAndSync) {
  const TempDir temp;
  const fs::path file = temp.path() / "log";
  EXPECT_FALSE(append_text(file, "one\n"));
  EXPECT_FALSE(append_text(file, "two\n"));
  EXPECT_EQ(read_file(file), "one\ntwo\n");
  EXPECT_EQ(append_text(temp.path() / "no/log", "x"), std::errc::no_such_file_or_directory);
  EXPECT_EQ(append_text("/dev/full", "x"), std::errc::no_space_on_device);
  std::array<char, 5> start{};
  EXPECT_EQ(read_start(file.c_str(), start), 5U);
  EXPECT_EQ(std::string_view(start.data(), 5), "one\nt");
  std::array<char, 64> room{};
  EXPECT_EQ(read_start(file.c_str(), room), 8U);
  EXPECT_FALSE(read_start((temp.path() / "none").c_str(), room));
  EXPECT_FALSE(sync_file(file));
  EXPECT_FALSE(sync_folder(temp.path()));
  EXPECT_EQ(sync_file(temp.path() / "none"), std::errc::no_such_file_or_directory);
  EXPECT_EQ(sync_folder(file), std::errc::not_a_directory);
}

TEST(SmallFiles, UnreadableFilesAreEmpty) {
  const TempDir temp;
  const fs::path file = temp.path() / "file";
  write_file(file, "12345");
  EXPECT_EQ(read_file_if_possible(file), "12345");
  EXPECT_FALSE(read_file_if_possible(file, 4)) << "too large";
  EXPECT_FALSE(read_file_if_possible(temp.path())) << "a folder";
  EXPECT_FALSE(read_file_if_possible(temp.path() / "none"));
  EXPECT_EQ(map_file_if_possible(file)->bytes.text(), "12345");
  EXPECT_FALSE(map_file_if_possible("/dev/null")) << "no regular file";
  EXPECT_FALSE(map_file_if_possible(temp.path() / "none"));
}

}  // namespace
}  // namespace wheelsmith::sys
