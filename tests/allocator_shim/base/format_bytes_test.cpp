#include "allocator_shim/base/format_bytes.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "allocator_shim/base/bytes.h"

namespace ohm {
namespace {

TEST(FormatBytes, UsesPyTorchsInclusiveLimits) {
  EXPECT_EQ(pytorch_bytes(0), "0 bytes");
  EXPECT_EQ(pytorch_bytes(1_KiB), "1024 bytes");
  EXPECT_EQ(pytorch_bytes(1_KiB + 1), "1.00 KiB");
  EXPECT_EQ(pytorch_bytes(1_MiB), "1024.00 KiB");
  EXPECT_EQ(pytorch_bytes(2_MiB), "2.00 MiB");
  EXPECT_EQ(pytorch_bytes(1_GiB), "1024.00 MiB");
  EXPECT_EQ(pytorch_bytes(80_GiB), "80.00 GiB");
  EXPECT_EQ(pytorch_bytes(2_TiB), "2048.00 GiB");
}

TEST(FormatBytes, GivesPeopleTheLargestUnitThatFits) {
  EXPECT_EQ(human_bytes(512), "512 B");
  EXPECT_EQ(human_bytes(1_KiB), "1.00 KiB");
  EXPECT_EQ(human_bytes(1_MiB), "1.00 MiB");
  EXPECT_EQ(human_bytes(1'610'612'736), "1.50 GiB");
  EXPECT_EQ(human_bytes(3_TiB), "3.00 TiB");
  EXPECT_EQ(human_and_exact_bytes(1'610'612'736), "1.50 GiB (1,610,612,736 bytes)");
  EXPECT_EQ(human_and_exact_bytes(512), "512 bytes");
}

TEST(ParseBytes, TellsPowersOf1000FromPowersOf1024) {
  const std::vector<std::pair<std::string, std::uint64_t>> kCases = {
      {"24GiB", 24_GiB},
      {"24 GiB", 24_GiB},
      {"1.5 MiB", 1_MiB + 512_KiB},
      {"500 KB", 500'000},
      {"1KB", 1'000},
      {"1KiB", 1'024},
      {"2TB", 2'000'000'000'000},
      {"0 MiB", 0},
      {"67108864", 64_MiB},
      {"7 B", 7},
      {"0.5 KiB", 512},
      {"0.0001 KB", 0},
      {" 3 MB ", 3'000'000},
      {"16777215 TiB", 16'777'215_TiB}};
  for (const auto& [text, bytes] : kCases) EXPECT_EQ(parse_bytes(text), bytes) << text;
}

TEST(ParseBytes, SaysWhatIsWrong) {
  const std::vector<std::pair<std::string, std::string>> kCases = {
      {"", "a number has to come first"},   {"GiB", "a number has to come first"},
      {"-1 MiB", "a number has to come"},   {"1. MiB", "no digit after the point"},
      {"1.5", "a fraction needs a unit"},   {"3 gib", "\"gib\" is not one of"},
      {"3 MiBs", "\"MiBs\" is not one of"}, {"1 2 MiB", "\"2 MiB\" is not one of"},
      {"16777216 TiB", "too large"},        {"99999999999999999999", "too large"}};
  for (const auto& [text, why] : kCases) {
    try {
      parse_bytes(text);
      ADD_FAILURE() << "accepted: " << text;
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("\"" + text + "\""), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace ohm
