#include "allocator_shim/observe/gpu_monitor.h"

#include <gtest/gtest.h>

#include <array>
#include <stdexcept>

#include "allocator_shim/base/bytes.h"

namespace ohm {
namespace {

const std::array<MonitoredGpu, 2> kGpus = {
    {{0, "k80-12g", 4270_MiB + 5, 11'996'954'624}, {1, "k80-12g", 450_MiB, 11'996'954'624}}};

TEST(GpuMonitor, PrintsWhatGpuutilPrints) {
  EXPECT_EQ(
      "| ID | GPU | MEM |\n"
      "------------------\n"
      "|  0 |  0% | 37% |\n"
      "|  1 |  0% |  4% |\n",
      utilization_table(kGpus));
}

TEST(GpuMonitor, AnswersQueriesAsNvidiaSmiDoes) {
  EXPECT_EQ("0, 4270, 11441\n1, 450, 11441\n",
            smi_query(kGpus, "index,memory.used,memory.total", "csv,noheader,nounits"));
  EXPECT_EQ("name, memory.free [MiB]\nk80-12g, 7171 MiB\nk80-12g, 10991 MiB\n",
            smi_query(kGpus, "name, memory.free", "csv"));
}

TEST(GpuMonitor, SuggestsTheFieldThatMayBeMeant) {
  try {
    smi_query(kGpus, "memory.usd", "csv");
    FAIL() << "no error";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ("[smi] there is no field \"memory.usd\" (did you mean \"memory.used\"?)",
                 error.what());
  }
  EXPECT_THROW(smi_query(kGpus, "index", "json"), std::invalid_argument);
}

TEST(GpuMonitor, TableHasOneRowForEachGpu) {
  const std::string table = smi_table(kGpus);
  EXPECT_NE(std::string::npos, table.find("|   0  k80-12g "));
  EXPECT_NE(std::string::npos, table.find(" 4270MiB / 11441MiB |"));
  EXPECT_NE(std::string::npos, table.find(" 450MiB / 11441MiB |"));
}

}  // namespace
}  // namespace ohm
