// The truth check on the tests' driver: it passes, and it fails when something is wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "runtime/ops/op_list.h"
#include "tests/support/program.h"
#include "tests/support/temp_folder.h"

namespace ohm {
namespace {

using test::ProgramResult;
using testing::HasSubstr;

class CardTruth : public testing::Test {
 protected:
  static constexpr std::array kLibraries = {"OHM_CUDA_DRIVER", "OHM_CUBLAS", "OHM_CUBLASLT",
                                            "OHM_CUDNN", "OHM_NCCL"};

  CardTruth() {
    for (const char* name : kLibraries) ::setenv(name, OHM_STAND_IN_DRIVER, 1);
  }
  ~CardTruth() override {
    for (const char* name : kLibraries) ::unsetenv(name);
    ::unsetenv("OHM_STAND_IN");
  }

  ProgramResult truth(const std::string& machine, const std::vector<std::string>& parts) const {
    ::setenv("OHM_STAND_IN", ("strict=1 devices=1 capacity=268435456 " + machine).c_str(), 1);
    return test::run_program(folder_.path().string(), parts);
  }

 private:
  test::TempFolder folder_;
};

TEST_F(CardTruth, ComparesEverything) {
  const ProgramResult result = truth("", {});
  EXPECT_EQ(0, result.code) << result.err;
  EXPECT_THAT(result.out, HasSubstr("same     kernel relu float32: 20014 values"));
  EXPECT_THAT(result.out, HasSubstr("same     mm m=1 n=257 k=64 b transposed bfloat16: "));
  EXPECT_THAT(result.out, HasSubstr("same     avg_pool2d, stride 2 bfloat16: "));
  EXPECT_THAT(result.out, HasSubstr("not run  sum of uint8 of 2147487747 elements: needs 3.00 "));
  EXPECT_THAT(result.out, HasSubstr(" 0 different, 0 not run, 5 too large for this device\n"));
}

TEST_F(CardTruth, HasARowForEveryOpAndDType) {
  const ProgramResult result = truth("", {"ops"});
  EXPECT_EQ(0, result.code) << result.err;
  for (const ops::OpDef& op : ops::all_ops()) {
    EXPECT_THAT(result.out, HasSubstr("same     " + std::string(op.info.name) + " 1 "))
        << "it is in no row";
  }
  for (const char* const dtype :
       {"float64", "float32", "float16", "bfloat16", "int64", "int32", "uint8", "bool"}) {
    EXPECT_THAT(result.out, HasSubstr(std::string("same     where 1 ") + dtype + ": "));
    EXPECT_THAT(result.out, HasSubstr(std::string("same     gather 1 ") + dtype + ": "));
  }
}

TEST_F(CardTruth, FindsAKernelThatIsWrongForWholeNumbers) {
  const ProgramResult result = truth("wrong=ohm_scaled_sum_int64", {"ops"});
  EXPECT_EQ(1, result.code);
  EXPECT_THAT(result.out, HasSubstr("differs  add 1 int32: "));
  EXPECT_THAT(result.out, HasSubstr("same     add 1 float32: "));
}

TEST_F(CardTruth, FindsAWrongKernel) {
  const ProgramResult result = truth("wrong=ohm_silu_backward_float32", {"kernels"});
  EXPECT_EQ(1, result.code);
  EXPECT_THAT(result.out, HasSubstr("differs  kernel silu_backward bfloat16: 2 of 20014 values"));
  EXPECT_THAT(result.out, HasSubstr(" the same, 3 different, 0 not run"));
}

TEST_F(CardTruth, FindsAWrongFunctionOfEachLibrary) {
  for (const std::string function :
       {"cublasGemmEx", "cublasGemmStridedBatchedEx", "cublasLtMatmul", "cudnnConvolutionForward",
        "cudnnConvolutionBackwardData", "cudnnConvolutionBackwardFilter", "cudnnAddTensor",
        "cudnnPoolingForward", "cudnnPoolingBackward", "cudnnBatchNormalizationForwardTraining",
        "cudnnBatchNormalizationForwardInference", "cudnnBatchNormalizationBackward"}) {
    const ProgramResult result = truth("wrong=" + function, {"libraries"});
    EXPECT_EQ(1, result.code) << function;
    EXPECT_THAT(result.out, Not(HasSubstr(" 0 different"))) << function;
  }
}

TEST_F(CardTruth, ALibraryThatIsMissingWasNotRun) {
  ::setenv("OHM_CUDNN", "libthere-is-none.so.1", 1);
  const ProgramResult result = truth("", {"large"});
  EXPECT_EQ(6, result.code);
  EXPECT_THAT(result.out, HasSubstr("not run  cuDNN: cuDNN is not here: libthere-is-none.so.1"));
}

TEST_F(CardTruth, KernelsThatTheDriverCannotRunWereNotRun) {
  const ProgramResult result = truth("version=12040 fail=cuModuleLoadData:0:222", {"kernels"});
  EXPECT_EQ(6, result.code);
  EXPECT_THAT(result.out,
              HasSubstr("not run  kernels: the kernels of this build need a driver for CUDA 13.0 "
                        "or newer; this one is for CUDA 12.4"));
}

TEST_F(CardTruth, RefusesAPartThatThereIsNot) {
  const ProgramResult result = truth("", {"kernel"});
  EXPECT_EQ(2, result.code);
  EXPECT_EQ("card_truth: there is no part kernel: kernels, ops, libraries, long, large\n",
            result.err);
}

}  // namespace
}  // namespace ohm
