// ohm.backends, as scripts use it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/lua/script_test.h"

namespace ohm::test {
namespace {

class Backends : public ScriptTest {};

TEST_F(Backends, CudnnsBenchmarkModeIsReadBack) {
  EXPECT_EQ(error_of("local cudnn = ohm.backends.cudnn\n"
                     "assert(cudnn.benchmark == false and cudnn.enabled == true)\n"
                     "cudnn.benchmark = true\n"
                     "assert(cudnn.benchmark == true)\n"
                     "cudnn.benchmark = false\n"
                     "assert(cudnn.benchmark == false)"),
            "");
  EXPECT_THAT(error_of("ohm.backends.cudnn.benchmark = 1"), testing::HasSubstr("benchmark"));
}

TEST_F(Backends, CudnnIsDeterministicUnlessAskedOtherwise) {
  EXPECT_EQ(error_of("local cudnn = ohm.backends.cudnn\n"
                     "assert(cudnn.deterministic == true)\n"
                     "cudnn.deterministic = false\n"
                     "assert(cudnn.deterministic == false and cudnn.benchmark == false)\n"
                     "cudnn.deterministic = true\n"
                     "assert(cudnn.deterministic == true)"),
            "");
  EXPECT_THAT(error_of("ohm.backends.cudnn.deterministic = 1"),
              testing::HasSubstr("deterministic"));
}

TEST_F(Backends, CudnnsBenchmarkModeEmptiesTheCacheOnceForEachConvolution) {
  EXPECT_EQ(
      error_of("ohm.backends.cudnn.benchmark = true\n"
               "local images = ohm.ones(1, 1, 4, 4, {device = 'cuda'})\n"
               "local filter = ohm.ones(1, 1, 3, 3, {device = 'cuda'})\n"
               "local function reserved_after(fn)\n"
               "  local block = ohm.empty(30 << 20, {device = 'cuda'})\n"
               "  block = nil\n"
               "  fn()\n"
               "  return ohm.cuda.memory_reserved()\n"
               "end\n"
               "local function convolve() return ohm.nn['functional'].conv2d(images, filter) end\n"
               "assert(reserved_after(convolve) < 30 << 20)\n"
               "assert(reserved_after(convolve) >= 30 << 20)"),
      "");
}

TEST_F(Backends, PrecisionOfProductsIsReadBack) {
  EXPECT_EQ(error_of("local matmul, cudnn = ohm.backends.cuda.matmul, ohm.backends.cudnn\n"
                     "assert(ohm.get_float32_matmul_precision() == 'highest')\n"
                     "assert(matmul.allow_tf32 == false and cudnn.allow_tf32 == true)\n"
                     "ohm.set_float32_matmul_precision('medium')\n"
                     "assert(matmul.allow_tf32 == true)\n"
                     "matmul.allow_tf32, cudnn.allow_tf32 = true, false\n"
                     "assert(ohm.get_float32_matmul_precision() == 'high')\n"
                     "matmul.allow_tf32 = false\n"
                     "assert(ohm.get_float32_matmul_precision() == 'highest')\n"
                     "assert(cudnn.allow_tf32 == false)"),
            "");
  EXPECT_THAT(error_of("ohm.set_float32_matmul_precision('low')"),
              testing::HasSubstr("\"highest\", \"high\" or \"medium\""));
  EXPECT_THAT(error_of("ohm.backends.cuda.matmul.allow_tf32 = 1"),
              testing::HasSubstr("allow_tf32"));
}

class WorkspaceCache : public ScriptTest {
 protected:
  WorkspaceCache() : ScriptTest({.cublas_workspace_bytes = 8'519'680}) {}
};

constexpr std::string_view kProduct =
    "local a = ohm.ones(4, 4, {device = 'cuda'})\n"
    "local before = ohm.cuda.memory_allocated()\n"
    "local function grown() local b = ohm.matmul(a, a) return ohm.cuda.memory_allocated() - before "
    "end\n";

TEST_F(WorkspaceCache, KeepsWorkspacesThatLaterVersionsLetGo) {
  machine_.context().rules = find_rule_set("pytorch-2.15");
  EXPECT_EQ(error_of(std::string(kProduct) +
                     "local cuda = ohm.backends.cuda\n"
                     "assert(cuda.workspace_cache == false and grown() == 512)\n"
                     "cuda.workspace_cache = true\n"
                     "assert(cuda.workspace_cache == true and grown() > 8519680)\n"
                     "cuda.workspace_cache = false\n"
                     "assert(grown() < 8519680)"),
            "");
}

TEST_F(WorkspaceCache, CannotBeSwitchedOffInEarlierVersions) {
  machine_.context().rules = find_rule_set("pytorch-2.6");
  EXPECT_EQ(error_of("local cuda = ohm.backends.cuda\n"
                     "assert(cuda.workspace_cache == true)\n"
                     "cuda.workspace_cache = true"),
            "");
  EXPECT_THAT(error_of("ohm.backends.cuda.workspace_cache = false"),
              testing::HasSubstr("pytorch-2.6 keeps cuBLAS's workspaces"));
}

}  // namespace
}  // namespace ohm::test
