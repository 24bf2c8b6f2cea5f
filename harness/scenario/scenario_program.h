// A scenario that can be run: what the harness needs of a scripting language.
//
// Everything here happens in a worker process, one per variant: the program is loaded, described
// and asked to run one variant, then the process ends; what is loaded once is run in several copies
// of the process. The harness installs the runtime's context
// (ohm::Context) before it loads: while a file is loaded there is a host device only, the GPUs
// are there when run() is called.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "harness/scenario/returned_value.h"
#include "harness/scenario/scenario.h"
#include "reports/model/run_result.h"

namespace ohm::engine {

class Machine;

/// An error of the script's making. what() starts with "file:line: " where the place is known.
class ScriptError : public std::runtime_error {
 public:
  explicit ScriptError(const std::string& message) : std::runtime_error(message) {}

  std::string file;         ///< as the script names it; empty when unknown
  int line = 0;             ///< 1-based; 0 when unknown
  std::string traceback;    ///< one frame per line; may be empty
  std::string hint;         ///< one sentence that says what to do; may be empty
  bool is_endless = false;  ///< the script executed as many instructions as it may
};

/// The running variant, as its program sees it.
class RunContext {
 public:
  virtual ~RunContext() = default;

  /// ohm.step(): the end of one step; bytes allocated are noted for every device.
  virtual void mark_step() = 0;

  /// ohm.cuda.memory.dump_snapshot(): writes what the GPUs hold and did. Throws
  /// std::invalid_argument where a script may not write, std::runtime_error where it cannot.
  virtual void dump_snapshot(const std::string& path) = 0;

  /// The devices, and what is measured about them.
  virtual Machine& machine() = 0;
};

/// Bytes of the live blocks of a device, by address.
using BlockSizes = std::unordered_map<std::uint64_t, std::size_t>;

/// Of the modules that a program holds: what a step may change for a while.
struct ModuleCounts {
  std::int64_t evaluating = 0;  ///< modules in evaluation mode
  std::int64_t hooks = 0;       ///< that the script registered
  std::int64_t frozen_parameters = 0;
};

/// A setting for the whole process, beside its modes.
struct ProgramSetting {
  std::string name;   ///< "flash attention"
  std::string value;  ///< in words; equal words are equal settings

  friend bool operator==(const ProgramSetting&, const ProgramSetting&) = default;
};

/// Of one program always the same ones, in the same order.
using ProgramSettings = std::vector<ProgramSetting>;

/// Modules that scripts require, by their paths.
using ModuleTexts = std::map<std::string, std::string>;

class ScenarioProgram {
 public:
  ScenarioProgram() = default;
  ScenarioProgram(const ScenarioProgram&) = delete;
  ScenarioProgram& operator=(const ScenarioProgram&) = delete;
  virtual ~ScenarioProgram() = default;

  /// What the file said; not yet validated.
  virtual const ScenarioDescription& description() const = 0;

  /// What it has required so far.
  virtual ModuleTexts modules() const { return {}; }

  /// From now on only these variants are run: what belongs to others alone may be let go of, where
  /// that changes nothing about these.
  virtual void keep_only(const std::vector<std::string>& /*variants*/) {}

  /// Runs the variant of this name and returns its values, copied; by then the returned tensors
  /// are released, so that what is still allocated is what the script holds on to. Throws
  /// OutOfMemory when one leaves the variant's function uncaught, ScriptError for any other error
  /// of the script.
  virtual ReturnedValues run(const std::string& variant, RunContext& run) = 0;

  /// Whether next_step() has something to call; otherwise the variant itself can be run again.
  virtual bool has_next_step(const std::string& /*variant*/) { return false; }
  /// Calls the variant's `next_step`: one more step with the objects that it left. Throws as run().
  virtual void next_step(const std::string& /*variant*/, RunContext& /*run*/) {}

  /// After an error: lets go what the script cannot reach any more.
  virtual void let_go() {}

  /// Equal numbers are equal states of the script, from which it goes on alike; nullopt: it
  /// cannot be told, for it holds what has a state of its own (a tensor, a module).
  virtual std::optional<std::uint64_t> fingerprint() { return std::nullopt; }

  /// What the script has set for the whole process, and the runtime knows nothing of.
  virtual ProgramSettings settings() { return {}; }

  /// After let_go(): of all modules that the script can reach.
  virtual ModuleCounts module_counts() { return {}; }

  /// While run() goes on: which variables of the script keep the blocks of this GPU alive.
  /// `device`, `bytes` and `other_bytes` of the result are the caller's to fill in.
  virtual RetentionResult retention(int gpu, const BlockSizes& blocks) = 0;
};

/// Caps on what a script may use of the host, so that an endless one ends in a clear error.
struct ScriptCaps {
  std::uint64_t instructions = 1'000'000'000;
  std::size_t memory_bytes = std::size_t{1} << 30U;
  std::size_t value_bytes = std::size_t{2} << 30U;  ///< of tensors, on all devices together
};

struct LoadRequest {
  std::string path;    ///< as given on the command line; names the file in messages
  std::string source;  ///< its text: not empty, UTF-8, without control characters of binaries
  ScriptCaps caps;
  std::uint64_t seed = 0;      ///< of the script's own random numbers
  ParameterValues parameters;  ///< instead of what the script gives those that it declares
  ModuleTexts modules;         ///< that are read already; the others are read when required
};

/// Loads a scenario. Throws ScriptError.
using ScenarioLoader = std::function<std::unique_ptr<ScenarioProgram>(const LoadRequest&)>;

}  // namespace ohm::engine
