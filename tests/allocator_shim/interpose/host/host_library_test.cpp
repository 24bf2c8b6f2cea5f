// libohm_host.so in front of a program: what it counts, refuses and writes down.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "allocator_shim/interpose/host/host_fault.h"
#include "tests/support/temp_folder.h"
#include "tests/support/text.h"

namespace ohm::interpose::host {
namespace {

using nlohmann::json;

constexpr std::int64_t kMiB = 1 << 20;

struct Ran {
  int code = 0;
  int signal = 0;
  std::string out;  ///< both outputs
  std::vector<json> records;
};

class HostLibrary : public testing::Test {
 protected:
  /// The client with these variables, all of its processes recorded.
  Ran run(const std::string& actions, const std::string& variables = "") const {
    const std::string command = "cd " + folder_.path().string() +
                                " && exec env OHM_HOST_RECORD=" + folder_.path().string() + " " +
                                variables + " LD_PRELOAD=" + OHM_HOST_LIBRARY + " " +
                                OHM_HOST_CLIENT + " " + actions + " 2>&1";
    Ran ran;
    FILE* const pipe = popen(command.c_str(), "r");
    std::array<char, 4096> bytes = {};
    while (const std::size_t got = std::fread(bytes.data(), 1, bytes.size(), pipe)) {
      ran.out.append(bytes.data(), got);
    }
    const int status = pclose(pipe);
    ran.code = WEXITSTATUS(status);
    ran.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      if (entry.path().extension() != ".json") continue;
      std::ifstream stream(entry.path());
      ran.records.push_back(json::parse(stream));
      std::filesystem::remove(entry.path());
    }
    return ran;
  }

