// Products of column-major matrices on the stand-in's cards.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/cuda/cublas_functions.h"
#include "tests/support/stand_in_driver/library_memory.h"

namespace ohm::stand_in {

struct ColumnMatrix {
  const void* address = nullptr;
  std::int64_t leading_dimension = 1;
  bool is_transposed = false;
  std::int64_t stride = 0;

  std::int64_t at(std::int64_t row, std::int64_t column) const {
    return is_transposed ? column + row * leading_dimension : row + column * leading_dimension;
  }
  /// Elements that a matrix of these sizes reaches over.
  std::size_t reach(std::int64_t rows, std::int64_t columns) const {
    return static_cast<std::size_t>(at(rows - 1, columns - 1) + 1);
  }
};

struct ColumnProduct {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t batches = 1;
  ColumnMatrix a;
  ColumnMatrix b;
  ColumnMatrix c;
  const void* alpha = nullptr;
  const void* beta = nullptr;
  const void* bias = nullptr;  ///< an element for each row; nullptr: none
};

/// cudaDataType_t as a dtype.
inline DType dtype_of(int data_type) {
  switch (data_type) {
    case cuda::kDataFloat16:
      return DType::float16;
    case cuda::kDataBFloat16:
      return DType::bfloat16;
    case cuda::kDataFloat64:
      return DType::float64;
    default:
      return DType::float32;
  }
}

/// False, and a note, where something of it is not memory of the card.
inline bool multiply(const ColumnProduct& p, int data_type) {
  bool is_done = false;
  visit_floating(dtype_of(data_type), [&]<class T>(TypeTag<T>) {
    const auto all = [&](const ColumnMatrix& matrix, std::int64_t rows, std::int64_t columns) {
      const auto others = static_cast<std::size_t>((p.batches - 1) * matrix.stride);
      return elements_at<T>(matrix.address, matrix.reach(rows, columns) + others);
    };
    const T* a = all(p.a, p.m, p.k);
    const T* b = all(p.b, p.k, p.n);
    T* c = all(p.c, p.m, p.n);
    const T* bias =
        p.bias == nullptr ? nullptr : elements_at<T>(p.bias, static_cast<std::size_t>(p.m));
    if (a == nullptr || b == nullptr || c == nullptr) return;
    if (p.bias != nullptr && bias == nullptr) return;
    const double alpha = factor_at<T>(p.alpha);
    const double beta = factor_at<T>(p.beta);
    for (std::int64_t batch = 0; batch < p.batches; ++batch) {
      for (std::int64_t column = 0; column < p.n; ++column) {
        for (std::int64_t row = 0; row < p.m; ++row) {
          double sum = 0;
          for (std::int64_t i = 0; i < p.k; ++i) {
            sum += number(a[p.a.at(row, i)]) * number(b[p.b.at(i, column)]);
          }
          T& target = c[p.c.at(row, column)];
          sum *= alpha;
          if (beta != 0) sum += beta * number(target);
          if (bias != nullptr) sum += number(bias[row]);
          target = convert_element<T>(sum);
        }
      }
      a += p.a.stride;
      b += p.b.stride;
      c += p.c.stride;
    }
    if (machine().is_wrong_call) c[-p.c.stride] = convert_element<T>(-77.0);
    is_done = true;
  });
  return is_done;
}

}  // namespace ohm::stand_in
