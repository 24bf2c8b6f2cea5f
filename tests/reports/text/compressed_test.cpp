#include "reports/text/compressed.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

namespace ohm::reports {
namespace {

std::string uncompressed(const std::string& packed, std::size_t size) {
  std::string text(size, '\0');
  uLongf written = size;
  EXPECT_EQ(Z_OK, uncompress(reinterpret_cast<Bytef*>(text.data()), &written,
                             reinterpret_cast<const Bytef*>(packed.data()), packed.size()));
  EXPECT_EQ(size, written);
  return text;
}

TEST(Compressed, IsReadBackByZlib) {
  std::string counted;
  for (int i = 0; i < 20'000; ++i) counted += std::to_string(i * 7) + " ";
  for (const std::string& text : {std::string("a"), counted, std::string("\0\xff\n", 3)}) {
    EXPECT_EQ(text, uncompressed(compressed(text), text.size())) << text.size();
  }
}

TEST(Compressed, ColumnsOfAHistoryBecomeSmall) {
  std::string columns;
  for (int i = 0; i < 10'000; ++i) columns += std::to_string(512 * (i % 37)) + " ";
  EXPECT_LT(compressed(columns).size() * 20, columns.size());
}

TEST(Base64, PadsTheEnd) {
  EXPECT_EQ("", base64(""));
  EXPECT_EQ("Zg==", base64("f"));
  EXPECT_EQ("Zm8=", base64("fo"));
  EXPECT_EQ("Zm9vYmFy", base64("foobar"));
  EXPECT_EQ("//79", base64("\xff\xfe\xfd"));
}

}  // namespace
}  // namespace ohm::reports
