// The HTML report without a browser: what stands in the file. The charts: tests/reports/browser.
#include "reports/html/html_report.h"

#include <gtest/gtest.h>

#include <string>

#include "reports/text/html_text.h"
#include "tests/reports/sample_result.h"

namespace ohm::reports {
namespace {

std::string report() { return html_report(test::sample_result(), {}); }

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++found;
  return found;
}

TEST(HtmlReport, NamesNothingOutsideItself) {
  const std::string text = report();
  // Addresses occur in texts of scripts (PyTorch's message names one), never as something to load.
  for (const char* attribute : {"src=", "href=\"http", "url(", "@import", "fetch(", "XMLHttp"}) {
    EXPECT_EQ(0U, count(text, attribute)) << attribute;
  }
  EXPECT_EQ(1U, count(text, "default-src 'none'"));
}

TEST(HtmlReport, TextsOfScriptsAreNoMarkup) {
  const std::string text = report();
  EXPECT_EQ(0U, count(text, "<script>alert"));
  EXPECT_EQ(0U, count(text, "<b>&amp;"));
  EXPECT_EQ(1U, count(text, "-- &lt;script&gt;alert(1)&lt;/script&gt;"));
  // As many ends as beginnings: nothing in the data ends its script.
  EXPECT_EQ(count(text, "<script"), count(text, "</script>"));
}

TEST(HtmlReport, TablesAreCompleteWithoutScript) {
  const std::string text = report();
  EXPECT_EQ(6U, count(text, "<article"));  // every variant
  EXPECT_GE(count(text, "61,149,184"), 2U);
  EXPECT_EQ(1U, count(text, "<b>total</b>"));
  EXPECT_EQ(1U, count(text, "AddBackward0"));
  EXPECT_EQ(1U, count(text, "Memory at the end of each step"));
  EXPECT_NE(std::string::npos, text.find("CUDA out of memory. Tried to allocate 20.00 MiB"));
  EXPECT_NE(std::string::npos, text.find("other numbers: total: 57.5 instead of 115"));
}

TEST(HtmlReport, ScenariosOfOneNameHaveAddressesOfTheirOwn) {
  RunResult result = test::sample_result();
  result.scenarios[1].name = result.scenarios[0].name;
  const std::string text = html_report(result, {});
  EXPECT_EQ(1U, count(text, "id=\"leaked_loss_graph\""));
  EXPECT_EQ(1U, count(text, "id=\"leaked_loss_graph-2\""));
}

TEST(HtmlReport, AResultWithoutHistoriesSaysHowToGetThem) {
  RunResult result = test::sample_result();
  for (ScenarioResult& scenario : result.scenarios) {
    for (VariantResult& variant : scenario.variants) variant.history.reset();
  }
  EXPECT_EQ(2U, count(html_report(result, {}), "--history"));
}

TEST(HtmlText, SpellsOutWhatWouldBeMarkupOrControl) {
  EXPECT_EQ("&lt;a href=&quot;x&quot;&gt; &amp; &#39;b&#39; \\x1B",
            html("<a href=\"x\"> & 'b' \x1b"));
  EXPECT_EQ("a-b.c_d--", html_id("a b.c_d/\""));
}

TEST(HtmlText, CellsAndRowsNeedNoEnds) {
  EXPECT_EQ("<table><tr><td>a<td>b\n<tr><td>&lt;/td&gt;</table>",
            without_optional_ends("<table><tr><td>a</td><td>b</td></tr>\n"
                                  "<tr><td>&lt;/td&gt;</td></tr></table>"));
}

}  // namespace
}  // namespace ohm::reports
