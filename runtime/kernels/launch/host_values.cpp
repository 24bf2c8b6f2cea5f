#include "runtime/kernels/launch/host_values.h"

#include <type_traits>

#include "runtime/base/strided.h"

namespace ohm {

template <class T>
HostInput<T>::HostInput(const Tensor& tensor) {
  if (!tensor.defined() || !tensor.has_values()) return;
  visit_dtype(tensor.dtype(), [&]<class Stored>(TypeTag<Stored>) {
    const auto* stored = tensor.data<const Stored>();
    if constexpr (std::is_same_v<Stored, T>) {
      if (tensor.is_contiguous()) {
        data_ = stored;
        return;
      }
    }
    scratch_.reserve(static_cast<std::size_t>(tensor.numel()));
    for_each_offset(tensor.shape(), tensor.strides(), [&](std::int64_t offset) {
      scratch_.push_back(convert_element<T>(stored[offset]));
    });
    data_ = scratch_.data();
  });
}

template <class T>
HostOutput<T>::HostOutput(const Tensor& tensor) : tensor_(tensor) {
  if (!tensor.defined()) return;
  visit_floating(tensor.dtype(), [&]<class Stored>(TypeTag<Stored>) {
    if constexpr (std::is_same_v<Stored, T>) {
      if (tensor.is_contiguous()) {
        data_ = tensor.data<Stored>();
        return;
      }
    }
    scratch_.resize(static_cast<std::size_t>(tensor.numel()));
    data_ = scratch_.data();
  });
}

template <class T>
void HostOutput<T>::commit() {
  if (scratch_.empty()) return;
  visit_floating(tensor_.dtype(), [&]<class Stored>(TypeTag<Stored>) {
    auto* const stored = tensor_.data<Stored>();
    const T* value = scratch_.data();
    for_each_offset(tensor_.shape(), tensor_.strides(), [&](std::int64_t offset) {
      stored[offset] = convert_element<Stored>(*value++);
    });
  });
}

template class HostInput<std::int64_t>;
template class HostInput<float>;
template class HostInput<double>;
template class HostOutput<float>;
template class HostOutput<double>;

}  // namespace ohm
