#include "harness/cli/gpus_command.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

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

std::string json() {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const GpuProfile& gpu : gpu_profiles()) {
    rows.push_back({{"name", gpu.name},
                    {"capacity_bytes", gpu.capacity_bytes},
                    {"capacity_is_exact", gpu.capacity_is_exact},
                    {"context_bytes", gpu.context_bytes},
                    {"compute_capability", gpu.compute_capability},
                    {"multiprocessors", gpu.multiprocessors}});
  }
  return rows.dump(2) + "\n";
}

}  // namespace

std::function<int()> setup_gpus(const OptionParser& parser, const Environment& /*environment*/) {
  const auto prints_json = std::make_shared<bool>(false);
  parser.add_flag("--json", *prints_json, "Print JSON");
  return [prints_json] {
    write_stdout(*prints_json ? json() : table());
    return 0;
  };
}

}  // namespace ohm::cli
