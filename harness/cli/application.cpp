#include "harness/cli/application.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <csignal>
#include <exception>
#include <new>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "allocator_shim/base/nearest_name.h"
#include "allocator_shim/base/no_memory.h"
#include "allocator_shim/device/cuda/shared_library.h"
#include "allocator_shim/snapshot/pickle_reader.h"
#include "harness/cli/baseline_command.h"
#include "harness/cli/completion_command.h"
#include "harness/cli/diff_command.h"
#include "harness/cli/exec_command.h"
#include "harness/cli/explain_command.h"
#include "harness/cli/fit_command.h"
#include "harness/cli/gpus_command.h"
#include "harness/cli/help_command.h"
#include "harness/cli/list_command.h"
#include "harness/cli/merge_command.h"
#include "harness/cli/new_command.h"
#include "harness/cli/record_command.h"
#include "harness/cli/replay_command.h"
#include "harness/cli/report_command.h"
#include "harness/cli/run_command.h"
#include "harness/cli/smi_command.h"
#include "harness/cli/sweep_command.h"
#include "harness/cli/terminal.h"
#include "harness/cli/verify_device_command.h"
#include "harness/cli/why_command.h"
#include "harness/fit/varied_recording.h"
#include "harness/gate/baseline.h"
#include "harness/process/git_revision.h"
#include "harness/process/interrupt.h"
#include "harness/process/stack_limit.h"
#include "harness/replay/replay_file.h"
#include "harness/slurm/slurm_commands.h"
#include "reports/json/result_reader.h"
#include "reports/model/exit_code.h"
#include "reports/text/report_file.h"
#include "reports/text/text_layout.h"

namespace ohm::cli {

namespace {

constexpr std::array kCommands = {
    kRunCommand,      kExecCommand,   kRecordCommand,       kSweepCommand,     kMergeCommand,
    kExplainCommand,  kWhyCommand,    kFitCommand,          kReportCommand,    kDiffCommand,
    kBaselineCommand, kReplayCommand, kSmiCommand,          kNewCommand,       kListCommand,
    kGpusCommand,     kHelpCommand,   kVerifyDeviceCommand, kCompletionCommand};

std::string examples_text(std::string_view examples) {
  std::string out = "Examples:\n";
  while (true) {
    const std::size_t end = examples.find('\n');
    out += fmt::format("  {}\n", examples.substr(0, end));
    if (end == std::string_view::npos) return out;
    examples.remove_prefix(end + 1);
  }
}

std::string exit_codes_text() {
  std::string out = "Exit codes:\n";
  for (const ExitCode& code : kExitCodes)
    out += fmt::format("  {:>3}  {}\n", code.code, code.meaning);
  return out;
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  names.reserve(kCommands.size());
  for (const Command& command : kCommands) names.emplace_back(command.name);
  return names;
}

/// A word that is not a command is best recognised before the parser sees it.
void check_command(int argc, const char* const* argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  const std::string name = argv[1];
  const std::vector<std::string> known = command_names();
  if (std::find(known.begin(), known.end(), name) != known.end()) return;
  throw UsageError(unknown_command(name, known));
}

const Command* find_command(int argc, const char* const* argv) {
  const auto* command = std::find_if(kCommands.begin(), kCommands.end(), [&](const Command& row) {
    return argc > 1 && row.name == argv[1];
  });
  return command == kCommands.end() ? nullptr : command;
}

/// What is to be started is told apart from this program's own options before they are parsed.
struct CommandLine {
  CommandLine(int argc, const char* const* argv) : own(argv, argv + argc) {
    const Command* const command = find_command(argc, argv);
    if (command == nullptr || command->starts_program == StartsProgram::never) return;
    const auto separator = std::find(own.begin(), own.end(), std::string_view("--"));
    if (separator != own.end()) {
      program.assign(separator + 1, own.end());
      own.erase(separator, own.end());
      if (program.empty()) throw UsageError(missing_program(*command));
      return;
    }
    const auto has = [&](std::string_view word) {
      return std::find(own.begin(), own.end(), word) != own.end();
    };
    const bool needs_program = command->starts_program == StartsProgram::always;
    if (needs_program && !has("--help") && !has("-h")) throw UsageError(missing_program(*command));
  }

