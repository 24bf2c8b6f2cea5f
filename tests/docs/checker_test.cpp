// The checks of documents can fail.
#include "tests/docs/checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "tests/docs/links.h"
#include "tests/docs/markdown.h"
#include "tests/support/temp_folder.h"

namespace ohm::docs {

void PrintTo(const Problem& problem, std::ostream* out) {
  *out << problem.line << ": " << problem.what;
}

namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

/// Prints "hello" for greet, fails for broken, and notes what it is asked to do.
class FakeWorkplace : public Workplace {
 public:
  explicit FakeWorkplace(std::string provides = "") : provides_(std::move(provides)) {}
  std::string provides() const override { return provides_; }
  CommandResult run(const std::string& command) override {
    done_.push_back(command);
    if (command.starts_with("greet")) return {0, "hello\nin 1.25 s\n"};
    if (command.starts_with("broken")) return {3, "no\n"};
    if (command == "ohm --help") return {0, "Subcommands:\n  run   Runs\n  list  Lists\n"};
    if (command.ends_with("pytest_plugin.py")) return {0, "add( --ohm-gpu , metavar"};
    if (command == "ohm run --help") return {0, "  -q,--quiet  Less\n  --gpu NAME\n"};
    return {0, ""};
  }
  void write(const std::string& file, const std::string& bytes) override {
    done_.push_back(file + " <- " + bytes);
  }
  const std::vector<std::string>& done() const { return done_; }

