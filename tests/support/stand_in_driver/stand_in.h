// The stand-in driver as tests use it: a fresh machine for each, checked at its end.
#pragma once

#include <memory>
#include <string>

#include "allocator_shim/device/cuda/cuda_device.h"
#include "allocator_shim/device/cuda/nvml.h"
#include "runtime/cuda/device_libraries.h"

namespace ohm::stand_in {

/// Lives as long as what was opened of it. Its end expects that the driver was not misused.
class StandIn {
 public:
  /// `words` describe the machine (stand_in_driver.h).
  explicit StandIn(const std::string& words = "");
  ~StandIn();
  StandIn(const StandIn&) = delete;
  StandIn& operator=(const StandIn&) = delete;

  /// Of the library.
  static std::string path();
  /// What was not given back so far.
  unsigned long long held_bytes() const;
  /// Calls of the function of this name so far.
  int calls(const char* symbol) const;

  /// Of the workspace that a library was given last; 0: none.
  unsigned long long library_workspace() const;
  /// Where the libraries of mathematics are.
  static cuda::LibraryPlaces libraries();

  static std::shared_ptr<cuda::Driver> driver();
  static std::shared_ptr<const cuda::CudaDevice> device(int ordinal = 0);
  static std::shared_ptr<const cuda::Nvml> nvml();

 private:
  template <class Function>
  Function* function(const char* name) const;

  void* library_;
};

}  // namespace ohm::stand_in
