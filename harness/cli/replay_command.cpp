#include "harness/cli/replay_command.h"
#include "harness/cli/baseline_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "allocator_shim/base/format_bytes.h"
#include "allocator_shim/snapshot/pickle_reader.h"
#include "harness/cli/github_actions.h"
#include "harness/cli/gpu_option.h"
#include "harness/cli/progress_line.h"
#include "harness/cli/report_outputs.h"
#include "harness/cli/style_options.h"
#include "harness/cli/terminal.h"
#include "harness/cli/value_option.h"
#include "harness/gate/snapshot_gate.h"
#include "harness/replay/replay_file.h"
#include "reports/console/console_report.h"
#include "reports/console/replay_text.h"
#include "reports/json/replay_json.h"

namespace ohm::cli {

namespace {

struct ReplayArguments {
  engine::ReplayOptions replay;
  engine::SnapshotGate gate;
  std::vector<std::string> capacities;
  std::vector<std::string> gpus;
  std::string optimizer;
  std::string format;
  std::vector<std::string> reports;
  StyleOptions style;
  bool events = false;
  bool ooms = false;
  bool json = false;

  bool is_golden() const { return events || ooms || !format.empty(); }
  bool is_gate() const { return !gate.limits.empty() || !gate.baseline.paths.empty(); }
};

void check_golden(const ReplayArguments& arguments) {
  if (!arguments.format.empty() && arguments.format != "golden") {
    throw UsageError(fmt::format("--format must be golden, not \"{}\"; --json is for programs",
                                 arguments.format));
  }
  if (!arguments.is_golden()) return;
  const engine::ReplayOptions& replay = arguments.replay;
  if (replay.settings.size() > 1 || replay.capacities.size() > 1 || replay.finds_min_capacity ||
      replay.verifies || arguments.json || !arguments.reports.empty()) {
    throw UsageError(
        "--format golden, --events and --ooms print one run: at most one --alloc-conf and one "
        "--capacity, and no report");
  }
}

void check_gate(const ReplayArguments& arguments) {
  const engine::ReplayOptions& replay = arguments.replay;
  const engine::RecordedBaselineOptions& baseline = arguments.gate.baseline;
  check_baseline_options(baseline);
  if (baseline.paths.empty() && baseline.allows_unknown_values) {
    throw UsageError("--allow-unknown-values requires --baseline");
  }
  if (!arguments.is_gate()) return;
  const bool asks_more = arguments.is_golden() || replay.verifies || replay.finds_min_capacity ||
                         replay.memory_fraction || !replay.settings.empty() ||
                         !replay.capacities.empty() || replay.changes_program();
  if (asks_more) {
    throw UsageError(
        "--limit and --baseline judge the recording: ask what-if questions in a separate run");
  }
}

/// A card is what its allocator can get of it.
void take_gpus(ReplayArguments& arguments) {
  for (const std::string& text : arguments.gpus) {
    for (const GpuSelection& gpu : gpu_selections(text)) {
      if (gpu.profile.capacity_bytes <= gpu.profile.context_bytes) {
        throw UsageError(fmt::format("--gpu {}: its context leaves no memory", text));
      }
      arguments.replay.capacities.push_back(gpu.profile.capacity_bytes - gpu.profile.context_bytes);
    }
  }
}

void check_changes(const ReplayArguments& arguments) {
  const engine::ReplayOptions& replay = arguments.replay;
  if (!arguments.optimizer.empty() && arguments.optimizer != "fused") {
    throw UsageError(fmt::format(
        "--optimizer must be fused, not \"{}\": what other optimizers allocate is not known",
        arguments.optimizer));
  }
  if (!replay.checkpoints.empty() && (!replay.free_at.empty() || !arguments.optimizer.empty())) {
    throw UsageError("--checkpoint cannot be combined with --free-at or --optimizer");
  }
}

void check(ReplayArguments& arguments) {
  engine::ReplayOptions& replay = arguments.replay;
  if (replay.file.empty()) throw UsageError("name the file, as in ohm replay snapshot.pickle");
  for (const std::string& text : arguments.capacities) {
    try {
      replay.capacities.push_back(parse_bytes(text));
    } catch (const std::invalid_argument& error) {
      throw UsageError(fmt::format("--capacity: {}", error.what()));
    }
    if (replay.capacities.back() == 0) throw UsageError("--capacity must be more than 0");
  }
  take_gpus(arguments);
  check_changes(arguments);
  replay.is_fused = !arguments.optimizer.empty();
  if (replay.memory_fraction && !(*replay.memory_fraction >= 0 && *replay.memory_fraction <= 1)) {
    throw UsageError("--memory-fraction must be between 0 and 1");
  }
  check_golden(arguments);
  check_gate(arguments);
}

int print_golden(const ReplayArguments& arguments) {
  const GoldenOutput output = engine::replay_in_golden_format(arguments.replay);
  if (arguments.events) {
    print_text(output.events);
  } else {
    print_text(arguments.ooms ? output.out_of_memory : output.expected);
  }
  return exit_code(ExitReason::passed).code;
}

ReplayResult replay_with_progress(const ReplayArguments& arguments) {
  engine::ReplayOptions options = arguments.replay;
  ProgressLine progress(!arguments.style.quiet && is_stderr_animated());
  std::size_t runs = 0;
  // A search does not know how many runs it will take, nor a file beforehand of how many cards it
  // is.
  const std::size_t total = options.finds_min_capacity
                                ? 0
                                : std::max<std::size_t>(1, options.settings.size()) *
                                      std::max<std::size_t>(1, options.capacities.size());
  options.on_run = [&] {
    ++runs;
    progress.show(runs, runs > total ? 0 : total);
  };
  return engine::replay_file(options);
}

/// What --report and --json ask for.
std::vector<std::string> requested(const ReplayArguments& arguments) {
  std::vector<std::string> reports = arguments.reports;
  if (arguments.json) reports.emplace_back("json=-");
  return reports;
}

/// Every report of a run can be made of it.
int judge(const ReplayArguments& arguments) {
  std::vector<std::string> inputs = arguments.gate.baseline.paths;
  inputs.push_back(arguments.gate.file);
  OutputPaths paths(inputs);
  ReportOutputs outputs = run_outputs(requested(arguments), paths);
  const reports::ReportStyle style = report_style(arguments.style);
  const RunResult result = engine::judge_snapshot(arguments.gate);
  const std::string errors = outputs.try_write(render_run(result, style));
  if (!outputs.uses_stdout()) print_text(reports::console_report(result, style));
  tell_github(result);
  if (!errors.empty()) throw UsageError(errors);
  return exit_code(result.exit_reason).code;
}

int replay_as_asked(const ReplayArguments& arguments) {
  if (arguments.is_golden()) return print_golden(arguments);
  OutputPaths paths({arguments.replay.file});
  ReportOutputs outputs = json_outputs(requested(arguments), paths);
  const reports::ReportStyle style = report_style(arguments.style);
  const ReplayResult result = replay_with_progress(arguments);
  outputs.write([&](std::string_view, bool) { return reports::replay_json(result); });
  if (!outputs.uses_stdout()) print_text(reports::replay_text(result, style));
  return exit_code(result.exit_reason).code;
}

int replay(ReplayArguments arguments) {
  check(arguments);
  arguments.gate.file = arguments.replay.file;
  try {
    return arguments.is_gate() ? judge(arguments) : replay_as_asked(arguments);
  } catch (const PickleError&) {
    throw;  // of the file, not of the options
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
}

void add_questions(const OptionParser& parser, ReplayArguments& arguments) {
  engine::ReplayOptions& replay = arguments.replay;
  parser.add_option("FILE", replay.file, "A PyTorch memory snapshot, or a .trace").type_name("");
  parser.add_flag("--verify", replay.verifies,
                  "Exit with 1 if the allocator differs from the recording");
  parser
      .add_option("--capacity", arguments.capacities,
                  "What if the device had this much memory for the process; repeatable")
      .type_name("SIZE")
      .one_value_each();
  parser
      .add_option("--gpu", arguments.gpus,
                  "What if the process had this GPU (ohm gpus lists them): its memory without a "
                  "context; repeatable")
      .type_name("NAME")
      .completes(Completion::gpus)
      .one_value_each();
  parser
      .add_option("--free-at", replay.free_at,
                  "What if the memory that this line allocates were freed at the end of its step; "
                  "repeatable")
      .type_name("FILE:LINE")
      .one_value_each();
  parser
      .add_option("--optimizer", arguments.optimizer,
                  "What if the Adam or AdamW of the recording were fused (fused=True)")
      .type_name("fused");
  parser
      .add_option("--checkpoint", replay.checkpoints,
                  "What if these modules were checkpointed, as ohm record --modules names them: "
                  "GPT.blocks.*; repeatable")
      .type_name("MODULE")
      .one_value_each();
  parser
      .add_option("--dtype", replay.dtype,
                  "What if the job computed in this dtype: explains why a recording cannot tell")
      .type_name("bf16|fp16")
      .one_of({"bf16", "fp16"});
  parser
      .add_option(
          "--alloc-conf", replay.settings,
          "What if these were the allocator's settings (PYTORCH_CUDA_ALLOC_CONF); repeatable")
      .type_name("CONF")
      .one_value_each();
  parser
      .add_option("--memory-fraction", replay.memory_fraction,
                  "What if set_per_process_memory_fraction() were called first")
      .type_name("F");
  parser.add_flag("--min-capacity", replay.finds_min_capacity,
                  "Find the smallest capacity that suffices, without and with retries");
  parser
      .add_option("--limit", arguments.gate.limits,
                  "Exit with 1 if the recording breaks this limit: 'peak_allocated_bytes < 20 "
                  "GiB', 'growth_bytes_per_step == 0'; repeatable")
      .type_name("LIMIT")
      .one_value_each();
  engine::RecordedBaselineOptions& baseline = arguments.gate.baseline;
  add_baseline_options(parser, baseline);
  add_allow_unknown_values_option(parser, baseline.allows_unknown_values);
  parser.add_option("--rules", replay.rules, "Allocator version to emulate").type_name("NAME");
}

void add_output(const OptionParser& parser, ReplayArguments& arguments) {
  parser
      .add_option("--format", arguments.format,
                  "golden: a line for each line of a .trace, to compare with diff")
      .type_name("NAME");
  parser.add_flag("--events", arguments.events, "Print the allocator's events of a .trace");
  parser.add_flag("--ooms", arguments.ooms, "Print the out-of-memory messages of a .trace");
  parser
      .add_option(
          "--report", arguments.reports,
          "Write a report, - for standard output; with --limit and --baseline all of ohm list "
          "--reporters; repeatable")
      .type_name("json=PATH")
      .one_value_each();
  parser.add_flag("--json", arguments.json, "The same as --report json=- (ohm.replay/1)");
  add_color_option(parser, arguments.style);
  add_quiet_option(parser, arguments.style,
                   "Print only whether the allocator agrees, and where it does not");
}

}  // namespace

std::function<int()> setup_replay(const OptionParser& parser, const Environment& /*environment*/) {
  const auto arguments = std::make_shared<ReplayArguments>();
  add_questions(parser, *arguments);
  add_output(parser, *arguments);
  return [arguments] { return replay(*arguments); };
}

}  // namespace ohm::cli
