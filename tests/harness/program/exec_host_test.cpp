// ohm exec --memory host through the real program.
#include <csignal>
#include <nlohmann/json.hpp>

#include "tests/harness/program/program_test.h"

namespace ohm {
namespace {

using nlohmann::json;
using test::contains;
using test::ProgramResult;

class ExecHost : public test::ProgramTest {
 protected:
  json report_of(std::vector<std::string> arguments) {
    const std::vector<std::string> options = {"exec", "--report", "json=" + file("report.json")};
    arguments.insert(arguments.begin(), options.begin(), options.end());
    ohm(arguments);
    return json::parse(test::read_file(file("report.json")));
  }
};

TEST_F(ExecHost, EndsInTheProgramsOwnErrorAndSaysWhoHeldWhat) {
  const ProgramResult ran =
      ohm({"exec", "--host-limit", "100MiB", "--", OHM_HOST_CLIENT, "keep", "grow_block"});
  EXPECT_EQ(0, ran.code);
  EXPECT_TRUE(contains(ran.out, "realloc Cannot allocate memory")) << ran.out;

  const ProgramResult failed =
      ohm({"exec", "--host-limit", "100MiB", "--", OHM_HOST_CLIENT, "keep", "uncaught"});
  EXPECT_EQ(128 + SIGABRT, failed.code);
  EXPECT_TRUE(contains(failed.err, "host_client ran out of memory on host: 400.00 MiB"))
      << failed.err;
  EXPECT_TRUE(contains(failed.err, "exceeded the limit of 100MiB")) << failed.err;
  EXPECT_TRUE(contains(failed.err, "what was alive on host: 10.")) << failed.err;
  EXPECT_TRUE(contains(failed.err, "10 × keep_blocks")) << failed.err;
  EXPECT_TRUE(contains(failed.err, "at its peak on host: 10.")) << failed.err;
}

TEST_F(ExecHost, PassesOutputAndExitStatusThrough) {
  const ProgramResult ran =
      ohm({"exec", "--memory", "host", "--", "sh", "-c", "echo out; echo err >&2; exit 7"});
  EXPECT_EQ(7, ran.code);
  EXPECT_EQ("out\n", ran.out);
  EXPECT_EQ("err\n", ran.err);
}

TEST_F(ExecHost, HasAScenarioForEachProcess) {
  const json report = report_of(
      {"--memory", "host", "--", "sh", "-c", std::string(OHM_HOST_CLIENT) + " keep; true"});
  ASSERT_EQ(2, report.at("scenarios").size());
  const json& client = report.at("scenarios").at(1);
  EXPECT_EQ("host_client", client.at("name"));
  const json& host = client.at("variants").at(0).at("host");
  EXPECT_GE(host.at("peak_allocated_bytes"), 10 << 20);
  EXPECT_EQ("keep_blocks", host.at("peak").at("holders").at(0).at("op"));
  EXPECT_EQ(10 << 20, host.at("peak").at("holders").at(0).at("bytes"));
}

TEST_F(ExecHost, HoldsACommandToAGate) {
  const auto code_of = [&](const std::string& gate) {
    return ohm({"exec", "--memory", "host", "--gate", gate, "--", OHM_HOST_CLIENT, "keep"}).code;
  };
  EXPECT_EQ(0, code_of("peak_host_bytes < 12 MiB"));
  EXPECT_EQ(1, code_of("peak_host_bytes < 10 MiB"));
}

TEST_F(ExecHost, FailsTheRequestsOfAPlan) {
  const ProgramResult ran = ohm({"exec", "--memory", "host", "--fault", "size(>=1MiB) & nth(1)",
                                 "--", OHM_HOST_CLIENT, "every_function"});
  EXPECT_TRUE(contains(ran.out, "malloc Cannot allocate memory\ncalloc ok")) << ran.out;
}

TEST_F(ExecHost, SaysWhatIsWrongBeforeAnythingStarts) {
  struct Case {
    std::vector<std::string> options;
    std::string says;
  };
  const std::vector<Case> cases = {
      {{"--memory", "disk"}, "--memory must be device or host, not \"disk\""},
      {{"--memory", "device", "--host-limit", "1GiB"}, "--host-limit limits host memory"},
      {{"--host-limit", "much"}, "--host-limit: "},
      {{"--host-limit", "1GiB", "--limit", "1GiB"}, "apply to device memory"},
      {{"--memory", "host", "--fault", "site(~x)"}, "is not a plan for host memory: nth(N)"},
      {{"--memory", "host", "--gate", "peak_allocated_bytes < 1 GiB"},
       "--memory host does not record peak_allocated_bytes"},
  };
  for (const Case& wrong : cases) {
    std::vector<std::string> arguments = {"exec"};
    arguments.insert(arguments.end(), wrong.options.begin(), wrong.options.end());
    arguments.insert(arguments.end(), {"--", "true"});
    const ProgramResult ran = ohm(arguments);
    EXPECT_EQ(2, ran.code) << wrong.says;
    EXPECT_TRUE(contains(ran.err, wrong.says)) << ran.err;
    EXPECT_EQ("", ran.out);
  }
}

}  // namespace
}  // namespace ohm
