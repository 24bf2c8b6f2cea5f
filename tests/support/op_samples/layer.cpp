// Sample inputs of normalizations, dropout and resizing.
#include <string>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "tests/support/op_samples/families.h"

namespace ohm::test {

using ops::Value;

namespace {

std::vector<Sample> channels() {
  const TensorOptions options{DType::float64, Device::cpu()};
  const Tensor mean = from_values({0.3, -0.7, 0.1}, {3}, options);
  const Tensor variance = from_values({0.5, 2.0, 1.3}, {3}, options);
  const Value missing;
  const auto weight = [&] { return rand({3}, options); };
  return {
      {randn({4, 3}, options), missing, missing, weight(), weight(), true},
      {randn({2, 3, 2, 2}, options), missing, missing, weight(), weight(), true},
      {randn({2, 3, 2}, options), missing, missing, missing, missing, true},
      {randn({2, 3, 2, 2}, options), mean, variance, weight(), weight(), false},
      {randn({4, 3}, options), mean, variance, weight(), weight(), false},
  };
}

}  // namespace

std::vector<OpSamples> samples_of_batch_norm() {
  return {
      {"batch_norm", channels},
  };
}

namespace {

Tensor matrix() { return randn({3, 4}, {DType::float64, Device::cpu()}); }

Tensor images() { return randn({2, 4, 2, 3}, {DType::float64, Device::cpu()}); }

std::vector<Sample> normalized_images() {
  const TensorOptions options{DType::float64, Device::cpu()};
  const Tensor mean = from_values({0.3, -0.7, 0.1, 0.4}, {4}, options);
  const Tensor variance = from_values({0.5, 2.0, 1.3, 0.9}, {4}, options);
  const Value none;
  const auto weight = [&] { return rand({4}, options); };
  return {{images()},
          {images(), none, none, weight(), weight()},
          {images(), mean, variance, weight(), weight(), false}};
}

std::vector<Sample> one_matrix() { return {{matrix()}}; }

std::vector<Sample> two_matrices() { return {{matrix(), matrix()}}; }

std::vector<Sample> list_of_matrices() { return {{std::vector<Tensor>{matrix(), matrix()}}}; }

}  // namespace

std::vector<OpSamples> samples_of_composed() {
  return {
      {"normalize",
       [] {
         return std::vector<Sample>{{matrix()}, {matrix(), 2.0, std::int64_t{0}, 1e-12}};
       }},
      {"cosine_similarity", two_matrices},
      {"pairwise_distance", two_matrices},
      {"instance_norm", normalized_images},
      {"outer",
       [] {
         const TensorOptions options{DType::float64, Device::cpu()};
         return std::vector<Sample>{{randn({3}, options), randn({2}, options)}};
       }},
      {"pixel_shuffle",
       [] {
         return std::vector<Sample>{{images(), std::int64_t{2}}};
       }},
      {"softsign", one_matrix},
      {"tanhshrink", one_matrix},
      {"softmin", one_matrix},
      {"vstack", list_of_matrices},
      {"hstack", list_of_matrices},
  };
}

namespace {

std::vector<Sample> lines_with_probability() {
  return {{randn({2, 3, 4}, {DType::float64, Device::cpu()}), 0.4, true}};
}

std::vector<Sample> with_probability() {
  const TensorOptions options{DType::float64, Device::cpu()};
  return {
      {randn({3, 4}, options), 0.4, true},
      {randn({3, 4}, options), 1.0, true},
      {randn({3, 4}, options), 0.4, false},
  };
}

std::vector<Sample> channels_with_probability() {
  return {{randn({2, 3, 2, 2}, {DType::float64, Device::cpu()}), 0.4, true}};
}

std::vector<Sample> volumes_with_probability() {
  return {{randn({2, 3, 1, 2, 2}, {DType::float64, Device::cpu()}), 0.4, true}};
}

}  // namespace

std::vector<OpSamples> samples_of_dropout() {
  return {
      {"dropout", with_probability},           {"dropout1d", lines_with_probability},
      {"alpha_dropout", with_probability},     {"dropout2d", channels_with_probability},
      {"dropout3d", volumes_with_probability},
  };
}

namespace {

std::vector<Sample> images_to_sample() {
  const TensorOptions options{DType::float64, Device::cpu()};
  const auto images = [&] { return randn({1, 2, 4, 5}, options); };
  // Between pixels whether corners are aligned or not.
  const auto grid = [&] {
    return from_values({-0.83, 0.41, 0.13, -0.27, 0.67, 1.57, -1.31, 0.11}, {1, 2, 2, 2}, options);
  };
  std::vector<Sample> samples;
  for (const char* mode : {"bilinear", "nearest", "bicubic"}) {
    for (const char* outside : {"zeros", "border", "reflection"}) {
      samples.push_back({images(), grid(), std::string(mode), std::string(outside), false});
    }
  }
  samples.push_back({images(), grid(), std::string("bilinear"), std::string("zeros"), true});
  samples.push_back({images(), grid(), std::string("bicubic"), std::string("reflection"), true});
  return samples;
}

}  // namespace

std::vector<OpSamples> samples_of_grid_sample() {
  return {
      {"affine_grid",
       [] {
         const TensorOptions options{DType::float64, Device::cpu()};
         return std::vector<Sample>{{randn({2, 2, 3}, options), Shape{2, 1, 3, 2}},
                                    {randn({1, 2, 3}, options), Shape{1, 1, 2, 4}, true}};
       }},
      {"grid_sample", images_to_sample},
  };
}

namespace {

std::vector<Sample> groups_to_normalise() {
  const TensorOptions options{DType::float64, Device::cpu()};
  const Value two = std::int64_t{2};
  return {
      {randn({2, 4, 3}, options), two, rand({4}, options), rand({4}, options)},
      {randn({2, 4, 2, 2}, options), std::int64_t{1}, rand({4}, options), rand({4}, options)},
      {randn({3, 4}, options), two},
  };
}

}  // namespace

std::vector<OpSamples> samples_of_group_norm() {
  return {
      {"group_norm", groups_to_normalise},
  };
}

namespace {

std::vector<Sample> images_to_shuffle() {
  return {{randn({1, 4, 2, 4}, {DType::float64, Device::cpu()}), std::int64_t{2}}};
}

}  // namespace

std::vector<OpSamples> samples_of_image_composition() {
  return {
      {"pixel_unshuffle", images_to_shuffle},
      {"channel_shuffle", images_to_shuffle},
      {"local_response_norm",
       [] {
         const TensorOptions options{DType::float64, Device::cpu()};
         return std::vector<Sample>{{randn({2, 4, 2, 3}, options), std::int64_t{3}, 0.5},
                                    {randn({2, 3, 4}, options), std::int64_t{2}, 0.5, 1.5, 2.0}};
       }},
  };
}

namespace {

std::vector<Sample> images_to_resize() {
  const Tensor image = randn({1, 2, 3, 4}, {DType::float64, Device::cpu()});
  const Tensor line = randn({2, 2, 4}, {DType::float64, Device::cpu()});
  const std::vector<double> twice = {2.0};
  return {{image, Value(), twice},
          {image, Shape{5, 3}, Value(), std::string("bilinear"), false},
          {image, Shape{5, 3}, Value(), std::string("bilinear"), true},
          {image, Shape{7, 3}, Value(), std::string("bicubic"), false},
          {image, Shape{5, 2}, Value(), std::string("bicubic"), true},
          {image, Shape{2, 3}, Value(), std::string("area")},
          {line, Shape{7}},
          {line, Value(), twice, std::string("linear"), false},
          {line, Shape{3}, Value(), std::string("linear"), true}};
}

}  // namespace

std::vector<OpSamples> samples_of_interpolate() {
  return {
      {"interpolate", images_to_resize},
  };
}

namespace {

std::vector<Sample> rows_to_normalise() {
  const TensorOptions options{DType::float64, Device::cpu()};
  return {
      {randn({3, 4}, options), Shape{4}, rand({4}, options), rand({4}, options)},
      {randn({2, 3, 2}, options), Shape{3, 2}, rand({3, 2}, options), rand({3, 2}, options)},
      {randn({3, 4}, options), Shape{4}},
  };
}

}  // namespace

std::vector<OpSamples> samples_of_layer_norm() {
  return {
      {"layer_norm", rows_to_normalise},
  };
}

std::vector<OpSamples> samples_of_rms_norm() {
  const auto matrix = [] { return randn({3, 4}, {DType::float64, Device::cpu()}); };
  return {
      {"rms_norm",
       [matrix] {
         const Tensor weight = rand({4}, {DType::float64, Device::cpu()});
         return std::vector<Sample>{{matrix(), Shape{4}, weight, 1e-5},
                                    {matrix(), Shape{3, 4}, Value(), 1e-5}};
       }},
  };
}

namespace {

std::vector<Sample> weight_norm_samples() {
  const TensorOptions options{DType::float64, Device::cpu()};
  return {{randn({3, 4}, options), randn({3, 1}, options), std::int64_t{0}},
          {randn({2, 3, 2}, options), randn({1, 1, 2}, options), std::int64_t{2}},
          {randn({2, 3, 2}, options), randn({1, 3, 1}, options), std::int64_t{1}},
          {randn({3, 4}, options), randn({}, options), std::int64_t{-1}}};
}

std::vector<Sample> norm_except_dim_samples() {
  const TensorOptions options{DType::float64, Device::cpu()};
  return {{randn({3, 4}, options), std::int64_t{2}, std::int64_t{0}},
          {randn({2, 3, 2}, options), std::int64_t{2}, std::int64_t{2}},
          {randn({2, 3, 2}, options), std::int64_t{2}, std::int64_t{1}},
          {randn({3, 4}, options), std::int64_t{2}, std::int64_t{-1}}};
}

}  // namespace

std::vector<OpSamples> samples_of_weight_norm() {
  return {
      {"norm_except_dim", norm_except_dim_samples},
      {"_weight_norm", weight_norm_samples},
  };
}

}  // namespace ohm::test
