#include "allocator_shim/device/cuda/driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

namespace ohm::cuda {
namespace {

/// The driver's documentation says of each: the process must be terminated and relaunched.
constexpr std::array<Result, 14> kStickyErrors = {
    214,  // ECC_UNCORRECTABLE
    220,  // NVLINK_UNCORRECTABLE
    226,  // CONTAINED
    700,  // ILLEGAL_ADDRESS
    702,  // LAUNCH_TIMEOUT
    710,  // ASSERT
    714,  // HARDWARE_STACK_ERROR
    715,  // ILLEGAL_INSTRUCTION
    716,  // MISALIGNED_ADDRESS
    717,  // INVALID_ADDRESS_SPACE
    718,  // INVALID_PC
    719,  // LAUNCH_FAILED
    721,  // TENSOR_MEMORY_LEAK
    911,  // EXTERNAL_DEVICE
};

DriverFunctions functions_of(const SharedLibrary& library) {
  DriverFunctions functions;
#define OHM_ROW(member, header_name, symbol, ...) library.find(symbol, functions.member);
  OHM_FOR_EACH_DRIVER_FUNCTION(OHM_ROW)
#undef OHM_ROW
  return functions;
}

}  // namespace

std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

bool is_sticky(Result code) {
  return std::find(kStickyErrors.begin(), kStickyErrors.end(), code) != kStickyErrors.end();
}

Driver::Driver(const std::string& path)
    : library_(path, "NVIDIA's driver"), functions_(functions_of(library_)) {
  check(functions_.driver_version(&version_), "cuDriverGetVersion");
  if (version_ < kOldestVersion) {
    throw GpuUnavailable(fmt::format("the driver is for CUDA {}: ohm needs one for {} or newer",
                                     version_text(version_), version_text(kOldestVersion)));
  }
  const Result initialized = functions_.init(0);
  if (initialized == kNoDevice) throw GpuUnavailable("the driver finds no CUDA device");
  if (initialized != kSuccess) throw GpuUnavailable(describe(initialized, "cuInit"));
  check(functions_.device_count(&device_count_), "cuDeviceGetCount");
  if (device_count_ == 0) throw GpuUnavailable("the driver finds no CUDA device");
}

std::string Driver::describe(Result code, const char* call) const {
  const char* name = nullptr;
  const char* text = nullptr;
  functions_.error_name(code, &name);
  functions_.error_text(code, &text);
  if (name == nullptr || text == nullptr) return fmt::format("{}: error {}", call, code);
  return fmt::format("{}: {} ({})", call, name, text);
}

void Driver::check(Result code, const char* call) const {
  if (code == kSuccess) return;
  const std::string text = describe(code, call);
  if (is_sticky(code)) {
    is_usable_ = false;
    if (on_sticky_error_) on_sticky_error_(text);
  }
  throw DriverError(code, text);
}

void Driver::check_release(Result code, const char* call) const {
  if (code != kDeinitialized) check(code, call);
}

}  // namespace ohm::cuda
