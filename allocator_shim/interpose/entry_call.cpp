#include "allocator_shim/interpose/entry_call.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "allocator_shim/fault/fault_error.h"
#include "allocator_shim/interpose/call_library.h"
#include "allocator_shim/interpose/call_trace.h"

namespace ohm::interpose {

std::atomic<bool> calls_are_watched = false;

namespace {

constexpr std::size_t kMostDevices = 256;

thread_local int depth = 0;
/// Of each GPU, by its number in the machine.
std::array<std::atomic<int>, kMostDevices> sticky_codes;
std::array<std::atomic<bool>, kMostDevices> lost_devices;
std::atomic<int> nccl_error = 0;

/// The codes of a library: its allocation failure, and a failure of the GPU under it.
struct LibraryCodes {
  int allocation_failed;
  int execution_failed;
};

/// Indexed by CallLibrary.
constexpr std::array<LibraryCodes, 8> kCodes = {{
    {2, 0},        // CUDA: by the error (status_of)
    {1, 1},        // NCCL: by the error (nccl_code_of)
    {3, 13},       // cuBLAS
    {4003, 5000},  // cuDNN
    {2, 6},        // cuFFT
    {102, 201},    // cuRAND
    {2, 6},        // cuSOLVER
    {2, 6},        // cuSPARSE
}};

const LibraryCodes& codes_of(CallLibrary library) {
  return kCodes.at(static_cast<std::size_t>(library));
}

Status status_of(FaultError error) {
  switch (error) {
    case FaultError::memory:
      return Status::out_of_memory;
    case FaultError::illegal_address:
      return Status::illegal_address;
    case FaultError::launch_failure:
      return Status::launch_failure;
    case FaultError::launch_timeout:
      return Status::launch_timeout;
    case FaultError::ecc_uncorrectable:
      return Status::ecc_uncorrectable;
    case FaultError::not_ready:
      return Status::not_ready;
    default:
      // What a GPU that fell off the bus, too, is reported as.
      return Status::unknown;
  }
}

int nccl_code_of(FaultError error) {
  constexpr int kUnhandledCudaError = 1;
  constexpr int kSystemError = 2;
  constexpr int kRemoteError = 6;
  if (error == FaultError::remote_error) return kRemoteError;
  return error == FaultError::system_error ? kSystemError : kUnhandledCudaError;
}

int code_of(CallLibrary library, FaultError error) {
  if (library == CallLibrary::cuda) return static_cast<int>(status_of(error));
  if (library == CallLibrary::nccl) return nccl_code_of(error);
  return error == FaultError::memory ? codes_of(library).allocation_failed
                                     : codes_of(library).execution_failed;
}

/// Names of calls that hand work to the GPU: what goes wrong in it shows in a later call.
bool hands_over_work(std::string_view name) {
  return name.find("Launch") != std::string_view::npos || name.ends_with("Async") ||
         name.ends_with("Async_v2");
}

/// As with CUDA: calls wait for the work that they hand over.
bool is_launch_blocking() {
  static const bool is_set = [] {
    const char* const value = std::getenv("CUDA_LAUNCH_BLOCKING");
    return value != nullptr && *value != '\0' && *value != '0';
  }();
  return is_set;
}

/// What works without a context, or tells of an error.
bool outlives_errors(std::string_view name) {
  constexpr std::array<std::string_view, 9> kNames = {
      "cudaGetDevice",           "cudaSetDevice",          "cudaGetDeviceCount",
      "cudaGetDeviceProperties", "cudaDeviceGetAttribute", "cudaGetDeviceProperties_v2",
      "cuCtxGetCurrent",         "cuCtxSetCurrent",        "ncclCommGetAsyncError"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end() ||
         name.starts_with("cuDevice") || name.starts_with("ncclCommAbort") ||
         name.starts_with("ncclGetVersion");
}

std::size_t index_of_current() {
  GpuSystem& system = GpuSystem::of_process();
  const int device = system.has(system.current()) ? system.number_in_machine(system.current()) : 0;
  return static_cast<std::size_t>(device) % kMostDevices;
}

[[noreturn]] void hang() {
  for (;;) pause();
}

/// The code that the call returns; 0: it succeeds.
int inject(CallLibrary library, std::string_view name, FaultError error) {
  if (error == FaultError::hang) hang();
  if (error == FaultError::killed) raise(SIGKILL);
  if (error == FaultError::slow) {
    sleep(1);
    return 0;
  }
  const int code = code_of(library, error);
  if (library == CallLibrary::nccl) nccl_error = code;
  if (!row_of(error).is_sticky) return code;
  sticky_codes.at(index_of_current()) = static_cast<int>(status_of(error));
  if (error == FaultError::device_lost) lost_devices.at(index_of_current()) = true;
  const bool shows_later =
      library == CallLibrary::cuda && hands_over_work(name) && !is_launch_blocking();
  return shows_later ? 0 : code;
}

/// The plan itself is read when GPUs are used, which a library's first call may not do.
[[gnu::constructor]] void watch_planned_calls() {
  const char* const plan = std::getenv(kFaultVariable);
  const bool names_calls =
      plan != nullptr && std::string_view(plan).find("call(") != std::string_view::npos;
  if (names_calls || wants_call_trace()) calls_are_watched = true;
  // What a process has printed before it is killed is compared.
  if (wants_call_trace()) std::setvbuf(stdout, nullptr, _IOLBF, 0);
}

}  // namespace

void EntryCall::begin(const char* name) {
  const CallLibrary library = library_of_call(name);
  if (library == CallLibrary::none) return;
  is_counted_ = true;
  if (++depth > 1) return;
  note_call(name);
  const Status sticky = sticky_error();
  if (sticky != Status::success && !outlives_errors(name)) {
    code_ = library == CallLibrary::cuda ? static_cast<int>(sticky)
                                         : codes_of(library).execution_failed;
    return note_failed_call(name);
  }
  const std::optional<FaultError> error = GpuSystem::of_process().fault_of_call(name);
  if (error && may_inject(row_of(*error).is_sticky)) code_ = inject(library, name, *error);
  if (code_ != 0) note_failed_call(name);
}

void EntryCall::end() { --depth; }

Status sticky_error() { return static_cast<Status>(sticky_codes.at(index_of_current()).load()); }

bool is_device_lost(int number) {
  return lost_devices.at(static_cast<std::size_t>(number) % kMostDevices);
}

int injected_nccl_error() { return nccl_error; }

}  // namespace ohm::interpose
