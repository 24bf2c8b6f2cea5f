#include "harness/checkpoint/checkpoint.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/golden.h"
#include "tests/support/temp_folder.h"
#include "tests/support/text.h"

namespace ohm::engine {
namespace {

using test::contains;

CheckpointedWork work() {
  return {"1.0 aa", {{"seed", "7"}, {"shard", "1/1"}}, {{"a.lua", "11"}, {"b.lua", "22"}}};
}

class CheckpointTest : public testing::Test {
 protected:
  std::string path() const { return folder_.file("known"); }
  std::string content() const { return test::read_file(path()); }
  void write(const std::string& text) const { folder_.write("known", text); }

  /// What is wrong with opening it for this work; empty: nothing.
  std::string refusal(const CheckpointedWork& of) const {
    try {
      const Checkpoint checkpoint(path(), of);
      return {};
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
  }
  std::optional<std::string> found(const std::string& piece) const {
    const Checkpoint checkpoint(path(), work());
    return checkpoint.find(piece);
  }

  test::TempFolder folder_;
};

using Bytes = std::optional<std::string>;

TEST_F(CheckpointTest, KeepsRecordsOfAnyBytesForWhoOpensItNext) {
  const std::string bytes("\0\xff\n\"x", 5);
  Checkpoint(path(), work()).add("0/kept/3/transient", bytes);
  EXPECT_EQ(found("0/kept/3/transient"), Bytes(bytes));
  EXPECT_EQ(found("0/kept/4/transient"), Bytes());
}

TEST_F(CheckpointTest, KeepsPiecesOfAnyName) {
  const std::vector<std::string> pieces = {"plain",         "a \"quoted\" one", R"(back\slash)",
                                           "two\",\"words", "line\nend",        "\u00e4"};
  {
    Checkpoint checkpoint(path(), work());
    for (const std::string& piece : pieces) checkpoint.add(piece, "of " + piece);
    checkpoint.add("", "");
  }
  for (const std::string& piece : pieces) EXPECT_EQ(found(piece), Bytes("of " + piece)) << piece;
  EXPECT_EQ(found(""), Bytes(""));
}

TEST_F(CheckpointTest, NoticesEveryByteThatIsDamaged) {
  Checkpoint(path(), work()).add("0/kept/3", "some record");
  const std::string whole = content();
  for (std::size_t at = checkpoint_beginning(work()).size(); at + 1 < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] ^= 1;
    write(damaged);
    const Checkpoint checkpoint(path(), work());
    EXPECT_EQ(checkpoint.damaged_lines(), 1U) << at;
    EXPECT_EQ(checkpoint.records(), 0U) << at;
  }
}

TEST_F(CheckpointTest, KeepsWhatForksAdd) {
  {
    Checkpoint checkpoint(path(), work());
    for (int number = 0; number < 4; ++number) {
      if (::fork() != 0) continue;
      for (int i = 0; i < 100; ++i) {
        checkpoint.add(std::to_string(number) + "/" + std::to_string(i), std::string(200, 'x'));
      }
      ::kill(::getpid(), SIGKILL);
    }
    while (::wait(nullptr) > 0) {
    }
  }
  const Checkpoint checkpoint(path(), work());
  EXPECT_EQ(checkpoint.records(), 400U);
  EXPECT_EQ(checkpoint.damaged_lines(), 0U);
}

TEST_F(CheckpointTest, OfEveryBeginningOfAFileKeepsTheWholeLines) {
  {
    Checkpoint checkpoint(path(), work());
    checkpoint.add("first", "1");
    checkpoint.add("second", "2");
  }
  const std::string whole = content();
  const std::size_t beginning = checkpoint_beginning(work()).size();
  const std::size_t first = whole.find('\n', beginning) + 1;
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    write(whole.substr(0, size));
    {
      Checkpoint checkpoint(path(), work());
      EXPECT_EQ(checkpoint.find("first").has_value(), size >= first) << size;
      EXPECT_EQ(checkpoint.find("second").has_value(), size == whole.size()) << size;
      EXPECT_EQ(checkpoint.damaged_lines(), 0U) << size;
      checkpoint.add("third", "3");
    }
    EXPECT_EQ(found("third"), Bytes("3")) << size;
  }
}

TEST_F(CheckpointTest, LeavesOutADamagedLine) {
  {
    Checkpoint checkpoint(path(), work());
    for (const char* const piece : {"first", "second", "third"}) checkpoint.add(piece, "1");
  }
  std::string damaged = content();
  damaged[damaged.find("second")] = 'S';
  write(damaged);
  const Checkpoint checkpoint(path(), work());
  EXPECT_EQ(checkpoint.damaged_lines(), 1U);
  EXPECT_EQ(checkpoint.records(), 2U);
  EXPECT_EQ(checkpoint.find("second"), Bytes());
}

TEST_F(CheckpointTest, IsRefusedForOtherWork) {
  { const Checkpoint checkpoint(path(), work()); }
  EXPECT_EQ(refusal(work()), "");
  const std::string remedy = ": give another path, or remove the file to start again";
  CheckpointedWork other = work();
  other.settings["seed"] = "8";
  EXPECT_EQ(refusal(other), path() + R"(: of other work: its seed is "7", not "8")" + remedy);
  other = work();
  other.files[1].second = "23";
  EXPECT_EQ(refusal(other), path() + ": b.lua was edited since it was written" + remedy);
  other = work();
  other.files.pop_back();
  EXPECT_EQ(refusal(other), path() + ": of other work, with b.lua" + remedy);
  other = work();
  other.program = "1.0 bb";
  EXPECT_EQ(refusal(other), path() + ": ohm 1.0 aa wrote it, and this is 1.0 bb" + remedy);
  other = work();
  other.settings["window"] = "1";
  EXPECT_EQ(refusal(other), path() + ": of other work, or damaged in its first lines" + remedy);
}

TEST_F(CheckpointTest, TakesNoFileOfAnotherKind) {
  for (const char* const text : {"{}", "a text of some other program, longer than a beginning\n"}) {
    write(text);
    EXPECT_EQ(refusal(work()), path() + ": not a progress file of ohm: give another path");
    EXPECT_EQ(content(), text);
  }
  const CheckpointedWork any = work();
  EXPECT_TRUE(contains(
      [&]() -> std::string {
        try {
          const Checkpoint checkpoint(folder_.file("absent/known"), any);
          return {};
        } catch (const std::invalid_argument& error) {
          return error.what();
        }
      }(),
      "absent/known: cannot be written: No such file or directory"));
}

TEST_F(CheckpointTest, IsUsedByOneAtATime) {
  const Checkpoint checkpoint(path(), work());
  // Opened again by this process it is another owner's.
  EXPECT_EQ(refusal(work()), path() + ": another ohm is using it");
}

TEST_F(CheckpointTest, SaysThatTheDiskIsFullAndKeepsWhatItHas) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    Checkpoint checkpoint(path(), work());
    checkpoint.add("first", "1");
    const auto size = static_cast<rlim_t>(std::filesystem::file_size(path()) + 10);
    const rlimit limit{size, size};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    checkpoint.add("second", "2");
    checkpoint.add("third", "3");
    ::_exit(contains(checkpoint.lack(), "cannot write " + path() + ": ") ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  const Checkpoint checkpoint(path(), work());
  EXPECT_TRUE(checkpoint.find("first").has_value());
  EXPECT_EQ(checkpoint.records(), 1U);
}

}  // namespace
}  // namespace ohm::engine
