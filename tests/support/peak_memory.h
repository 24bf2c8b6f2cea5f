// The peak memory of a piece of work.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>

namespace ohm::test {

/// A figure of /proc/self/status, in bytes.
inline std::size_t memory_figure(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.compare(0, name.size() + 1, name + ":") == 0) {
      return std::stoul(line.substr(name.size() + 1)) * 1024;
    }
  }
  throw std::runtime_error("/proc/self/status has no " + name);
}

/// Bytes by which the resident memory of a process of its own grows at most during `work`: what it
/// allocates and touches, as long as it maps no files. `warm_up` does something of the kind first,
/// so that the program's own code is there.
inline std::size_t peak_memory_of(const std::function<void()>& warm_up,
                                  const std::function<void()>& work) {
  int ends[2] = {};
  if (::pipe(ends) != 0) throw std::runtime_error("cannot make a pipe");
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("cannot fork");
  if (child == 0) {
    std::size_t grown = 0;
    try {
      warm_up();
      std::ofstream("/proc/self/clear_refs") << "5";  // the peak begins here
      const std::size_t before = memory_figure("VmRSS");
      work();
      grown = memory_figure("VmHWM") - before;
    } catch (...) {
      ::_exit(1);  // nothing else may run in this process
    }
    ::_exit(::write(ends[1], &grown, sizeof grown) == sizeof grown ? 0 : 1);
  }
  ::close(ends[1]);
  std::size_t grown = 0;
  const bool has_answer = ::read(ends[0], &grown, sizeof grown) == sizeof grown;
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!has_answer || status != 0) throw std::runtime_error("the work did not end by itself");
  return grown;
}

}  // namespace ohm::test
