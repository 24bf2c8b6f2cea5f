// The standard streams of this process: what they can show, and writing without losing an error.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "reports/ci/workflow_commands.h"

namespace ohm::cli {

/// Throws UsageError unless `choice` is "auto", "always" or "never". With "auto": where stdout is a
/// terminal, TERM is not "dumb" and NO_COLOR is not set.
bool wants_color(const std::string& choice);

/// Of the terminal behind stdout, 80 to 160; 100 where there is none.
std::size_t terminal_columns();

/// Whether a line on stderr can be drawn over: a terminal, and not in CI.
bool is_stderr_animated();

/// The bytes to stdout, as they are: what programs read. Throws UsageError when they cannot be
/// written (a full disk, say).
void write_stdout(std::string_view text);

/// A text to stdout: in the log of a workflow of GitHub's nothing in it is a command to the runner.
/// Throws as write_stdout().
void print_text(std::string_view text,
                const reports::CommandSpelling& spelling = reports::kForPeople);

/// Puts a file with this text in the place of the one that is there, whole or not at all. Throws
/// UsageError.
void write_file(const std::string& path, std::string_view text);

/// A text for people to stderr, as print_text(). Where that cannot be written the error has no
/// place to go.
void write_stderr(std::string_view text);

/// "ohm: " and the message to stderr, red where that is a terminal; of unknown origin and length.
void print_error(std::string_view message);
/// What to do about it, in a line below; nothing when there is no hint.
void print_hint(std::string_view hint);

/// Commands to GitHub's runner, a line each, to stderr.
void write_workflow_commands(std::string_view commands);

}  // namespace ohm::cli
