// The options of a run: which scenarios, on which machine, and what is recorded of them.
//
// Those that change what a variant runs on, or how far it may go, are rows of kRunOptionRows: an
// option of the command line, what is done to the machine, the command that repeats a variant, the
// settings that shards have to share and whether baselines are compared all follow from its row.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "allocator_shim/device/gpu_profile.h"
#include "harness/machine/machine_options.h"
#include "harness/scenario/scenario_program.h"
#include "harness/scenario/script_sources.h"
#include "harness/scenario/selection.h"
#include "harness/scenario/shard.h"
#include "harness/scenario/snapshot_paths.h"
#include "reports/model/recording.h"

namespace ohm::engine {

class Checkpoint;
class LiveBoard;

/// An amount of memory, written as in "1GiB".
struct ByteSize {
  std::size_t bytes = 0;

  friend bool operator==(const ByteSize&, const ByteSize&) = default;
};

struct RunOptions {
  std::vector<std::string> files;
  Selection selection;
  int jobs = 1;

  // ---- rows of kRunOptionRows
  std::string gpu_text;                   ///< `gpu` or `cuda` as it was written
  std::optional<ByteSize> limit;          ///< of each GPU, where `cuda`; absent: its own capacity
  bool size_only = false;                 ///< no values on any device, whatever the scenarios say
  std::optional<std::string> alloc_conf;  ///< allocator settings, instead of the scenarios' own
  std::string addresses;                  ///< "ascending", "descending", or empty: ascending
  std::string rules;  ///< the allocator's version, instead of the scenarios'; empty: theirs
  ParameterValues parameters;  ///< instead of what the scenarios give theirs
  std::string fault;           ///< a fault plan for every variant; empty: none
  std::uint64_t seed = 0;
  double timeout_seconds = 60;  ///< for each variant
  std::uint64_t instructions = ScriptCaps().instructions;
  ByteSize script_memory = {ScriptCaps().memory_bytes};
  ByteSize value_memory = {ScriptCaps().value_bytes};

  // ---- derived from them and from the environment
  std::optional<GpuSelection> gpu;     ///< instead of the scenarios' own
  std::optional<CudaLibraries> cuda;   ///< the scenarios' GPUs are shares of real cards
  std::size_t card_bytes = 0;          ///< of the smallest of them; 0: they are not looked at yet
  std::string environment_alloc_conf;  ///< where neither a scenario nor `alloc_conf` gives any

  Shard shard;              ///< which of the files
  bool fail_fast = false;   ///< the first scenario that does not pass is the last one
  bool timestamps = false;  ///< wall times become part of the result
  Recording recording = Recording::figures;
  /// Baselines beside the scenarios are compared: not for a run whose changes_machine() is true.
  bool checks_baselines = false;
  bool requires_baselines = false;  ///< a variant without one fails, as does one of another machine
  SnapshotPaths snapshots;          ///< of what is selected; empty: none
  /// Shows the variants that run, and progress is reported ten times a second; nullptr: not shown.
  LiveBoard* live_board = nullptr;
  Checkpoint* checkpoint = nullptr;  ///< keeps what is known; nullptr: nothing does
};

/// The commands that run scenarios, each with options of the table.
enum class RunCommand : std::uint8_t { run, sweep, verify_device, fit, smi, baseline };

class RunCommands {
 public:
  constexpr RunCommands(std::initializer_list<RunCommand> commands) {
    for (const RunCommand command : commands) bits_ |= bit(command);
  }
  constexpr bool has(RunCommand command) const { return (bits_ & bit(command)) != 0; }

 private:
  static constexpr unsigned bit(RunCommand command) { return 1U << static_cast<unsigned>(command); }