  test::TempFolder folder_;
};

TEST_F(HostLibrary, RefusesEveryFunctionBeyondTheLimit) {
  const std::string functions[] = {
      "malloc",   "calloc", "realloc", "reallocarray", "aligned_alloc", "posix_memalign",
      "memalign", "valloc", "pvalloc", "new",          "aligned new",   "mmap"};
  const Ran free = run("every_function");
  const Ran limited = run("every_function", "OHM_HOST_LIMIT=524288");
  for (const std::string& function : functions) {
    EXPECT_TRUE(test::contains(free.out, function + " ok\n")) << free.out;
    EXPECT_TRUE(test::contains(limited.out, function + " Cannot allocate memory\n")) << limited.out;
  }
  EXPECT_EQ(12, limited.records.at(0).at("failed"));
  EXPECT_EQ(0, free.records.at(0).at("failed"));
  EXPECT_GE(free.records.at(0).at("peak_bytes"), 12 * kMiB);
}

TEST_F(HostLibrary, KnowsWhatWasAliveAtThePeakByCallStack) {
  const json record = run("keep").records.at(0);
  std::int64_t sum = 0;
  std::int64_t largest = 0;
  std::int64_t blocks_of_largest = 0;
  for (const json& site : record.at("sites")) {
    const std::int64_t bytes = site.at("peak_bytes");
    sum += bytes;
    if (bytes <= largest) continue;
    largest = bytes;
    blocks_of_largest = site.at("peak_blocks");
  }
  EXPECT_EQ(record.at("peak_bytes"), sum);
  EXPECT_EQ(10 * kMiB, largest);
  EXPECT_EQ(10, blocks_of_largest);
}

TEST_F(HostLibrary, PagesMayGoInPartsAndGrow) {
  const std::int64_t before = run("").records.at(0).at("live_bytes");
  EXPECT_EQ(before + 2 * kMiB, run("free_in_parts").records.at(0).at("live_bytes"));
  const Ran grown = run("grow_pages");
  EXPECT_TRUE(test::contains(grown.out, "mremap ok")) << grown.out;
  EXPECT_GE(grown.records.at(0).at("live_bytes"), before + 8 * kMiB);
}

TEST_F(HostLibrary, LeavesABlockAsItIsThatCannotGrow) {
  const Ran ran = run("grow_block", "OHM_HOST_LIMIT=104857600");
  EXPECT_EQ("realloc Cannot allocate memory\nkept 1\n", ran.out);
  const json failure = ran.records.at(0).at("failure");
  EXPECT_EQ(400 * kMiB, failure.at("bytes"));
  EXPECT_GE(failure.at("live_bytes"), kMiB);
}

TEST_F(HostLibrary, CountsInThreadsWithoutLosingABlock) {
  const json none = run("").records.at(0);
  const json record = run("in_threads").records.at(0);
  EXPECT_GE(record.at("requests"), 8 * 2000 * 2);
  // What threads themselves leave is a few blocks.
  EXPECT_LE(record.at("live_bytes").get<std::int64_t>() - none.at("live_bytes").get<std::int64_t>(),
            64 << 10);
}

TEST_F(HostLibrary, IsWholeInChildrenOfAProcessWithThreads) {
  const Ran ran = run("forks_beside_threads");
  EXPECT_EQ("forked\n", ran.out);
  EXPECT_EQ(101, ran.records.size());
}

TEST_F(HostLibrary, StandsSignals) { EXPECT_EQ("signalled\n", run("in_signals").out); }

TEST_F(HostLibrary, FailsTheRequestsOfAPlan) {
  const std::int64_t requests = run("checked").records.at(0).at("requests");
  const auto code_of = [&](const std::string& plan) {
    return run("checked", "'OHM_HOST_FAULT=" + plan + "'").code;
  };
  EXPECT_EQ(0, code_of("nth(" + std::to_string(requests + 1) + ")"));
  // The client's own request is its last one but for stdout, which it does not use.
  EXPECT_EQ(1, code_of("nth(" + std::to_string(requests) + ")"));
  EXPECT_EQ(1, code_of("from(" + std::to_string(requests) + ")"));
  EXPECT_EQ(0, code_of("size(>=1GiB) & from(1)"));
}

TEST_F(HostLibrary, WritesDownWhatWasAliveWhenAProgramDiesOfIt) {
  const Ran ran = run("keep uncaught", "OHM_HOST_LIMIT=104857600");
  EXPECT_TRUE(test::contains(ran.out, "std::bad_alloc")) << ran.out;
  const json record = ran.records.at(0);
  EXPECT_EQ(400 * kMiB, record.at("failure").at("bytes"));
  EXPECT_TRUE(record.at("failure").at("is_limit"));
  std::int64_t alive = 0;
  for (const json& site : record.at("sites")) alive += site.at("failure_bytes").get<std::int64_t>();
  EXPECT_EQ(record.at("failure").at("live_bytes"), alive);
}

TEST(HostFault, ReadsPlans) {
  struct Case {
    std::string text;
    std::vector<int> hit;  ///< of the first ten
  };
  const std::vector<Case> cases = {
      {"", {}},
      {"nth(3)", {3}},
      {"from(9)", {9, 10}},
      {"burst(2, 3)", {2, 3, 4}},
      {"every(4)", {4, 8}},
      {"persistent(nth(8))", {8, 9, 10}},
      {"size(>=1KiB) & nth(2)", {2}},
      {"size(>=1KiB)", {1}},
  };
  for (const Case& known : cases) {
    HostFault fault;
    ASSERT_TRUE(parse_host_fault(known.text, fault)) << known.text;
    std::vector<int> hit;
    for (int i = 1; i <= 10; ++i) {
      if (fault.is_hit(static_cast<std::uint64_t>(i))) hit.push_back(i);
    }
    EXPECT_EQ(known.hit, hit) << known.text;
  }
}

TEST(HostFault, ReadsPoints) {
  HostFault fault;
  ASSERT_TRUE(parse_host_fault("ohm:3f9c22d1@2", fault));
  EXPECT_TRUE(fault.is_of(0x3f9c22d1'00000000));
  EXPECT_FALSE(fault.is_of(0x3f9c22d2'00000000));
  EXPECT_FALSE(fault.is_hit(1));
  EXPECT_TRUE(fault.is_hit(2));
}

TEST(HostFault, RefusesWhatIsNoPlan) {
  for (const char* text : {"nth", "nth()", "nth(0)", "nth(x)", "site(~x)", "nth(1) &", "size(>=)",
                           "nth(1) & from(2)", "ohm:3f9c", "ohm:zzzz@1", "burst(1)"}) {
    HostFault fault;
    EXPECT_FALSE(parse_host_fault(text, fault)) << text;
  }
}

}  // namespace
}  // namespace ohm::interpose::host
