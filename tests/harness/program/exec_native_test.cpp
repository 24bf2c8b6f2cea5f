// What ohm exec records of programs without PyTorch, by their call sites. The program is
// tests/harness/support/cuda_program.cpp, which is linked to the stand-in.
#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/harness/program/program_test.h"

namespace ohm {
namespace {

using Json = nlohmann::json;
using test::ProgramResult;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t kMiB = 1 << 20;

/// The line of the program that ends with the mark.
int marked_line(const std::string& mark) {
  std::istringstream source(test::read_file(OHM_CUDA_PROGRAM_SOURCE));
  int number = 0;
  for (std::string line; std::getline(source, line);) {
    ++number;
    if (line.ends_with("// mark: " + mark)) return number;
  }
  return -1;
}

class ExecNative : public test::ProgramTest {
 protected:
  ProgramResult exec(std::vector<std::string> options, const std::string& mode,
                     const std::string& program = OHM_CUDA_PROGRAM) const {
    options.insert(options.begin(), {"exec", "--gpu", "tiny-64m"});
    options.insert(options.end(), {"--", program, mode});
    return ohm(options);
  }
  Json variant_of(const std::string& mode, const std::string& program = OHM_CUDA_PROGRAM) const {
    exec({"--report", "json=result.json"}, mode, program);
    const Json result = Json::parse(test::read_file(file("result.json")));
    return result.at("scenarios").at(0).at("variants").at(0);
  }
  static Json findings_of(const Json& variant) { return variant.value("findings", Json::array()); }
};

TEST_F(ExecNative, SaysNothingOfAProgramThatSucceeds) {
  const ProgramResult ran = exec({}, "clean");
  EXPECT_EQ(0, ran.code);
  EXPECT_EQ("", ran.out);
  EXPECT_EQ("", ran.err);
}

TEST_F(ExecNative, ACleanProgramHasAPeakAndNoFindings) {
  const Json variant = variant_of("clean");
  EXPECT_EQ(Json::array(), findings_of(variant));
  const Json& device = variant.at("devices").at(0);
  EXPECT_EQ(6 * kMiB + 512, device.at("peak_allocated_bytes"));
  EXPECT_EQ(10 * kMiB, device.at("peak_reserved_bytes"));
  EXPECT_EQ(0, device.at("allocated_at_end_bytes"));
  EXPECT_EQ(4, device.at("num_device_alloc"));
  EXPECT_EQ("CUDA", device.at("rules"));
}

TEST_F(ExecNative, ThePeakIsMadeOfCallSites) {
  const Json peak = variant_of("clean").at("devices").at(0).at("peak");
  const Json& largest = peak.at("holders").at(0);
  EXPECT_THAT(largest.at("op"), HasSubstr("load_weights"));
  EXPECT_THAT(largest.at("file"), HasSubstr("cuda_program.cpp"));
  EXPECT_EQ(marked_line("weights"), largest.at("line"));
  EXPECT_EQ(3 * kMiB, largest.at("bytes"));
  std::int64_t sum = 0;
  for (const Json& holder : peak.at("holders")) sum += holder.at("bytes").get<std::int64_t>();
  EXPECT_EQ(6 * kMiB + 512, sum);
}

TEST_F(ExecNative, OlderCompilersNoteLines) {
  const Json variant = variant_of("clean", OHM_OLDER_CUDA_PROGRAM);
  const Json& largest = variant.at("devices").at(0).at("peak").at("holders").at(0);
  EXPECT_THAT(largest.at("file"), HasSubstr("cuda_program.cpp"));
  EXPECT_EQ(marked_line("weights"), largest.at("line"));
}

TEST_F(ExecNative, WhatIsNeverFreedIsALeakOfItsCallSite) {
  const Json findings = findings_of(variant_of("leak"));
  ASSERT_EQ(1U, findings.size());
  const Json& leak = findings.at(0);
  EXPECT_EQ("memory never freed", leak.at("pitfall"));
  EXPECT_EQ("7.00 MiB in 3 blocks from 2 places", leak.at("what"));
  const Json& weights = leak.at("evidence").at(0);
  EXPECT_EQ(6 * kMiB, weights.at("bytes"));
  EXPECT_EQ(2, weights.at("count"));
  EXPECT_EQ(marked_line("weights"), weights.at("line"));
  EXPECT_EQ(marked_line("cache"), leak.at("evidence").at(1).at("line"));
}

TEST_F(ExecNative, AResetFreesAndSoDoDestructors) {
  EXPECT_EQ(Json::array(), findings_of(variant_of("reset")));
  EXPECT_EQ(Json::array(), findings_of(variant_of("owned")));
}

TEST_F(ExecNative, ADoubleFreeNamesBothFreesAndTheRequest) {
  const Json findings = findings_of(variant_of("double_free"));
  ASSERT_EQ(1U, findings.size());
  const Json& finding = findings.at(0);
  EXPECT_EQ("double free", finding.at("pitfall"));
  EXPECT_EQ(marked_line("shut_down"), finding.at("evidence").at(0).at("line"));
  const auto at = [](const std::string& mark) {
    return "cuda_program.cpp:" + std::to_string(marked_line(mark));
  };
  EXPECT_THAT(finding.at("what"), AllOf(HasSubstr(at("shut_down")), HasSubstr(at("release")),
                                        HasSubstr(at("weights")), HasSubstr("cudaMalloc")));
}

TEST_F(ExecNative, UseOfFreedMemoryIsCounted) {
  const Json findings = findings_of(variant_of("use_after_free"));
  ASSERT_EQ(1U, findings.size());
  EXPECT_EQ("use after free", findings.at(0).at("pitfall"));
  EXPECT_EQ(3, findings.at(0).at("evidence").at(0).at("count"));
  EXPECT_EQ(marked_line("use"), findings.at(0).at("evidence").at(0).at("line"));
  EXPECT_THAT(findings.at(0).at("what"), AllOf(HasSubstr("cudaMemcpy"), HasSubstr("3 times")));
}

TEST_F(ExecNative, AnAddressThatIsInUseAgainIsNoMisuse) {
  EXPECT_EQ(Json::array(), findings_of(variant_of("reused")));
}

TEST_F(ExecNative, OutOfMemoryIsReportedWithWhatWasAlive) {
  const ProgramResult ran = exec({}, "greedy");
  EXPECT_EQ(3, ran.code);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("out of memory"), HasSubstr("load_weights")));
  const Json oom = variant_of("greedy").at("oom");
  EXPECT_EQ(16 * kMiB, oom.at("requested_bytes"));
  EXPECT_EQ(marked_line("greedy"), oom.at("line"));
  EXPECT_EQ(false, oom.at("injected"));
  EXPECT_EQ(2U, oom.at("holders").size());
}

