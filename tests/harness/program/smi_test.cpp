// ohm smi through the real program.
#include "tests/harness/program/program_test.h"

namespace ohm {
namespace {

using test::contains;
using test::ProgramResult;
using Smi = test::ProgramTest;

const std::vector<std::string> kQuery = {"--query-gpu=index,memory.used,memory.total",
                                         "--format=csv,noheader,nounits"};

std::vector<std::string> with_query(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), kQuery.begin(), kQuery.end());
  return arguments;
}

TEST_F(Smi, ShowsIdleGpusWithoutAProgram) {
  EXPECT_EQ("0, 0, 64\n", ohm(with_query({"smi"})).out);
  EXPECT_EQ("0, 0, 40339\n1, 0, 40339\n",
            ohm(with_query({"smi", "--gpu", "a100-40g,count=2"})).out);
  const ProgramResult table = ohm({"smi", "--gpu", "t4-16g"});
  EXPECT_EQ(0, table.code) << table.err;
  EXPECT_TRUE(contains(table.out, "t4-16g")) << table.out;
  EXPECT_TRUE(contains(ohm({"smi", "--utilization"}).out, "| ID | GPU | MEM |"));
}

TEST_F(Smi, ShowsTheContextAndTheSegmentsOfAVariantAtItsPeak) {
  // Blocks of 512 bytes take one segment of 2 MiB; the context of a real card is 450 MiB.
  EXPECT_EQ("0, 2, 64\n", ohm(with_query({"smi", "good.lua", "--case", "kept"})).out);
  EXPECT_EQ("0, 452, 40339\n",
            ohm(with_query({"smi", "good.lua", "--case", "kept", "--gpu", "a100-40g"})).out);
  const ProgramResult named = ohm({"smi", "good.lua"});
  EXPECT_EQ(0, named.code) << named.err;
  EXPECT_TRUE(contains(named.out, "good.kept, when most was reserved on each GPU\n")) << named.out;
}

TEST_F(Smi, SaysWhatIsWrong) {
  EXPECT_EQ(2, ohm({"smi", "--query-gpu=index,memory.user"}).code);
  EXPECT_EQ(2, ohm({"smi", "--query-gpu=index", "--format=xml"}).code);
  EXPECT_EQ(2, ohm({"smi", "--query-gpu="}).code);
  EXPECT_EQ(2, ohm({"smi", "--gpu", "none"}).code);
  EXPECT_EQ(5, ohm({"smi", "good.lua", "--case", "none"}).code);
  EXPECT_EQ(3, ohm({"smi", "missing.lua"}).code);
}

}  // namespace
}  // namespace ohm
