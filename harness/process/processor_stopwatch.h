// Processor time of this process: what work costs, whatever else the machine does. For costs, never
// for results.
#pragma once

#include <ctime>

namespace ohm::engine {

class ProcessorStopwatch {
 public:
  double seconds() const { return now() - start_; }

 private:
  static double now() {
    timespec time = {};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }

  double start_ = now();
};

}  // namespace ohm::engine
