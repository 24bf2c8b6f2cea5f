// Element-wise loops as kernels of a real card are given them. nvcc reads this too.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/dtype.h"
#include "runtime/base/shape.h"
#include "runtime/kernels/functors/row_launch.h"

namespace ohm {

/// What a kernel reads or writes: a tensor on the card, or one number for all elements.
struct CardOperand {
  std::uint64_t address = 0;  ///< of the first element
  double number = 0;          ///< where it is one
  bool is_number = false;
  DType dtype = DType::float32;
  std::int64_t strides[kMaxDims] = {};  ///< in elements; 0 where it is broadcast
};

/// out[i] = formula(in[0][i], …), the operands read as `dtype` and computed in its compute type.
struct CardLoop {
  static constexpr int kMostInputs = 3;

  std::uint64_t count = 0;  ///< product of the sizes
  int dims = 0;
  std::int64_t sizes[kMaxDims] = {};
  DType dtype = DType::float32;
  /// Every operand is of `dtype`, row-major and aligned to 16 bytes, or one element for all.
  bool is_flat = false;
  CardOperand out;
  CardOperand in[kMostInputs];
};

/// The kernels of one card that are made of formulas.
class CardKernels {
 public:
  CardKernels() = default;
  CardKernels(const CardKernels&) = delete;
  CardKernels& operator=(const CardKernels&) = delete;
  virtual ~CardKernels() = default;

  /// Whether there is a kernel of this formula that computes as loops of `dtype` do.
  virtual bool has(const char* formula, DType dtype) const = 0;
  // Queue it on the default stream. `parameters`: the formula's object. Pre-conditions: has(),
  // something to compute. Throw std::runtime_error.
  virtual void launch(const char* formula, const CardLoop& loop, const void* parameters) const = 0;
  virtual void launch(const char* formula, DType dtype, const CardLines& lines,
                      const void* parameters) const = 0;

  // Memory of the card for what launches leave one another: no allocator counts it. 0 where the
  // card has none to spare.
  virtual std::uint64_t take_scratch(std::size_t bytes) const = 0;
  virtual void give_back_scratch(std::uint64_t address) const = 0;
};

/// Scratch for as long as it lives, one at a time.
class CardScratch {
 public:
  CardScratch(const CardKernels& kernels, std::size_t bytes)
      : kernels_(kernels), address_(kernels.take_scratch(bytes)) {}
  ~CardScratch() {
    if (address_ != 0) kernels_.give_back_scratch(address_);
  }
  CardScratch(const CardScratch&) = delete;
  CardScratch& operator=(const CardScratch&) = delete;

  std::uint64_t address() const { return address_; }

 private:
  const CardKernels& kernels_;
  std::uint64_t address_;
};

}  // namespace ohm
