#include "tests/support/bad_arguments.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "runtime/arithmetic/factories.h"
#include "runtime/ops/op_list.h"
#include "runtime/tensor/context.h"
#include "tests/support/op_samples.h"

namespace ohm::test {
namespace {

using ops::ParamKind;
using ops::Value;

constexpr std::int64_t kHuge = std::int64_t{1} << 62;
const Device kGpu = Device::cuda(0);

Value plain_value(const ops::Param& param) {
  if (param.is_optional) return param.fallback;
  switch (param.kind) {
    case ParamKind::tensor:
    case ParamKind::tensor_or_number:
      return ones({2, 3}, {DType::float32, kGpu});
    case ParamKind::tensor_list:
      return std::vector<Tensor>(2, ones({2, 3}, {DType::float32, kGpu}));
    case ParamKind::number:
      return 1.0;
    case ParamKind::integer:
      return std::int64_t{0};
    case ParamKind::boolean:
      return false;
    case ParamKind::size_list:
    case ParamKind::sizes_or_word:
      return Shape{1};
    case ParamKind::number_list:
      return std::vector<double>{1.0};
    case ParamKind::string:
      return std::string("mean");
    case ParamKind::dtype:
      return DType::float32;
    case ParamKind::device:
      return kGpu;
  }
  return {};
}

// One element seen as so many: no memory is needed for a tensor of any size.
Tensor expanded(const Tensor& like, const Shape& shape) {
  const Tensor one = ones({1}, options_of(like));
  return make_view(one, shape, Shape(shape.dims(), 0), 0);
}

Tensor reversed_layout(const Tensor& tensor) {
  Shape sizes(tensor.dims(), 0);
  Shape strides(tensor.dims(), 0);
  for (int dim = 0; dim < tensor.dims(); ++dim) {
    sizes[dim] = tensor.shape()[tensor.dims() - 1 - dim];
    strides[dim] = tensor.strides()[tensor.dims() - 1 - dim];
  }
  return make_view(tensor, sizes, strides, tensor.impl()->offset);
}

std::vector<Shape> other_shapes(const Shape& shape) {
  std::vector<Shape> shapes = {
      {}, {0}, {1}, {7}, {2, 0, 3}, {0, 5, 1, 1}, {1, 1, 1, 1, 1, 1, 1, 1}};
  for (int dim = 0; dim < shape.dims(); ++dim) {
    for (const std::int64_t size : {std::int64_t{0}, shape[dim] + 1}) {
      shapes.push_back(shape);
      shapes.back()[dim] = size;
    }
    shapes.push_back(shape);
    shapes.back().erase(dim);
  }
  if (shape.dims() < kMaxDims) {
    shapes.push_back(shape);
    shapes.back().insert(0, 2);
  }
  return shapes;
}

std::vector<BadArgument> bad_tensors(const Tensor& good) {
  std::vector<BadArgument> bad;
  for (const Shape& shape : other_shapes(good.shape())) {
    bad.push_back({"of shape " + shape.str(), ones(shape, options_of(good))});
  }
  for (std::size_t i = 0; i < kDTypes.size(); ++i) {
    const auto dtype = static_cast<DType>(i);
    bad.push_back(
        {fmt::format("of {}", name_of(dtype)), ones(good.shape(), {dtype, good.device()})});
  }
  for (const Device device : {Device::cpu(), Device::cuda(1)}) {
    bad.push_back({"on " + device.str(), ones(good.shape(), {good.dtype(), device})});
  }
  bad.push_back({"with its dimensions reversed", reversed_layout(good)});
  bad.push_back({"of one element repeated", expanded(good, good.shape())});
  bad.push_back({"of indices far away", full(good.shape(), 1e15, {DType::int64, kGpu})});
  bad.push_back({"of negative indices", full(good.shape(), -7, {DType::int64, kGpu})});
  bad.push_back({"of NaNs", full(good.shape(), std::nan(""), options_of(good))});
  return bad;
}

// Size-only machines alone: with values, every element would have to be visited.
std::vector<BadArgument> huge_tensors(const Tensor& good) {
  std::vector<BadArgument> bad;
  for (const Shape& shape : {Shape{kHuge}, Shape{kHuge / 2, 2}, Shape{1, 1, kHuge - 1, 1},
                             Shape{std::int64_t{1} << 31, std::int64_t{1} << 30}}) {
    bad.push_back({"of shape " + shape.str(), expanded(good, shape)});
  }
  return bad;
}

template <class T>
std::vector<BadArgument> named(const std::vector<std::pair<const char*, T>>& values) {
  std::vector<BadArgument> bad;
  for (const auto& [what, value] : values) bad.push_back({what, Value(value)});
  return bad;
}

std::vector<BadArgument> bad_integers() {
  using Limits = std::numeric_limits<std::int64_t>;
  std::vector<BadArgument> bad;
  for (const std::int64_t value :
       {Limits::min(), Limits::min() + 1, -kHuge, std::int64_t{-100}, std::int64_t{-1},
        std::int64_t{0}, std::int64_t{1}, std::int64_t{100}, std::int64_t{1} << 32, kHuge,
        Limits::max()}) {
    bad.push_back({std::to_string(value), value});
  }
  return bad;
}

std::vector<BadArgument> bad_sizes(const Value& good) {
  std::vector<BadArgument> bad;
  std::vector<Shape> lists = {{},          {0},
                              {-1},        {-1, -1},
                              {kHuge},     {kHuge, 2},
                              {4, kHuge},  Shape(3, std::int64_t{1} << 31),
                              Shape(8, 1), Shape(8, kHuge)};
  if (const Shape* sizes = std::get_if<Shape>(&good)) {
    for (const std::int64_t value :
         {std::int64_t{-1}, std::int64_t{0}, kHuge, INT64_MIN, INT64_MAX}) {
      for (int i = 0; i < sizes->dims(); ++i) {
        lists.push_back(*sizes);
        lists.back()[i] = value;
      }
    }
  }
  for (const Shape& list : lists) bad.push_back({list.str(), list});
  return bad;
}

std::vector<BadArgument> bad_sizes_or_words(const Value& good) {
  std::vector<BadArgument> bad = bad_sizes(good);
  for (const char* word : {"", "nonsense", "same"}) {
    bad.push_back({fmt::format("\"{}\"", word), std::string(word)});
  }
  return bad;
}

const std::vector<std::pair<const char*, double>>& bad_numbers() {
  static const std::vector<std::pair<const char*, double>> numbers = {{"NaN", std::nan("")},
                                                                      {"infinity", HUGE_VAL},
                                                                      {"-infinity", -HUGE_VAL},
                                                                      {"-1", -1.0},
                                                                      {"0", 0.0},
                                                                      {"1e300", 1e300},
                                                                      {"-1e300", -1e300},
                                                                      {"0.3", 0.3}};
  return numbers;
}

std::vector<BadArgument> bad_lists(const Value& good) {
  std::vector<BadArgument> bad = {{"an empty list", std::vector<Tensor>{}}};
  const auto* tensors = std::get_if<std::vector<Tensor>>(&good);
  if (tensors == nullptr || tensors->empty()) return bad;
  for (BadArgument& element : bad_tensors(tensors->back())) {
    std::vector<Tensor> list = *tensors;
    list.back() = std::get<Tensor>(element.value);
    bad.push_back({"with a last one " + element.what, std::move(list)});
    bad.push_back(
        {"of one alone " + element.what, std::vector<Tensor>{std::get<Tensor>(element.value)}});
  }
  return bad;
}

std::vector<BadArgument> bad_values(ParamKind kind, const Value& good) {
  switch (kind) {
    case ParamKind::tensor:
    case ParamKind::tensor_or_number: {
      const Tensor* tensor = std::get_if<Tensor>(&good);
      const Tensor like = tensor != nullptr ? *tensor : ones({2, 3}, {DType::float32, kGpu});
      std::vector<BadArgument> bad = bad_tensors(like);
      if (!Context::current().keeps_values) {
        for (BadArgument& each : huge_tensors(like)) bad.push_back(std::move(each));
      }
      if (kind == ParamKind::tensor) return bad;
      for (BadArgument& each : named(bad_numbers())) bad.push_back(std::move(each));
      return bad;
    }
    case ParamKind::tensor_list:
      return bad_lists(good);
    case ParamKind::number:
      return named(bad_numbers());
    case ParamKind::integer:
      return bad_integers();
    case ParamKind::boolean:
      return {{"true", true}, {"false", false}};
    case ParamKind::size_list:
      return bad_sizes(good);
    case ParamKind::sizes_or_word:
      return bad_sizes_or_words(good);
    case ParamKind::number_list:
      return {{"no numbers", std::vector<double>{}},
              {"a NaN", std::vector<double>{std::nan("")}},
              {"huge numbers", std::vector<double>{1e300, -1e300}},
              {"zeros", std::vector<double>{0.0, 0.0}},
              {"three numbers", std::vector<double>{1.0, 2.0, 3.0}}};
    case ParamKind::string:
      return named<std::string>({{"an empty word", ""}, {"an unknown word", "nonsense"}});
    case ParamKind::dtype: {
      std::vector<BadArgument> bad;
      for (std::size_t i = 0; i < kDTypes.size(); ++i) {
        bad.push_back({std::string(name_of(static_cast<DType>(i))), static_cast<DType>(i)});
      }
      return bad;
    }
    case ParamKind::device:
      return named<Device>({{"a GPU that is not there", Device::cuda(99)},
                            {"another GPU", Device::cuda(1)},
                            {"the host", Device::cpu()}});
  }
  return {};
}

}  // namespace

Sample good_arguments(const ops::OpDef& op) {
  Sample arguments;
  // An in-place op takes what the form with a result takes.
  const bool is_in_place = op.info.name.back() == '_';
  const ops::OpDef* const sampled =
      is_in_place ? ops::find_op(op.info.name.substr(0, op.info.name.size() - 1)) : &op;
  if (sampled != nullptr && has_samples(*sampled)) {
    arguments = converted(samples_of(*sampled)[0], DType::float32, kGpu);
  }
  for (std::size_t i = arguments.size(); i < op.params.size(); ++i) {
    arguments.push_back(plain_value(op.params[i]));
  }
  return arguments;
}

std::vector<BadArgument> bad_arguments(const ops::Param& param, const ops::Value& good) {
  std::vector<BadArgument> bad = bad_values(param.kind, good);
  if (param.is_optional) bad.push_back({"not given", param.fallback});
  return bad;
}

}  // namespace ohm::test
