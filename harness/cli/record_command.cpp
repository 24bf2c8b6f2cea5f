#include "harness/cli/record_command.h"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "allocator_shim/device/cuda/shared_library.h"
#include "harness/cli/option_values.h"
#include "harness/cli/terminal.h"
#include "harness/exec/child_command.h"
#include "harness/exec/gpu_command.h"
#include "harness/exec/job_recording.h"
#include "harness/exec/record_folder.h"
#include "harness/exec/unwritten_records.h"
#include "harness/process/current_folder.h"
#include "reports/text/report_file.h"

namespace ohm::cli {

namespace {

constexpr const char* kDefaultFile = "memory.pickle";
constexpr std::uint64_t kDefaultEvents = 200'000;
constexpr const char* kNoStacks = "none";

struct RecordArguments {
  std::string file = kDefaultFile;
  std::uint64_t most_events = kDefaultEvents;
  std::uint64_t steps = 0;
  std::string stacks = "python";
  bool has_all_steps = false;
  bool names_modules = false;
  std::vector<std::string> command;
};

/// The job may go to another folder. Throws UsageError where nothing can be written there; what is
/// there stays until the job has something to put in its place.
std::string writable_file(const std::string& path) {
  bool is_file = false;
  try {
    is_file = !reports::ReportFile(path).is_direct();
  } catch (const std::runtime_error& error) {
    throw UsageError(fmt::format("--output: {}", error.what()));
  }
  if (!is_file) throw UsageError(fmt::format("--output: {} is not a file", path));
  if (std::filesystem::path(path).is_absolute()) return path;
  return parsed("--output", [&] { return std::filesystem::path(engine::current_folder()) / path; });
}

void make_folder(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::create_directory(path, error)) {
    throw std::invalid_argument(fmt::format("{}: {}", path, error.message()));
  }
}

struct Recorded {
  engine::CommandEnd end;
  bool lacks_records = false;
};

Recorded run_recorded(const RecordArguments& arguments, engine::JobRecording recording) {
  const engine::CommandRunner runner;
  const engine::RecordFolder folder;
  recording.names = std::filesystem::path(folder.path()) / "names";
  make_folder(recording.names);
  const engine::ChildCommand command = engine::recorded_command(arguments.command, recording);
  const std::string lack = engine::lack_of_torch(runner, command, folder.path());
  if (!lack.empty()) throw GpuUnavailable(fmt::format("nothing can be recorded: {}", lack));
  const engine::CommandEnd end = runner.run(command);
  std::error_code gone;
  if (std::filesystem::is_empty(recording.names, gone)) {
    print_error("nothing was recorded: no Python of the command has used CUDA through PyTorch");
  }
  // What could not be written has been told by the process.
  const bool lacks_records = !engine::unwritten_records(recording.names).empty();
  return {end, lacks_records};
}

int record(const RecordArguments& arguments) {
  engine::JobRecording recording;
  recording.file = writable_file(arguments.file);
  recording.most_events = arguments.most_events;
  recording.steps = arguments.steps;
  recording.has_all_steps = arguments.has_all_steps;
  recording.has_stacks = arguments.stacks != kNoStacks;
  recording.names_modules = arguments.names_modules;
  if (recording.names_modules && !recording.has_stacks) {
    throw UsageError("--modules needs stacks: remove --stacks none");
  }
  try {
    const auto [end, lacks_records] =
        parsed("record", [&] { return run_recorded(arguments, recording); });
    if (end.signal != 0) engine::end_by_signal(end.signal);
    if (end.status == 0 && lacks_records) return exit_code(ExitReason::usage).code;
    return end.status;
  } catch (const engine::CommandInterrupted& interrupted) {
    engine::end_by_signal(interrupted.signal());
  }
}

}  // namespace

std::function<int()> setup_record(const OptionParser& parser, const Environment& environment) {
  const auto arguments = std::make_shared<RecordArguments>();
  arguments->command = environment.program;
  parser
      .add_option("-o,--output", arguments->file,
                  fmt::format("Snapshot to write (default: {}); a rank adds its number to the "
                              "name, an out-of-memory error .oom",
                              kDefaultFile))
      .type_name("FILE")
      .check(not_empty());
  parser
      .add_option("--max-entries", arguments->most_events,
                  fmt::format("Events to keep of each process, the most recent ones (default: {})",
                              kDefaultEvents))
      .type_name("N")
      .check(whole_number(1, 100'000'000));
  parser
      .add_option("--steps", arguments->steps,
                  "Record this many optimizer steps and write the snapshot; the rest of the job "
                  "runs unrecorded (default: all)")
      .type_name("N")
      .check(whole_number(1, 100'000'000));
  parser.add_flag(
      "--all-steps", arguments->has_all_steps,
      "Keep recording once optimizer steps repeat, which slows small ops down noticeably");
  parser
      .add_option("--stacks", arguments->stacks,
                  "python: the Python stack of every request; none: only bytes and addresses, "
                  "which costs less (default: python)")
      .type_name("KIND")
      .one_of({"python", kNoStacks});
  parser.add_flag("--modules", arguments->names_modules,
                  "Add the running module, by its path in the model, to every stack; tracebacks of "
                  "the job get a line for each");
  return [arguments] { return record(*arguments); };
}

}  // namespace ohm::cli
