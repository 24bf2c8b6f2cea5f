// `--gpu cuda`, and what goes with it.
#pragma once

#include <string>

#include "harness/cli/command.h"
#include "harness/machine/cuda_run.h"
#include "harness/run/runner.h"

namespace ohm::cli {

/// Whether `--gpu` asks for real cards.
bool asks_for_cuda(const std::string& gpu_text);

/// NVIDIA's libraries; OHM_CUDA_DRIVER, OHM_NVML, OHM_CUBLAS, OHM_CUBLASLT, OHM_CUDNN and OHM_NCCL
/// name others.
engine::CudaLibraries cuda_libraries();

void add_limit_option(CLI::App& app, std::string& limit);

/// Looks for the cards, where they are asked for, and says on stderr what was found. Throws
/// UsageError, and GpuUnavailable that says what is missing.
void check_cuda_options(engine::RunOptions& run, const std::string& limit);

}  // namespace ohm::cli
