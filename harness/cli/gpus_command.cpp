#include "harness/cli/gpus_command.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "allocator_shim/base/format_bytes.h"
#include "allocator_shim/device/gpu_profile.h"
#include "harness/cli/terminal.h"
#include "reports/model/exit_code.h"

namespace ohm::cli {

namespace {

struct GpusArguments {
  std::string pattern;  ///< empty: all
  bool json = false;
};

/// Lower case, without spaces and hyphens: "RTX 4090" is in "rtx4090-24g".
std::string compared(std::string_view text) {
  std::string letters;
  for (char c : text) {
    if (c == ' ' || c == '-') continue;
    letters += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return letters;
}

std::vector<const GpuProfile*> matching(const std::string& pattern) {
  std::vector<const GpuProfile*> found;
  const std::string wanted = compared(pattern);
  for (const GpuProfile& gpu : gpu_profiles()) {
    const bool matches = compared(gpu.name).find(wanted) != std::string::npos ||
                         compared(gpu.product).find(wanted) != std::string::npos;
    if (matches) found.push_back(&gpu);
  }
  return found;
}

std::string table(const std::vector<const GpuProfile*>& gpus) {
  std::string out =
      fmt::format("{:<23} {:>12} {:>13}  {:<8} {:>10} {:<8} {:>7} {:>4} {:>11}  {}\n", "name",
                  "capacity", "bytes", "", "context", "", "compute", "SMs", "L2", "source");
  for (const GpuProfile* gpu : gpus) {
    out +=
        fmt::format("{:<23} {:>12} {:>13}  {:<8} {:>10} {:<8} {:>7} {:>4} {:>11}  {}\n", gpu->name,
                    human_bytes(gpu->capacity_bytes), gpu->capacity_bytes,
                    gpu->capacity_is_exact ? "exact" : "rounded", human_bytes(gpu->context_bytes),
                    gpu->context_is_measured ? "" : "assumed",
                    fmt::format("{}.{}", gpu->compute_capability[0], gpu->compute_capability[1]),
                    gpu->multiprocessors,
                    gpu->l2_cache_bytes == 0 ? "" : human_bytes(gpu->l2_cache_bytes), gpu->source);
  }
  return out;
}

std::string json(const std::vector<const GpuProfile*>& gpus) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const GpuProfile* gpu : gpus) {
    rows.push_back({{"name", gpu->name},
                    {"product", gpu->product},
                    {"capacity_bytes", gpu->capacity_bytes},
                    {"capacity_is_exact", gpu->capacity_is_exact},
                    {"context_bytes", gpu->context_bytes},
                    {"context_is_measured", gpu->context_is_measured},
                    {"compute_capability", gpu->compute_capability},
                    {"multiprocessors", gpu->multiprocessors},
                    {"l2_cache_bytes", gpu->l2_cache_bytes},
                    {"source", gpu->source}});
  }
  return rows.dump(2) + "\n";
}

int print_gpus(const GpusArguments& arguments) {
  const std::vector<const GpuProfile*> gpus = matching(arguments.pattern);
  if (arguments.json) {
    write_stdout(json(gpus));
  } else if (!gpus.empty()) {
    write_stdout(table(gpus));
  }
  if (!gpus.empty()) return 0;
  print_error(fmt::format("no virtual GPU has \"{}\" in its name; ohm gpus lists all of them",
                          arguments.pattern));
  return process_code(ExitReason::nothing_selected, 0);
}

}  // namespace

std::function<int()> setup_gpus(const OptionParser& parser, const Environment& /*environment*/) {
  const auto arguments = std::make_shared<GpusArguments>();
  parser
      .add_option("pattern", arguments->pattern,
                  "Only those with this in their name, or in the product's")
      .type_name("PATTERN")
      .completes(Completion::gpus);
  parser.add_flag("--json", arguments->json, "Print JSON");
  return [arguments] { return print_gpus(*arguments); };
}

}  // namespace ohm::cli
