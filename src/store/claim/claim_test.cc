#include "store/claim/claim.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "base/error.h"
#include "store/claim/generation.h"
#include "store/test_store.h"

namespace wheelsmith::store {
namespace {

using namespace std::chrono_literals;

std::shared_ptr<Heart> heart_of(std::chrono::milliseconds silence = 120s) {
  return std::make_shared<Heart>(ClaimTiming{silence});
}

// A claim as a machine that died would have left it.
ClaimText foreign_claim() {
  ClaimText text;
  text.token = std::string(32, 'f');
  text.beat = 7;
  text.interval = 20;
  text.holder = {"node7", "another-boot", 123, "456", "pid:[1]"};
  return text;
}

void write_claim(const std::filesystem::path& folder, std::uint64_t generation, const ClaimText& text) {
  std::filesystem::create_directories(folder);
  std::ofstream(folder / generation_name(generation)) << to_text(text);
}

TEST(ClaimFile, IsReadAsItWasWritten) {
  ClaimText text = foreign_claim();
  EXPECT_EQ(parse_claim(to_text(text)), text);
  text.held = false;
  text.holder.host = "";
  EXPECT_EQ(parse_claim(to_text(text)), text);
  EXPECT_EQ(to_text(text).size(), to_text([&] {
                                    auto held = text;
                                    held.held = true;
                                    held.beat = 1ull << 60;
                                    return held;
                                  }())
                                      .size());
}

TEST(ClaimFile, RefusesWhatIsNotWhole) {
  const std::string good = to_text(foreign_claim());
  for (std::size_t size = 0; size < good.size(); ++size) EXPECT_FALSE(parse_claim(good.substr(0, size))) << size;
  EXPECT_FALSE(parse_claim(good + good));
  ClaimText text = foreign_claim();
  text.holder.host = "evil\nstate free\nend";
  const auto read = parse_claim(to_text(text));
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->held);
}

TEST(Claim, IsHeldByOne) {
  const sys::TempDir temp;
  const auto heart = heart_of();
  std::optional<Claim> first = Claim::try_take(temp.path() / "a", heart);
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->is_held());
  EXPECT_FALSE(Claim::try_take(temp.path() / "a", heart));
  EXPECT_TRUE(Claim::try_take(temp.path() / "b", heart));
  first.reset();
  EXPECT_TRUE(Claim::try_take(temp.path() / "a", heart));
}

TEST(Claim, OfAProcessThatWasKilledIsTakenAtOnce) {
  const sys::TempDir temp;
  const pid_t child = start_child([&] {
    const Claim claim = Claim::take(temp.path() / "a", heart_of());
    std::ofstream(temp.path() / "ready") << "x";
    ::pause();
  });
  while (!std::filesystem::exists(temp.path() / "ready")) std::this_thread::sleep_for(1ms);
  EXPECT_FALSE(Claim::try_take(temp.path() / "a", heart_of()));
  ::kill(child, SIGKILL);
  end_of(child);
  EXPECT_TRUE(Claim::try_take(temp.path() / "a", heart_of()));
}

TEST(Claim, OfASilentMachineIsTakenOverWhenItsCounterStandsStill) {
  const sys::TempDir temp;
  write_claim(temp.path() / "a", 4, foreign_claim());
  EXPECT_FALSE(Claim::try_take(temp.path() / "a", heart_of(200ms))) << "one look does not show that it is silent";
  std::string holder;
  const Claim claim = Claim::take(temp.path() / "a", heart_of(200ms), [&](const std::string& who) { holder = who; });
  EXPECT_EQ(holder, "node7 (process 123)");
  EXPECT_TRUE(std::filesystem::exists(temp.path() / "a" / generation_name(5)));
}

// An empty file: the machine died between creating and writing it.
TEST(Claim, ThatWasNeverWrittenIsTakenOver) {
  const sys::TempDir temp;
  std::filesystem::create_directories(temp.path() / "a");
  std::ofstream(temp.path() / "a" / generation_name(1)).flush();
  const Claim claim = Claim::take(temp.path() / "a", heart_of(100ms));
  EXPECT_TRUE(claim.is_held());
}

