// ohm's own allocations on the host, failed one after the other: no crash, no leak, no file that is
// lost or half written.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "tests/harness/program/program_test.h"

namespace ohm {
namespace {

using test::ProgramResult;

/// A command, and the files that it writes.
struct HostCase {
  std::string name;
  std::vector<std::string> arguments;
  std::vector<std::string> files;
};

const std::vector<HostCase>& cases() {
  static const std::vector<HostCase> kCases = {
      {"runs_a_scenario", {"run", "good.lua", "-j", "1"}, {}},
      {"writes_json", {"run", "good.lua", "-j", "1", "--report", "json=out.json"}, {"out.json"}},
      {"writes_junit", {"run", "good.lua", "-j", "1", "--report", "junit=out.xml"}, {"out.xml"}},
      {"writes_html", {"run", "good.lua", "-j", "1", "--report", "html=out.html"}, {"out.html"}},
      {"writes_snapshots",
       {"run", "good.lua", "-j", "1", "--case", "dropped", "--snapshot", "out.pickle"},
       {"out.pickle"}},
      {"parses_snapshots", {"replay", "in.pickle", "--verify"}, {}},
      {"sweeps", {"sweep", "good.lua", "-j", "1", "--report", "json=out.json"}, {"out.json"}}};
  return kCases;
}

/// Points of one command that are failed: all of them with OHM_TEST_ALL_POINTS set, which takes
/// minutes, or so many, spread evenly.
constexpr std::size_t kSampledPoints = 60;

/// What the libraries allocate once when an error is told, and keep.
constexpr long kOfTheWayOut = 4;

class HostMemory : public test::ProgramTest, public testing::WithParamInterface<HostCase> {
 protected:
  ProgramResult run_with(const char* variable, const std::string& value) const {
    const std::string live = file("live");
    return test::run_program(folder_.path().string(), GetParam().arguments, [&] {
      // NOLINTBEGIN(concurrency-mt-unsafe): the new process has one thread
      ::setenv("LD_PRELOAD", OHM_FAILING_MALLOC, 1);
      ::setenv(variable, value.c_str(), 1);
      ::setenv("OHM_LIVE_TO", live.c_str(), 1);
      // NOLINTEND(concurrency-mt-unsafe)
    });
  }

  std::vector<std::string> points() const {
    std::set<std::string> unique;
    std::istringstream lines(test::read_file(file("points")));
    for (std::string line; std::getline(lines, line);) unique.insert(line);
    const std::vector<std::string> all(unique.begin(), unique.end());
    // NOLINTNEXTLINE(concurrency-mt-unsafe): not set meanwhile
    if (std::getenv("OHM_TEST_ALL_POINTS") != nullptr || all.size() <= kSampledPoints) return all;
    std::vector<std::string> sampled;
    for (std::size_t i = 0; i < kSampledPoints; ++i) {
      sampled.push_back(all[i * all.size() / kSampledPoints]);
    }
    return sampled;
  }

  long live() const {
    const std::string text = test::read_file(file("live"));
    return text.empty() ? -1 : std::stol(text);
  }

  std::set<std::string> names_of_files() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      names.insert(entry.path().filename().string());
    }
    for (const std::string& name : GetParam().files) names.erase(name);
    return names;
  }

  void remove_files() const {
    for (const std::string& name : GetParam().files) std::filesystem::remove(file(name));
  }
};

/// The end of a whole file: a bracket, a closing tag, the last opcode.
std::string ending(const std::string& text) {
  return text.substr(text.size() - std::min<std::size_t>(text.size(), 2));
}

TEST_P(HostMemory, MayFailAnywhere) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer has an allocator of its own: none can be preloaded";
#endif
  folder_.write("in.pickle", "");
  ASSERT_EQ(ohm({"run", "good.lua", "--case", "dropped", "--snapshot", "in.pickle"}).code, 0);
  const ProgramResult fault_free = run_with("OHM_POINTS_TO", file("points"));
  ASSERT_EQ(fault_free.code, 0) << fault_free.err;
  const long live_before = live();
  std::map<std::string, std::string> whole;
  for (const std::string& name : GetParam().files) whole[name] = test::read_file(file(name));
  const std::set<std::string> names = names_of_files();
  const std::vector<std::string> failing = points();
  ASSERT_GT(failing.size(), 30U);
  for (const std::string& point : failing) {
    SCOPED_TRACE("OHM_FAIL_POINT=" + point);
    remove_files();
    const ProgramResult ran = run_with("OHM_FAIL_POINT", point);
    EXPECT_LT(ran.code, 128) << ran.err;
    EXPECT_NE(ran.code, 127) << ran.err;
    EXPECT_EQ(ran.err.find("terminate"), std::string::npos) << ran.err;
    // Workers have no crash of their own either: their parent would tell of it, and live on.
    EXPECT_EQ((ran.out + ran.err).find("killed by"), std::string::npos) << ran.out << ran.err;
    EXPECT_LE(live(), live_before + kOfTheWayOut);
    EXPECT_EQ(names_of_files(), names);
    for (const auto& [name, bytes] : whole) {
      const std::string path = file(name);
      if (!std::filesystem::exists(path)) {
        EXPECT_NE(ran.code, 0) << name << " is missing";
        continue;
      }
      const std::string written = test::read_file(path);
      // What only helps to read it (a line of the script beside a figure) may be missing.
      if (ran.code == 0) {
        EXPECT_GT(written.size(), bytes.size() * 9 / 10) << name;
      }
      EXPECT_EQ(ending(written), ending(bytes)) << name;
    }
  }
}

// The C library ends a process that has no memory for the note of such a destructor.
TEST(HostMemoryOfThreads, IsNotNeededForDestructorsOfThreads) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer has destructors of its own";
#endif
  const std::string program = test::read_file(OHM_BINARY);
  ASSERT_NE(program.find("__cxa_atexit"), std::string::npos);
  EXPECT_EQ(program.find("__cxa_thread_atexit"), std::string::npos)
      << "a thread_local object has a destructor: runtime/base/thread_end.h has what takes none";
}

INSTANTIATE_TEST_SUITE_P(Commands, HostMemory, testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ohm
