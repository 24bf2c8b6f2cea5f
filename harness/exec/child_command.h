// A command that is started and waited for. Its output, the signals that this program is sent, and
// its end are its own, as if it had been started alone.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ohm::engine {

struct ChildCommand {
  std::string path;                ///< of the program
  std::vector<std::string> words;  ///< its name and its arguments
  /// Variables on top of this program's own.
  std::vector<std::pair<std::string, std::string>> environment;
  /// A file that takes both of its outputs, while there is nothing to read, and nothing else is
  /// open; empty: all of these are this program's.
  std::string output;
  std::string errors;  ///< with `output`: another one, for its standard error; empty: the same
  std::string input;   ///< with `output`: what it reads; empty: nothing
  std::string folder;  ///< that it is started in; empty: this program's
  double timeout_seconds = 0;  ///< then it is killed; 0: it is not
  /// Its addresses are the same in each run, where this machine lets them be: a program that sorts
  /// by address, or asks for memory as its addresses are, does the same each time.
  bool has_fixed_addresses = false;
};

/// How a command ended.
struct CommandEnd {
  int status = 0;  ///< its exit status, or 128 + the signal's number
  int signal = 0;  ///< that ended it; 0: none
  bool is_overdue = false;
  /// SIGINT, SIGTERM, SIGHUP or SIGQUIT, which this program was sent meanwhile; 0: none. A command
  /// may see to them in its own way.
  int asked_to_end = 0;
};

/// "exit status 3: its cause" (failure_cause.h); without one the status alone.
std::string exit_status_text(int status, const std::string& cause);

/// This program was asked to end while a command ran.
class CommandInterrupted : public std::runtime_error {
 public:
  explicit CommandInterrupted(int signal) : std::runtime_error("interrupted"), signal_(signal) {}
  int signal() const { return signal_; }

 private:
  int signal_;
};

/// Commands of which several may run at a time.
struct CommandBatch {
  std::size_t count = 0;
  int jobs = 1;  ///< that run at a time
  /// The command with this number, from 0, asked for when it is about to be started.
  std::function<ChildCommand(std::size_t number)> command;
  /// In the order in which they end.
  std::function<void(std::size_t number, const CommandEnd& end)> on_end;
};

/// Starts commands. While it lives, signals that this program is sent wait for run(): what has to
/// be tidied up is. One runner at a time.
class CommandRunner {
 public:
  CommandRunner();
  ~CommandRunner();
  CommandRunner(const CommandRunner&) = delete;
  CommandRunner& operator=(const CommandRunner&) = delete;

  /// Signals that arrive go on to the command: those of the terminal it gets by itself. A command
  /// that its terminal stops stops this program, too. Throws std::invalid_argument where it cannot
  /// be started.
  CommandEnd run(const ChildCommand& command) const;
  /// All of them, likewise. Asked to end, it starts no more, waits for those that run, of whose
  /// ends it does not tell, and throws CommandInterrupted. Where a command cannot be started, or a
  /// function of the batch throws, it kills those that run first.
  void run_each(const CommandBatch& batch) const;

 private:
  sigset_t held_ = {};
  sigset_t previous_ = {};
};

/// This process becomes the command. Throws std::invalid_argument where it cannot be started.
[[noreturn]] void become_command(const ChildCommand& command);

/// Ends this process as the command ended: by the same signal, without another core dump.
[[noreturn]] void end_by_signal(int signal);

}  // namespace ohm::engine