TEST(Claim, OfAMachineWhoseCounterAdvancesIsWaitedFor) {
  const sys::TempDir temp;
  ClaimText text = foreign_claim();
  write_claim(temp.path() / "a", 1, text);
  std::atomic<bool> released = false;
  std::thread machine([&] {
    for (int i = 0; i < 40; ++i) {
      ++text.beat;
      (void)sys::overwrite_start(temp.path() / "a" / generation_name(1), to_text(text));
      std::this_thread::sleep_for(20ms);
    }
    released = true;
    text.held = false;
    (void)sys::overwrite_start(temp.path() / "a" / generation_name(1), to_text(text));
  });
  const Claim claim = Claim::take(temp.path() / "a", heart_of(400ms));
  EXPECT_TRUE(released);
  machine.join();
}

// A process that was stopped for too long, or that lost its file server.
TEST(Claim, KnowsThatItWasTakenOver) {
  const sys::TempDir temp;
  const auto heart = heart_of(240ms);
  const Claim claim = Claim::take(temp.path() / "a", heart);
  write_claim(temp.path() / "a", 2, foreign_claim());
  for (int i = 0; claim.is_held() && i < 2000; ++i) std::this_thread::sleep_for(5ms);
  EXPECT_FALSE(claim.is_held());
}

TEST(Claim, IsSharedByReadersAndTakenAloneWithoutThem) {
  const sys::TempDir temp;
  const auto heart = heart_of();
  {
    const Claim one = Claim::shared(temp.path() / "a", heart);
    const Claim two = Claim::shared(temp.path() / "a", heart);
    EXPECT_FALSE(Claim::try_take(temp.path() / "a", heart));
  }
  const auto alone = Claim::try_take(temp.path() / "a", heart);
  EXPECT_TRUE(alone);
}

TEST(Claim, OfADeadReaderBlocksNoOne) {
  const sys::TempDir temp;
  std::filesystem::create_directories(temp.path() / "a");
  std::ofstream(temp.path() / "a" / "r-f") << to_text(foreign_claim());
  const Claim claim = Claim::take(temp.path() / "a", heart_of(200ms));
  EXPECT_FALSE(std::filesystem::exists(temp.path() / "a" / "r-f"));
}

TEST(Claim, ADeadOwnerKeepsNoReaderOut) {
  const sys::TempDir temp;
  write_claim(temp.path() / "a", 1, foreign_claim());
  const Claim claim = Claim::shared(temp.path() / "a", heart_of(200ms));
  EXPECT_TRUE(claim.is_held());
}

// Many processes, some of which die while they hold the claim. Two holders at once would lose a count.
TEST(Claim, ExcludesProcessesWhateverDies) {
  const sys::TempDir temp;
  const auto counter = temp.path() / "counter";
  std::ofstream(counter) << 0;
  const auto add_one = [&] {
    int number = 0;
    std::ifstream(counter) >> number;
    std::this_thread::yield();
    std::ofstream(counter, std::ios::trunc) << number + 1;
  };
  std::vector<pid_t> children;
  constexpr int k_children = 6, k_rounds = 20;
  for (int child = 0; child < k_children; ++child) {
    children.push_back(start_child([&, child] {
      const auto heart = heart_of();
      for (int round = 0; round < k_rounds; ++round) {
        const Claim claim = Claim::take(temp.path() / "a", heart);
        add_one();
        if (child < 2 && round == 10) ::kill(::getpid(), SIGKILL);
      }
    }));
  }
  for (const pid_t child : children) end_of(child);
  int number = 0;
  std::ifstream(counter) >> number;
  EXPECT_EQ(number, (k_children - 2) * k_rounds + 2 * 11);
  EXPECT_LE(claim_names(temp.path() / "a").generations.size(), 2u);
}

TEST(Claim, OldOnesAreRemovedWhenNotHeld) {
  const sys::TempDir temp;
  const auto heart = heart_of();
  const Claim held = Claim::take(temp.path() / "held", heart);
  { const Claim freed = Claim::take(temp.path() / "freed", heart); }
  const timespec old[2] = {{1000, 0}, {1000, 0}};
  for (const char* name : {"held", "freed"}) {
    ::utimensat(AT_FDCWD, (temp.path() / name / generation_name(1)).c_str(), old, 0);
    ::utimensat(AT_FDCWD, (temp.path() / name).c_str(), old, 0);
  }
  (void)sys::overwrite_start(temp.path() / "held" / generation_name(1), "wheelsmith");
  remove_old_claims(temp.path(), 3600);
  EXPECT_TRUE(std::filesystem::exists(temp.path() / "held"));
  EXPECT_FALSE(std::filesystem::exists(temp.path() / "freed"));
}

}  // namespace
}  // namespace wheelsmith::store
