// `--gpu cuda` and the options that go with it.
#pragma once

#include <cstdint>
#include <string>

#include "harness/cli/command.h"
#include "harness/machine/cuda_libraries.h"
#include "harness/run/run_options.h"

namespace ohm::cli {

/// Whether `--gpu` asks for real cards.
bool asks_for_cuda(const std::string& gpu_text);

/// NVIDIA's libraries; OHM_CUDA_DRIVER, OHM_NVML, OHM_CUBLAS, OHM_CUBLASLT, OHM_CUDNN and OHM_NCCL
/// name others.
engine::CudaLibraries cuda_libraries();

/// Says in the help where NVIDIA's libraries are looked for.
void add_cuda_footer(const OptionParser& parser);

/// Whose cards `--gpu cuda` means.
enum class CardsOf : std::uint8_t { this_machine, other_machines };

/// Looks for the cards, where they are asked for on this machine, and says on stderr what was
/// found. Throws UsageError, and GpuUnavailable that says what is missing.
void check_cuda_options(engine::RunOptions& run, CardsOf cards = CardsOf::this_machine);

}  // namespace ohm::cli
