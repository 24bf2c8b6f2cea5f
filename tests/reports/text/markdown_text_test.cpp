#include "reports/text/markdown_text.h"

#include <gtest/gtest.h>

#include <string>

namespace ohm::reports {
namespace {

TEST(MarkdownText, IsItselfInOneLine) {
  EXPECT_EQ("a\\_b \\`c\\` &lt;i\\>", markdown("a_b `c` <i>"));
  EXPECT_EQ("a b", markdown("a\nb"));
  EXPECT_EQ("\\\\u202E", markdown(std::string{'\xE2', '\x80', '\xAE'}));
}

TEST(MarkdownText, CodeIsFencedByMoreThanItHas) {
  EXPECT_EQ("`a`", markdown_code("a"));
  EXPECT_EQ("`` a`b ``", markdown_code("a`b"));
  EXPECT_EQ("```lua\nx\n```\n", markdown_block("lua", "x"));
  EXPECT_EQ("````\n```\n````\n", markdown_block("", "```"));
}

TEST(MarkdownText, HtmlIsShownAsWritten) {
  EXPECT_EQ("&lt;b>", without_html("<b>"));
  EXPECT_EQ("`List<int>` and &lt;b>", without_html("`List<int>` and <b>"));
  EXPECT_EQ("``a`<b>`` &lt;i>", without_html("``a`<b>`` <i>"));
}

TEST(MarkdownText, HtmlIsFoundWhereCodeOnlySeemsToBe) {
  EXPECT_EQ("\\`&lt;b>`", without_html("\\`<b>`"));                // the first one is not a quote
  EXPECT_EQ("`a\nb` &lt;b> `c`", without_html("`a\nb` <b> `c`"));  // code over two lines
  EXPECT_EQ("`a | &lt;b>`", without_html("`a | <b>`"));            // a cell ends first
  EXPECT_EQ("` &lt;b>\n\n`<c>`", without_html("` <b>\n\n`<c>`"));  // a paragraph ends it
}

}  // namespace
}  // namespace ohm::reports
