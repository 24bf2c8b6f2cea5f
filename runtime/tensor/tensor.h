// A tensor: a shape and strides over a storage, and its place in the autograd graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

#include "runtime/base/device.h"
#include "runtime/base/dtype.h"
#include "runtime/base/intrusive_ptr.h"
#include "runtime/base/pooled.h"
#include "runtime/base/shape.h"
#include "runtime/tensor/storage.h"

namespace ohm {

class Node;
class Tensor;

/// What autograd attaches to a tensor; defined in autograd/variable.h.
struct AutogradMetaBase {
  AutogradMetaBase() = default;
  AutogradMetaBase(const AutogradMetaBase&) = delete;
  AutogradMetaBase& operator=(const AutogradMetaBase&) = delete;
  virtual ~AutogradMetaBase() = default;
};

/// The count of in-place writes that tensors share which were not made as views of their storage's
/// other tensors: what `x.data` gives, and its views.
struct VersionCounter final : RefCounted, Pooled<VersionCounter> {
  explicit VersionCounter(std::uint32_t first) : version(first) {}
  static void destroy(VersionCounter* counter) { delete counter; }

  std::uint32_t version;
};

/// The object behind a Tensor handle.
struct TensorImpl final : RefCounted, Pooled<TensorImpl> {
  IntrusivePtr<Storage> storage;
  Shape sizes;
  Shape strides;            ///< in elements
  std::int64_t offset = 0;  ///< of the first element, in elements
  std::int64_t numel = 0;
  DType dtype = DType::float32;
  bool is_contiguous = true;
  bool is_view = false;
  IntrusivePtr<VersionCounter> own_version;    ///< null: its storage counts
  std::unique_ptr<AutogradMetaBase> autograd;  ///< null until autograd has something to say

  static void destroy(TensorImpl* impl);
};

/// A handle with shared ownership; copying it copies no data. Default constructed it is undefined:
/// "no tensor", as a gradient that does not exist.
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(IntrusivePtr<TensorImpl> impl) : impl_(std::move(impl)) {}

  bool defined() const { return static_cast<bool>(impl_); }
  TensorImpl* impl() const { return impl_.get(); }
  bool is_same(const Tensor& other) const { return impl_ == other.impl_; }
  std::uint32_t use_count() const { return impl_->use_count(); }

  const Shape& shape() const { return impl_->sizes; }
  const Shape& strides() const { return impl_->strides; }
  int dims() const { return impl_->sizes.dims(); }
  /// Size of dimension `dim`, counted from the end when negative. Throws std::invalid_argument.
  std::int64_t size(std::int64_t dim) const;
  std::int64_t numel() const { return impl_->numel; }
  std::size_t nbytes() const { return static_cast<std::size_t>(numel()) * item_bytes(dtype()); }
  DType dtype() const { return impl_->dtype; }
  Device device() const { return impl_->storage->device(); }
  bool is_contiguous() const { return impl_->is_contiguous; }
  /// True when the elements fill their memory without gaps or overlaps, in some order.
  bool is_dense() const;
  Storage& storage() const { return *impl_->storage; }

  /// Counts the in-place writes to the tensor and to its views: a saved tensor remembers it, to
  /// find out that it was overwritten.
  std::uint32_t version() const {
    return impl_->own_version ? impl_->own_version->version : storage().version();
  }
  void bump_version() const {
    if (!impl_->own_version) return storage().bump_version();
    ++impl_->own_version->version;
    storage().note_uncounted_write();
  }

  /// The first element in the host's memory, data<const T>() to read and data<T>() to write;
  /// nullptr on size-only devices and for empty tensors. See Note [Two copies of values]. Nothing
  /// checks T against the dtype beyond its size.
  template <class T>
  T* data() const {
    if (!has_values()) return nullptr;
    if constexpr (std::is_const_v<T>) {
      return reinterpret_cast<T*>(impl_->storage->read_values()) + impl_->offset;
    } else {
      return reinterpret_cast<T*>(impl_->storage->values()) + impl_->offset;
    }
  }
  /// False on size-only devices: kernels then have nothing to do.
  bool has_values() const { return impl_->storage->has_values(); }

  /// The CUDA device that it may be computed on; nullptr where there are no values, or no CUDA
  /// device.
  const CudaBackend* cuda_backend() const { return impl_->storage->cuda_backend(); }
  /// The first element on that device.
  DeviceAddress cuda_address(CudaAccess access) const {
    return impl_->storage->cuda_address(access) + offset_bytes();
  }
  /// Of the first element in the storage.
  std::size_t offset_bytes() const {
    return static_cast<std::size_t>(impl_->offset) * item_bytes(dtype());
  }

  /// The only element as a double. NaN on size-only devices. Throws std::invalid_argument when
  /// there is more than one.
  double item() const;

  // Autograd's view of the tensor; defined in autograd/variable.cpp.

  /// True for leaves that want a gradient and for everything computed from them.
  bool requires_grad() const;
  /// Throws std::invalid_argument for a non-leaf, and for a dtype without gradients.
  void set_requires_grad(bool requires_grad) const;
  bool is_leaf() const { return grad_fn() == nullptr; }
  /// The node that made this tensor; nullptr for leaves.
  Node* grad_fn() const;
  /// The accumulated gradient; undefined when there is none.
  Tensor grad() const;
  void set_grad(Tensor grad) const;

 private:
  IntrusivePtr<TensorImpl> impl_;
};

/// A new tensor on the storage of `base`: shares its bytes, not its place in the graph.
Tensor make_view(const Tensor& base, const Shape& sizes, const Shape& strides, std::int64_t offset);

/// A new tensor that nothing else looks at, seen as row-major with this shape: it counts as no
/// view.
Tensor reshaped_copy(const Tensor& fresh, const Shape& sizes);

/// The same view of the same storage, apart from any graph.
Tensor detached_alias(const Tensor& tensor);

/// "float32 [2, 3] on cuda:0".
std::string describe(const Tensor& tensor);

}  // namespace ohm
