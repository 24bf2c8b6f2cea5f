// Ctrl-C without losing results: signals that ask to end are noted, and seen only while waiting.
#pragma once

#include <csignal>
#include <iterator>

#include "allocator_shim/base/ending_signals.h"

namespace ohm::engine {

/// From now on each of kEndingSignals calls `clean_up`, which is safe in a signal's handler, before
/// it ends the process. Those that are ignored stay so; an InterruptGuard goes before.
void clean_up_before_ending(void (*clean_up)() noexcept);

/// Holds kEndingSignals back as long as it lives, except inside a call that is given
/// waiting_mask(), and restores what was before. One at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// The signal that arrived first since the last guard was made, or 0.
  static int signal();

  /// For ppoll().
  const sigset_t& waiting_mask() const { return previous_mask_; }

  /// In a fork: everything as a new program expects it.
  void restore_in_child() const;

 private:
  void restore_actions() const;

  sigset_t previous_mask_ = {};
  struct sigaction previous_[std::size(kEndingSignals)] = {};
};

}  // namespace ohm::engine
