// Sweeps of host memory: what becomes of programs in which a request fails, in copies of the
// process and in runs of their own.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/personality.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "allocator_shim/fault/fault_point.h"
#include "harness/process/program_file.h"
#include "harness/process/shell_quote.h"
#include "harness/sweep/command/host_memory.h"
#include "tests/support/temp_folder.h"
#include "tests/support/text.h"

namespace ohm::engine {
namespace {

using Outcomes = std::vector<CommandOutcome>;

/// The folder of a test is where its programs run.
class HostSweep : public testing::Test {
 protected:
  HostSweep() : previous_(std::filesystem::current_path()) {
    std::filesystem::current_path(folder_.path());
    // Otherwise no two runs of them ask for the same.
    setenv("PERL_HASH_SEED", "0", 1);
    setenv("PYTHONHASHSEED", "0", 1);
  }
  ~HostSweep() override { std::filesystem::current_path(previous_); }

  static HostCommand client(const std::string& action, SweepEngine engine = SweepEngine::fork) {
    return {{OHM_HOST_CLIENT, action}, engine, 0};
  }

  static Outcomes fail_all(HostMemory& memory, const CountedCommand& counted,
                           const std::vector<FaultTask>& tasks) {
    Outcomes outcomes(tasks.size());
    std::size_t ended = 0;
    memory.fail(counted, tasks, [&](std::size_t task, const CommandOutcome& outcome) {
      outcomes[task] = outcome;
      ++ended;
    });
    EXPECT_EQ(tasks.size(), ended);
    return outcomes;
  }

  /// Of the client's action the last request, which is its own.
  static CommandOutcome fail_last(const std::string& action, FaultForm form,
                                  SweepEngine engine = SweepEngine::fork) {
    HostMemory memory(client(action, engine));
    const CountedCommand counted = memory.count();
    EXPECT_EQ("", counted.problem);
    const std::vector<FaultTask> tasks = {{own_request(counted), form}};
    return fail_all(memory, counted, tasks).front();
  }

  /// The last request for 64 bytes.
  static std::size_t own_request(const CountedCommand& counted) {
    const std::vector<std::uint64_t>& bytes = counted.calls.bytes;
    const auto last = std::find(bytes.rbegin(), bytes.rend(), 64);
    return static_cast<std::size_t>(bytes.rend() - last) - 1;
  }

  static std::vector<FaultTask> first_passes(const CountedCommand& counted) {
    std::vector<FaultTask> tasks;
    std::set<std::uint64_t> seen;
    for (std::size_t i = 0; i < counted.calls.size(); ++i) {
      if (seen.insert(counted.calls.points[i]).second) tasks.push_back({i, FaultForm::transient});
    }
    return tasks;
  }

