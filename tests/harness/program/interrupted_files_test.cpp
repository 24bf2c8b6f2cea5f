// Files of a program that is ended by a signal, or that cannot write one of them: all or none.
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <set>

#include "allocator_shim/base/ending_signals.h"
#include "tests/harness/program/program_test.h"

namespace ohm {
namespace {

using test::contains;
using test::ProgramResult;

/// A pipe that is opened for reading by this test, so that a program can open it for writing.
class InterruptedFiles : public test::ProgramTest, public testing::WithParamInterface<int> {
 protected:
  std::set<std::string> names() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      names.insert(entry.path().filename().string());
    }
    return names;
  }

  bool has_temporary() const {
    for (const std::string& name : names()) {
      if (name.starts_with("out.") && name != "out.json" && name != "out.pickle") return true;
    }
    return false;
  }

  /// Ends the program once its temporary file is there.
  ProgramResult interrupted(const std::vector<std::string>& arguments) const {
    test::Program program(folder_.path().string(), arguments);
    for (int wait = 0; !has_temporary() && wait < 10'000; ++wait) ::usleep(1000);
    EXPECT_TRUE(has_temporary());
    program.send(GetParam());
    return program.wait();
  }

  void make_pipe(const std::string& name) const {
    ASSERT_EQ(0, ::mkfifo(file(name).c_str(), 0600));
  }
};

TEST_P(InterruptedFiles, OfReportsAreRemoved) {
  ASSERT_EQ(0, ohm({"run", "-q", "good.lua", "--report", "json=in.json"}).code);
  // The second report waits for someone who reads the pipe.
  make_pipe("pipe");
  const std::set<std::string> before = names();
  const ProgramResult ran =
      interrupted({"report", "in.json", "--report", "html=out.html", "--report", "json=pipe"});
  EXPECT_EQ(128 + GetParam(), ran.code) << ran.err;
  EXPECT_EQ(before, names());
}

TEST_P(InterruptedFiles, OfReplaysAreRemoved) {
  ASSERT_EQ(0, ohm({"run", "-q", "good.lua", "--case", "kept", "--snapshot", "in.pickle"}).code);
  make_pipe("pipe");
  const std::set<std::string> before = names();
  const ProgramResult ran =
      interrupted({"replay", "in.pickle", "--report", "json=out.html", "--report", "json=pipe"});
  EXPECT_EQ(128 + GetParam(), ran.code) << ran.err;
  EXPECT_EQ(before, names());
}

TEST_P(InterruptedFiles, OfSnapshotsAreRemoved) {
  // So many events that writing the snapshot takes a while.
  folder_.write("long.lua", test::scenario_with_problem(
                                "  for i = 1, 150000 do local x = ohm.ones(i % 50 + 1, {device = "
                                "device}); x = nil end"));
  const std::set<std::string> before = names();
  test::Program program(folder_.path().string(),
                        {"run", "-q", "long.lua", "--snapshot", "out.pickle"});
  // The path is tried before the run; what is written after it grows.
  bool is_written = false;
  for (int wait = 0; !is_written && wait < 60'000; ++wait) {
    ::usleep(500);
    for (const std::string& name : names()) {
      std::error_code gone;
      is_written = is_written || (name.starts_with("out.pickle.") &&
                                  std::filesystem::file_size(file(name), gone) > 0 && !gone);
    }
  }
  ASSERT_TRUE(is_written);
  program.send(GetParam());
  program.wait();
  std::set<std::string> after = names();
  after.erase("out.pickle");  // when it was whole just before the signal
  EXPECT_EQ(before, after);
}

INSTANTIATE_TEST_SUITE_P(Signals, InterruptedFiles, testing::ValuesIn(kEndingSignals));

using SeveralReports = test::ProgramTest;

TEST_F(SeveralReports, AreWrittenAllOrNotAtAll) {
  folder_.write("a.json", "old a");
  const ProgramResult ran = ohm({"run", "-q", "good.lua", "--report", "json=a.json", "--report",
                                 "junit=b.xml", "--report", "html=/dev/full"});
  EXPECT_EQ(2, ran.code);
  EXPECT_EQ(
      "ohm: cannot write /dev/full: No space left on device\n"
      "the other reports are not written either\n",
      ran.err);
  EXPECT_EQ("old a", test::read_file(file("a.json")));
  EXPECT_FALSE(std::filesystem::exists(file("b.xml")));
}

using SnapshotPipe = test::ProgramTest;

TEST_F(SnapshotPipe, ThatNobodyReadsIsRefused) {
  ASSERT_EQ(0, ::mkfifo(file("pipe").c_str(), 0600));
  const ProgramResult ran = ohm({"run", "good.lua", "--case", "kept", "--snapshot", "pipe"});
  EXPECT_EQ(2, ran.code);
  EXPECT_TRUE(contains(ran.out, "cannot write pipe: no process reads this pipe")) << ran.out;
}

TEST_F(SnapshotPipe, IsWrittenToWhoReadsIt) {
  ASSERT_EQ(0, ::mkfifo(file("pipe").c_str(), 0600));
  const int reader = ::open(file("pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  const ProgramResult ran = ohm({"run", "-q", "good.lua", "--case", "kept", "--snapshot", "pipe"});
  EXPECT_EQ(0, ran.code) << ran.out << ran.err;
  std::string bytes(65536, '\0');
  const ssize_t got = ::read(reader, bytes.data(), bytes.size());
  ::close(reader);
  ASSERT_GT(got, 100);
  EXPECT_EQ('\x80', bytes.front());
  EXPECT_EQ('.', bytes[static_cast<std::size_t>(got) - 1]);
}

}  // namespace
}  // namespace ohm
