// card_truth [PART...]: what the first CUDA device of this machine computes, beside the host.
//
// Parts are `kernels`, each of the build; `ops`, each in every dtype that the host computes it in;
// `libraries`, the shapes that NVIDIA's libraries are asked for; `long`, what takes a kernel
// several rounds; `large`, sizes at which indices need 64 bits. All of them where none is named.
// Prints a line for each comparison and a summary; OHM_CUDA_DRIVER and the like name the libraries,
// as for `ohm --gpu cuda`.
//
// Ends with 0 where all is the same, 1 where something differs, 6 where something was not run: but
// for what the memory at hand is too small for, which is listed with the reason.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "harness/cli/cuda_options.h"
#include "harness/machine/cuda_devices.h"
#include "harness/machine/machine.h"
#include "reports/model/exit_code.h"
#include "runtime/tensor/context.h"
#include "tests/truth/kernel_truth.h"
#include "tests/truth/op_truth.h"

namespace ohm::truth {

namespace {

const std::vector<DType> kFloating = {DType::float64, DType::float32, DType::float16,
                                      DType::bfloat16};

void add(std::vector<Row>& rows, const std::vector<Row>& more) {
  rows.insert(rows.end(), more.begin(), more.end());
}

Row missing(const std::string& name, const std::string& why) {
  Row row;
  row.name = name;
  row.not_run = why;
  return row;
}

/// Without one of them the host computes: nothing of it was compared.
std::vector<Row> missing_rows(const engine::CudaLibraries& places,
                              const engine::FoundCudaDevices& found) {
  std::vector<Row> rows;
  if (!found.kernels_missing.empty()) rows.push_back(missing("kernels", found.kernels_missing));
  for (const cuda::LibraryState& library : engine::find_libraries(places)) {
    if (!library.missing.empty()) rows.push_back(missing(library.name, library.missing));
  }
  return rows;
}

/// Libraries get the workspaces that PyTorch gives them on such a device.
GpuProfile profile_of(const engine::FoundCudaDevices& found) {
  const cuda::CudaDeviceProperties& device = found.devices.front();
  GpuProfile profile =
      find_gpu_profile(device.compute_capability[0] >= 9 ? "h100-80g" : "a100-80g");
  profile.capacity_bytes = device.total_bytes;
  profile.context_bytes = found.context_bytes.front();
  return profile;
}

struct Part {
  std::string_view name;
  std::vector<Row> (*rows)(engine::Machine& machine);
};

const CudaBackend& backend_of(engine::Machine& machine) {
  return *machine.context().gpus.front().backend;
}

constexpr std::array<Part, 5> kParts = {{
    {"kernels",
     [](engine::Machine& machine) {
       const CudaBackend& backend = backend_of(machine);
       return backend.kernels ? kernel_truth(backend) : std::vector<Row>();
     }},
    {"ops",
     [](engine::Machine&) {
       const std::vector<OpCall> calls = sampled_calls();
       std::vector<Row> rows = op_truth(calls, kFloating);
       add(rows, whole_number_truth(calls));
       return rows;
     }},
    {"libraries", [](engine::Machine&) { return op_truth(library_calls(), kFloating); }},
    {"long", [](engine::Machine&) { return op_truth(long_calls(), {DType::float32}); }},
    {"large",
     [](engine::Machine& machine) { return large_truth(machine.requests(0).info().free_bytes); }},
}};

std::vector<Row> compare(const std::vector<Part>& parts, const engine::CudaLibraries& places,
                         const engine::FoundCudaDevices& found) {
  std::vector<Row> rows = missing_rows(places, found);
  engine::MachineOptions options;
  options.cuda = places;
  options.profile = profile_of(found);
  engine::Machine machine(options);
  const ContextGuard guard(machine.context());
  machine.add_gpus();
  for (const Part& part : parts) add(rows, part.rows(machine));
  return rows;
}

/// Throws std::invalid_argument for a name that no part has.
std::vector<Part> selected(const std::vector<std::string_view>& names) {
  if (names.empty()) return {kParts.begin(), kParts.end()};
  std::vector<Part> parts;
  for (const std::string_view name : names) {
    const auto part = std::find_if(kParts.begin(), kParts.end(),
                                   [&](const Part& one) { return one.name == name; });
    if (part == kParts.end()) {
      throw std::invalid_argument(
          fmt::format("there is no part {}: kernels, ops, libraries, long, large", name));
    }
    parts.push_back(*part);
  }
  return parts;
}

int run(const std::vector<std::string_view>& names) {
  const std::vector<Part> parts = selected(names);
  const engine::CudaLibraries places = cli::cuda_libraries();
  const std::vector<Row> rows = compare(parts, places, engine::find_cuda_devices(places));
  const Verdict verdict = verdict_of(rows);
  const std::string text =
      fmt::format("{}{} the same, {} different, {} not run, {} too large for this device\n",
                  text_of(rows), verdict.same, verdict.differ, verdict.not_run, verdict.cannot_run);
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (verdict.differ > 0) return exit_code(ExitReason::failed).code;
  return exit_code(verdict.not_run > 0 ? ExitReason::unavailable : ExitReason::passed).code;
}

}  // namespace

}  // namespace ohm::truth

int main(int argc, char** argv) {
  try {
    return ohm::truth::run({argv + 1, argv + argc});
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "card_truth: %s\n", error.what());
    return ohm::exit_code(ohm::ExitReason::usage).code;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "card_truth: %s\n", error.what());
    return ohm::exit_code(ohm::ExitReason::unavailable).code;
  }
}
