// Every command and every transcript of README.md and docs/, run by a shell with the real program.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/docs/checker.h"
#include "tests/docs/checkout.h"
#include "tests/docs/documents.h"
#include "tests/support/golden.h"

namespace ohm::docs {
namespace {

bool is_approving() {
  const char* approve = std::getenv("OHM_APPROVE");
  return approve != nullptr && std::string_view(approve) == "1";
}

class Document : public testing::TestWithParam<std::string> {};

TEST_P(Document, SaysWhatTheProgramDoes) {
  const std::string text = test::read_file(source_path(GetParam()));
  Checkout checkout;
  const CheckedDocument checked = check_document(text, checkout);
  if (is_approving() && checked.approved != text) {
    std::ofstream(source_path(GetParam()), std::ios::binary) << checked.approved;
    FAIL() << GetParam() << " was rewritten: read git diff, and run this test again";
  }
  for (const Problem& problem : checked.problems) {
    ADD_FAILURE() << GetParam() << ':' << problem.line << ": " << problem.what;
  }
}

TEST_P(Document, NamesCommandsAndOptionsThatExist) {
  Checkout checkout;
  const Markdown document = parse_markdown(test::read_file(source_path(GetParam())));
  for (const Problem& problem : check_code_spans(document, checkout)) {
    ADD_FAILURE() << GetParam() << ':' << problem.line << ": " << problem.what;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Document, testing::ValuesIn(documents_with_commands()),
                         [](const testing::TestParamInfo<std::string>& file) {
                           std::string name = file.param;
                           std::replace_if(
                               name.begin(), name.end(),
                               [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
                           return name;
                         });

TEST(Readme, NamesEveryCommand) {
  Checkout checkout;
  const std::string readme = test::read_file(source_path("README.md"));
  const std::vector<std::string> commands = commands_of_help(checkout.run("ohm --help").output);
  EXPECT_LT(10U, commands.size());
  for (const std::string& command : commands) {
    EXPECT_NE(std::string::npos, readme.find("`ohm " + command)) << command;
  }
}

}  // namespace
}  // namespace ohm::docs