  test::TempFolder folder_;
  std::filesystem::path previous_;
};

TEST_F(HostSweep, TellsWhatBecameOfAFault) {
  for (const SweepEngine engine : {SweepEngine::fork, SweepEngine::exec}) {
    const CommandOutcome checked = fail_last("checked", FaultForm::transient, engine);
    EXPECT_EQ(1, checked.status);
    ASSERT_TRUE(checked.error);
    EXPECT_EQ("host_client: no memory", checked.error->message);
    EXPECT_FALSE(checked.is_foreign);

    EXPECT_EQ(SIGSEGV, fail_last("unchecked", FaultForm::transient, engine).signal);

    const CommandOutcome silent = fail_last("silent", FaultForm::transient, engine);
    EXPECT_EQ(3, silent.status);
    EXPECT_TRUE(silent.is_foreign);
    EXPECT_EQ("it ended with status 3 and no message", silent.error->message);

    const CommandOutcome swallowed = fail_last("swallowed", FaultForm::transient, engine);
    EXPECT_EQ(0, swallowed.status);
    EXPECT_EQ("another output, with no error message", swallowed.checked);

    EXPECT_EQ(0, fail_last("retried", FaultForm::transient, engine).status);
  }
}

TEST_F(HostSweep, EndsWhatDoesNotEnd) {
  EXPECT_TRUE(fail_last("hangs_without", FaultForm::transient).is_overdue);
  EXPECT_TRUE(fail_last("retried", FaultForm::persistent).is_overdue);
}

TEST_F(HostSweep, FailsEveryRequestOfAProgramThatReadsAFileLineByLine) {
  folder_.write("lines", "one\ntwo\nthree\nfour\n");
  HostMemory memory(client("reads_a_file"));
  const CountedCommand counted = memory.count();
  std::vector<FaultTask> tasks;
  for (std::size_t i = 0; i < counted.calls.size(); ++i) {
    if (counted.calls.bytes[i] == 16) tasks.push_back({i, FaultForm::transient});
  }
  ASSERT_EQ(4, tasks.size());
  for (const CommandOutcome& outcome : fail_all(memory, counted, tasks)) {
    EXPECT_EQ("another output, with no error message", outcome.checked);
  }
  // The process itself read on where it was: all of its requests were met.
  EXPECT_EQ(0, memory.uncopied().faults) << memory.uncopied().why;
}

TEST_F(HostSweep, FailsEveryRequestOfAProgramThatReadsAFolderInAFolder) {
  HostMemory memory(client("reads_a_folder"));
  const CountedCommand counted = memory.count();
  std::vector<FaultTask> tasks;
  for (std::size_t i = 0; i < counted.calls.size(); ++i) {
    if (counted.calls.bytes[i] == 16) tasks.push_back({i, FaultForm::transient});
  }
  // Of ".", ".." and the end.
  ASSERT_EQ(3, tasks.size());
  fail_all(memory, counted, tasks);
  EXPECT_EQ(0, memory.uncopied().faults) << memory.uncopied().why;
}

TEST_F(HostSweep, BelievesNoCopiesOfAProcessThatDoesOtherwiseBesideThem) {
  HostMemory memory(client("leaves_a_mark"));
  const CountedCommand counted = memory.count();
  const std::vector<FaultTask> tasks = {{own_request(counted), FaultForm::transient}};
  fail_all(memory, counted, tasks);
  EXPECT_EQ(1, memory.uncopied().faults);
  EXPECT_EQ("the process behaved differently beside its copies", memory.uncopied().why);
}

TEST_F(HostSweep, GivesAProgramTheSameAddressesInEachRun) {
  const int persona = personality(0xffffffff);
  if (personality(static_cast<unsigned long>(persona) | ADDR_NO_RANDOMIZE) < 0) {
    GTEST_SKIP() << "this machine does not let addresses be fixed";
  }
  personality(static_cast<unsigned long>(persona));
  HostMemory memory(client("prints_addresses"));
  const CountedCommand counted = memory.count();
  EXPECT_EQ(counted.outcome.checked, memory.count().outcome.checked);
  // However many faults there are, a request that fails and is not missed.
  const std::vector<FaultTask> tasks(300, {own_request(counted), FaultForm::transient});
  for (const CommandOutcome& outcome : fail_all(memory, counted, tasks)) {
    ASSERT_EQ(counted.outcome.checked, outcome.checked);
  }
}

TEST_F(HostSweep, SeveralRunsAtATimeComeToTheSame) {
  HostCommand command = client("reads_a_file", SweepEngine::exec);
  folder_.write("lines", "one\ntwo\nthree\nfour\n");
  std::vector<Outcomes> of_jobs;
  for (const int jobs : {1, 3}) {
    command.jobs = jobs;
    HostMemory memory(command);
    const CountedCommand counted = memory.count();
    of_jobs.push_back(fail_all(memory, counted, first_passes(counted)));
    EXPECT_EQ(jobs == 1 ? "" : "beside other runs of the command", memory.sharing());
  }
  ASSERT_EQ(of_jobs.front().size(), of_jobs.back().size());
  for (std::size_t i = 0; i < of_jobs.front().size(); ++i) {
    const CommandOutcome& one = of_jobs.front()[i];
    const CommandOutcome& other = of_jobs.back()[i];
    EXPECT_EQ(one.status, other.status) << i;
    EXPECT_EQ(one.checked, other.checked) << i;
    EXPECT_EQ(one.failures, other.failures) << i;
  }
}

TEST_F(HostSweep, MakesNoCopyWhereItWouldNotBeFaithful) {
  HostMemory memory(client("writes_a_file"));
  const CountedCommand counted = memory.count();
  const std::vector<FaultTask> tasks = {{own_request(counted), FaultForm::transient}};
  EXPECT_EQ(1, fail_all(memory, counted, tasks).front().status);
  EXPECT_EQ(1, memory.uncopied().faults);
  EXPECT_EQ("the command writes files", memory.uncopied().why);
}

TEST_F(HostSweep, FindsBlocksThatAFailureLeaves) {
  for (const SweepEngine engine : {SweepEngine::fork, SweepEngine::exec}) {
    for (const char* action : {"loses_a_block", "loses_a_block_and_goes_on"}) {
      const LeftMemoryResult lost = fail_last(action, FaultForm::transient, engine).left_memory;
      EXPECT_EQ(1000, lost.bytes) << action;
      EXPECT_TRUE(lost.is_lost) << action;
    }
    const LeftMemoryResult kept =
        fail_last("keeps_a_block_and_goes_on", FaultForm::transient, engine).left_memory;
    EXPECT_EQ(1000, kept.bytes);
    EXPECT_FALSE(kept.is_lost);
    for (const char* action : {"ends_with_a_block", "ends_without_a_pointer"}) {
      EXPECT_FALSE(fail_last(action, FaultForm::transient, engine).left_memory.is_lost) << action;
    }
    EXPECT_EQ(0, fail_last("checked", FaultForm::transient, engine).left_memory.bytes);
  }
}

TEST_F(HostSweep, FindsWhatAFailureLeavesOfFiles) {
  const auto damage = [](const std::string& action) {
    return fail_last(action, FaultForm::transient).files;
  };
  const auto truncated = damage("writes_words");
  ASSERT_TRUE(truncated);
  EXPECT_EQ(FaultVerdict::corrupt, truncated->verdict);
  EXPECT_EQ("it ends with an error, and leaves lines truncated: 10 of 16 bytes", truncated->what);
  std::filesystem::remove("lines");
  const auto fewer = damage("writes_fewer_lines");
  ASSERT_TRUE(fewer);
  EXPECT_EQ(FaultVerdict::recovered_different, fewer->verdict);
  EXPECT_EQ("it ends well, and leaves lines truncated: 8 of 14 bytes", fewer->what);
  const auto left = damage("leaves_a_temporary_file");
  ASSERT_TRUE(left);
  EXPECT_EQ(FaultVerdict::leak, left->verdict);
  EXPECT_TRUE(test::contains(left->what, "it leaves the temporary file temporary-")) << left->what;
  for (const char* action :
       {"renames_a_file", "removes_a_temporary_file", "writes_of_its_failure", "writes_the_time"}) {
    EXPECT_FALSE(damage(action)) << action;
  }
}

TEST_F(HostSweep, WholeLinesAreALogUnlessTheyReplaceWhatWasThere) {
  EXPECT_FALSE(fail_last("writes_lines", FaultForm::transient).files);
  // It is there now.
  const auto truncated = fail_last("writes_lines", FaultForm::transient).files;
  ASSERT_TRUE(truncated);
  EXPECT_EQ(FaultVerdict::corrupt, truncated->verdict);
}

TEST_F(HostSweep, RestoresFilesToTheirStateAfterAFaultFreeRun) {
  folder_.write("lines", "of the user, longer than what is written\n");
  fail_last("writes_lines", FaultForm::transient);
  std::ifstream lines("lines");
  EXPECT_EQ("one\ntwo\nthree\n", std::string(std::istreambuf_iterator<char>(lines), {}));
  fail_last("leaves_a_temporary_file", FaultForm::transient);
  fail_last("writes_of_its_failure", FaultForm::transient);
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
    EXPECT_EQ("lines", entry.path().filename());
  }
  fail_last("writes_a_secret", FaultForm::transient);
  EXPECT_EQ(std::filesystem::perms{0600}, std::filesystem::status("secret").permissions());
}

TEST_F(HostSweep, LosesNoLargeFile) {
  for (const char* state : {"new", "old"}) {
    fail_last("writes_a_large_file", FaultForm::transient);
    std::ifstream large("large");
    std::string line;
    std::getline(large, line);
    EXPECT_EQ("one, two", line) << state;
    EXPECT_EQ(std::uintmax_t{65} << 20, std::filesystem::file_size("large")) << state;
    EXPECT_EQ(1, std::distance(std::filesystem::directory_iterator("."), {})) << state;
  }
}

TEST_F(HostSweep, CopiesAProgramThatOnlyReadsWhatItMayWrite) {
  folder_.write("lines", "one\n");
  std::this_thread::sleep_for(std::chrono::seconds(3));
  HostMemory memory(client("reads_what_it_may_write"));
  const CountedCommand counted = memory.count();
  fail_all(memory, counted, {{own_request(counted), FaultForm::transient}});
  EXPECT_EQ(0, memory.uncopied().faults) << memory.uncopied().why;
}

TEST_F(HostSweep, LeavesNoTraceInWhatTheProgramStarts) {
  HostMemory memory(client("environment"));
  memory.count();
  // grep -c found none.
  EXPECT_EQ(0, memory.count().outcome.status);
}

TEST_F(HostSweep, SaysWhyRequestsCannotBeNumbered) {
  HostMemory memory({{"/bin/sh", "-c", "exec true"}, SweepEngine::fork, 0});
  const CountedCommand counted = memory.count();
  EXPECT_TRUE(test::contains(counted.problem, "it executed another program")) << counted.problem;
  EXPECT_EQ("name the program itself, not one that starts it", counted.hint);
}

struct Program {
  std::string name;
  std::vector<std::string> words;
  std::string package;  ///< of Debian, that has it
};

/// With what it says on stderr; `errors` may lead that elsewhere.
std::string printed(const std::vector<std::string>& words, const std::string& errors = "2>&1") {
  FILE* const pipe = popen((shell_command(words) + " " + errors + " </dev/null").c_str(), "r");
  std::array<char, 4096> bytes = {};
  std::string out;
  while (const std::size_t got = std::fread(bytes.data(), 1, bytes.size(), pipe)) {
    out.append(bytes.data(), got);
  }
  pclose(pipe);
  return out;
}

class ProgramOfTheDistribution : public HostSweep, public testing::WithParamInterface<Program> {
 protected:
  ProgramOfTheDistribution() {
    std::filesystem::create_directory("folder");
    for (int i = 0; i < 20; ++i) folder_.write("folder/file" + std::to_string(i), "text\n");
    folder_.write("hello.c", "int main(void) { return 0; }\n");
    folder_.write("query.sql",
                  "create table t (a, b);\ninsert into t values (1, 'x'), (2, 'y');\n"
                  "select b, count(*) from t group by b order by a;\n");
  }
};

TEST_P(ProgramOfTheDistribution, FailsEveryUniquePointAndAgreesWithRunsOfTheirOwn) {
  const Program& program = GetParam();
  try {
    check_preloadable(find_program(program.words.front(), "/usr/bin:/bin"));
  } catch (const std::invalid_argument& error) {
    GTEST_SKIP() << error.what() << "; the package " << program.package << " has it";
  }
  const std::string alone = printed(program.words);
  HostMemory memory({program.words, SweepEngine::fork, 0});
  const CountedCommand counted = memory.count();
  ASSERT_EQ("", counted.problem);
  ASSERT_EQ(0, counted.outcome.status) << counted.cause;
  ASSERT_EQ(alone, printed(program.words)) << "it is not the same from run to run";
  ASSERT_EQ(counted.outcome.checked, memory.count().outcome.checked);
  const auto digest =
      static_cast<std::uint32_t>(PointHash().add(printed(program.words, "2>/dev/null")).value());
  EXPECT_EQ(fmt::format("output {:08x}", digest), counted.outcome.checked)
      << "its output is another than without ohm";

  // Every request is a pass of one of the points.
  std::map<std::uint64_t, std::int64_t> passes;
  for (const std::uint64_t point : counted.calls.points) ++passes[point];
  ASSERT_EQ(passes.size(), counted.points.size());
  for (std::size_t i = 0; i < counted.points.size(); ++i) {
    EXPECT_EQ(passes[counted.hashes[i]], counted.points[i].passes);
  }

  const std::vector<FaultTask> tasks = first_passes(counted);
  const Outcomes copies = fail_all(memory, counted, tasks);
  EXPECT_NE("the process behaved differently beside its copies", memory.uncopied().why);
  for (const CommandOutcome& outcome : copies) EXPECT_EQ(1, outcome.failures);

  // Some of them once more, each in a process from the start.
  constexpr std::size_t kMostRuns = 25;
  std::vector<FaultTask> some;
  std::vector<std::size_t> chosen;
  const std::size_t step = std::max<std::size_t>(1, tasks.size() / kMostRuns);
  for (std::size_t i = 0; i < tasks.size(); i += step) {
    some.push_back(tasks[i]);
    chosen.push_back(i);
  }
  HostMemory alone_each({program.words, SweepEngine::exec, 0});
  const CountedCommand again = alone_each.count();
  ASSERT_EQ(counted.calls.points, again.calls.points);
  const Outcomes runs = fail_all(alone_each, again, some);
  for (std::size_t i = 0; i < some.size(); ++i) {
    const CommandOutcome& copy = copies[chosen[i]];
    const std::string where = "request " + std::to_string(some[i].call + 1);
    EXPECT_EQ(runs[i].status, copy.status) << where;
    EXPECT_EQ(runs[i].checked == again.outcome.checked, copy.checked == counted.outcome.checked)
        << where;
    EXPECT_EQ(runs[i].is_foreign, copy.is_foreign) << where;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Programs, ProgramOfTheDistribution,
    testing::Values(
        Program{"ls", {"/bin/ls", "-l", "folder"}, "coreutils"},
        Program{"sqlite3", {"/usr/bin/sqlite3", ":memory:", ".read query.sql"}, "sqlite3"},
        Program{"git", {"/usr/bin/git", "--version"}, "git"},
        Program{"curl", {"/usr/bin/curl", "-s", "file:///etc/hostname"}, "curl"},
        Program{"python3", {"/usr/bin/python3", "-S", "-c", "print(sum(range(10)))"}, "python3"},
        Program{"perl",
                {"/usr/bin/perl", "-e", "print join(',', map {$_ * 2} 1..5), \"\\n\""},
                "perl-base"},
        Program{"gcc", {"/usr/bin/gcc", "-fsyntax-only", "hello.c"}, "gcc"}),
    [](const testing::TestParamInfo<Program>& program) { return program.param.name; });

}  // namespace
}  // namespace ohm::engine
