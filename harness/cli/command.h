// A command of the program: one file each, one row in the registry (application.cpp).
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "harness/scenario/scenario_program.h"

namespace ohm::cli {

/// The user asked for something that makes no sense: printed in one line, exit code 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What commands are given.
struct Environment {
  engine::ScenarioLoader loader;
  /// For ohm new: a file that tells editors what scripts can call.
  std::function<std::string()> editor_definitions;
};

struct Command {
  std::string_view name;
  std::string_view help;      ///< one line
  std::string_view examples;  ///< one per line; shown first in the command's help
  /// Declares the options; what it returns runs the command and gives the exit code. Both throw
  /// UsageError.
  std::function<int()> (*setup)(CLI::App& app, const Environment& environment);
  /// What it starts comes after `--`: without that, options of the two would be mixed up.
  bool starts_program = false;
};

}  // namespace ohm::cli
