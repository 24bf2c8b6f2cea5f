// The program of served_calls.h as another process, which does what a test tells it to.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace ohm::interpose {

class ServedProgram {
 public:
  using Variables = std::vector<std::pair<std::string, std::string>>;

  /// With these variables.
  explicit ServedProgram(const Variables& variables) {
    std::array<int, 2> input = {};
    std::array<int, 2> output = {};
    if (pipe2(input.data(), O_CLOEXEC) != 0 || pipe2(output.data(), O_CLOEXEC) != 0) return;
    process_ = fork();
    if (process_ == 0) {
      dup2(input[0], STDIN_FILENO);
      dup2(output[1], STDOUT_FILENO);
      for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
      execl("/proc/self/exe", "served", "--serve", nullptr);
      _exit(EXIT_FAILURE);
    }
    close(input[0]);
    close(output[1]);
    input_ = fdopen(input[1], "w");
    output_ = fdopen(output[0], "r");
    EXPECT_EQ(line(), "ready");
  }
  ~ServedProgram() {
    std::fclose(input_);
    std::fclose(output_);
    if (process_ > 0) waitpid(process_, nullptr, 0);
  }
  ServedProgram(const ServedProgram&) = delete;
  ServedProgram& operator=(const ServedProgram&) = delete;

  /// The line that it prints about one.
  std::string operator()(const std::string& command) {
    std::fprintf(input_, "%s\n", command.c_str());
    std::fflush(input_);
    return line();
  }

  pid_t process() const { return process_; }

  /// Until nobody can see it any more, or, as a zombie, who waits for it.
  void kill(bool is_waited_for = true) {
    ::kill(process_, SIGKILL);
    siginfo_t end = {};
    waitid(P_PID, static_cast<id_t>(process_), &end, WEXITED | (is_waited_for ? 0 : WNOWAIT));
    if (is_waited_for) process_ = 0;
  }

 private:
  std::string line() {
    std::array<char, 400> text = {};
    if (std::fgets(text.data(), text.size(), output_) == nullptr) return "ended";
    std::string read = text.data();
    if (read.ends_with('\n')) read.pop_back();
    return read;
  }

  pid_t process_ = 0;
  std::FILE* input_ = nullptr;
  std::FILE* output_ = nullptr;
};

}  // namespace ohm::interpose