  /// With the first example that has a program.
  static std::string missing_program(const Command& command) {
    std::string_view example = command.examples;
    const std::size_t program = example.find(" -- ");
    if (program != std::string_view::npos) {
      const std::size_t before = example.rfind('\n', program);
      if (before != std::string_view::npos) example.remove_prefix(before + 1);
    }
    return fmt::format("the program comes after --, as in: {}",
                       example.substr(0, example.find('\n')));
  }

  std::vector<const char*> own;
  std::vector<std::string> program;
};

/// What was typed and is nothing, with the option that may have been meant.
std::string unexpected_text(const CLI::App& command) {
  std::vector<std::string> known;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  const std::vector<std::string> words = command.remaining();
  const std::string word = words.empty() ? "" : words.front().substr(0, words.front().find('='));
  if (!word.starts_with('-')) {
    return fmt::format("unexpected argument \"{}\"; ohm {} --help lists what it takes", word,
                       command.get_name());
  }
  return fmt::format("unknown option \"{}\"{}; ohm {} --help lists them", word,
                     did_you_mean(word, known), command.get_name());
}

/// The parser says "Could not convert: --jobs = abc"; only numbers can fail so.
std::string conversion_text(std::string_view message) {
  constexpr std::string_view kIntroduction = "Could not convert: ";
  constexpr std::string_view kEquals = " = ";
  const std::size_t equals = message.find(kEquals);
  if (!message.starts_with(kIntroduction) || equals == std::string_view::npos) {
    return std::string(message);
  }
  const std::size_t start = kIntroduction.size();
  return fmt::format("{}: \"{}\" is not a valid number", message.substr(start, equals - start),
                     message.substr(equals + kEquals.size()));
}

class Application {
 public:
  explicit Application(const Environment& environment) : app_(description(), "ohm") {
    app_.set_version_flag("--version", "ohm " OHM_VERSION);
    app_.require_subcommand(1);
    app_.footer(exit_codes_text());
    for (const Command& command : kCommands) add(command, environment);
  }

  int run(int argc, const char* const* argv) {
    if (argc < 2) {
      write_stdout(app_.help());
      return exit_code(ExitReason::usage).code;
    }
    try {
      app_.parse(argc, argv);
    } catch (const CLI::Success& help) {
      std::ostringstream text;
      const int code = app_.exit(help, text, text);
      write_stdout(text.str());
      return code;
    } catch (const CLI::ExtrasError&) {
      throw UsageError(unexpected_text(*app_.get_subcommands().front()));
    } catch (const CLI::ConversionError& error) {
      throw UsageError(conversion_text(error.what()));
    } catch (const CLI::ParseError& error) {
      throw UsageError(error.what());
    }
    for (const Entry& entry : entries_) {
      if (entry.app->parsed()) return entry.run();
    }
    return exit_code(ExitReason::usage).code;
  }

  std::vector<DescribedCommand> described() {
    std::vector<DescribedCommand> all;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const Command& command = kCommands[i];
      all.push_back({std::string(command.name), std::string(command.help),
                     std::string(command.examples), command.starts_program != StartsProgram::never,
                     OptionParser(*entries_[i].app, completed_).described()});
    }
    return all;
  }

 private:
  struct Entry {
    CLI::App* app;
    std::function<int()> run;
  };

  static std::string description() {
    return fmt::format("{}\n\n{}", kSummary,
                       examples_text("ohm run leaked_loss_graph\nohm list\nohm help run"));
  }

