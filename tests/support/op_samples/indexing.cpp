// Sample inputs of ops that read and write at indices.
#include <string>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "tests/support/op_samples/families.h"

namespace ohm::test {

using ops::Value;

namespace {

std::vector<Sample> indices_and_table() {
  const Tensor table = randn({5, 3}, {DType::float64, Device::cpu()});
  const TensorOptions indices{DType::int64, Device::cpu()};
  return {
      {from_values({1, 4, 1, 0}, {4}, indices), table},
      {from_values({1, 4, 1, 0, 2, 2}, {2, 3}, indices), table, std::int64_t{-2}},
  };
}

}  // namespace

std::vector<OpSamples> samples_of_embedding() {
  return {
      {"embedding", indices_and_table},
  };
}

namespace {

std::vector<Sample> bags_and_table() {
  const TensorOptions options{DType::float64, Device::cpu()};
  const Tensor table = randn({5, 3}, options);
  const Tensor bags = from_values({1, 4, 1, 0, 2, 2}, {2, 3}, {DType::int64, Device::cpu()});
  const Tensor row = from_values({1, 4, 1, 0, 2, 2}, {6}, {DType::int64, Device::cpu()});
  const Tensor begins = from_values({0, 4, 4}, {3}, {DType::int64, Device::cpu()});
  const Tensor bounds = from_values({0, 2, 6}, {3}, {DType::int64, Device::cpu()});
  const Value none;
  return {{bags, table, none, std::string("mean")},
          {bags, table, none, std::string("sum")},
          {row, table, begins, std::string("mean")},
          {row, table, begins, std::string("max")},
          {bags, table, none, std::string("sum"), randn({2, 3}, options)},
          {row, table, bounds, std::string("mean"), none, true, std::int64_t{-4}}};
}

}  // namespace

std::vector<OpSamples> samples_of_embedding_bag() {
  return {
      {"embedding_bag", bags_and_table},
  };
}

namespace {

Tensor index_values(const std::vector<double>& values, const Shape& shape) {
  return from_values(values, shape, {DType::int64, Device::cpu()});
}

std::vector<Sample> indexed_samples() {
  const TensorOptions options{DType::float64, Device::cpu()};
  const Tensor rows = index_values({2, 0, 2}, {3});
  const Tensor columns = index_values({1, 1, 3}, {3});
  return {{randn({3, 4}, options), std::vector<Tensor>{rows}},
          {randn({3, 4}, options), std::vector<Tensor>{rows, columns}},
          {randn({2, 3, 4}, options), std::vector<Tensor>{rows, columns}, Shape{1, 2}},
          {randn({3, 2, 4}, options), std::vector<Tensor>{rows, columns}, Shape{0, -1}}};
}

}  // namespace

std::vector<OpSamples> samples_of_index() {
  return {
      {"index", indexed_samples},
  };
}

namespace {

Tensor put_places(const std::vector<double>& values) {
  return from_values(values, {static_cast<std::int64_t>(values.size())},
                     {DType::int64, Device::cpu()});
}

std::vector<Sample> put_samples() {
  const TensorOptions options{DType::float64, Device::cpu()};
  const std::vector<Tensor> rows{put_places({2, 0})};
  const std::vector<Tensor> both{put_places({2, 0, 2}), put_places({1, 1, 1})};
  return {{randn({3, 4}, options), rows, randn({4}, options), false},
          {randn({3, 4}, options), both, randn({3}, options), true},
          {randn({2, 3, 4}, options), both, randn({2, 3}, options), true, Shape{1, 2}},
          {randn({3, 2, 4}, options), both, randn({3, 2}, options), true, Shape{0, -1}}};
}

}  // namespace

std::vector<OpSamples> samples_of_index_put() {
  return {
      {"index_put", put_samples},
  };
}

namespace {

std::vector<Sample> reduced_entries() {
  const TensorOptions options{DType::float64, Device::cpu()};
  const Tensor places = from_values({0, 3, 0}, {3}, {DType::int64, Device::cpu()});
  std::vector<Sample> samples;
  for (const char* reduce : {"prod", "mean", "amax", "amin"}) {
    for (const bool include_self : {true, false}) {
      samples.push_back({randn({2, 4}, options), std::int64_t{1}, places, randn({2, 3}, options),
                         std::string(reduce), include_self});
    }
  }
  return samples;
}

}  // namespace

std::vector<OpSamples> samples_of_index_reduce() {
  return {
      {"index_reduce", reduced_entries},
  };
}

namespace {

Tensor written_matrix(std::int64_t rows) {
  return randn({rows, 4}, {DType::float64, Device::cpu()});
}

Tensor written_places(const std::vector<double>& places) {
  return from_values(places, {static_cast<std::int64_t>(places.size())},
                     {DType::int64, Device::cpu()});
}

}  // namespace

std::vector<OpSamples> samples_of_index_writes() {
  const auto first = std::int64_t{0};
  return {
      {"index_fill",
       [first] {
         return std::vector<Sample>{{written_matrix(3), first, written_places({2, 0}), 0.5}};
       }},
      {"index_copy",
       [first] {
         return std::vector<Sample>{
             {written_matrix(3), first, written_places({2, 0}), written_matrix(2)}};
       }},
      {"masked_scatter",
       [] {
         const Tensor mask = from_values({1, 0, 0, 1}, {4}, {DType::boolean, Device::cpu()});
         return std::vector<Sample>{{written_matrix(3), mask, written_matrix(2)}};
       }},
  };
}

namespace {

Tensor numbers(const std::vector<double>& values, const Shape& shape) {
  return from_values(values, shape, {DType::int64, Device::cpu()});
}

Tensor indexed_matrix() { return randn({3, 4}, {DType::float64, Device::cpu()}); }

}  // namespace

std::vector<OpSamples> samples_of_indexing() {
  const auto one = std::int64_t{1};
  return {
      {"gather",
       [one] {
         return std::vector<Sample>{{indexed_matrix(), one, numbers({0, 3, 3, 1, 2, 2}, {3, 2})}};
       }},
      {"take_along_dim",
       [one] {
         return std::vector<Sample>{{indexed_matrix(), numbers({0, 3, 3}, {3, 1}), one},
                                    {indexed_matrix(), numbers({2, 0}, {2, 1}), std::int64_t{0}},
                                    {indexed_matrix(), numbers({11, 0}, {2})}};
       }},
      {"index_select",
       [one] {
         return std::vector<Sample>{{indexed_matrix(), one, numbers({3, 0, 3}, {3})},
                                    {indexed_matrix(), std::int64_t{0}, numbers({2, 1}, {2})}};
       }},
      {"scatter_add",
       [one] {
         return std::vector<Sample>{{indexed_matrix(), one, numbers({0, 3, 3, 1, 2, 2}, {3, 2}),
                                     randn({3, 2}, {DType::float64, Device::cpu()})}};
       }},
  };
}

std::vector<OpSamples> samples_of_parameter_vector() {
  return {
      {"parameters_to_vector",
       [] {
         const TensorOptions options{DType::float64, Device::cpu()};
         const std::vector<Tensor> two = {randn({2, 3}, options), randn({2}, options)};
         return std::vector<Sample>{{two}};
       }},
  };
}

namespace {

Tensor integers(const std::vector<double>& values, const Shape& shape) {
  return from_values(values, shape, {DType::int64, Device::cpu()});
}

Tensor matrix(std::int64_t rows) { return randn({rows, 4}, {DType::float64, Device::cpu()}); }

}  // namespace

std::vector<OpSamples> samples_of_scatter() {
  const auto one = std::int64_t{1};
  return {
      {"scatter",
       [one] {
         const Tensor places = integers({0, 3, 2, 1, 2, 0}, {3, 2});
         const Tensor source = randn({3, 2}, {DType::float64, Device::cpu()});
         return std::vector<Sample>{{matrix(3), one, places, source},
                                    {matrix(3), one, places, 0.5}};
       }},
      {"index_add",
       [] {
         const Tensor places = integers({2, 0, 2}, {3});
         return std::vector<Sample>{{matrix(3), std::int64_t{0}, places, matrix(3), 1.0},
                                    {matrix(3), std::int64_t{0}, places, matrix(3), 0.5}};
       }},
  };
}

namespace {

std::vector<Sample> reduced_writes() {
  const TensorOptions options{DType::float64, Device::cpu()};
  const Tensor places = from_values({0, 3, 2, 2, 2, 0}, {3, 2}, {DType::int64, Device::cpu()});
  std::vector<Sample> samples;
  for (const char* reduce : {"sum", "mean", "amax", "amin"}) {
    samples.push_back({randn({3, 4}, options), std::int64_t{1}, places, randn({3, 2}, options),
                       std::string(reduce), true});
  }
  samples.push_back({randn({3, 4}, options), std::int64_t{1}, places, randn({3, 2}, options),
                     std::string("mean"), false});
  return samples;
}

}  // namespace

std::vector<OpSamples> samples_of_scatter_reduce() {
  return {
      {"scatter_reduce", reduced_writes},
  };
}

namespace {

Tensor selection_mask(const std::vector<double>& values, const Shape& shape) {
  return from_values(values, shape, {DType::boolean, Device::cpu()});
}

std::vector<Sample> masked_matrices() {
  const auto matrix = [] { return randn({3, 4}, {DType::float64, Device::cpu()}); };
  return {{matrix(), selection_mask({1, 0, 0, 1}, {4})},
          {matrix(), selection_mask({1, 0, 0, 1, 1, 1, 0, 0, 0, 1, 0, 1}, {3, 4})}};
}

}  // namespace

std::vector<OpSamples> samples_of_selection() {
  return {
      {"masked_fill",
       [] {
         return std::vector<Sample>{{randn({3, 4}, {DType::float64, Device::cpu()}),
                                     selection_mask({1, 0, 0, 1}, {4}), 2.0}};
       }},
      {"masked_select", masked_matrices},
  };
}

}  // namespace ohm::test
