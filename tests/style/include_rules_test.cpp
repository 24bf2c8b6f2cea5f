#include "tests/style/include_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>
#include <vector>

#include "tests/style/include_cycles.h"
#include "tests/style/source_tree.h"
#include "tests/support/checkout_paths.h"

namespace ohm::style {

void PrintTo(const Breach& breach, std::ostream* out) {
  *out << breach.file << ':' << breach.line << ": " << breach.what;
}

namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

/// A source tree of a few files in a folder of its own that goes with the test.
class SourceTree : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "ohm_source_tree_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }

  std::vector<Breach> breaches() const { return find_rule_breaches(read_sources(root_)); }
  std::vector<Breach> cycles() const { return find_include_cycles(read_sources(root_)); }

  std::filesystem::path root_;
};

TEST_F(SourceTree, MayIncludeDownwardsHoweverFar) {
  write("runtime/parallel/data_parallel.cpp",
        "#include \"runtime/parallel/data_parallel.h\"\n"
        "#include \"runtime/tensor/tensor.h\"\n"
        "#include \"allocator_shim/observe/site.h\"\n"
        "#include <vector>\n");
  write("harness/cli/option_parser.cpp", "#include <CLI/CLI.hpp>\n#include \"reports/json.h\"\n");
  write("harness/lua/state.cpp", "#include <lua.hpp>\n");
  write("harness/process/stopwatch.cpp", "auto t = std::chrono::steady_clock::now();\n");
  write("runtime/ops/softmax.cu", "#include <cuda_runtime.h>\n");
  EXPECT_THAT(breaches(), IsEmpty());
}

TEST_F(SourceTree, MayNotIncludeUpwards) {
  write("runtime/tensor/tensor.h", "#pragma once\n\n#include \"runtime/ops/matmul.h\"\n");
  EXPECT_THAT(breaches(), ElementsAre(Breach{"runtime/tensor/tensor.h", 3,
                                             "runtime/tensor may not include runtime/ops"}));
}

TEST_F(SourceTree, MayNotIncludeSideways) {
  write("allocator_shim/caching/pool.h", "#include \"allocator_shim/fault/plan.h\"\n");
  write("runtime/nn/linear.h", "#include <runtime/optim/sgd.h>\n");
  EXPECT_THAT(
      breaches(),
      ElementsAre(Breach{"allocator_shim/caching/pool.h", 1,
                         "allocator_shim/caching may not include allocator_shim/fault"},
                  Breach{"runtime/nn/linear.h", 1, "runtime/nn may not include runtime/optim"}));
}

TEST_F(SourceTree, KeepsTheRuntimeAndTheReportsUnawareOfFaults) {
  write("runtime/parallel/a.h", "#include \"allocator_shim/fault/plan.h\"\n");
  write("reports/json/b.h", "#include \"allocator_shim/caching/pool.h\"\n");
  EXPECT_THAT(breaches(),
              ElementsAre(Breach{"reports/json/b.h", 1,
                                 "reports/json may not include allocator_shim/caching"},
                          Breach{"runtime/parallel/a.h", 1,
                                 "runtime/parallel may not include allocator_shim/fault"}));
}

TEST_F(SourceTree, WantsIncludesFromTheRootAndFilesInKnownFolders) {
  write("reports/json.cpp", "#include \"json.h\"\n");
  write("runtime/odds_and_ends/x.h", "");
  EXPECT_THAT(breaches(), ElementsAre(Breach{"reports/json.cpp", 1,
                                             "\"json.h\" is not written from the root of the tree"},
                                      Breach{"runtime/odds_and_ends/x.h", 0,
                                             "the file is in no folder of the table of rooms"}));
}

TEST_F(SourceTree, TellsRoomsInsideOfAFolderApart) {
  write("reports/model/run_result.h", "#include \"reports/text/paint.h\"\n");
  write("reports/reporter.cpp", "#include \"reports/html/html_report.h\"\n");
  write("reports/html/html_report.h", "#include \"reports/reporter.h\"\n");
  EXPECT_THAT(
      breaches(),
      ElementsAre(
          Breach{"reports/html/html_report.h", 1, "reports/html may not include reports"},
          Breach{"reports/model/run_result.h", 1, "reports/model may not include reports/text"}));
}

TEST_F(SourceTree, HasOneRowForTheCudaPartsOfAllFamiliesOfOps) {
  write("runtime/ops/sorting/cuda/sort.h", "#include \"runtime/ops/matmul/host/gemm.h\"\n");
  write("runtime/ops/matmul/cuda/product.h", "#include \"runtime/ops/matmul/matmul.h\"\n");
  write("runtime/ops/matmul/host/gemm.h", "#include \"runtime/ops/matmul/cuda/product.h\"\n");
  EXPECT_THAT(breaches(),
              ElementsAre(Breach{"runtime/ops/matmul/cuda/product.h", 1,
                                 "runtime/ops/*/cuda may not include runtime/ops"},
                          Breach{"runtime/ops/matmul/host/gemm.h", 1,
                                 "runtime/ops/*/host may not include runtime/ops/*/cuda"}));
}

TEST_F(SourceTree, MayNotHaveCyclesOfIncludes) {
  write("runtime/ops/a.h", "#include \"runtime/ops/b.h\"\n");
  write("runtime/ops/b.h", "#pragma once\n");
  write("runtime/ops/b.cpp", "#include \"runtime/ops/b.h\"\n#include \"runtime/ops/c.h\"\n");
  write("runtime/ops/c.cpp", "#include \"runtime/ops/a.h\"\n");
  write("runtime/ops/c.h", "#include <vector>\n");
  write("runtime/ops/d.h", "#include \"runtime/ops/a.h\"\n");
  EXPECT_THAT(cycles(), ElementsAre(Breach{"runtime/ops/a.h", 0,
                                           "a cycle of includes: runtime/ops/a > runtime/ops/b > "
                                           "runtime/ops/c > runtime/ops/a"}));
}

