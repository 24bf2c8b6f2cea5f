// ohm exec through the real program.
#include <elf.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "tests/harness/program/program_test.h"

namespace ohm {
namespace {

using test::contains;
using test::ProgramResult;
using Exec = test::ProgramTest;

TEST_F(Exec, PassesOutputAndExitStatusThrough) {
  const ProgramResult ran = ohm({"exec", "--", "sh", "-c", "echo out; echo err >&2; exit 7"});
  EXPECT_EQ(7, ran.code);
  EXPECT_EQ("out\n", ran.out);
  EXPECT_EQ("err\n", ran.err);
}

TEST_F(Exec, PassesArgumentsThroughThatAreLikeItsOwn) {
  EXPECT_EQ("--gpu -- --help\n",
            ohm({"exec", "--gpu", "tiny-64m", "--", "echo", "--gpu", "--", "--help"}).out);
}

TEST_F(Exec, LeavesSignalsAsTheyWere) {
  // A signal that is ignored when a shell starts stays ignored in it.
  const ProgramResult ran = ohm({"exec", "--", "sh", "-c", "kill -PIPE $$; echo ignored"});
  EXPECT_EQ("", ran.out);
  EXPECT_NE(0, ran.code);
}

TEST_F(Exec, ShowsTheGpusThatWereAskedFor) {
  const std::vector<std::string> print = {"--", "sh", "-c", "echo $OHM_GPU"};
  const auto gpus = [&](std::vector<std::string> options) {
    options.insert(options.begin(), "exec");
    options.insert(options.end(), print.begin(), print.end());
    return ohm(options).out;
  };
  EXPECT_EQ("a100-80g\n", gpus({}));
  EXPECT_EQ("l4-24g,count=2,capacity=12884901888\n",
            gpus({"--gpu", "l4-24g", "--gpus", "2", "--limit", "12GiB"}));
  EXPECT_EQ("t4-16g,capacity=8GiB,count=3\n", gpus({"--gpu", "t4-16g,capacity=8GiB,count=3"}));
}

TEST_F(Exec, GoesOnWithoutWhatIsMissingWhenAsked) {
  const std::vector<std::string> print = {"--", "sh", "-c", "echo \"<$OHM_ALLOW_MISSING>\""};
  EXPECT_EQ("<>\n", ohm({"exec", print[0], print[1], print[2], print[3]}).out);
  EXPECT_EQ("<1>\n", ohm({"exec", "--allow-missing", print[0], print[1], print[2], print[3]}).out);
  EXPECT_EQ(2, ohm({"exec", "--allow-missing", "--memory", "host", "--", "true"}).code);
}

TEST_F(Exec, SharesGpusThroughAFileThatIsGoneAfterwards) {
  const std::vector<std::string> print = {"--", "sh", "-c",
                                          "ls $OHM_SHARED_GPU >&2; echo $OHM_SHARED_GPU; exit 7"};
  const auto run = [&](std::vector<std::string> options) {
    options.insert(options.begin(), "exec");
    options.insert(options.end(), print.begin(), print.end());
    return ohm(options);
  };
  EXPECT_EQ("\n", run({}).out);
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{"--shared-gpu"}, {"--shared-gpu", "--no-record"}}) {
    const ProgramResult ran = run(options);
    EXPECT_EQ(7, ran.code);
    EXPECT_TRUE(contains(ran.out, "/shared-gpus")) << ran.out;
    EXPECT_EQ(ran.err, ran.out);
    EXPECT_FALSE(std::filesystem::exists(ran.out.substr(0, ran.out.size() - 1)));
  }
  EXPECT_EQ(2, ohm({"exec", "--shared-gpu", "--memory", "host", "--", "true"}).code);
}

TEST_F(Exec, AnOhmWithinAnotherHasItsOwnGpus) {
  const ProgramResult ran =
      ohm({"exec", "--shared-gpu", "--in-flight", "3", "--", OHM_BINARY, "exec", "--", "sh", "-c",
           "echo \"<$OHM_SHARED_GPU><$OHM_IN_FLIGHT>\""});
  EXPECT_EQ("<><>\n", ran.out) << ran.err;
}

