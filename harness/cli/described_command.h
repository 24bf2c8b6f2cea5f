// The command line as plain data: what completions and man pages are made from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ohm::cli {

/// What a shell offers for the value of an option.
enum class Completion : std::uint8_t { files, scenarios, gpus, commands, words };

struct CompletedValue {
  Completion kind = Completion::files;
  std::vector<std::string> words = {};  ///< with Completion::words
};

struct DescribedOption {
  std::vector<std::string> flags;  ///< "-j", "--jobs"; of an argument none
  std::string argument;            ///< the name of an argument: "FILES"
  std::string value;               ///< what the help calls its value; empty: it takes none
  std::string help;
  bool may_lack_value = false;
  bool is_repeatable = false;
  CompletedValue completed;

  bool is_argument() const { return flags.empty(); }
};

struct DescribedCommand {
  std::string name;
  std::string help;      ///< one line
  std::string examples;  ///< one per line
  bool starts_program = false;
  std::vector<DescribedOption> options;  ///< in the order of the help
};

}  // namespace ohm::cli
