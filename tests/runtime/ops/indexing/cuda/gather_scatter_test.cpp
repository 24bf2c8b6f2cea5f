// Ops that move elements, look them up and fold them, on a real card: what they compute on the
// host, of every layout that their kernels tell apart, without asking the host for values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/engine.h"
#include "runtime/kernels/cuda/kernel_module.h"
#include "runtime/ops/op_list.h"
#include "runtime/tensor/context.h"
#include "tests/support/counting_machine.h"
#include "tests/support/op_samples.h"

namespace ohm::test {
namespace {

using ops::Value;

Tensor normal(const Shape& shape, DType dtype = DType::float32) {
  return cast(randn(shape, {DType::float32, Device::cpu()}), dtype);
}
Tensor whole_numbers(const Shape& shape, std::int64_t below) {
  return randint(0, below, shape, {DType::int64, Device::cpu()});
}
/// The last two dimensions the other way round.
Tensor turned(const Tensor& tensor) {
  Shape sizes = tensor.shape();
  Shape strides = tensor.strides();
  const int last = tensor.dims() - 1;
  std::swap(sizes[last], sizes[last - 1]);
  std::swap(strides[last], strides[last - 1]);
  return make_view(tensor, sizes, strides, tensor.impl()->offset);
}

class CudaGatherScatter : public testing::Test {
 protected:
  void SetUp() override { Context::current().seed(3); }

  /// Results and gradients of an op; some are undefined.
  static std::vector<Tensor> computed(const char* op, const Sample& sample) {
    const ops::OpDef& definition = *ops::find_op(op);
    require_gradients(definition, sample);
    std::vector<Tensor> found;
    for (const Tensor& result : tensors_in(call_op(definition, sample))) {
      found.push_back(result);
      if (!result.requires_grad()) continue;
      const Tensor weights = arange(1.0, 0.25, result.numel(), options_of(result));
      backward({result},
               {make_view(weights, result.shape(), contiguous_strides(result.shape()), 0)},
               GraphRetention::retain);
    }
    for (const std::size_t position : differentiable(definition, sample)) {
      for (const Tensor& leaf : tensors_in(sample[position])) found.push_back(leaf.grad());
    }
    return found;
  }

  /// New leaves of the same layouts.
  static Sample sent(const Sample& sample, Device device) {
    const auto send = [device](const Tensor& tensor) {
      const Tensor there = transfer(storage_of(tensor), device);
      return make_view(there, tensor.shape(), tensor.strides(), tensor.impl()->offset);
    };
    Sample result = sample;
    for (Value& value : result) {
      if (Tensor* tensor = std::get_if<Tensor>(&value)) *tensor = send(*tensor);
      if (auto* list = std::get_if<std::vector<Tensor>>(&value)) {
        for (Tensor& tensor : *list) tensor = send(tensor);
      }
    }
    return result;
  }

  void expect_same(const char* op, const Sample& sample, double tolerance = 0) {
    SCOPED_TRACE(op);
    const std::vector<Tensor> found = computed(op, sent(sample, Device::cuda(0)));
    EXPECT_EQ(machine_.moved(), "");
    const std::vector<Tensor> expected = computed(op, sent(sample, Device::cpu()));
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      ASSERT_EQ(found[i].defined(), expected[i].defined()) << "tensor " << i;
      if (found[i].defined()) expect_close(found[i], expected[i], tolerance);
    }
    machine_.forget_moved();
  }

  static void expect_close(const Tensor& found, const Tensor& expected, double tolerance) {
    const std::vector<double> all = to_doubles(found);
    const std::vector<double> wanted = to_doubles(expected);
    ASSERT_EQ(all.size(), wanted.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool is_same = all[i] == wanted[i] || (std::isnan(all[i]) && std::isnan(wanted[i]));
      ASSERT_TRUE(is_same || std::abs(all[i] - wanted[i]) <= tolerance * (1 + std::abs(wanted[i])))
          << "element " << i << ": " << all[i] << ", not " << wanted[i];
    }
  }

  /// All elements of the storage, as one line.
  static Tensor storage_of(const Tensor& tensor) {
    const auto count =
        static_cast<std::int64_t>(tensor.storage().bytes() / item_bytes(tensor.dtype()));
    return make_view(tensor, {count}, {1}, 0);
  }

