// The checker of a document's commands and transcripts.
//
//   console   command lines that begin with "$ ", each followed by exactly what it prints
//   sh        command lines, each of which has to end with exit code 0
//   lua       a scenario where a file is named above it; else the body of a function of one
//
// A command line goes on behind a backslash. A block of another language has to be written to a
// file or marked as not run: what is not checked is so on purpose.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/docs/markdown.h"

namespace ohm::docs {

struct CommandResult {
  int code = 0;
  std::string output;  ///< standard output and standard error as they come
};

/// The folder in which the commands of one document are run, one after the other.
class Workplace {
 public:
  Workplace() = default;
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;
  virtual ~Workplace() = default;

  virtual CommandResult run(const std::string& command) = 0;
  /// What the blocks need that are run here; empty: those that need nothing.
  virtual std::string provides() const { return ""; }
  virtual void write(const std::string& file, const std::string& bytes) = 0;
};

struct CheckedDocument {
  std::vector<Problem> problems;
  std::string approved;  ///< the document with what the commands printed in its transcripts
};

CheckedDocument check_document(std::string_view text, Workplace& workplace);

/// Code spans that begin with `ohm` or `--`: the command and its options have to be in the help, or
/// the options in the pytest plugin.
std::vector<Problem> check_code_spans(const Markdown& document, Workplace& workplace);

/// What follows "Subcommands:" in the help of ohm.
std::vector<std::string> commands_of_help(std::string_view help);

}  // namespace ohm::docs
