// ohm replay --free-at: what the allocator then does is what it does for the program that frees.
#include <nlohmann/json.hpp>

#include "tests/harness/program/program_test.h"

namespace ohm {
namespace {

using test::contains;
using test::on_one_line;
using test::ProgramResult;
using Json = nlohmann::json;

constexpr const char* kLoop = R"lua(
local function run(device, is_kept, is_marked)
  local weights = ohm.ones(256 * 1024, {device = device})
  local kept = {}
  for step = 1, 6 do
    local short = ohm.ones(256 * 1024 * step, {device = device})
    short = nil
    local x = ohm.ones(3 * 256 * 1024, {device = device})
    if is_kept then kept[step] = x end
    x = nil
    if is_marked then ohm.step() end
  end
end
return ohm.scenario {
  name = "loop", summary = "A loop that keeps what it makes",
  gpu = {profile = "l4-24g", values = false}, limits = {"num_ooms == 0"},
  problems = {
    keeps = function(device) run(device, true, true) end,
    unmarked = function(device) run(device, true, false) end,
  },
  controls = {frees = function(device) run(device, false, true) end},
}
)lua";

class EarlyFrees : public test::ProgramTest {
 protected:
  EarlyFrees() { folder_.write("loop.lua", kLoop); }

  void record(const std::string& variant, const std::string& gpu = "l4-24g") const {
    ohm({"run", "loop.lua", "--case", variant, "--gpu", gpu, "--snapshot", variant + ".pickle"});
  }

  Json what_ifs(std::vector<std::string> arguments, int code = 0) const {
    arguments.insert(arguments.begin(), "replay");
    arguments.emplace_back("--json");
    const ProgramResult ran = ohm(arguments);
    EXPECT_EQ(code, ran.code) << ran.err;
    return Json::parse(ran.out)["what_ifs"];
  }

  void expect_refused(std::vector<std::string> arguments, int code, const std::string& part) const {
    arguments.insert(arguments.begin(), "replay");
    const ProgramResult ran = ohm(arguments);
    EXPECT_EQ(code, ran.code) << ran.out << ran.err;
    EXPECT_TRUE(contains(on_one_line(ran.err), part)) << ran.err;
  }
};

TEST_F(EarlyFrees, HaveThePeaksOfTheProgramThatFrees) {
  record("keeps");
  record("frees");
  const Json frees = what_ifs({"frees.pickle", "--capacity", "20GiB"})[0];
  const Json rows = what_ifs({"keeps.pickle", "--free-at", "loop.lua:8", "--gpu", "l4-24g"});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["change"], "--free-at loop.lua:8");
  EXPECT_EQ(rows[0]["peak_allocated_bytes"], frees["peak_allocated_bytes"]);
  EXPECT_EQ(rows[0]["peak_reserved_bytes"], frees["peak_reserved_bytes"]);
  EXPECT_FALSE(rows[1].contains("change"));
  EXPECT_GT(rows[1]["peak_allocated_bytes"], rows[0]["peak_allocated_bytes"]);
}

TEST_F(EarlyFrees, ServeTheRequestThatFailed) {
  record("keeps", "tiny-64m,capacity=24MiB");
  const Json rows = what_ifs({"keeps.pickle", "--free-at", "loop.lua:8", "--capacity", "24MiB"});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_TRUE(rows[0]["fits"]);
  EXPECT_EQ(rows[0]["rescued"], 1);
  EXPECT_FALSE(rows[1]["fits"]);
  EXPECT_EQ(rows[1]["failure"]["file"], "loop.lua");
  const ProgramResult ran =
      ohm({"replay", "keeps.pickle", "--free-at", "loop.lua:8", "--capacity", "24MiB"});
  const std::string text = on_one_line(ran.out);
  const std::size_t table = text.find("what if, cuda:0");
  const std::size_t failures = text.find("does not fit");
  ASSERT_NE(failures, std::string::npos) << ran.out;
  EXPECT_LT(table, text.find("allocations,"));
  EXPECT_LT(text.find("allocations,"), failures);
  EXPECT_EQ(text.find("CUDA out of memory"), text.rfind("CUDA out of memory")) << ran.out;
}

TEST_F(EarlyFrees, SayWhyTheRecordDoesNotTell) {
  record("keeps");
  record("unmarked");
  expect_refused({"unmarked.pickle", "--free-at", "loop.lua:8"}, 3, "no steps of cuda:0 are known");
  expect_refused(
      {"keeps.pickle", "--free-at", "loop.lua:9"}, 3,
      "this line makes no request; in loop.lua, these lines make the most: 6 (21.00 MiB), 8 (18.00 "
      "MiB), 3 (1.00 MiB)");
  expect_refused({"keeps.pickle", "--free-at", "other.lua:9"}, 3, "no line of other.lua makes any");
  expect_refused({"keeps.pickle", "--free-at", "loop.lua:6"}, 3,
                 "it changes nothing: each of its 6 blocks is freed within its step");
  expect_refused({"keeps.pickle", "--free-at", "loop.lua:3"}, 3, "outlives a step only once");
}

TEST_F(EarlyFrees, AreAskedForByFileAndLineOfASnapshot) {
  record("keeps");
  folder_.write("a.trace", "# capacity 1000000000\na 1 512\nf 1\n");
  for (const char* line : {"loop.lua", "loop.lua:", ":8", "loop.lua:0", "loop.lua:8x"}) {
    expect_refused({"keeps.pickle", "--free-at", line}, 2, "is not FILE:LINE");
  }
  expect_refused({"a.trace", "--free-at", "loop.lua:8"}, 2,
                 "--free-at loop.lua:8 is for snapshots");
  expect_refused({"keeps.pickle", "--free-at", "loop.lua:8", "--limit", "num_ooms == 0"}, 2,
                 "ask what-if questions in a separate run");
}

TEST_F(EarlyFrees, ARecordWithoutAnAdamSaysNothingOfAFusedOne) {
  record("keeps");
  expect_refused({"keeps.pickle", "--optimizer", "fused"}, 3,
                 "the record has no step of torch.optim.Adam or AdamW");
  expect_refused({"keeps.pickle", "--optimizer", "sgd"}, 2,
                 "--optimizer must be fused, not \"sgd\"");
}

}  // namespace
}  // namespace ohm
