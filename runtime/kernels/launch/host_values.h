// Tensors as plain arrays for kernels that compute in float or double: float16 and bfloat16 are
// widened on the way in and rounded on the way out. Scratch is host memory that no device counts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "runtime/base/dtype.h"
#include "runtime/base/strided.h"
#include "runtime/tensor/tensor.h"

namespace ohm {

/// Calls fn(TypeTag<T>) with the type that `dtype` is computed in: double for float64, else float.
template <class F>
void visit_computed(DType dtype, F&& fn) {
  if (dtype == DType::float64) {
    fn(TypeTag<double>{});
  } else {
    fn(TypeTag<float>{});
  }
}

/// The elements of a tensor in row-major order: its own memory where it is laid out so and stores
/// T, else a converted copy. Must not outlive the tensor. Null for an undefined tensor.
template <class T>
class HostInput {
 public:
  explicit HostInput(const Tensor& tensor);

  const T* data() const { return data_; }

 private:
  const T* data_ = nullptr;
  std::vector<T> scratch_;
};

/// A tensor of a floating dtype that a kernel writes as T in row-major order: in place, or in
/// scratch that commit() rounds to the tensor's dtype and lays out as the tensor is. Must not
/// outlive the tensor.
template <class T>
class HostOutput {
 public:
  explicit HostOutput(const Tensor& tensor);

  /// Null for an undefined tensor.
  T* data() { return data_; }
  void fill_zero() { std::fill_n(data_, tensor_.numel(), T(0)); }
  void commit();

 private:
  const Tensor& tensor_;
  T* data_ = nullptr;
  std::vector<T> scratch_;
};

// Compiled once, for what kernels compute in.
extern template class HostInput<std::int64_t>;
extern template class HostInput<float>;
extern template class HostInput<double>;
extern template class HostOutput<float>;
extern template class HostOutput<double>;

/// Whether it has elements and none of their values: it is on a size-only device. A tensor without
/// elements lacks nothing: what is computed of it can be computed.
inline bool lacks_values(const Tensor& tensor) {
  return tensor.numel() != 0 && !tensor.has_values();
}

/// `values`, rounded to its dtype, into a row-major tensor; nothing where it is undefined.
inline void store_values(const Tensor& target, const std::vector<double>& values) {
  if (!target.defined() || !target.has_values()) return;
  visit_floating(target.dtype(), [&]<class T>(TypeTag<T>) {
    T* element = target.data<T>();
    for (const double value : values) *element++ = convert_element<T>(value);
  });
}

}  // namespace ohm
