// The real program, OHM_BINARY, run as a user would: in a folder, with arguments.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/golden.h"
#include "tests/support/temp_folder.h"

namespace ohm::test {

/// OHM_BINARY, or an installed one that tests/wheel/run names.
inline std::string program_path() {
  const char* installed = std::getenv("OHM_TEST_BINARY");
  return installed != nullptr ? installed : OHM_BINARY;
}

struct ProgramResult {
  int code = 0;  ///< of the exit; 128 + n for the signal n, as shells say it
  std::string out;
  std::string err;
};

/// A started program; wait() for it once.
class Program {
 public:
  /// `prepare` runs in the new process just before the program.
  Program(
      const std::string& folder, const std::vector<std::string>& arguments,
      const std::function<void()>& prepare = [] {}) {
    std::vector<std::string> words = {program_path()};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    argv.reserve(words.size() + 1);
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ < 0) throw std::runtime_error("cannot fork");
    if (pid_ > 0) return;
    redirect(STDOUT_FILENO, streams_.file("out"));
    redirect(STDERR_FILENO, streams_.file("err"));
    // A CI job that runs the tests is not told of what they fail on purpose, and changes nothing.
    ::unsetenv("GITHUB_ACTIONS");
    ::unsetenv("CI");
    prepare();
    if (::chdir(folder.c_str()) == 0) ::execv(argv[0], argv.data());
    ::_exit(127);
  }

  void send(int signal) const { ::kill(pid_, signal); }
  /// Until a process that it started has computed for so long, or it has ended itself.
  void wait_for_work(double seconds) const {
    wait_until([&] { return seconds_of_child() >= seconds; });
  }
  /// Until this is so, or it has ended itself.
  void wait_until(const std::function<bool()>& is_so) const {
    while (!has_ended() && !is_so()) ::usleep(1000);
  }
  /// What it has printed so far.
  std::string out() const { return read_file(streams_.file("out")); }
  std::string err() const { return read_file(streams_.file("err")); }

  ProgramResult wait() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return {code, out(), err()};
  }

 private:
  static void redirect(int descriptor, const std::string& path) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(file, descriptor);
  }

  /// Leaves it to wait() to hear of it.
  bool has_ended() const {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == pid_;
  }
  /// Of the processor's, of the process that it started first among those that are there.
  double seconds_of_child() const {
    const std::string pid = std::to_string(pid_);
    long child = 0;
    std::istringstream(read_file("/proc/" + pid + "/task/" + pid + "/children")) >> child;
    const std::string stat = read_file("/proc/" + std::to_string(child) + "/stat");
    // Of the fields behind the name in parentheses, the twelfth is the user's time.
    std::istringstream fields(stat.substr(std::min(stat.find(')'), stat.size())));
    std::string skipped;
    for (int field = 0; field < 12; ++field) fields >> skipped;
    double ticks = 0;
    fields >> ticks;
    return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
  }

  TempFolder streams_;
  pid_t pid_ = -1;
};

inline ProgramResult run_program(
    const std::string& folder, const std::vector<std::string>& arguments,
    const std::function<void()>& prepare = [] {}) {
  return Program(folder, arguments, prepare).wait();
}

}  // namespace ohm::test