  void add(const Command& command, const Environment& environment) {
    CLI::App* app = app_.add_subcommand(std::string(command.name), std::string(command.help));
    entries_.push_back({app, command.setup(OptionParser(*app, completed_), environment)});
    // In the command's own help the examples come first; the list of commands has the one line.
    app->preparse_callback([app, &command](std::size_t /*arguments*/) {
      app->description(fmt::format("{}\n\n{}", command.help, examples_text(command.examples)));
    });
  }

  CLI::App app_;
  CompletedValues completed_;
  std::vector<Entry> entries_;  ///< in the order of kCommands
};

/// Prints the message; the code of the process.
int ended(const std::exception& error, ExitReason reason) {
  print_error(reports::printable(error.what()));
  return exit_code(reason).code;
}

int ended_by_our_defect(const std::exception& error) {
  print_error(fmt::format("internal error: {}", reports::printable(error.what())));
  return exit_code(ExitReason::internal_error).code;
}

/// Of what the machine, or the user's limits on this process, do not have left.
bool is_lack(const std::error_code& code) {
  constexpr std::array kLacks = {
      std::errc::too_many_files_open, std::errc::too_many_files_open_in_system,
      std::errc::resource_unavailable_try_again, std::errc::not_enough_memory};
  return std::any_of(kLacks.begin(), kLacks.end(), [&](std::errc lack) { return code == lack; });
}

int ended_without(const std::string& what, std::string_view remedy) {
  print_error(reports::printable(fmt::format("{}: {}", what, remedy)));
  return exit_code(ExitReason::unavailable).code;
}

}  // namespace

int run_application(int argc, const char* const* argv, const Environment& environment) {
  // A reader that goes away (head) and a file at its limit are errors of writing, and no reason to
  // lose reports.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  if (const std::optional<std::string> lack = engine::lack_of_stack()) {
    print_error(*lack);
    return exit_code(ExitReason::unavailable).code;
  }
  engine::clean_up_before_ending(&reports::ReportFile::remove_unfinished);
  try {
    const std::vector<const char*> words = spelled_with_help(argc, argv);
    const int word_count = static_cast<int>(words.size());
    check_command(word_count, words.data());
    const CommandLine line(word_count, words.data());
    Environment with_program = environment;
    with_program.program = line.program;
    if (line.own.size() > 2) with_program.words.assign(line.own.begin() + 2, line.own.end());
    Application application(with_program);
    with_program.commands = [&application] { return application.described(); };
    return application.run(static_cast<int>(line.own.size()), line.own.data());
  } catch (const UsageError& error) {
    return ended(error, ExitReason::usage);
  } catch (const GpuUnavailable& missing) {
    return ended(missing, ExitReason::unavailable);
  } catch (const engine::SlurmUnavailable& missing) {
    return ended(missing, ExitReason::unavailable);
    // What is wrong with a file that the command line names.
  } catch (const reports::ResultError& error) {
    return ended(error, ExitReason::script_error);
  } catch (const PickleError& error) {
    return ended(error, ExitReason::script_error);
  } catch (const engine::BaselineError& error) {
    return ended(error, ExitReason::script_error);
  } catch (const engine::ReplayError& error) {
    return ended(error, ExitReason::script_error);
  } catch (const engine::RecordingError& error) {
    return ended(error, ExitReason::script_error);
  } catch (const engine::RevisionError& error) {
    return ended(error, ExitReason::script_error);
  } catch (const std::bad_alloc& error) {
    // What the library says of it is the name of a class.
    const bool is_told = dynamic_cast<const NoMemory*>(&error) != nullptr;
    return ended_without(is_told ? error.what() : "no memory is left on this machine",
                         "end other programs, or allow this one more (ulimit -v)");
  } catch (const std::system_error& error) {
    if (!is_lack(error.code())) return ended_by_our_defect(error);
    return ended_without(error.what(),
                         "allow more (ulimit -n, ulimit -u), or do less at once (-j)");
  } catch (const std::exception& error) {
    return ended_by_our_defect(error);
  }
}

}  // namespace ohm::cli
