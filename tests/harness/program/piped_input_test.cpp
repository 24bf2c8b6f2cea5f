// Inputs that are not regular files: pipes work, what never ends is refused; and what the machine
// lacks is told as such.
#include <sys/resource.h>
#include <unistd.h>

#include "tests/harness/program/program_test.h"

namespace ohm {
namespace {

using test::contains;
using test::ProgramResult;

class PipedInput : public test::ProgramTest {
 protected:
  // Reports name a snapshot by its file: by that of the pipe, too.
  PipedInput() {
    EXPECT_EQ(0, ohm({"run", "-q", "good.lua", "--report", "json=r.json"}).code);
    EXPECT_EQ(0, ohm({"run", "-q", "good.lua", "--case", "kept", "--snapshot", "stdin"}).code);
  }

  /// `cat PATH | ohm …`
  ProgramResult piped(const std::string& path, const std::vector<std::string>& arguments) const {
    return test::run_program(folder_.path().string(), arguments, [&] {
      int ends[2];
      if (::pipe(ends) != 0) ::_exit(126);
      if (::fork() == 0) {
        ::dup2(ends[1], STDOUT_FILENO);
        ::close(ends[0]);
        ::execlp("cat", "cat", file(path).c_str(), static_cast<char*>(nullptr));
        ::_exit(126);
      }
      ::dup2(ends[0], STDIN_FILENO);
      ::close(ends[0]);
      ::close(ends[1]);
    });
  }

  /// With a pipe the same is printed as with the file.
  void expect_same(const std::string& path, const std::vector<std::string>& arguments) const {
    std::vector<std::string> from_file = arguments;
    std::replace(from_file.begin(), from_file.end(), std::string("/dev/stdin"), path);
    const ProgramResult expected = ohm(from_file);
    const ProgramResult ran = piped(path, arguments);
    EXPECT_EQ(0, expected.code) << expected.err;
    EXPECT_EQ(expected.code, ran.code) << ran.err;
    std::string out = ran.out;
    for (std::size_t at = out.find("/dev/stdin"); at != std::string::npos;
         at = out.find("/dev/stdin")) {
      out.replace(at, std::string("/dev/stdin").size(), path);
    }
    // A name of another length may be padded otherwise.
    const auto words = [](std::string text) {
      std::erase_if(text, [](char c) { return c == ' '; });
      return text;
    };
    EXPECT_EQ(words(expected.out), words(out)) << arguments.front();
    EXPECT_FALSE(out.empty());
  }
};

TEST_F(PipedInput, IsReadByEveryCommandThatReadsResults) {
  expect_same("r.json", {"report", "/dev/stdin"});
  expect_same("r.json", {"diff", "/dev/stdin", "r.json"});
  expect_same("r.json", {"diff", "r.json", "/dev/stdin", "--json"});
}

TEST_F(PipedInput, IsReadByEveryCommandThatReadsSnapshots) {
  expect_same("stdin", {"replay", "/dev/stdin", "--verify"});
  expect_same("stdin", {"replay", "/dev/stdin", "--limit", "peak_allocated_bytes < 1 GiB"});
  expect_same("stdin", {"replay", "stdin", "--baseline", "/dev/stdin"});
  expect_same("stdin", {"report", "/dev/stdin"});
  expect_same("stdin", {"diff", "/dev/stdin", "stdin"});
}

TEST_F(PipedInput, IsReadWhereShardsAndTracesAre) {
  ASSERT_EQ(0, ohm({"run", "-q", "good.lua", "--shard", "1/1", "--report", "json=1.json"}).code);
  expect_same("1.json", {"merge", "/dev/stdin"});
  folder_.write("t.trace", test::read_file(test::golden_path("allocator/capacity_exact.trace")));
  expect_same("t.trace", {"replay", "/dev/stdin", "--format", "golden"});
}

TEST_F(PipedInput, WithoutAnEndIsRefused) {
  for (const char* command : {"report", "merge"}) {
    const ProgramResult ran = ohm({command, "/dev/zero"});
    EXPECT_EQ(std::string(command) == "merge" ? 2 : 3, ran.code) << ran.err;
    EXPECT_EQ(
        "ohm: cannot read /dev/zero: it goes on after 16.00 MiB, which no file of ohm's is: name "
        "another one\n",
        ran.err);
  }
}

TEST_F(PipedInput, NumberThatNothingHoldsIsBadInput) {
  folder_.write("huge.json", R"({"schema": "ohm.result/1", "scenarios": 1e999})");
  const ProgramResult ran = ohm({"report", "huge.json"});
  EXPECT_EQ(3, ran.code);
  EXPECT_TRUE(contains(ran.err, "ohm: huge.json: not JSON, or cut off: number overflow"))
      << ran.err;
  EXPECT_TRUE(contains(ran.err, "1e999")) << ran.err;
}

TEST_F(PipedInput, ThatIsTooLargeForTheMemoryIsNoDefectOfOhms) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer maps more than any limit";
#endif
  std::string json = "[0";
  while (json.size() < std::size_t{24} << 20U) json += ",0,0,0,0,0,0,0,0";
  folder_.write("large.json", json + "]");
  const ProgramResult ran =
      test::run_program(folder_.path().string(), {"report", "large.json"}, [] {
        const rlimit limit = {std::size_t{192} << 20U, std::size_t{192} << 20U};
        ::setrlimit(RLIMIT_AS, &limit);
      });
  EXPECT_EQ(6, ran.code);
  // The JSON library's destructors need memory, too: then no more can be said.
  EXPECT_TRUE(ran.err.starts_with("ohm: no memory is left ")) << ran.err;
}

TEST_F(PipedInput, LackOfFileDescriptorsIsTold) {
  const ProgramResult ran =
      test::run_program(folder_.path().string(), {"run", "good.lua", "-j", "8"}, [] {
        ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);  // what the caller left open counts, too
        const rlimit limit = {6, 6};
        ::setrlimit(RLIMIT_NOFILE, &limit);
      });
  EXPECT_EQ(6, ran.code) << ran.out;
  EXPECT_EQ(
      "ohm: cannot make a pipe: Too many open files: allow more (ulimit -n, ulimit -u), or do less "
      "at once (-j)\n",
      ran.err);
}

}  // namespace
}  // namespace ohm