  CountingMachine machine_;
};

TEST_F(CudaGatherScatter, ArrangeAnyLayoutAndDType) {
  for (const DType dtype : {DType::float32, DType::float16, DType::int32, DType::boolean}) {
    const Tensor cube = normal({3, 5, 7}, dtype);
    for (const Tensor& input : {cube, turned(cube)}) {
      expect_same("flip", {input, Shape{0, 2}});
      expect_same("roll", {input, Shape{-9, 4}, Shape{1, 2}});
      expect_same("roll", {input, Shape{5}});
      expect_same("triu", {input, std::int64_t{-2}});
      expect_same("tril", {input, std::int64_t{3}});
      expect_same("repeat", {input, Shape{2, 1, 3, 2}});
      expect_same("pad", {input, Shape{-1, 2, 3, -2}, std::string("constant"), 1.5});
    }
  }
}

TEST_F(CudaGatherScatter, AddUpAlongLongAndShortLines) {
  expect_same("cumsum", {normal({3, 1000}), std::int64_t{1}}, 1e-5);
  expect_same("cumsum", {normal({70, 40}), std::int64_t{0}}, 1e-5);
  expect_same("cumsum", {turned(normal({3, 5, 7})), std::int64_t{1}}, 1e-5);
  expect_same("cumsum", {whole_numbers({2000}, 50), std::int64_t{0}});
}

TEST_F(CudaGatherScatter, LookUpAndWriteWhereAnIndexSays) {
  const Tensor matrix = normal({40, 30});
  for (const Tensor& input : {matrix, turned(normal({30, 40}))}) {
    const Tensor columns = whole_numbers({40, 50}, 30);
    const Tensor rows = whole_numbers({90}, 40);
    expect_same("gather", {input, std::int64_t{1}, columns});
    expect_same("index_select", {input, std::int64_t{0}, rows});
    expect_same("scatter_add", {input, std::int64_t{1}, columns, normal({40, 50})}, 1e-5);
    expect_same("index_add", {input, std::int64_t{0}, rows, normal({90, 30}), 0.5}, 1e-5);
    expect_same("index", {input, std::vector<Tensor>{rows}}, 1e-5);
    expect_same("index",
                {input, std::vector<Tensor>{whole_numbers({4, 1}, 40), whole_numbers({1, 6}, 30)}},
                1e-5);
  }
  // Few lines with an owner for each place, and many that are a thread's each.
  expect_same("scatter_add",
              {normal({500}), std::int64_t{0}, whole_numbers({3000}, 500), normal({3000})}, 1e-5);
  expect_same("scatter_add",
              {normal({2, 1500}), std::int64_t{0}, whole_numbers({9, 1500}, 2), normal({9, 1500})},
              1e-5);
}

TEST_F(CudaGatherScatter, CountFromTheEndInSubscriptsAlone) {
  const Tensor places = from_values({-1, 0, -3}, {3}, {DType::int64, Device::cpu()});
  expect_same("index", {normal({3, 2}), std::vector<Tensor>{places}});
  const Tensor on_cuda = transfer(places, Device::cuda(0));
  const Tensor input = transfer(normal({3, 2}), Device::cuda(0));
  const auto selected =
      tensors_in(call_op(*ops::find_op("index_select"), {input, std::int64_t{0}, on_cuda}));
  EXPECT_THROW(to_doubles(selected.front()), std::invalid_argument);
}

TEST_F(CudaGatherScatter, RefuseAPlaceThatIsNone) {
  const auto message_of = [](const char* op, const Sample& sample) {
    try {
      to_doubles(tensors_in(call_op(*ops::find_op(op), sample)).front());
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const Tensor input = transfer(normal({4, 3}), Device::cuda(0));
  const Tensor places =
      transfer(from_values({1, 4}, {2}, {DType::int64, Device::cpu()}), Device::cuda(0));
  const std::string expected = "index 4 is out of bounds for a size of 4";
  EXPECT_EQ(message_of("index_select", {input, std::int64_t{0}, places}),
            "[index_select] " + expected);
  EXPECT_EQ(message_of("index", {input, std::vector<Tensor>{places}}), "[index] " + expected);
  EXPECT_EQ(message_of("embedding", {places, input}), "[embedding] " + expected);
  EXPECT_EQ(message_of("nll_loss", {transfer(normal({2, 4}), Device::cuda(0)), places}),
            "[nll_loss] target 4 is out of bounds: there are 4 classes");
}

// Few rows for many indices, and many rows for few; one of them is left out.
TEST_F(CudaGatherScatter, AddUpTheRowsOfEqualIndices) {
  for (const auto& [count, rows] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {1, 4}, {7, 3}, {300, 5}, {5000, 7}, {5000, 4000}}) {
    expect_same("embedding", {whole_numbers({count}, rows), normal({rows, 3})});
    expect_same("embedding",
                {whole_numbers({count}, rows), normal({rows, 3}, DType::float16), std::int64_t{2}});
  }
}

TEST_F(CudaGatherScatter, FoldWithZerosAndWhatIsNoNumber) {
  Tensor input = normal({6, 400});
  input.data<float>()[7] = 0;
  input.data<float>()[907] = input.data<float>()[910] = 0;
  input.data<float>()[2000] = std::numeric_limits<float>::quiet_NaN();
  expect_same("prod", {input, std::int64_t{1}, false}, 1e-5);
  expect_same("prod", {normal({3, 2000}), std::int64_t{0}, true}, 1e-5);
  for (const char* op : {"amax", "amin"}) {
    expect_same(op, {input, Shape{1}, false}, 1e-5);
    expect_same(op, {normal({3, 2000}), Shape{0}, true}, 1e-5);
  }
  expect_same("var", {normal({5, 700}), Shape{1}, true, false, Value()}, 1e-5);
  expect_same("std", {normal({5, 7, 30}), Shape{0, 2}, Value(), true, 0.0}, 1e-5);
  const double infinity = std::numeric_limits<double>::infinity();
  expect_same("norm", {normal({5, 700}), infinity, Shape{1}, false}, 1e-5);
  for (const double value : {0.0, 1.0, std::nan("")}) {
    const Tensor flags = full({300}, value, {DType::float32, Device::cpu()});
    flags.data<float>()[299] = 1;
    expect_same("any", {flags});
    expect_same("all", {flags});
  }
}

TEST_F(CudaGatherScatter, NormaliseGroupsAndBatches) {
  const Tensor images = normal({3, 6, 5, 7});
  expect_same("group_norm", {images, std::int64_t{2}, normal({6}), normal({6})}, 1e-5);
  expect_same("batch_norm", {normal({70, 6}), Value(), Value(), normal({6}), normal({6}), true},
              1e-5);
  expect_same("batch_norm", {turned(images), Value(), Value(), Value(), Value(), true}, 1e-5);
}

TEST_F(CudaGatherScatter, StepCellsWhoseGatesAreParts) {
  for (const auto& [op, gates] : {std::pair("_thnn_fused_lstm_cell", std::int64_t{4}),
                                  std::pair("_thnn_fused_gru_cell", std::int64_t{3})}) {
    const Shape wide{6, gates * 9};
    const Tensor steps = normal({6, 2, gates * 9});
    const Tensor second = make_view(steps, wide, {2 * gates * 9, 1}, gates * 9);
    const Tensor state = turned(normal({9, 6}));
    expect_same(op, {second, normal(wide), state, normal({gates * 9}), normal({gates * 9})}, 1e-5);
    expect_same(op, {turned(normal({gates * 9, 6})), second, state, Value(), Value()}, 1e-5);
  }
}

// The layout of a state says nothing of that of the next one.
TEST_F(CudaGatherScatter, StepCellsFromATransposedState) {
  for (const std::pair<const char*, std::int64_t>& cell :
       {std::pair("_thnn_fused_lstm_cell", std::int64_t{4}),
        std::pair("_thnn_fused_gru_cell", std::int64_t{3})}) {
    const std::int64_t gates = cell.second;
    const Tensor state = turned(normal({9, 6}));
    const Tensor dense = from_values(to_doubles(state), state.shape(), options_of(state));
    const Tensor input = normal({6, gates * 9});
    const Tensor hidden = normal({6, gates * 9});
    const auto stepped = [&](const Tensor& from) {
      return computed(cell.first, sent({input, hidden, from, Value(), Value()}, Device::cpu()));
    };
    const std::vector<Tensor> found = stepped(state);
    const std::vector<Tensor> expected = stepped(dense);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) expect_close(found[i], expected[i], 0);
  }
}

TEST_F(CudaGatherScatter, ResizeImages) {
  const Tensor images = normal({2, 3, 9, 7});
  for (const bool aligned : {false, true}) {
    expect_same("interpolate", {images, Shape{5, 20}, Value(), std::string("bilinear"), aligned},
                1e-5);
    expect_same("interpolate", {images, Shape{1, 1}, Value(), std::string("bilinear"), aligned},
                1e-5);
  }
  expect_same("interpolate", {images, Value(), std::vector<double>{1.7, 0.4}}, 1e-5);
}

}  // namespace
}  // namespace ohm::test
