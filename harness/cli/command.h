// A command of the program: one file each, one row in the registry (application.cpp).
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "harness/cli/described_command.h"
#include "harness/cli/option_parser.h"
#include "harness/scenario/scenario_program.h"

namespace ohm::cli {

/// The user asked for something that makes no sense: printed in one line, exit code 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What the program does, in one line.
inline constexpr std::string_view kSummary =
    "Reproduces GPU out-of-memory bugs without the GPU and proves their fixes.";

/// What commands are given.
struct Environment {
  engine::ScenarioLoader loader;
  /// For ohm new: a file that tells editors what scripts can call.
  std::function<std::string()> editor_definitions;
  /// The arguments after the command's name, as they were typed, up to `--`.
  std::vector<std::string> words = {};
  /// What stands after `--`, for a command that may start a program.
  std::vector<std::string> program = {};
  /// All commands, for those that describe the others.
  std::function<std::vector<DescribedCommand>()> commands = {};
};

/// Whether a command starts a program that comes after `--`: without that, options of the two would
/// be mixed up.
enum class StartsProgram : std::uint8_t { never, maybe, always };

struct Command {
  std::string_view name;
  std::string_view help;      ///< one line
  std::string_view examples;  ///< one per line; shown first in the command's help
  /// Declares the options; what it returns runs the command and gives the exit code. Both throw
  /// UsageError.
  std::function<int()> (*setup)(const OptionParser& parser, const Environment& environment);
  StartsProgram starts_program = StartsProgram::never;
};

}  // namespace ohm::cli
