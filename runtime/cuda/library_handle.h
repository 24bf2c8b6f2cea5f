// A library of mathematics that is at work on one device: what cuBLAS, cuBLASLt and cuDNN have in
// common.
#pragma once

#include <memory>
#include <utility>

#include "runtime/cuda/library.h"

namespace ohm::cuda {

/// `Api` says which library: kName, kCreate (the name of the call), its Functions with create,
/// destroy and status_name, its Handle and Status; functions_of(library) and failure_of(status).
template <class Api>
class LibraryHandle {
 public:
  static constexpr const char* kName = Api::kName;

  /// Opens the library and makes a handle, which takes memory of the device. Throws GpuUnavailable
  /// that says what is missing, LibraryError where it does not start.
  LibraryHandle(std::shared_ptr<const CudaDevice> device, const LibraryNames& names)
      : device_(std::move(device)) {
    use_first(names, [this](const std::string& name) {
      library_ = std::make_unique<SharedLibrary>(name, kName);
      functions_ = Api::functions_of(*library_);
      device_->current();
      check(functions_.create(&handle_), Api::kCreate);
    });
  }
  LibraryHandle(const LibraryHandle&) = delete;
  LibraryHandle& operator=(const LibraryHandle&) = delete;

 protected:
  ~LibraryHandle() {
    if (device_->make_current()) functions_.destroy(handle_);
  }

  void check(typename Api::Status status, const char* call) const {
    if (status == 0) return;
    fail_library(*device_, Api::failure_of(status), kName, call, functions_.status_name(status));
  }

  std::shared_ptr<const CudaDevice> device_;
  std::unique_ptr<SharedLibrary> library_;
  typename Api::Functions functions_;
  typename Api::Handle handle_ = nullptr;
};

}  // namespace ohm::cuda
