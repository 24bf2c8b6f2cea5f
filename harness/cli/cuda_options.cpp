#include "harness/cli/cuda_options.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>

#include "allocator_shim/base/format_bytes.h"
#include "harness/cli/option_values.h"
#include "harness/cli/terminal.h"
#include "harness/machine/cuda_cards.h"

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

void say_what_was_found(const engine::FoundCards& found) {
  for (const cuda::CardProperties& card : found.cards) {
    write_stderr(fmt::format(
        "ohm: on {} ({}, driver for CUDA {}); what has no kernel there is done on the host\n",
        card.name, human_bytes(card.total_bytes), cuda::version_text(found.driver_version)));
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
  for (const LibraryVariable& row : kLibraryVariables) {
    const char* const path = std::getenv(row.name);
    if (path != nullptr && *path != '\0') row.set(libraries, path);
  }
  return libraries;
}

void add_limit_option(CLI::App& app, std::string& limit) {
  app.add_option("--limit", limit,
                 "With --gpu cuda: the memory of each GPU; what its scenario says unless given")
      ->type_name("SIZE")
      ->check(not_empty());
  std::string variables;
  for (const LibraryVariable& row : kLibraryVariables) {
    variables += fmt::format("{}{}", variables.empty() ? "" : ", ", row.name);
  }
  app.footer(
      fmt::format("With --gpu cuda NVIDIA's libraries are looked up by the loader; {} name "
                  "others.",
                  variables));
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
