#include "harness/cli/cuda_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "allocator_shim/base/format_bytes.h"
#include "harness/cli/terminal.h"
#include "harness/machine/cuda_devices.h"

namespace ohm::cli {

namespace {

/// A variable of the environment that says where one of NVIDIA's libraries is: its path stands for
/// all names that would be tried.
struct LibraryVariable {
  const char* name;
  void (*set)(engine::CudaLibraries& libraries, const char* path);
};
constexpr std::array<LibraryVariable, 6> kLibraryVariables = {
    {{"OHM_CUDA_DRIVER", [](engine::CudaLibraries& all, const char* path) { all.driver = path; }},
     {"OHM_NVML", [](engine::CudaLibraries& all, const char* path) { all.nvml = path; }},
     {"OHM_CUBLAS", [](engine::CudaLibraries& all, const char* path) { all.math.cublas = {path}; }},
     {"OHM_CUBLASLT",
      [](engine::CudaLibraries& all, const char* path) { all.math.cublaslt = {path}; }},
     {"OHM_CUDNN", [](engine::CudaLibraries& all, const char* path) { all.math.cudnn = {path}; }},
     {"OHM_NCCL", [](engine::CudaLibraries& all, const char* path) { all.math.nccl = {path}; }}}};

void say_what_was_found(const engine::FoundCudaDevices& found) {
  for (const cuda::CudaDeviceProperties& device : found.devices) {
    const std::string computing = found.kernels_missing.empty()
                                      ? "ops without a kernel there run on the host"
                                      : fmt::format("{}: the host computes", found.kernels_missing);
    write_stderr(fmt::format("ohm: running on {} ({}, driver for CUDA {}); {}\n", device.name,
                             human_bytes(device.total_bytes),
                             cuda::version_text(found.driver_version), computing));
  }
}

}  // namespace

bool asks_for_cuda(const std::string& gpu_text) {
  if (gpu_text.starts_with("cuda,")) {
    throw UsageError(
        "--gpu cuda takes no settings: --limit SIZE limits the memory, and the scenario sets the "
        "number of GPUs");
  }
  return gpu_text == "cuda";
}

engine::CudaLibraries cuda_libraries() {
  engine::CudaLibraries libraries;
  for (const LibraryVariable& row : kLibraryVariables) {
    const char* const path = std::getenv(row.name);
    if (path != nullptr && *path != '\0') row.set(libraries, path);
  }
  return libraries;
}

void add_cuda_footer(const OptionParser& parser) {
  std::string variables;
  for (const LibraryVariable& row : kLibraryVariables) {
    variables += fmt::format("{}{}", variables.empty() ? "" : ", ", row.name);
  }
  parser.set_footer(fmt::format(
      "With --gpu cuda the dynamic loader finds NVIDIA's libraries; {} override their paths.",
      variables));
}

void check_cuda_options(engine::RunOptions& run, CardsOf cards) {
  if (!asks_for_cuda(run.gpu_text)) {
    if (run.limit) throw UsageError("--limit requires --gpu cuda");
    return;
  }
  run.cuda = cuda_libraries();
  if (cards == CardsOf::other_machines) return;
  try {
    const engine::FoundCudaDevices found = engine::find_cuda_devices(*run.cuda);
    say_what_was_found(found);
    run.card_bytes =
        std::ranges::min(found.devices, {}, &cuda::CudaDeviceProperties::total_bytes).total_bytes;
  } catch (const GpuUnavailable& missing) {
    throw GpuUnavailable(fmt::format("--gpu cuda: {}", missing.what()));
  }
}

}  // namespace ohm::cli