TEST_F(Exec, SaysAfterHowManyCallsWorkIsComplete) {
  const std::vector<std::string> print = {"--", "sh", "-c", "echo \"<$OHM_IN_FLIGHT>\""};
  EXPECT_EQ("<>\n", ohm({"exec", print[0], print[1], print[2], print[3]}).out);
  EXPECT_EQ("<12>\n",
            ohm({"exec", "--in-flight", "12", print[0], print[1], print[2], print[3]}).out);
  EXPECT_EQ(2, ohm({"exec", "--in-flight", "-1", "--", "true"}).code);
  EXPECT_EQ(2, ohm({"exec", "--in-flight", "3", "--memory", "host", "--", "true"}).code);
}

TEST_F(Exec, PreloadsTheLibraryIntoWhateverTheProgramStarts) {
  const ProgramResult ran =
      ohm({"exec", "--", "sh", "-c", "grep -o 'libcudart.so.1[23]' /proc/self/maps | sort -u"});
  EXPECT_EQ("libcudart.so.12\nlibcudart.so.13\n", ran.out) << ran.err;
}

TEST_F(Exec, StartsScripts) {
  folder_.write("script", "#!/bin/sh\necho $1 $OHM_GPU\n");
  std::filesystem::permissions(file("script"), std::filesystem::perms::owner_all);
  EXPECT_EQ("word tiny-64m\n", ohm({"exec", "--gpu", "tiny-64m", "--", "./script", "word"}).out);
}

/// A program without a dynamic loader, as far as its header says.
std::string static_program() {
  Elf64_Ehdr elf = {};
  std::ifstream own("/proc/self/exe", std::ios::binary);
  own.read(reinterpret_cast<char*>(&elf), sizeof(elf));
  elf.e_phnum = 0;
  return {reinterpret_cast<const char*>(&elf), sizeof(elf)};
}

TEST_F(Exec, SaysWhatIsWrongBeforeAnythingStarts) {
  folder_.write("static", static_program());
  std::filesystem::permissions(file("static"), std::filesystem::perms::owner_all);
  folder_.write("text", "no program");
  std::filesystem::copy("/bin/true", file("privileged"));
  ::chmod(file("privileged").c_str(), S_ISUID | S_IRWXU);
  struct Case {
    std::vector<std::string> arguments;
    std::string says;
  };
  const std::vector<Case> cases = {
      {{"python3", "train.py"}, "the program comes after --, as in: ohm exec --gpu"},
      {{"--"}, "the program comes after --, as in: ohm exec --gpu"},
      {{"--gpu", "a100-80", "--", "true"}, "did you mean \"a100-80g\"?"},
      {{"--gpu", "t4-16g,count=2", "--gpus", "2", "--", "true"}, "already gives the count"},
      {{"--gpus", "0", "--", "true"}, "count must be 1 to 64"},
      {{"--limit", "much", "--", "true"}, "--limit: "},
      {{"--gpu", "t4-16g", "--limit", "15GiB", "--", "true"}, "more than the 14.75 GiB of t4-16g"},
      {{"--limit", "100MiB", "--", "true"}, "leaves nothing beside the context"},
      {{"--", "no-such-command"}, "command not found: \"no-such-command\""},
      {{"--", "./missing"}, "there is no file \"./missing\""},
      {{"--", "./text"}, "it may not be executed"},
      {{"--", "./static"}, "./static is linked statically"},
      {{"--", "./privileged"}, "./privileged gains privileges"},
  };
  for (const Case& wrong : cases) {
    std::vector<std::string> arguments = {"exec"};
    arguments.insert(arguments.end(), wrong.arguments.begin(), wrong.arguments.end());
    const ProgramResult ran = ohm(arguments);
    EXPECT_EQ(2, ran.code) << wrong.says;
    EXPECT_TRUE(contains(ran.err, wrong.says)) << ran.err;
    EXPECT_EQ("", ran.out);
  }
}

}  // namespace
}  // namespace ohm