TEST_F(ExecNative, ARequestMayBeForAnyNumberOfBytes) {
  EXPECT_EQ(0, exec({"--report", "json=result.json"}, "huge").code);
  const Json result = Json::parse(test::read_file(file("result.json")));
  const Json& variant = result.at("scenarios").at(0).at("variants").at(0);
  EXPECT_EQ("completed", variant.at("outcome"));
  EXPECT_EQ(1, variant.at("devices").at(0).at("num_ooms"));
}

TEST_F(ExecNative, AFailureByPlanIsSaidToBeOne) {
  exec({"--fault", "nth(1)", "--report", "json=result.json"}, "greedy");
  const Json result = Json::parse(test::read_file(file("result.json")));
  // The program goes on after the first one, and runs out of memory by itself.
  EXPECT_EQ(2,
            result.at("scenarios").at(0).at("variants").at(0).at("devices").at(0).at("num_ooms"));
}

TEST_F(ExecNative, WhatASignalEndsHasARecordAndNoLeak) {
  exec({"--report", "json=result.json"}, "throwing");
  const Json result = Json::parse(test::read_file(file("result.json")));
  EXPECT_EQ(128 + SIGABRT, result.at("command").at("exit_status"));
  const Json& variant = result.at("scenarios").at(0).at("variants").at(0);
  EXPECT_EQ(3 * kMiB, variant.at("devices").at(0).at("peak_allocated_bytes"));
  EXPECT_EQ(Json::array(), findings_of(variant));
}

TEST_F(ExecNative, GatesLimitThePeakAndWhatIsLeft) {
  EXPECT_EQ(0, exec({"--gate", "peak_allocated_bytes < 7 MiB"}, "clean").code);
  const ProgramResult broken = exec({"--gate", "peak_allocated_bytes < 4 MiB"}, "clean");
  EXPECT_EQ(1, broken.code);
  EXPECT_THAT(broken.err, HasSubstr("load_weights"));
  EXPECT_EQ(0, exec({"--gate", "allocated_at_end_bytes == 0"}, "clean").code);
  EXPECT_EQ(1, exec({"--gate", "allocated_at_end_bytes == 0"}, "leak").code);
}

TEST_F(ExecNative, ABaselineIsAReportOfTheProgram) {
  EXPECT_EQ(0, exec({"--report", "json=before.json"}, "clean").code);
  EXPECT_EQ(0, exec({"--baseline", "before.json"}, "clean").code);
  EXPECT_EQ(1, exec({"--baseline", "before.json"}, "leak").code);
}

TEST_F(ExecNative, AStrippedProgramIsNamedByItsAddresses) {
  const Json variant = variant_of("leak", OHM_STRIPPED_CUDA_PROGRAM);
  const Json& largest = variant.at("devices").at(0).at("peak").at("holders").at(0);
  EXPECT_THAT(largest.at("op"), HasSubstr("stripped_cuda_program+0x"));
  EXPECT_THAT(largest.at("file"), HasSubstr("stripped_cuda_program"));
  EXPECT_EQ(0, largest.at("line"));
  EXPECT_EQ("memory never freed", findings_of(variant).at(0).at("pitfall"));
}

TEST_F(ExecNative, SnapshotsAreKeptWhereAsked) {
  EXPECT_EQ(0, exec({"--record", "kept"}, "leak").code);
  std::string snapshot;
  for (const auto& entry : std::filesystem::directory_iterator(file("kept"))) {
    if (entry.path().extension() == ".pickle") snapshot = entry.path();
  }
  const ProgramResult shown = ohm({"report", snapshot});
  EXPECT_EQ(0, shown.code) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("load_weights"));
  const ProgramResult replayed = ohm({"replay", snapshot});
  EXPECT_EQ(3, replayed.code);
  EXPECT_THAT(replayed.err, HasSubstr("there is no allocator to replay"));
}

TEST_F(ExecNative, TheLastEventsAreKept) {
  ::setenv("OHM_RECORD_EVENTS", "3", 1);
  const Json variant = variant_of("clean");
  ::unsetenv("OHM_RECORD_EVENTS");
  EXPECT_THAT(variant.at("reason"), HasSubstr("does not reach back to the peak"));
  EXPECT_EQ(6 * kMiB + 512, variant.at("devices").at(0).at("peak_allocated_bytes"));
}

TEST_F(ExecNative, PagesShowTheFindings) {
  exec({"--report", "html=memory.html"}, "double_free");
  EXPECT_THAT(test::read_file(file("memory.html")),
              AllOf(HasSubstr("data-pitfall=\"double free\""), HasSubstr("shut_down"),
                    Not(HasSubstr("explained by scenarios/.lua"))));
}

}  // namespace
}  // namespace ohm
