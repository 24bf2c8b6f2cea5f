// cuDNN opened on one device, and what all of its calls need.
#pragma once

#include <array>
#include <string>

#include "runtime/cuda/cudnn_functions.h"
#include "runtime/cuda/library_handle.h"

namespace ohm::cuda {

/// Images [N, C, H, W], filters [K, C / groups, H, W]: dense and row-major.
using ImageSizes = std::array<int, 4>;

/// cudnnDataType_t.
int cudnn_type(ElementType type);

struct CudnnApi {
  static constexpr const char* kName = "cuDNN";
  static constexpr const char* kCreate = "cudnnCreate";
  using Functions = CudnnFunctions;
  using Handle = CudnnHandle;
  using Status = CudnnStatus;
  static Functions functions_of(const SharedLibrary& library);
  static LibraryFailure failure_of(Status status);
};

class CudnnLibrary : public LibraryHandle<CudnnApi> {
 public:
  using Tensor = Described<OpaqueCudnnTensor>;

  using LibraryHandle::check;
  using LibraryHandle::LibraryHandle;

  /// "9.1.0".
  std::string version() const;

  Tensor tensor(ElementType type, const ImageSizes& sizes) const;

  const CudnnFunctions& functions() const { return functions_; }
  CudnnHandle handle() const { return handle_; }

 protected:
  ~CudnnLibrary() = default;
};

}  // namespace ohm::cuda
