// Every op that writes over its input: a leaf that requires a gradient, and a piece of one, are
// refused before anything is written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/ops/op_list.h"
#include "runtime/ops/shape/slice.h"
#include "tests/support/bad_arguments.h"
#include "tests/support/op_samples.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// Where the op says whether it writes over its input; past the end: it always does.
std::size_t inplace_position(const ops::OpDef& op) {
  const auto row = std::find_if(op.params.begin(), op.params.end(),
                                [](const ops::Param& param) { return param.name == "inplace"; });
  return static_cast<std::size_t>(row - op.params.begin());
}

std::vector<std::string> writing_ops() {
  std::vector<std::string> names;
  for (const ops::OpDef& op : ops::all_ops()) {
    const bool is_one_tensors = op.params[0].kind == ops::ParamKind::tensor;
    const bool writes = op.info.name.back() == '_' || inplace_position(op) < op.params.size();
    if (!is_one_tensors || !writes) continue;
    names.emplace_back(op.info.name);
  }
  return names;
}

/// Arguments behind the input [2, 3], where those that fit any op do not.
std::map<std::string, Sample> particular_arguments() {
  const TensorOptions integers{DType::int64, Device::cuda(0)};
  const Tensor index = zeros({2, 3}, integers);
  const Tensor source = ones({2, 3}, {DType::float32, Device::cuda(0)});
  const Tensor mask = ones({2, 3}, {DType::boolean, Device::cuda(0)});
  return {{"scatter_", {std::int64_t{0}, index, source}},
          {"scatter_add_", {std::int64_t{0}, index, source}},
          {"index_add_", {std::int64_t{0}, zeros({2}, integers), source, 1.0}},
          {"index_fill_", {std::int64_t{0}, zeros({1}, integers), 1.0}},
          {"index_copy_", {std::int64_t{0}, zeros({2}, integers), source}},
          {"masked_scatter_", {mask, source}},
          {"index_put_", {std::vector<Tensor>{zeros({2}, integers)}, source}},
          {"scatter_reduce_", {std::int64_t{0}, index, source, std::string("sum")}},
          {"logical_and_", {source}},
          {"logical_or_", {source}},
          {"logical_xor_", {source}},
          {"masked_fill_", {mask, 1.0}}};
}

class WritingOp : public testing::TestWithParam<std::string> {
 protected:
  /// The op's arguments with `input` as the first.
  Sample arguments(const Tensor& input) const {
    const std::map<std::string, Sample> particular = particular_arguments();
    Sample all = good_arguments(op_);
    if (const auto found = particular.find(GetParam()); found != particular.end()) {
      all.assign(1, ops::Value());
      all.insert(all.end(), found->second.begin(), found->second.end());
    }
    all[0] = input;
    if (inplace_position(op_) < all.size()) all[inplace_position(op_)] = true;
    return all;
  }

  static Tensor leaf() {
    const Tensor tensor = rand({2, 3}, {DType::float32, Device::cuda(0)});
    tensor.set_requires_grad(true);
    return tensor;
  }

  const ops::OpDef& op_ = *ops::find_op(GetParam());
  TestMachine machine_{{.values = ValueMode::keeps_values}};
};

TEST_P(WritingOp, LeavesALeafAsItIs) {
  const Tensor tensor = leaf();
  const std::vector<double> before = to_doubles(tensor);
  EXPECT_THAT(
      [&] { call_op(op_, arguments(tensor)); },
      ThrowsMessage<std::invalid_argument>(HasSubstr("a leaf Variable that requires grad")));
  EXPECT_EQ(to_doubles(tensor), before);
  EXPECT_TRUE(tensor.is_leaf());
}

TEST_P(WritingOp, LeavesAPieceOfAChunkAsItIs) {
  const Tensor whole = leaf();
  const std::vector<double> before = to_doubles(whole);
  // The only piece: of the size that the other arguments have.
  const Tensor piece = ops::chunk(whole, 1, 0).front();
  EXPECT_THROW(call_op(op_, arguments(piece)), std::invalid_argument);
  EXPECT_EQ(to_doubles(whole), before);
}

INSTANTIATE_TEST_SUITE_P(AllOps, WritingOp, testing::ValuesIn(writing_ops()),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace ohm::test
