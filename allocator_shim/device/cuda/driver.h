// NVIDIA's driver, opened while the program runs: one binary serves machines with and without it.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "allocator_shim/device/cuda/driver_functions.h"
#include "allocator_shim/device/cuda/shared_library.h"

namespace ohm::cuda {

/// A call of the driver that failed, in the driver's words:
/// "cuMemFree_v2: CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)".
class DriverError : public std::runtime_error {
 public:
  DriverError(Result code, const std::string& text) : std::runtime_error(text), code_(code) {}

  Result code() const { return code_; }

 private:
  Result code_;
};

/// After such an error every further call fails: a kernel went wrong, or the device did. Only a new
/// process can use the device again.
bool is_sticky(Result code);

/// Initialised once it is there. Not to be carried across a fork: the driver works in the process
/// that opened it.
class Driver {
 public:
  /// The oldest driver that works: CUDA 12.0, as cuDriverGetVersion spells it.
  static constexpr int kOldestVersion = 12000;

  /// Opens, checks the version and initialises. Throws GpuUnavailable that says what is missing.
  explicit Driver(const std::string& path);

  /// Called with the text of every sticky error, before it is thrown; it need not return.
  using OnStickyError = std::function<void(const std::string& text)>;
  void on_sticky_error(OnStickyError callback) { on_sticky_error_ = std::move(callback); }

  const DriverFunctions& functions() const { return functions_; }
  int version() const { return version_; }
  int device_count() const { return device_count_; }

  /// Whether the driver still answers: false after a sticky error.
  bool is_usable() const { return is_usable_; }

  /// Throws DriverError for anything but success. `call`: what was called.
  void check(Result code, const char* call) const;
  /// The same for calls that give something back while it is being destroyed: a driver that does
  /// not answer any more, or that has ended before us, has taken it back already.
  void check_release(Result code, const char* call) const;

 private:
  std::string describe(Result code, const char* call) const;

  SharedLibrary library_;
  DriverFunctions functions_;
  OnStickyError on_sticky_error_;
  int version_ = 0;
  int device_count_ = 0;
  mutable bool is_usable_ = true;
};

/// 13000 -> "13.0".
std::string version_text(int version);

}  // namespace ohm::cuda