  unsigned bits_ = 0;
};

/// The value of an option: the type decides how the command line spells it.
using RunOptionMember =
    std::variant<std::string RunOptions::*, std::optional<std::string> RunOptions::*,
                 bool RunOptions::*, std::uint64_t RunOptions::*, double RunOptions::*,
                 ByteSize RunOptions::*, std::optional<ByteSize> RunOptions::*,
                 ParameterValues RunOptions::*>;

struct RunOptionRow {
  std::string_view flag;
  std::string_view value_name;  ///< what stands for the value in the help; empty: a switch
  std::string_view help;
  RunOptionMember member;
  RunCommands commands = {RunCommand::run, RunCommand::sweep, RunCommand::verify_device};
  /// Whether figures can differ from those of the scenario as it is: baselines are not compared.
  bool changes_machine = false;
  bool may_be_empty = true;
  /// Throws std::invalid_argument; nullptr: every value will do.
  void (*check)(const RunOptions& run) = nullptr;
  /// Changes the machine that a scenario asks for; nullptr: the option is about something else.
  void (*apply)(const RunOptions& run, MachineOptions& machine) = nullptr;
};

/// Throw std::invalid_argument.
void check_addresses(const RunOptions& run);
void check_fault_plan(const RunOptions& run);

inline constexpr std::string_view kGpuValueName = "NAME|FILE[,capacity=SIZE][,count=N]";

/// In the order in which a command that repeats a variant has them.
inline constexpr std::array<RunOptionRow, 13> kRunOptionRows = {{
    {.flag = "--gpu",
     .value_name = kGpuValueName,
     .help = "Use these GPUs instead (ohm gpus lists them), or cuda: this computer's own",
     .member = &RunOptions::gpu_text,
     .commands = {RunCommand::run, RunCommand::sweep, RunCommand::smi},
     .changes_machine = true,
     .apply =
         [](const RunOptions& run, MachineOptions& machine) {
           machine.cuda = run.cuda;
           if (!run.gpu) return;
           machine.profile = run.gpu->profile;
           machine.gpu.profile = run.gpu->profile.name;
           machine.gpu.capacity_bytes = run.gpu->profile.capacity_bytes;
           machine.gpu.count = run.gpu->count.value_or(machine.gpu.count);
         }},
    {.flag = "--limit",
     .value_name = "SIZE",
     .help = "With --gpu cuda: memory limit of each GPU (default: the scenario's)",
     .member = &RunOptions::limit,
     .changes_machine = true,
     .may_be_empty = false,
     .apply =
         [](const RunOptions& run, MachineOptions& machine) {
           if (run.limit) machine.gpu.capacity_bytes = run.limit->bytes;
         }},
    {.flag = "--size-only",
     .value_name = "",
     .help = "Keep sizes, not values: the same bytes in a fraction of the time",
     .member = &RunOptions::size_only,
     .changes_machine = true,
     .apply =
         [](const RunOptions& run, MachineOptions& machine) {
           if (run.size_only) machine.gpu.values = false;
         }},
    {.flag = "--alloc-conf",
     .value_name = "KEY:VALUE,...",
     .help = "Allocator settings instead, as in PYTORCH_CUDA_ALLOC_CONF",
     .member = &RunOptions::alloc_conf,
     .commands = {RunCommand::run, RunCommand::sweep, RunCommand::verify_device, RunCommand::fit},
     .changes_machine = true,
     .apply =
         [](const RunOptions& run, MachineOptions& machine) {
           if (run.alloc_conf) machine.gpu.alloc_conf = run.alloc_conf;
           if (!machine.gpu.alloc_conf) machine.gpu.alloc_conf = run.environment_alloc_conf;
         }},
    {.flag = "--rules",
     .value_name = "NAME",
     .help = "Allocator version to emulate",
     .member = &RunOptions::rules,
     .commands = {RunCommand::run, RunCommand::sweep, RunCommand::verify_device, RunCommand::fit},
     .changes_machine = true,
     .apply =
         [](const RunOptions& run, MachineOptions& machine) {
           if (!run.rules.empty()) machine.gpu.rules = run.rules;
         }},
    {.flag = "--addresses",
     .value_name = "ORDER",
     .help = "Where virtual GPUs place segments: ascending (default) or descending",
     .member = &RunOptions::addresses,
     .commands = {RunCommand::run, RunCommand::sweep, RunCommand::fit},
     .changes_machine = true,
     .check = check_addresses,
     .apply =
         [](const RunOptions& run, MachineOptions& machine) {
           if (!run.addresses.empty()) machine.address_order = parse_address_order(run.addresses);
         }},
    {.flag = "--set",
     .value_name = "NAME=VALUE",
     .help = "Set a parameter that the scenarios declare; repeatable",
     .member = &RunOptions::parameters,
     .commands = {RunCommand::run, RunCommand::sweep, RunCommand::verify_device, RunCommand::fit,
                  RunCommand::smi},
     .changes_machine = true},
    {.flag = "--fault",
     .value_name = "PLAN",
     .help = "Make allocations fail as this plan says (ohm list --faults)",
     .member = &RunOptions::fault,
     .commands = {RunCommand::run},
     .changes_machine = true,
     .may_be_empty = false,
     .check = check_fault_plan,
     .apply =
         [](const RunOptions& run, MachineOptions& machine) {
           if (!run.fault.empty()) machine.fault_plans.push_back(run.fault);
         }},
    {.flag = "--seed",
     .value_name = "N",
     .help = "Random seed (default: 0)",
     .member = &RunOptions::seed,
     .changes_machine = true,
     .apply = [](const RunOptions& run, MachineOptions& machine) { machine.seed = run.seed; }},
    {.flag = "--timeout",
     .value_name = "SECONDS",
     .help = "Time limit of each worker process, 0 for none (default: 60)",
     .member = &RunOptions::timeout_seconds,
     .commands = {RunCommand::run, RunCommand::sweep, RunCommand::verify_device, RunCommand::fit,
                  RunCommand::baseline},
     .check =
         [](const RunOptions& run) {
           if (!(run.timeout_seconds >= 0)) {
             throw std::invalid_argument("must be a number of seconds, or 0 for none");
           }
         }},
    {.flag = "--instructions",
     .value_name = "N",
     .help = "Instructions that a script may execute (default: 1000000000)",
     .member = &RunOptions::instructions},
    {.flag = "--script-memory",
     .value_name = "SIZE",
     .help = "Memory that a script's own objects may take (default: 1GiB)",
     .member = &RunOptions::script_memory},
    {.flag = "--value-memory",
     .value_name = "SIZE",
     .help = "Host memory that the values of tensors may take (default: 2GiB)",
     .member = &RunOptions::value_memory,
     .apply = [](const RunOptions& run,
                 MachineOptions& machine) { machine.value_bytes = run.value_memory.bytes; }},
}};

/// The values that a command line has to give for these options; none for the default, one that is
/// empty for a switch.
std::vector<std::string> given_values(const RunOptionRow& row, const RunOptions& run);

/// The value as shards compare it: of a default, too.
std::string setting_text(const RunOptionRow& row, const RunOptions& run);

/// Whether the run is on another machine, or with other parameters, faults or seeds than the
/// scenarios say.
bool changes_machine(const RunOptions& run);

/// What loading this scenario takes.
LoadRequest load_request(const RunOptions& run, std::string path, ScriptSources sources);

}  // namespace ohm::engine
