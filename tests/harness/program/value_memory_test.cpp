// What the values of tensors may take of the computer's memory.
#include "tests/harness/program/program_test.h"

namespace ohm {
namespace {

using test::contains;
using test::on_one_line;
using test::ProgramResult;

class ValueMemory : public test::ProgramTest {};

TEST_F(ValueMemory, IsLimitedWhileAFileIsLoaded) {
  folder_.write("large.lua",
                "local kept = ohm.zeros(1 << 30)\n" + std::string(test::kGoodScenario));
  const ProgramResult ran = ohm({"run", "large.lua"});
  EXPECT_EQ(ran.code, 3);
  EXPECT_TRUE(contains(on_one_line(ran.out),
                       "large.lua:1: [values] values may take 2.00 GiB of this computer's "
                       "memory: 0 B are taken, and 4.00 GiB more are needed"))
      << ran.out;
  EXPECT_TRUE(contains(on_one_line(ran.out), "--value-memory SIZE")) << ran.out;
  EXPECT_TRUE(contains(on_one_line(ran.out), "--size-only")) << ran.out;
}

TEST_F(ValueMemory, OfAVariantIsTheHostsAndTheGpusTogether) {
  folder_.write("both.lua",
                "return ohm.scenario {name = 'both', gpu = {profile = 'tiny-64m'},\n"
                "  limits = {'peak_host_bytes <= 1'},\n"
                "  problems = {both = function(device)\n"
                "    local host = ohm.zeros(1 << 21)\n"
                "    local gpu = ohm.zeros(1 << 22, {device = device})\n"
                "  end}}\n");
  EXPECT_EQ(ohm({"run", "both.lua", "--value-memory", "24MiB"}).code, 0);
  const ProgramResult ran = ohm({"run", "both.lua", "--value-memory", "23MiB"});
  EXPECT_EQ(ran.code, 3);
  EXPECT_TRUE(contains(on_one_line(ran.out),
                       "both.lua:5: [values] values may take 23.00 MiB of this computer's "
                       "memory: 8.00 MiB are taken, and 16.00 MiB more are needed"))
      << ran.out;
  EXPECT_EQ(ohm({"run", "both.lua", "--value-memory", "1MiB", "--size-only"}).code, 0);
}

}  // namespace
}  // namespace ohm
