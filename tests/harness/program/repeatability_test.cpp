// The same run gives the same reports, to the byte, whoever runs it and wherever things lie.
#include <sys/personality.h>

#include <functional>
#include <set>
#include <utility>

#include "tests/harness/program/program_test.h"

namespace ohm {
namespace {

/// Tables whose entries are equally large: named, numbered, and with objects for keys.
constexpr const char* kTables = R"lua(
local function run(device)
  local named, nested, by_object = {}, {}, {}
  for i = 1, 12 do
    named["name" .. i] = ohm.ones(256, {device = device})
    nested["of" .. i] = {inner = {[i] = ohm.ones(256, {device = device})}}
    by_object[{}] = {["field" .. i] = ohm.ones(256, {device = device})}
    by_object[ohm.ones(1, {device = device})] = {["member" .. i] = named["name" .. i]}
  end
  local function captured() return named, nested, by_object end
  return {named = named, at = {10, 9, x = 1}, last = ohm.ones(1024, {device = device})}
end
return ohm.scenario {name = "tables", gpu = {profile = "tiny-64m"}, limits = {"num_ooms == 0"},
  problems = {it = run}}
)lua";

/// A batch whose tensors are under keys without an order. Each loop over it fails one request for
/// pinned memory later than the one before, whose blocks are cached.
constexpr const char* kPinned = R"lua(
local keys = {}
for i = 1, 9 do keys[i] = {} end
local function collate()
  local batch = {[{}] = "nothing"}
  for i = 1, 9 do
    local x = ohm.ones(256 << i)
    batch[keys[i]] = i % 2 == 0 and {x} or x
  end
  return batch
end
local function failed(loader, plan)
  local guard <close> = ohm.fault.with(plan)
  local _, e = pcall(function() for _ in loader do end end)
  return e.requested_bytes >> 10
end
local function run()
  local set = ohm.utils.data.TensorDataset(ohm.ones(1, 1))
  local loader = ohm.utils.data.DataLoader(set, {pin_memory = true, collate_fn = collate})
  local order = {}
  for i = 1, 9 do
    order[i] = failed(loader, ohm.fault.level("pinned") & ohm.fault.nth(math.min(i, 2)))
    ohm.gc.collect()
  end
  return {order = table.concat(order, " ")}
end
return ohm.scenario {name = "pinned", gpu = {profile = "tiny-64m"},
  checks = {it = {run = run, returns = {order = "2 4 8 16 32 64 128 256 512"}}}}
)lua";

class Repeatability : public test::ProgramTest {
 protected:
  Repeatability() {
    folder_.write("tables.lua", kTables);
    folder_.write("pinned.lua", kPinned);
  }

  /// The JSON and the HTML of a run with its history.
  std::pair<std::string, std::string> reports(const std::function<void()>& prepare) const {
    const test::ProgramResult ran =
        test::run_program(folder_.path().string(),
                          {"run", "-q", "tables.lua", "--history", "--report", "json=out.json",
                           "--report", "html=out.html"},
                          prepare);
    EXPECT_LE(ran.code, 1) << ran.out << ran.err;
    return {test::read_file(file("out.json")), test::read_file(file("out.html"))};
  }
};

TEST_F(Repeatability, TensorsUnderKeysWithoutAnOrderArePinnedByAge) {
  const test::ProgramResult ran = ohm({"run", "pinned.lua"});
  EXPECT_EQ(0, ran.code) << ran.out << ran.err;
}

TEST_F(Repeatability, TwentyRunsGiveTheSameBytes) {
  std::set<std::pair<std::string, std::string>> all;
  for (int run = 0; run < 20; ++run) all.insert(reports([] {}));
  EXPECT_EQ(1U, all.size());
}

TEST_F(Repeatability, ReportsDependNeitherOnAddressesNorOnTheUserNorOnTheLanguage) {
  const auto expected = reports([] {});
  EXPECT_FALSE(expected.first.empty());
  EXPECT_FALSE(expected.second.empty());
  EXPECT_EQ(expected, reports([] { ::personality(ADDR_NO_RANDOMIZE); }));
  EXPECT_EQ(expected, reports([] {
              for (const char* name : {"LANG", "LC_ALL"}) ::setenv(name, "de_DE.UTF-8", 1);
            }));
  EXPECT_EQ(expected, reports([] {
              for (const char* name : {"LANG", "LC_ALL"}) ::setenv(name, "C", 1);
            }));
  EXPECT_EQ(expected, reports([] {
              for (const char* name : {"HOME", "USER", "LOGNAME"}) ::setenv(name, "/nowhere", 1);
            }));
}

}  // namespace
}  // namespace ohm
