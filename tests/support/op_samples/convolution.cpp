// Sample inputs of convolutions and pooling.
#include <string>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "tests/support/op_samples/families.h"

namespace ohm::test {

using ops::Value;

namespace {

std::vector<Sample> images_to_take_maxima_of() {
  const TensorOptions options{DType::float64, Device::cpu()};
  return {
      {randn({2, 2, 5, 4}, options), Shape{2}},
      {randn({2, 5, 7}, options), Shape{3, 4}},
  };
}

}  // namespace

std::vector<OpSamples> samples_of_adaptive_max_pool() {
  return {
      {"adaptive_max_pool2d", images_to_take_maxima_of},
      {"adaptive_max_pool1d",
       [] {
         return std::vector<Sample>{{randn({2, 3, 8}, {DType::float64, Device::cpu()}), Shape{3}}};
       }},
  };
}

namespace {

std::vector<Sample> images_to_average() {
  const TensorOptions options{DType::float64, Device::cpu()};
  const Value missing;
  return {
      {randn({2, 2, 4, 6}, options), Shape{2}},
      {randn({1, 2, 7, 6}, options), Shape{3, 2}, Shape{2}, Shape{1}, true, false},
      {randn({2, 5, 5}, options), Shape{3}, missing, Shape{1}, true},
      {randn({2, 5, 5}, options), Shape{3}, missing, Shape{1}, false, true, std::int64_t{4}},
  };
}

std::vector<Sample> images_to_split() {
  const TensorOptions options{DType::float64, Device::cpu()};
  return {
      {randn({2, 2, 5, 4}, options), Shape{1}},
      {randn({2, 2, 5, 4}, options), Shape{3, 2}},
      {randn({2, 2, 3}, options), Shape{4}},
  };
}

}  // namespace

std::vector<OpSamples> samples_of_average_pool() {
  return {
      {"avg_pool2d", images_to_average},
      {"adaptive_avg_pool2d", images_to_split},
  };
}

namespace {

Tensor random_volumes(const Shape& shape) { return randn(shape, {DType::float64, Device::cpu()}); }

std::vector<Sample> volumes_to_average() {
  const Value missing;
  return {
      {random_volumes({2, 2, 4, 3, 5}), Shape{2}},
      {random_volumes({1, 2, 5, 4, 4}), Shape{3, 2, 2}, Shape{2}, Shape{1}, true, false},
      {random_volumes({2, 3, 3, 3}), Shape{2}, missing, Shape{1}, false, true, std::int64_t{4}},
  };
}

std::vector<Sample> volumes_to_split() {
  return {
      {random_volumes({2, 2, 3, 4, 2}), Shape{1}},
      {random_volumes({2, 1, 3, 5, 4}), Shape{2, 3, 2}},
      {random_volumes({2, 2, 3, 2}), Shape{4}},
  };
}

}  // namespace

std::vector<OpSamples> samples_of_average_pool_volumes() {
  return {
      {"avg_pool3d", volumes_to_average},
      {"adaptive_avg_pool3d", volumes_to_split},
  };
}

namespace {

std::vector<Sample> convolutions() {
  const TensorOptions options{DType::float64, Device::cpu()};
  const auto tensor = [&](const Shape& shape) { return randn(shape, options); };
  const Value groups = std::int64_t{2};
  return {
      {tensor({2, 3, 5, 4}), tensor({2, 3, 3, 2}), tensor({2})},
      {tensor({1, 2, 6, 7}), tensor({3, 2, 3, 3}), tensor({3}), Shape{2, 3}, Shape{1, 2}},
      {tensor({2, 4, 5, 6}), tensor({6, 2, 2, 3}), Value(), Shape{1}, Shape{1}, Shape{2, 1},
       groups},
      {tensor({2, 3, 3, 4}), tensor({2, 3, 1, 1}), tensor({2})},
      {tensor({2, 5, 5}), tensor({2, 2, 2, 2}), tensor({2}), Shape{2}},
      {tensor({1, 2, 4, 5}), tensor({2, 2, 2, 3}), tensor({2}), Shape{1}, std::string("same")},
  };
}

std::vector<Sample> convolutions_of_volumes() {
  const TensorOptions options{DType::float64, Device::cpu()};
  const auto tensor = [&](const Shape& shape) { return randn(shape, options); };
  const Value groups = std::int64_t{2};
  return {
      {tensor({2, 2, 3, 4, 3}), tensor({2, 2, 2, 3, 2}), tensor({2})},
      {tensor({1, 2, 4, 5, 3}), tensor({2, 1, 3, 2, 1}), tensor({2}), Shape{2, 1, 2},
       Shape{1, 0, 1}, Shape{1, 2, 1}, groups},
      {tensor({2, 3, 3, 3}), tensor({2, 2, 2, 2, 2}), Value(), Shape{1}, std::string("same")},
  };
}

}  // namespace

std::vector<OpSamples> samples_of_conv() {
  return {
      {"conv2d", convolutions},
      {"conv3d", convolutions_of_volumes},
  };
}

namespace {

std::vector<Sample> transposed_convolutions() {
  const TensorOptions options{DType::float64, Device::cpu()};
  const auto tensor = [&](const Shape& shape) { return randn(shape, options); };
  const auto groups = [](std::int64_t count) { return Value(count); };
  return {
      {tensor({2, 3, 4, 3}), tensor({3, 2, 3, 2}), tensor({2}), Shape{1}, Shape{0}, Shape{0},
       groups(1), Shape{1}},
      {tensor({1, 4, 3, 4}), tensor({4, 3, 3, 3}), tensor({6}), Shape{2, 3}, Shape{1, 2},
       Shape{1, 2}, groups(2), Shape{1}},
      {tensor({2, 3, 4}), tensor({2, 2, 2, 2}), Value(), Shape{2}, Shape{1}, Shape{0}, groups(1),
       Shape{2, 1}},
  };
}

std::vector<Sample> transposed_volumes() {
  const TensorOptions options{DType::float64, Device::cpu()};
  const auto tensor = [&](const Shape& shape) { return randn(shape, options); };
  const auto groups = [](std::int64_t count) { return Value(count); };
  return {
      {tensor({2, 2, 2, 3, 2}), tensor({2, 2, 2, 1, 3}), tensor({2}), Shape{1}, Shape{0}, Shape{0},
       groups(1), Shape{1}},
      {tensor({1, 4, 2, 2, 3}), tensor({4, 1, 3, 2, 2}), tensor({2}), Shape{2, 1, 2},
       Shape{1, 0, 1}, Shape{1, 0, 1}, groups(2), Shape{1, 2, 1}},
      {tensor({2, 2, 2, 2}), tensor({2, 1, 2, 2, 2}), Value(), Shape{2}, Shape{1}, Shape{0},
       groups(1), Shape{1}},
  };
}

}  // namespace

std::vector<OpSamples> samples_of_conv_transpose() {
  return {
      {"conv_transpose2d", transposed_convolutions},
      {"conv_transpose3d", transposed_volumes},
  };
}

namespace {

std::vector<Sample> images_to_maximise() {
  const TensorOptions options{DType::float64, Device::cpu()};
  const Value missing;
  return {
      {randn({2, 2, 4, 6}, options), Shape{2}},
      {randn({1, 2, 7, 6}, options), Shape{3, 2}, Shape{2}, Shape{1}, Shape{1, 2}, true},
      {randn({2, 5, 5}, options), Shape{3}, missing, Shape{1}},
  };
}

}  // namespace

std::vector<OpSamples> samples_of_max_pool() {
  return {
      {"max_pool2d", images_to_maximise},
  };
}

namespace {

std::vector<Sample> volumes_to_maximise() {
  const Value missing;
  const auto volumes = [](const Shape& shape) {
    return randn(shape, {DType::float64, Device::cpu()});
  };
  return {
      {volumes({2, 2, 4, 3, 5}), Shape{2}},
      {volumes({1, 2, 5, 4, 6}), Shape{3, 2, 1}, Shape{2}, Shape{1, 0, 0}, Shape{1, 2, 1}, true},
      {volumes({2, 3, 3, 3}), Shape{3}, missing, Shape{1}},
  };
}

}  // namespace

std::vector<OpSamples> samples_of_max_pool_volumes() {
  return {
      {"max_pool3d", volumes_to_maximise},
  };
}

namespace {

Tensor lines() { return randn({2, 3, 8}, {DType::float64, Device::cpu()}); }

}  // namespace

std::vector<OpSamples> samples_of_sequence() {
  return {
      {"conv1d",
       [] {
         const TensorOptions options{DType::float64, Device::cpu()};
         return std::vector<Sample>{{lines(), randn({4, 3, 3}, options), randn({4}, options),
                                     Shape{2}, Shape{1}, Shape{1}, std::int64_t{1}},
                                    {lines(), randn({4, 3, 2}, options), Value(), Shape{1},
                                     std::string("same"), Shape{3}}};
       }},
      {"conv_transpose1d",
       [] {
         const TensorOptions options{DType::float64, Device::cpu()};
         return std::vector<Sample>{{lines(), randn({3, 2, 3}, options), randn({2}, options),
                                     Shape{2}, Shape{1}, Shape{1}}};
       }},
      {"max_pool1d",
       [] {
         return std::vector<Sample>{{lines(), Shape{2}}, {lines(), Shape{3}, Shape{2}, Shape{1}}};
       }},
      {"avg_pool1d",
       [] {
         return std::vector<Sample>{{lines(), Shape{2}},
                                    {lines(), Shape{3}, Shape{2}, Shape{1}, false, false}};
       }},
      {"adaptive_avg_pool1d",
       [] {
         return std::vector<Sample>{{lines(), Shape{3}}, {lines(), Shape{1}}};
       }},
  };
}

}  // namespace ohm::test
