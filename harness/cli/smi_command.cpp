#include "harness/cli/smi_command.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "allocator_shim/device/cuda/nvml.h"
#include "allocator_shim/device/gpu_profile.h"
#include "allocator_shim/observe/gpu_monitor.h"
#include "harness/cli/cuda_options.h"
#include "harness/cli/gpu_option.h"
#include "harness/cli/option_values.h"
#include "harness/cli/run_options.h"
#include "harness/cli/scenario_option.h"
#include "harness/cli/terminal.h"
#include "harness/run/runner.h"
#include "reports/text/text_layout.h"

namespace ohm::cli {

namespace {

struct SmiArguments {
  engine::RunOptions run;
  std::string query;
  std::string format = "csv";
  bool shows_utilization = false;
};

std::string text_of(const SmiArguments& arguments, const std::vector<MonitoredGpu>& gpus) {
  if (arguments.shows_utilization) return utilization_table(gpus);
  if (arguments.query.empty()) return smi_table(gpus);
  return parsed("--query-gpu, --format",
                [&] { return smi_query(gpus, arguments.query, arguments.format); });
}

/// No program, no context: nothing is in use.
std::vector<MonitoredGpu> idle_gpus(const GpuSelection& selection) {
  std::vector<MonitoredGpu> gpus;
  for (int index = 0; index < selection.count.value_or(1); ++index) {
    gpus.push_back(
        {index, std::string(selection.profile.name), 0, selection.profile.capacity_bytes});
  }
  return gpus;
}

/// The cards of this computer, as they are now.
std::vector<MonitoredGpu> real_gpus() {
  const cuda::Nvml nvml(cuda_libraries().nvml);
  std::vector<MonitoredGpu> gpus;
  for (const cuda::MonitoredDevice& device : nvml.devices()) {
    gpus.push_back({static_cast<int>(gpus.size()), device.name, device.used_bytes,
                    device.total_bytes, device.utilization_percent});
  }
  return gpus;
}

int show_cuda_devices(const SmiArguments& arguments) {
  if (!arguments.run.files.empty()) {
    throw UsageError("ohm smi --gpu cuda shows the cards as they are and takes no scenarios");
  }
  static_cast<void>(text_of(arguments, {}));  // words that are wrong are found first
  try {
    print_text(text_of(arguments, real_gpus()));
  } catch (const GpuUnavailable& missing) {
    throw GpuUnavailable(fmt::format("--gpu cuda: {}", missing.what()));
  }
  return 0;
}

/// What the tool would have shown had it looked when most was reserved: it sees the context and
/// the allocator's segments, cached ones included.
std::vector<MonitoredGpu> gpus_at_peak(const VariantResult& variant,
                                       const std::optional<GpuSelection>& selected) {
  std::vector<MonitoredGpu> gpus;
  for (const DeviceResult& device : variant.devices) {
    const std::size_t context =
        (selected ? selected->profile : find_gpu_profile(device.profile)).context_bytes;
    gpus.push_back({static_cast<int>(gpus.size()), device.profile,
                    context + static_cast<std::size_t>(device.peak_reserved_bytes),
                    static_cast<std::size_t>(device.capacity_bytes)});
  }
  return gpus;
}

class Quiet final : public engine::RunObserver {
 public:
  void on_progress(std::size_t /*finished*/, std::size_t /*total*/) override {}
  void on_scenario(const ScenarioResult& /*scenario*/) override {}
};

int show_peaks(const SmiArguments& arguments, const Environment& environment) {
  check_parameters_declared(arguments.run, environment);
  Quiet observer;
  const engine::RunOutcome outcome =
      engine::run_scenarios(arguments.run, environment.loader, observer);
  std::string text;
  for (const ScenarioResult& scenario : outcome.result.scenarios) {
    if (scenario.error) print_error(reports::printable(scenario.error->message));
    for (const VariantResult& variant : scenario.variants) {
      if (variant.devices.empty()) continue;
      if (arguments.query.empty()) {
        text += fmt::format("{}{}, when most was reserved on each GPU\n", text.empty() ? "" : "\n",
                            reports::printable(scenario.name + "." + variant.name));
      }
      text += text_of(arguments, gpus_at_peak(variant, arguments.run.gpu));
    }
  }
  print_text(text);
  const ExitReason reason = outcome.result.exit_reason;
  if (reason == ExitReason::nothing_selected) {
    print_error("no variant matches; run ohm list to see them");
  }
  // Whether a scenario proves something is for ohm run to say.
  return reason == ExitReason::failed ? 0 : outcome.exit_code();
}

int smi(SmiArguments arguments, const Environment& environment) {
  engine::RunOptions& run = arguments.run;
  run.size_only = true;
  if (asks_for_cuda(run.gpu_text)) return show_cuda_devices(arguments);
  if (!run.gpu_text.empty()) {
    run.gpu = gpu_selection(run.gpu_text);
  }
  // Words that are wrong are found before anything runs.
  const GpuSelection selection =
      run.gpu.value_or(GpuSelection{find_gpu_profile(engine::GpuSpec{}.profile), 1, {}});
  const std::string idle = text_of(arguments, idle_gpus(selection));
  if (!run.files.empty()) {
    check_allocator_options(run);
    return show_peaks(arguments, environment);
  }
  print_text(idle);
  return 0;
}

}  // namespace

std::function<int()> setup_smi(const OptionParser& parser, const Environment& environment) {
  const auto arguments = std::make_shared<SmiArguments>();
  engine::RunOptions& run = arguments->run;
  run.jobs = usable_cores();
  add_scenario_files(parser, run.files,
                     "Scenarios to run, size-only (default: none, show idle GPUs)");
  add_case_option(parser, run);
  add_run_options(parser, run, engine::RunCommand::smi);
  parser
      .add_option("--query-gpu", arguments->query,
                  "index, name, memory.used, memory.free, memory.total, utilization.gpu")
      .type_name("FIELDS")
      .check(not_empty());
  parser
      .add_option("--format", arguments->format, "csv, optionally followed by noheader and nounits")
      .type_name("csv[,noheader][,nounits]");
  parser.add_flag("--utilization", arguments->shows_utilization,
                  "GPUtil's table: | ID | GPU | MEM |");
  return [arguments, &environment] { return smi(*arguments, environment); };
}

}  // namespace ohm::cli
