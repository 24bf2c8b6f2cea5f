#include "harness/cli/completion.h"

#include <gtest/gtest.h>

namespace ohm::cli {
namespace {

std::vector<DescribedCommand> commands() {
  DescribedOption files{{}, "FILES", "", "Scenarios", false, true, {Completion::scenarios}};
  DescribedOption gpu{{"--gpu"}, "", "NAME", "Use this GPU", false, false, {Completion::gpus}};
  DescribedOption report{{"-o", "--report"}, "", "PATH", "Write it", false, false, {}};
  DescribedOption quiet{{"-q", "--quiet"}, "", "", "Print less", false, false, {}};
  DescribedOption action{
      {}, "ACTION", "", "What to do", false, false, {Completion::words, {"check", "show"}}};
  return {{"run", "Run scenarios", "", false, {files, gpu, report, quiet}},
          {"exec", "Run a program", "", true, {gpu}},
          {"baseline", "Compare", "", false, {action, files}}};
}

std::vector<std::string> offered(const std::vector<std::string>& words) {
  const std::vector<DescribedCommand> all = commands();
  std::vector<std::string> texts;
  for (const Offer& offer : offers_for(all, words).words) texts.push_back(offer.text);
  return texts;
}

bool offers_files(const std::vector<std::string>& words) {
  const std::vector<DescribedCommand> all = commands();
  return offers_for(all, words).files;
}

using Words = std::vector<std::string>;

TEST(Completion, OffersCommandsAndOptions) {
  EXPECT_EQ((Words{"run", "exec", "baseline", "--help", "--version"}), offered({"ohm", ""}));
  EXPECT_EQ((Words{"exec"}), offered({"ohm", "e"}));
  EXPECT_EQ((Words{"--gpu"}), offered({"ohm", "run", "--g"}));
  EXPECT_EQ((Words{"--gpu", "-o", "--report", "-q", "--quiet"}), offered({"ohm", "run", "-"}));
  EXPECT_EQ(Words(), offered({"ohm", "no_such_command", ""}));
  EXPECT_EQ(Words(), offered({"ohm"}));
}

TEST(Completion, OffersTheValuesOfAnOption) {
  EXPECT_EQ((Words{"golden-sm80", "golden-sm90"}), offered({"ohm", "run", "--gpu", "go"}));
  EXPECT_EQ((Words{"--gpu=golden-sm80", "--gpu=golden-sm90"}), offered({"ohm", "run", "--gpu=go"}));
  // As bash splits it.
  EXPECT_EQ((Words{"golden-sm80", "golden-sm90"}), offered({"ohm", "run", "--gpu", "=", "go"}));
  EXPECT_LT(5U, offered({"ohm", "run", "--gpu", "="}).size());
  EXPECT_TRUE(offers_files({"ohm", "run", "-o", ""}));
  EXPECT_FALSE(offers_files({"ohm", "run", "--gpu", ""}));
}

TEST(Completion, OffersScenariosAndFilesForArguments) {
  EXPECT_EQ((Words{"leaked_loss_graph"}), offered({"ohm", "run", "leak"}));
  EXPECT_EQ((Words{"leaked_loss_graph"}), offered({"ohm", "run", "monitoring", "-q", "leak"}));
  EXPECT_EQ((Words{"leaked_loss_graph"}), offered({"ohm", "run", "--gpu", "t4-16g", "leak"}));
  EXPECT_TRUE(offers_files({"ohm", "run", ""}));
  EXPECT_EQ((Words{"check", "show"}), offered({"ohm", "baseline", ""}));
  EXPECT_EQ((Words{"leaked_loss_graph"}), offered({"ohm", "baseline", "check", "leak"}));
}

TEST(Completion, LeavesTheProgramToTheShell) {
  const std::vector<DescribedCommand> all = commands();
  EXPECT_EQ((Words{"--"}), offered({"ohm", "exec", ""}));
  const Words words = {"ohm", "exec", "--gpu", "=", "t4-16g", "--", "python", "tr"};
  EXPECT_EQ(6U, offers_for(all, words).program);
  EXPECT_EQ(":program 6\n", offers_text(offers_for(all, words)));
}

TEST(Completion, IsALineForEachOffer) {
  const Offers offers{{{"run", "Run scenarios"}, {"--version", ""}}, true, 0};
  EXPECT_EQ("run\tRun scenarios\n--version\n:files\n", offers_text(offers));
}

}  // namespace
}  // namespace ohm::cli
