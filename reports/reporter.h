// The formats that results can be written in: one row each.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "reports/ci/workflow_commands.h"
#include "reports/model/recording.h"
#include "reports/model/run_result.h"
#include "reports/model/sweep_result.h"
#include "reports/text/report_style.h"

namespace ohm::reports {

/// A format of ohm run's results.
struct Reporter {
  std::string_view name;        ///< as in `--report NAME=PATH`
  std::string_view help;        ///< one line
  std::string_view extensions;  ///< of its files, with blanks between: ".html .htm"; may be empty
  Recording recording;          ///< what it shows, where it is there
  /// Of what would be a command in the log of a workflow; nullptr: its lines are commands.
  const CommandSpelling* spelling;
  /// The whole file. A pure function.
  std::string (*render)(const RunResult& result, const ReportStyle& style);
};

std::span<const Reporter> reporters();

/// Throws std::invalid_argument that names the known ones and suggests the nearest.
const Reporter& find_reporter(std::string_view name);

/// The format that such files have by themselves (".html"); nullptr for any other extension.
const Reporter* reporter_of_extension(std::string_view extension);

/// A format of ohm sweep's results.
struct SweepReporter {
  std::string_view name;
  std::string_view help;
  const CommandSpelling* spelling;  ///< as of a Reporter
  /// The whole file. A pure function.
  std::string (*render)(const SweepResult& result);
};

std::span<const SweepReporter> sweep_reporters();

/// Throws std::invalid_argument that names the known ones and suggests the nearest.
const SweepReporter& find_sweep_reporter(std::string_view name);

/// How a format spells what would be a command in the log of a workflow, of either table; nullptr:
/// its lines are commands.
const CommandSpelling* command_spelling(std::string_view format);

/// ".html, .htm, .json": all extensions that tell a format, for messages.
std::string known_extensions();

}  // namespace ohm::reports