TEST_F(SourceTree, MayIncludeOneUnitInManyWays) {
  write("runtime/ops/a.h", "#include \"runtime/ops/b.h\"\n#include \"runtime/ops/c.h\"\n");
  write("runtime/ops/b.h", "#include \"runtime/ops/c.h\"\n");
  write("runtime/ops/c.h", "");
  write("runtime/ops/c.cpp", "#include \"runtime/ops/c.h\"\n");
  EXPECT_THAT(cycles(), IsEmpty());
}

struct FencedLine {
  std::string file;
  std::string line;
  std::string fence;
};

void PrintTo(const FencedLine& tested, std::ostream* out) {
  *out << tested.line << " in " << tested.file;
}

class Fences : public SourceTree, public ::testing::WithParamInterface<FencedLine> {};

TEST_P(Fences, HoldInWhatStandsOutside) {
  write(GetParam().file, "// a comment may say " + GetParam().line + "\n" + GetParam().line + "\n");
  const std::string what = GetParam().fence + " is fenced in to ";
  EXPECT_THAT(breaches(),
              ElementsAre(AllOf(Field(&Breach::line, 2), Field(&Breach::what, StartsWith(what)))));
}

INSTANTIATE_TEST_SUITE_P(
    All, Fences,
    ::testing::Values(
        FencedLine{"harness/run/a.h", "#include <lua.hpp>", "Lua"},
        FencedLine{"harness/cli/a.h", "#include <lauxlib.h>", "Lua"},
        FencedLine{"harness/cli/a.h", "#include <CLI/CLI.hpp>", "CLI11"},
        FencedLine{"runtime/tensor/a.cpp", "#include <cuda_runtime.h>", "CUDA"},
        FencedLine{"runtime/ops/a.cpp", "  # include <cublas_v2.h>", "CUDA"},
        FencedLine{"runtime/ops/a.cpp", "#include \"runtime/lifetimes/call_frames.h\"",
                   "the frames of calls"},
        FencedLine{"runtime/optim/a.cpp", "int count = std::uncaught_exceptions();", "unwinding"},
        FencedLine{"harness/run/a.cpp", "void* f = dlsym(handle, name);", "dlsym"},
        FencedLine{"runtime/ops/a.cpp", "using Clock = std::chrono::steady_clock;", "the clock"},
        FencedLine{"harness/cli/a.cpp", "const auto now = time(nullptr);", "the clock"},
        FencedLine{"reports/a.cpp", "clock_gettime(CLOCK_MONOTONIC, &now);", "the clock"},
        FencedLine{"runtime/tensor/a.cpp", "std::random_device seed;", "entropy"},
        FencedLine{"allocator_shim/fault/a.cpp", "if (std::rand() % 2 == 0) fail();", "entropy"}));

TEST(CodeOf, LeavesOutCommentsAndLiterals) {
  EXPECT_EQ(code_of("a /* b\n c */ d  // e\nf"), "a \n d  \nf");
  EXPECT_EQ(code_of(R"-(g("rand()", 'x', '\'', 1'000))-"), R"-(g("", '', '', 1'000))-");
  EXPECT_EQ(code_of("x = R\"y(one \" two\n)y\" + z"), "x = \n\"\" + z");
  EXPECT_EQ(code_of("  # include \"lua.h\" // why\n"), "  # include \"lua.h\" // why\n");
}

/// The sources of this tree, read once.
const std::vector<SourceFile>& sources_of_ohm() {
  static const std::vector<SourceFile> kSources = read_sources(OHM_SOURCE_DIR);
  return kSources;
}

TEST(SourceTreeOfOhm, KeepsTheDirectionsOfTheArchitecture) {
  EXPECT_THAT(find_rule_breaches(sources_of_ohm()), IsEmpty());
}

TEST(SourceTreeOfOhm, HasNoCyclesOfIncludes) {
  EXPECT_THAT(find_include_cycles(sources_of_ohm()), IsEmpty());
}

TEST(SourceTreeOfOhm, IsWhatWasRead) {
  EXPECT_THAT(sources_of_ohm(),
              Contains(Field(&SourceFile::path, "allocator_shim/observe/site.h")));
}

TEST(TableOfRooms, HasEveryRoomBelowThoseThatMayIncludeIt) {
  EXPECT_THAT(rooms_above_themselves(rooms()), IsEmpty());
}

TEST(TableOfRooms, MayNotHaveCycles) {
  EXPECT_THAT(rooms_above_themselves({{"a", {}}, {"b", {"a", "d"}}, {"c", {"b"}}, {"d", {"c"}}}),
              ElementsAre("b"));
  EXPECT_THAT(rooms_above_themselves({{"a", {"a"}}}), ElementsAre("a"));
}

TEST(TableOfRooms, AllowsNothingThatNoSourceNeeds) {
  EXPECT_THAT(find_unused_permissions(sources_of_ohm()), IsEmpty());
}

TEST_F(SourceTree, NamesPermissionsThatNoSourceNeeds) {
  write("harness/sweep/sweep.cpp", "#include \"runtime/ops/op.h\"\n");
  write("harness/slurm/array.cpp", "#include \"harness/slurm/array.h\"\n#include <vector>\n");
  const std::vector<std::string> unused = find_unused_permissions(read_sources(root_));
  EXPECT_THAT(unused, Contains("harness/slurm needs no harness/checkpoint"));
  EXPECT_THAT(unused, Contains("harness/verify has no sources"));
  EXPECT_THAT(unused, Not(Contains("harness/sweep needs no harness/run")));
}

}  // namespace
}  // namespace ohm::style
