// Sample inputs of views, copies and joins.
#include <string>
#include <utility>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "tests/support/op_samples/families.h"
#include "tests/support/op_samples/sample_cube.h"

namespace ohm::test {

using ops::Value;

namespace {

std::vector<Tensor> lines_of(const std::vector<Shape>& shapes) {
  std::vector<Tensor> tensors;
  for (const Shape& shape : shapes) {
    tensors.push_back(randn(shape, {DType::float64, Device::cpu()}));
  }
  return tensors;
}

Tensor zeros_of(const Shape& shape) { return zeros(shape, {DType::int64, Device::cpu()}); }

}  // namespace

std::vector<OpSamples> samples_of_alias() {
  const auto one = std::int64_t{1};
  return {
      {"movedim",
       [] {
         return cube_and({Shape{0}, Shape{2}});
       }},
      {"swapaxes",
       [one] {
         return cube_and({one, std::int64_t{2}});
       }},
      {"unflatten",
       [] {
         return cube_and({std::int64_t{2}, Shape{2, -1}});
       }},
      {"expand_as",
       [] {
         return cube_and({zeros_of({5, 2, 3, 4})});
       }},
      {"view_as",
       [] {
         return cube_and({zeros_of({6, 4})});
       }},
      {"reshape_as",
       [] {
         return cube_and({zeros_of({4, 6})});
       }},
      {"ravel", [] { return cube_and({}); }},
      {"broadcast_to",
       [] {
         return cube_and({Shape{2, 2, 3, 4}});
       }},
      {"broadcast_tensors",
       [] {
         return std::vector<Sample>{{lines_of({{3, 1}, {1, 4}})}};
       }},
      {"meshgrid",
       [] {
         return std::vector<Sample>{{lines_of({{3}, {4}})},
                                    {lines_of({{3}, {4}, {2}}), std::string("xy")}};
       }},
      {"sum_to_size",
       [] {
         return std::vector<Sample>{cube_and({Shape{3, 1}})[0], cube_and({Shape{2, 1, 4}})[0]};
       }},
      {"tile",
       [] {
         return cube_and({Shape{2, 1}});
       }},
      {"repeat_interleave",
       [one] {
         return std::vector<Sample>{cube_and({std::int64_t{2}, one})[0],
                                    cube_and({std::int64_t{3}, Value()})[0]};
       }},
      {"clamp_min", [] { return cube_and({-0.1}); }},
      {"clamp_max", [] { return cube_and({0.1}); }},
  };
}

namespace {

std::vector<Sample> images_to_unfold() {
  const TensorOptions options{DType::float64, Device::cpu()};
  return {
      {randn({2, 2, 4, 5}, options), Shape{2}},
      {randn({2, 5, 6}, options), Shape{3, 2}, Shape{1, 2}, Shape{1, 0}, Shape{2}},
  };
}

std::vector<Sample> columns_to_fold() {
  const TensorOptions options{DType::float64, Device::cpu()};
  return {
      {randn({2, 8, 12}, options), Shape{4, 5}, Shape{2}},
      {randn({12, 12}, options), Shape{5, 6}, Shape{3, 2}, Shape{1, 2}, Shape{1, 0}, Shape{2, 1}},
  };
}

}  // namespace

std::vector<OpSamples> samples_of_columns() {
  return {
      {"im2col", images_to_unfold},
      {"fold", columns_to_fold},
  };
}

namespace {

std::vector<Sample> three_pieces() {
  const TensorOptions options{DType::float64, Device::cpu()};
  const std::vector<Tensor> pieces = {randn({2, 3}, options), randn({2, 1}, options),
                                      randn({2, 2}, options)};
  return {{pieces, std::int64_t{1}}};
}

std::vector<Sample> two_alike() {
  const TensorOptions options{DType::float64, Device::cpu()};
  return {{std::vector<Tensor>{randn({2, 3}, options), randn({2, 3}, options)}, std::int64_t{1}}};
}

}  // namespace

std::vector<OpSamples> samples_of_concat() {
  return {
      {"cat", three_pieces},
      {"stack", two_alike},
  };
}

namespace {

std::vector<Sample> converted_matrix() {
  return {{randn({2, 3}, {DType::float64, Device::cpu()})}};
}

}  // namespace

std::vector<OpSamples> samples_of_convert() {
  return {
      {"clone", converted_matrix},
      {"contiguous", converted_matrix},
  };
}

namespace {

std::vector<Sample> diagonals_of(const std::vector<Value>& arguments, const Shape& shape = {3, 4}) {
  Sample sample{randn(shape, {DType::float64, Device::cpu()})};
  sample.insert(sample.end(), arguments.begin(), arguments.end());
  return {sample};
}

}  // namespace

std::vector<OpSamples> samples_of_diagonals() {
  const auto one = std::int64_t{1};
  return {
      {"diag_embed",
       [one] {
         return std::vector<Sample>{diagonals_of({})[0],
                                    diagonals_of({-one, std::int64_t{0}, one})[0]};
       }},
      {"diag",
       [one] {
         return std::vector<Sample>{diagonals_of({})[0], diagonals_of({one})[0],
                                    diagonals_of({-one}, {3})[0]};
       }},
      {"diagflat",
       [] {
         return diagonals_of({}, {2, 2});
       }},
      {"trace",
       [] {
         return std::vector<Sample>{diagonals_of({})[0], diagonals_of({}, {4, 2})[0]};
       }},
      {"rot90",
       [] {
         return std::vector<Sample>{diagonals_of({})[0],
                                    diagonals_of({std::int64_t{-1}, Shape{1, 0}})[0],
                                    diagonals_of({std::int64_t{2}})[0]};
       }},
      {"fliplr", [] { return diagonals_of({}); }},
      {"flipud", [] { return diagonals_of({}); }},
  };
}

std::vector<OpSamples> samples_of_rearrange() {
  const auto one = std::int64_t{1};
  return {
      {"flip",
       [] {
         return cube_and({Shape{0, 2}});
       }},
      {"roll",
       [] {
         return cube_and({Shape{1, -2}, Shape{0, 2}});
       }},
      {"triu", [one] { return cube_and({one}); }},
      {"tril", [] { return cube_and({}); }},
      {"repeat",
       [] {
         return cube_and({Shape{2, 1, 3, 1}});
       }},
      {"pad",
       [] {
         std::vector<Sample> samples = cube_and({Shape{1, -1, 0, 2}, std::string("constant"), 0.5});
         for (const char* mode : {"reflect", "replicate", "circular"}) {
           samples.push_back(cube_and({Shape{2, 1}, std::string(mode)})[0]);
         }
         return samples;
       }},
  };
}

std::vector<OpSamples> samples_of_restrided() {
  return {
      {"as_strided",
       [] {
         return std::vector<Sample>{cube_and({Shape{2, 3}, Shape{4, 1}, std::int64_t{5}})[0],
                                    cube_and({Shape{4, 1, 3}, Shape{2, 7, 1}, Value()})[0],
                                    cube_and({Shape{3, 2, 5}, Shape{4, 0, 1}, std::int64_t{2}})[0]};
       }},
  };
}

std::vector<OpSamples> samples_of_sections() {
  const auto two = std::int64_t{2};
  return {
      {"tensor_split",
       [two] {
         return std::vector<Sample>{cube_and({std::int64_t{3}, two})[0],
                                    cube_and({Value(), two, Shape{1, 3}})[0]};
       }},
      {"hsplit", [] { return cube_and({std::int64_t{3}}); }},
      {"vsplit", [two] { return cube_and({two}); }},
      {"dsplit", [two] { return cube_and({two}); }},
      {"split_with_sizes",
       [two] {
         return cube_and({Shape{1, 3}, two});
       }},
  };
}

std::vector<OpSamples> samples_of_slice() {
  return {
      {"select",
       [] {
         return cube_and({std::int64_t{1}, std::int64_t{2}});
       }},
      {"narrow",
       [] {
         return cube_and({std::int64_t{2}, std::int64_t{1}, std::int64_t{2}});
       }},
      {"slice",
       [] {
         return cube_and({std::int64_t{2}, std::int64_t{1}, Value(), std::int64_t{2}});
       }},
      {"diagonal",
       [] {
         return std::vector<Sample>{
             cube_and({std::int64_t{-1}, std::int64_t{2}, std::int64_t{1}})[0],
             cube_and({std::int64_t{1}})[0]};
       }},
      {"split",
       [] {
         const Value last = std::int64_t{2};
         return std::vector<Sample>{cube_and({Shape{3}, last})[0],
                                    cube_and({Shape{1, 3}, last})[0]};
       }},
      {"unbind", [] { return cube_and({std::int64_t{1}}); }},
      {"chunk",
       [] {
         return cube_and({std::int64_t{2}, std::int64_t{1}});
       }},
  };
}

namespace {

std::vector<Sample> shapes_to_stack(const std::vector<Shape>& shapes) {
  std::vector<Tensor> tensors;
  for (const Shape& shape : shapes) {
    tensors.push_back(randn(shape, {DType::float64, Device::cpu()}));
  }
  return {{tensors}};
}

std::vector<Sample> vectors_to_lift() { return {{randn({3}, {DType::float64, Device::cpu()})}}; }

}  // namespace

std::vector<OpSamples> samples_of_stacking() {
  return {
      {"atleast_1d", vectors_to_lift},
      {"atleast_2d", vectors_to_lift},
      {"atleast_3d", vectors_to_lift},
      {"dstack",
       [] {
         return shapes_to_stack({{2, 3}, {2, 3}});
       }},
      {"column_stack",
       [] {
         return shapes_to_stack({{3}, {3, 2}});
       }},
      {"cartesian_prod",
       [] {
         return shapes_to_stack({{3}, {2}});
       }},
      {"block_diag",
       [] {
         return shapes_to_stack({{2, 3}, {2}, {1, 2}});
       }},
  };
}

namespace {

Sample matrix_and(Value argument) {
  return {randn({2, 3}, {DType::float64, Device::cpu()}), std::move(argument)};
}

}  // namespace

std::vector<OpSamples> samples_of_view() {
  return {
      {"view",
       [] {
         return std::vector<Sample>{matrix_and(Shape{3, -1})};
       }},
      {"reshape", [] { return std::vector<Sample>{matrix_and(Shape{6})}; }},
      {"flatten",
       [] {
         return cube_and({std::int64_t{1}, std::int64_t{-1}});
       }},
      {"transpose",
       [] {
         return cube_and({std::int64_t{0}, std::int64_t{2}});
       }},
      {"t",
       [] {
         return std::vector<Sample>{{randn({2, 3}, {DType::float64, Device::cpu()})}};
       }},
      {"permute",
       [] {
         return cube_and({Shape{2, 0, 1}});
       }},
      {"expand",
       [] {
         return std::vector<Sample>{matrix_and(Shape{4, 2, 3})};
       }},
      {"unsqueeze", [] { return std::vector<Sample>{matrix_and(std::int64_t{1})}; }},
      {"squeeze",
       [] {
         return std::vector<Sample>{{randn({2, 1, 3}, {DType::float64, Device::cpu()}), Value()}};
       }},
  };
}

std::vector<OpSamples> samples_of_windows() {
  const auto windows = [](std::int64_t dim, std::int64_t size, std::int64_t step) {
    return cube_and({dim, size, step})[0];
  };
  return {
      {"unfold",
       [windows] {
         return std::vector<Sample>{windows(2, 3, 1), windows(1, 1, 2), windows(-1, 2, 2)};
       }},
  };
}

}  // namespace ohm::test
