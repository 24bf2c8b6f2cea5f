// The kernels that nvcc made, on a CUDA device.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "allocator_shim/device/cuda/cuda_device.h"
#include "runtime/kernels/cuda/cuda_kernels.h"
#include "runtime/kernels/cuda/kernel_build.h"

namespace ohm::kernels {

/// The dtype that names the kernel for loops of `dtype`, after the type that they compute in.
constexpr DType kernel_dtype(DType dtype) {
  if (!is_floating(dtype)) return DType::int64;
  return dtype == DType::float64 ? DType::float64 : DType::float32;
}

/// "ohm_relu_float32"
inline std::string kernel_symbol(std::string_view functor, DType dtype) {
  return std::string("ohm_").append(functor).append("_").append(name_of(kernel_dtype(dtype)));
}

/// The kernels of the build cannot run on a device or with its driver; says what they need.
class KernelsUnavailable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class KernelModule final : public CudaKernels {
 public:
  /// Loads the smallest image, the others when their first kernel is asked for. Throws
  /// KernelsUnavailable; cuda::DriverError where the device broke.
  explicit KernelModule(std::shared_ptr<const cuda::CudaDevice> device);
  ~KernelModule() override;

  bool has(const char* functor, DType dtype) const override;
  void launch(const char* functor, const ElementwiseLaunch& loop,
              const void* parameters) const override;
  void launch(const char* functor, DType dtype, const RowLaunch& rows,
              const void* parameters) const override;
  std::uint64_t scratch(std::size_t bytes) const override;
  bool release_scratch() const override;

  /// Loads what is not loaded yet: where the driver compiles for its device, it keeps what it made
  /// for later processes.
  void load_all() const;

 private:
  struct Unload {
    const cuda::CudaDevice* device;
    void operator()(cuda::ModuleHandle module) const;
  };
  using Module = std::unique_ptr<std::remove_pointer_t<cuda::ModuleHandle>, Unload>;
  struct Image {
    KernelImage built;
    Module module;  ///< null: not loaded so far
  };

  cuda::ModuleHandle loaded(Image& image) const;
  /// Null where there is no such kernel.
  cuda::FunctionHandle function(const char* functor, DType dtype) const;

  void launch(cuda::FunctionHandle kernel, unsigned blocks, unsigned threads, const void* call,
              const void* parameters) const;

  std::shared_ptr<const cuda::CudaDevice> device_;
  mutable std::vector<Image> images_;
  std::map<std::string_view, std::size_t> image_of_;  ///< by functor
  /// By the address of the functor's name, which is the functor's own, and its kernel's dtype.
  mutable std::map<std::pair<const char*, DType>, cuda::FunctionHandle> functions_;
  mutable cuda::Pointer scratch_ = 0;
  mutable std::size_t scratch_bytes_ = 0;
};

}  // namespace ohm::kernels
