// The kernels that nvcc made, on a CUDA device.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "allocator_shim/device/cuda/cuda_device.h"
#include "runtime/kernels/cuda/cuda_kernels.h"

namespace ohm::kernels {

/// Machine code for the architectures of the build, as the driver loads it (fatbins); none in a
/// build without a CUDA toolkit.
std::vector<std::span<const std::byte>> kernel_images();

/// The dtype that names the kernel for loops of `dtype`, after the type that they compute in.
constexpr DType kernel_dtype(DType dtype) {
  if (!is_floating(dtype)) return DType::int64;
  return dtype == DType::float64 ? DType::float64 : DType::float32;
}

/// "ohm_relu_float32"
inline std::string kernel_symbol(std::string_view functor, DType dtype) {
  return std::string("ohm_").append(functor).append("_").append(name_of(kernel_dtype(dtype)));
}

class KernelModule final : public CudaKernels {
 public:
  /// Throws cuda::DriverError where an image has nothing for this device.
  explicit KernelModule(std::shared_ptr<const cuda::CudaDevice> device);
  ~KernelModule() override;

  bool has(const char* functor, DType dtype) const override;
  void launch(const char* functor, const ElementwiseLaunch& loop,
              const void* parameters) const override;
  void launch(const char* functor, DType dtype, const RowLaunch& rows,
              const void* parameters) const override;
  /// What is small is kept for the next time.
  std::uint64_t take_scratch(std::size_t bytes) const override;
  void give_back_scratch(std::uint64_t address) const override;

 private:
  struct Unload {
    const cuda::CudaDevice* device;
    void operator()(cuda::ModuleHandle module) const;
  };
  using Module = std::unique_ptr<std::remove_pointer_t<cuda::ModuleHandle>, Unload>;

  /// Null where there is no such kernel.
  cuda::FunctionHandle function(const char* functor, DType dtype) const;

  void launch(cuda::FunctionHandle kernel, unsigned blocks, unsigned threads, const void* call,
              const void* parameters) const;

  std::shared_ptr<const cuda::CudaDevice> device_;
  std::vector<Module> modules_;
  /// By the address of the functor's name, which is the functor's own, and its kernel's dtype.
  mutable std::map<std::pair<const char*, DType>, cuda::FunctionHandle> functions_;
  mutable cuda::Pointer kept_scratch_ = 0;
};

}  // namespace ohm::kernels
