#include "harness/cli/cuda_options.h"

#include <fmt/format.h>

#include <cstdlib>

#include "allocator_shim/observe/format_bytes.h"
#include "harness/cli/option_values.h"
#include "harness/cli/terminal.h"
#include "harness/engine/cuda_cards.h"
#include "runtime/ops/kernels/kernel_module.h"

namespace ohm::cli {

namespace {

void take_from_environment(const char* variable, std::string& path) {
  const char* const text = std::getenv(variable);
  if (text != nullptr && *text != '\0') path = text;
}

/// A path stands for all names that would be tried.
void take_from_environment(const char* variable, cuda::LibraryNames& names) {
  std::string path;
  take_from_environment(variable, path);
  if (!path.empty()) names = {path};
}

void say_what_was_found(const engine::FoundCards& found) {
  for (const cuda::CardProperties& card : found.cards) {
    write_stderr(fmt::format(
        "ohm: on {} ({}, driver for CUDA {}); {} done on the host\n", card.name,
        human_bytes(card.total_bytes), cuda::version_text(found.driver_version),
        ops::kernels::kernel_images().empty() ? "arithmetic is" : "what has no kernel is"));
  }
}

}  // namespace

bool asks_for_cuda(const std::string& gpu_text) {
  if (gpu_text.starts_with("cuda,")) {
    throw UsageError(
        "--gpu cuda takes nothing more: --limit SIZE bounds the memory, and how many GPUs there "
        "are is the scenario's to say");
  }
  return gpu_text == "cuda";
}

engine::CudaLibraries cuda_libraries() {
  engine::CudaLibraries libraries;
  take_from_environment("OHM_CUDA_DRIVER", libraries.driver);
  take_from_environment("OHM_NVML", libraries.nvml);
  take_from_environment("OHM_CUBLAS", libraries.math.cublas);
  take_from_environment("OHM_CUBLASLT", libraries.math.cublaslt);
  take_from_environment("OHM_CUDNN", libraries.math.cudnn);
  take_from_environment("OHM_NCCL", libraries.math.nccl);
  return libraries;
}

void add_limit_option(CLI::App& app, std::string& limit) {
  app.add_option("--limit", limit,
                 "With --gpu cuda: the memory of each GPU; what its scenario says unless given")
      ->type_name("SIZE")
      ->check(not_empty());
}

void check_cuda_options(engine::RunOptions& run, const std::string& limit) {
  if (!asks_for_cuda(run.gpu_text)) {
    if (!limit.empty()) throw UsageError("--limit goes with --gpu cuda");
    return;
  }
  engine::CudaRun& cuda = run.cuda.emplace();
  cuda.libraries = cuda_libraries();
  if (!limit.empty()) cuda.limit_bytes = parsed("--limit", [&] { return parse_bytes(limit); });
  try {
    say_what_was_found(engine::find_cards(cuda.libraries));
  } catch (const GpuUnavailable& missing) {
    throw GpuUnavailable(fmt::format("--gpu cuda: {}", missing.what()));
  }
}

}  // namespace ohm::cli