 private:
  std::string provides_;
  std::vector<std::string> done_;
};

std::vector<Problem> problems_of(const std::string& text, const std::string& provides = "") {
  FakeWorkplace workplace(provides);
  return check_document(text, workplace).problems;
}

auto problem(int line, const std::string& beginning) {
  return AllOf(Field(&Problem::line, line), Field(&Problem::what, StartsWith(beginning)));
}

TEST(DocumentChecker, AcceptsWhatTheProgramPrintsWhateverTimeItTook) {
  EXPECT_THAT(problems_of("Say:\n\n```console\n$ greet\nhello\nin 7 s\n```\n"), IsEmpty());
}

TEST(DocumentChecker, RefusesAWrongTranscript) {
  EXPECT_THAT(problems_of("```console\n$ greet\nhullo\nin 7 s\n```\n"),
              ElementsAre(problem(2, "the transcript differs")));
  EXPECT_THAT(problems_of("```console\n$ greet\nhello\n```\n"),
              ElementsAre(problem(2, "the transcript differs")));
}

TEST(DocumentChecker, RefusesATranscriptWithoutACommand) {
  EXPECT_THAT(problems_of("```console\nhello\n```\n"),
              ElementsAre(problem(2, "a transcript begins with")));
}

TEST(DocumentChecker, RefusesAnotherExitCode) {
  EXPECT_THAT(problems_of("```sh\n# none\ngreet\nbroken\n```\n"),
              ElementsAre(problem(4, "exit code 3 instead of 0: broken")));
  EXPECT_THAT(problems_of("<!-- exit 3: it is broken -->\n```sh\nbroken\n```\n"), IsEmpty());
  EXPECT_THAT(problems_of("<!-- exit 3: it is broken -->\n```sh\ngreet\n```\n"),
              ElementsAre(problem(3, "exit code 0 instead of 3: greet")));
}

TEST(DocumentChecker, RefusesWhatItCannotRunUnlessThereIsAReason) {
  EXPECT_THAT(problems_of("```yaml\na: b\n```\n"), ElementsAre(problem(2, "a block of \"yaml\"")));
  EXPECT_THAT(problems_of("```\nbroken\n```\n"), ElementsAre(problem(2, "a block of \"\"")));
  EXPECT_THAT(problems_of("<!-- not run: of another program -->\n```yaml\na: b\n```\n"), IsEmpty());
  EXPECT_THAT(problems_of("<!-- not run -->\n```sh\ngreet\n```\n"),
              ElementsAre(problem(2, "unknown comment above a code block: not run")));
  EXPECT_THAT(problems_of("Say\n\n    greet\n"), ElementsAre(problem(3, "code that is indented")));
  EXPECT_THAT(problems_of("```sh\ngreet\n"),
              ElementsAre(problem(2, "the code block is not closed")));
}

TEST(DocumentChecker, RunsWhatNeedsSomethingOnlyWhereItIs) {
  const std::string document =
      "```sh\nbroken\n```\n\n<!-- with PyTorch: large -->\n```sh\nbroken\n```\n";
  EXPECT_THAT(problems_of(document), ElementsAre(problem(2, "exit code 3")));
  EXPECT_THAT(problems_of(document, "PyTorch"), ElementsAre(problem(7, "exit code 3")));
}

TEST(DocumentChecker, ObeysOnlyCommentsRightAboveABlock) {
  EXPECT_THAT(problems_of("<!-- not run: reason -->\n\n```sh\nbroken\n```\n"),
              ElementsAre(problem(4, "exit code 3")));
}

TEST(DocumentChecker, WritesFilesAndRunsWhatIsToBePrepared) {
  FakeWorkplace workplace;
  check_document(
      "<!-- file: a.lua -->\n```lua\nreturn 1\n```\n"
      "<!-- prepare: first -->\n<!-- prepare: second -->\n```sh\none \\\n  two\n```\n",
      workplace);
  EXPECT_THAT(workplace.done(),
              ElementsAre("a.lua <- return 1\n", "first", "second", "one \\\n  two\n"));
}

TEST(DocumentChecker, RunsAFragmentOfLuaInAScenario) {
  FakeWorkplace workplace;
  check_document("```lua\nlocal x = ohm.ones(1)\n```\n", workplace);
  EXPECT_THAT(workplace.done(),
              ElementsAre(HasSubstr("local x = ohm.ones(1)\n"), "ohm run scenarios/fragment.lua",
                          "rm scenarios/fragment.lua"));
}

TEST(DocumentChecker, ApprovesTranscriptsAndLeavesTheRestAlone) {
  const std::string before = "# Say\n\n```console\n$ greet \\\n    twice\n";
  const std::string after = "```\n\nThe end\n\n```sh\ngreet\n```\n";
  FakeWorkplace workplace;
  EXPECT_EQ(before + "hello\nin 1.25 s\n" + after,
            check_document(before + "hullo\n" + after, workplace).approved);
  const std::string good = before + "hello\nin 9 s\n" + after;
  EXPECT_EQ(good, check_document(good, workplace).approved);
}

TEST(DocumentChecker, RefusesCommandsAndOptionsThatDoNotExist) {
  FakeWorkplace workplace;
  const Markdown document = parse_markdown(
      "`ohm run --quiet FILE`, `--gpu=NAME`, `--ohm-gpu NAME`, `other --thing`\n"
      "`ohm walk`, `ohm run --qui` and `--silent`\n");
  EXPECT_THAT(check_code_spans(document, workplace),
              ElementsAre(problem(2, "there is no command `ohm walk`"),
                          problem(2, "there is no option --qui:"),
                          problem(2, "there is no option --silent:")));
  EXPECT_THAT(problems_of("`ohm\nrun`\n"),
              ElementsAre(problem(1, "a code span that goes on"), problem(2, "a code span")));
}

TEST(DocumentLinks, LeadToFilesAndHeadings) {
  const test::TempFolder folder;
  folder.write("there.md", "# A heading, of 2 parts\n");
  const Markdown document = parse_markdown(
      "# Here\n[a](there.md) [b](#here) [c](there.md#a-heading-of-2-parts) [d](https://x.org/y)\n"
      "[e](gone.md) [f](#gone) [g](there.md#gone)\n");
  EXPECT_THAT(
      broken_links(document, folder.path()),
      ElementsAre(problem(3, "there is no file gone.md"), problem(3, "there is no heading #gone"),
                  problem(3, "there is no heading there.md#gone")));
}

}  // namespace
}  // namespace ohm::docs
