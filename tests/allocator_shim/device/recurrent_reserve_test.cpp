#include "allocator_shim/device/recurrent_reserve.h"
#include "tests/support/checkout_paths.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

namespace ohm {
namespace {

TEST(RecurrentReserve, IsWhatTwoCardsKept) {
  std::ifstream file(OHM_GOLDEN_DIR "/cudnn/recurrent_reserves.txt");
  int checked = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream numbers(line);
    RecurrentNetwork network;
    std::size_t rows = 0;
    std::size_t bytes = 0;
    numbers >> network.gates >> network.layers >> network.directions >> network.hidden_size >>
        network.projection_size >> network.element_bytes >> network.has_dropout >> rows >> bytes;
    ASSERT_TRUE(numbers) << line;
    EXPECT_EQ(recurrent_reserve_bytes(network, rows), bytes) << line;
    ++checked;
  }
  EXPECT_GT(checked, 50);
}

TEST(RecurrentReserve, GeneratorsOfDropoutAreAsManyAsThreads) {
  EXPECT_EQ(dropout_state_bytes(132, 2048), 6'488'064U);  // of an H100
}

}  // namespace
}  // namespace ohm
