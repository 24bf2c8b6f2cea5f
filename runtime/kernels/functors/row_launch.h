// Kernels of a CUDA device that compute row by row: sums, softmax, norms. nvcc reads this too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "runtime/base/dtype.h"

namespace ohm {

/// Memory that such a kernel reads or writes. Address 0: it is left out.
struct RowOperand {
  std::uint64_t address = 0;
  std::int64_t count = 0;  ///< elements from there on that are its own
  DType dtype = DType::float32;
};

/// Rows of `size` elements that are `inner` apart: row n begins at
/// (n / inner) · size · inner + n % inner. What stands in an operand where is the kernel's affair.
struct RowLaunch {
  static constexpr int kMostOperands = 10;

  std::uint64_t count = 0;  ///< of rows
  std::int64_t size = 1;
  std::int64_t inner = 1;
  /// A thread for each row, not a block of them.
  bool are_threads = false;
  int operand_count = 0;
  RowOperand operands[kMostOperands];

  constexpr std::int64_t start(std::uint64_t row_index) const {
    const auto number = static_cast<std::int64_t>(row_index);
    return number / inner * size * inner + number % inner;
  }
};

}  // namespace ohm
