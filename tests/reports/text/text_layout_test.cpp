#include <gtest/gtest.h>

#include "reports/ci/xml_writer.h"
#include "reports/text/measured_text.h"
#include "reports/text/text_layout.h"

namespace ohm::reports {
namespace {

TEST(TextLayout, CountsCodePointsNotBytes) {
  EXPECT_EQ(3U, display_width("a×█"));
  EXPECT_EQ("×  ", pad_right("×", 3));
  EXPECT_EQ("  ×", pad_left("×", 3));
}

TEST(TextLayout, BreaksLinesAtBlanksAndLongWordsWhereItMust) {
  const std::vector<std::string> expected = {"breaks at", "blanks", "abcdefghij", "klm"};
  EXPECT_EQ(expected, wrapped("breaks at blanks abcdefghijklm", 10));
  EXPECT_EQ((std::vector<std::string>{"two", "blanks"}), wrapped("two  blanks", 7));
  EXPECT_EQ((std::vector<std::string>{"see", "(https://a-b.org/c)", "too"}),
            wrapped("see (https://a-b.org/c) too", 10));
  EXPECT_EQ(std::vector<std::string>{""}, wrapped("", 10));
  EXPECT_EQ((std::vector<std::string>{"a", "", "b"}), wrapped("a\n\nb", 10));
}

TEST(TextLayout, ShortensInTheMiddle) {
  EXPECT_EQ("scenarios.lua", shortened("scenarios.lua", 13));
  EXPECT_EQ("scena…s.lua", shortened("scenarios1s.lua", 11));
}

TEST(TextLayout, SpellsWhatATerminalWouldObeyAndWhatIsNotUtf8) {
  EXPECT_EQ("\\x1B[31mred\\x07\\xFF×\n  \\xC2\\x9B",
            printable("\x1b[31mred\x07\xFF×\n\t\xC2\x9B\r\n"));
  EXPECT_EQ("\\xED\\xA0\\x80", printable("\xED\xA0\x80"));
}

TEST(MeasuredText, IsExactAndHuman) {
  EXPECT_EQ("-1,234,567", grouped(-1'234'567));
  EXPECT_EQ("123", grouped(123));
  EXPECT_EQ("24.00 MiB", short_figure(25'165'824, Unit::bytes));
  EXPECT_EQ("-1.00 KiB (1,024 bytes)", exact_figure(-1024, Unit::bytes));
  EXPECT_EQ("1,000", exact_figure(1000, Unit::count));
  EXPECT_EQ("1.497", short_figure(1.49702, Unit::ratio));
  EXPECT_EQ("1.49702", exact_figure(1.49702, Unit::ratio));
}

TEST(XmlWriter, EscapesWhatXmlCannotHold) {
  EXPECT_EQ("&lt;a b=&quot;c&quot;&gt;&amp;", xml_escaped("<a b=\"c\">&"));
  EXPECT_EQ("\\x1B[31m\\x00&#x9;", xml_escaped(std::string_view("\x1b[31m\0\t", 7)));
  EXPECT_EQ("\xEF\xBF\xBD×\xEF\xBF\xBD", xml_escaped("\xFF×\xC3"));
}

}  // namespace
}  // namespace ohm::reports
