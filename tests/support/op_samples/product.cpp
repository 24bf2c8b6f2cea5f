// Sample inputs of products, attention and recurrent cells.
#include <string>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "tests/support/op_samples/families.h"

namespace ohm::test {

using ops::Value;

namespace {

std::vector<Sample> addbmm_samples() {
  const auto sample = [](const Shape& shape) {
    return randn(shape, {DType::float64, Device::cpu()});
  };
  return {{sample({4}), sample({2, 3, 2}), sample({2, 2, 4}), 1.0, 1.0},
          {sample({3, 4}), sample({2, 3, 2}), sample({2, 2, 4}), 0.5, -2.0}};
}

}  // namespace

std::vector<OpSamples> samples_of_added_products() {
  return {
      {"addbmm", addbmm_samples},
  };
}

namespace {

std::vector<Sample> attention_samples() {
  const TensorOptions options{DType::float64, Device::cpu()};
  const auto tensor = [&](const Shape& shape) { return Value(randn(shape, options)); };
  const Value everything = ones({3, 4}, {DType::boolean, Device::cpu()});
  return {
      {tensor({2, 3, 4}), tensor({2, 4, 4}), tensor({2, 4, 3}), Value(), 0.0, false, Value()},
      {tensor({2, 3, 4}), tensor({2, 3, 4}), tensor({2, 3, 3}), Value(), 0.0, true, 0.3},
      {tensor({3, 4}), tensor({4, 4}), tensor({4, 4}), tensor({3, 4}), 0.0, false, Value()},
      {tensor({3, 4}), tensor({4, 4}), tensor({4, 4}), everything, 0.0, false, Value()},
  };
}

}  // namespace

std::vector<OpSamples> samples_of_attention() {
  return {
      {"scaled_dot_product_attention", attention_samples},
  };
}

namespace {

std::vector<Sample> pair_of_shapes(const Shape& first, const Shape& second,
                                   const std::vector<Value>& arguments = {}) {
  const TensorOptions options{DType::float64, Device::cpu()};
  Sample sample{randn(first, options), randn(second, options)};
  sample.insert(sample.end(), arguments.begin(), arguments.end());
  return {sample};
}

}  // namespace

std::vector<OpSamples> samples_of_contraction() {
  const auto one = std::int64_t{1};
  return {
      {"tensordot",
       [one] {
         return std::vector<Sample>{
             pair_of_shapes({2, 3, 4}, {3, 4, 2})[0], pair_of_shapes({2, 3}, {3, 4}, {one})[0],
             pair_of_shapes({2, 3, 4}, {4, 2}, {one, Shape{0, 2}, Shape{1, 0}})[0]};
       }},
      {"inner",
       [] {
         return pair_of_shapes({2, 3}, {4, 3});
       }},
      {"kron",
       [] {
         return std::vector<Sample>{pair_of_shapes({2, 3}, {3, 2})[0],
                                    pair_of_shapes({2}, {2, 2})[0]};
       }},
      {"cross",
       [one] {
         return std::vector<Sample>{pair_of_shapes({2, 3}, {2, 3}, {one})[0],
                                    pair_of_shapes({3, 2}, {3, 1})[0]};
       }},
  };
}

namespace {

Tensor einsum_matrix(std::int64_t rows, std::int64_t columns) {
  return randn({rows, columns}, {DType::float64, Device::cpu()});
}

Tensor einsum_batch(const Shape& shape) { return randn(shape, {DType::float64, Device::cpu()}); }

}  // namespace

std::vector<OpSamples> samples_of_einsum() {
  return {
      {"einsum",
       [] {
         const auto two = [](const std::string& equation) {
           return Sample{equation, std::vector<Tensor>{einsum_matrix(3, 4), einsum_matrix(4, 2)}};
         };
         return std::vector<Sample>{
             two("ij,jk->ik"),
             two("ij,jk->ki"),
             two("ij,jk"),
             {std::string("bi,bi->b"),
              std::vector<Tensor>{einsum_matrix(3, 4), einsum_matrix(3, 4)}},
             {std::string("ij->j"), std::vector<Tensor>{einsum_matrix(3, 4)}},
             {std::string("ii->i"), std::vector<Tensor>{einsum_matrix(3, 3)}},
             {std::string("...ij,...jk->...ik"),
              std::vector<Tensor>{einsum_batch({2, 3, 4}), einsum_batch({2, 4, 2})}},
             {std::string("...ij,jk"),
              std::vector<Tensor>{einsum_batch({2, 3, 4}), einsum_matrix(4, 2)}},
             {std::string("bi,bj,bi->bij"),
              std::vector<Tensor>{einsum_matrix(3, 4), einsum_matrix(3, 2), einsum_matrix(3, 4)}},
             {std::string("b...i,b...i->b..."),
              std::vector<Tensor>{einsum_batch({2, 3, 4}), einsum_batch({2, 1, 4})}},
         };
       }},
  };
}

namespace {

std::vector<Sample> linear_samples() {
  const auto tensor = [](const Shape& shape) {
    return randn(shape, {DType::float64, Device::cpu()});
  };
  return {{tensor({2, 3}), tensor({4, 3}), tensor({4})},
          {tensor({2, 3}), tensor({1, 3}), tensor({1})},
          {tensor({2, 3}), tensor({4, 3}), Value()},
          {tensor({2, 2, 3}), tensor({4, 3}), tensor({4})}};
}

}  // namespace

std::vector<OpSamples> samples_of_linear() {
  return {
      {"linear", linear_samples},
  };
}

namespace {

Tensor sample_tensor(const Shape& shape) { return randn(shape, {DType::float64, Device::cpu()}); }

std::vector<Sample> matmul_samples() {
  return {{sample_tensor({2, 3}), sample_tensor({3, 4})},
          {sample_tensor({3}), sample_tensor({3})},
          {sample_tensor({2, 3}), sample_tensor({3})},
          {sample_tensor({3}), sample_tensor({3, 2})},
          {sample_tensor({2, 2, 3}), sample_tensor({3, 2})},
          {sample_tensor({2, 1, 2, 3}), sample_tensor({3, 3, 2})}};
}

}  // namespace

std::vector<OpSamples> samples_of_matmul() {
  return {
      {"mm",
       [] {
         return std::vector<Sample>{{sample_tensor({2, 3}), sample_tensor({3, 4})}};
       }},
      {"bmm",
       [] {
         return std::vector<Sample>{{sample_tensor({2, 2, 3}), sample_tensor({2, 3, 4})}};
       }},
      {"baddbmm",
       [] {
         return std::vector<Sample>{
             {sample_tensor({3, 4}), sample_tensor({2, 3, 2}), sample_tensor({2, 2, 4}), 1.0, 1.0},
             {sample_tensor({2, 3, 4}), sample_tensor({2, 3, 2}), sample_tensor({2, 2, 4}), 0.5,
              2.0}};
       }},
      {"addmm",
       [] {
         const Tensor rows = sample_tensor({2, 3});
         const Tensor columns = sample_tensor({3, 4});
         return std::vector<Sample>{{sample_tensor({4}), rows, columns, 1.0, 1.0},
                                    {sample_tensor({2, 4}), rows, columns, 0.5, -2.0}};
       }},
      {"matmul", matmul_samples},
  };
}

namespace {

std::vector<Sample> cell_samples(std::int64_t gates) {
  const TensorOptions options{DType::float64, Device::cpu()};
  const auto tensor = [&](const Shape& shape) { return Value(randn(shape, options)); };
  const Shape wide{2, gates * 3};
  const Shape bias{gates * 3};
  return {{tensor(wide), tensor(wide), tensor({2, 3}), tensor(bias), tensor(bias)},
          {tensor(wide), tensor(wide), tensor({2, 3}), Value(), Value()}};
}

}  // namespace

std::vector<OpSamples> samples_of_recurrent_cell() {
  return {
      {"_thnn_fused_gru_cell", [] { return cell_samples(3); }},
      {"_thnn_fused_lstm_cell", [] { return cell_samples(4); }},
  };
}

namespace {

Tensor vector_sample(std::int64_t size) { return randn({size}, {DType::float64, Device::cpu()}); }

Tensor matrix_sample(std::int64_t rows, std::int64_t columns) {
  return randn({rows, columns}, {DType::float64, Device::cpu()});
}

}  // namespace

std::vector<OpSamples> samples_of_vector_product() {
  return {
      {"addmv",
       [] {
         return std::vector<Sample>{
             {vector_sample(3), matrix_sample(3, 4), vector_sample(4)},
             {vector_sample(1), matrix_sample(3, 4), vector_sample(4), 0.5, -2.0}};
       }},
      {"addr",
       [] {
         return std::vector<Sample>{
             {matrix_sample(3, 4), vector_sample(3), vector_sample(4)},
             {vector_sample(4), vector_sample(3), vector_sample(4), 0.5, -2.0}};
       }},
      {"dot",
       [] {
         return std::vector<Sample>{{vector_sample(4), vector_sample(4)}};
       }},
      {"vdot",
       [] {
         return std::vector<Sample>{{vector_sample(4), vector_sample(4)}};
       }},
      {"mv",
       [] {
         return std::vector<Sample>{{matrix_sample(3, 4), vector_sample(4)}};
       }},
  };
}

}  // namespace ohm::test
