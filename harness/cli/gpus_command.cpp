#include "harness/cli/gpus_command.h"

#include <fmt/format.h>

#include "allocator_shim/base/format_bytes.h"
#include "allocator_shim/device/gpu_profile.h"
#include "harness/cli/terminal.h"

namespace ohm::cli {

namespace {

std::string table() {
  std::string out = fmt::format("{:<13} {:>12} {:>16}  {:<8} {:>10} {:>10} {:>4}\n", "name",
                                "capacity", "bytes", "", "context", "compute", "SMs");
  for (const GpuProfile& gpu : gpu_profiles()) {
    out += fmt::format("{:<13} {:>12} {:>16}  {:<8} {:>10} {:>10} {:>4}\n", gpu.name,
                       human_bytes(gpu.capacity_bytes), gpu.capacity_bytes,
                       gpu.capacity_is_exact ? "exact" : "rounded", human_bytes(gpu.context_bytes),
                       fmt::format("{}.{}", gpu.compute_capability[0], gpu.compute_capability[1]),
                       gpu.multiprocessors);
  }
  return out;
}

}  // namespace

std::function<int()> setup_gpus(const OptionParser& /*parser*/,
                                const Environment& /*environment*/) {
  return [] {
    write_stdout(table());
    return 0;
  };
}

}  // namespace ohm::cli
