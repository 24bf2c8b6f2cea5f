#include "harness/process/interrupt.h"

#include <cstddef>
#include <iterator>

namespace ohm::engine {

namespace {

volatile std::sig_atomic_t first_signal = 0;

void note_signal(int signal) {
  if (first_signal == 0) first_signal = signal;
}

void (*clean_up_at_end)() noexcept = nullptr;

void clean_up_and_end(int signal) {
  clean_up_at_end();
  // Not SA_RESETHAND: a second signal that arrives before the handler has begun would find what the
  // system does about it, and end the process with its files. Raised here, it waits until the
  // handler has returned.
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

}  // namespace

void clean_up_before_ending(void (*clean_up)() noexcept) {
  clean_up_at_end = clean_up;
  struct sigaction action = {};
  action.sa_handler = clean_up_and_end;
  sigemptyset(&action.sa_mask);
  for (const int signal : kEndingSignals) {
    struct sigaction previous = {};
    sigaction(signal, &action, &previous);
    if (previous.sa_handler == SIG_IGN) sigaction(signal, &previous, nullptr);
  }
}

InterruptGuard::InterruptGuard() {
  first_signal = 0;
  sigset_t held;
  sigemptyset(&held);
  for (const int signal : kEndingSignals) sigaddset(&held, signal);
  sigprocmask(SIG_BLOCK, &held, &previous_mask_);
  struct sigaction action = {};
  action.sa_handler = note_signal;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < std::size(kEndingSignals); ++i) {
    sigaction(kEndingSignals[i], &action, &previous_[i]);
    // What the caller ignores (nohup) stays ignored.
    if (previous_[i].sa_handler == SIG_IGN) sigaction(kEndingSignals[i], &previous_[i], nullptr);
  }
}

InterruptGuard::~InterruptGuard() {
  // In this order: a signal that waits to be seen is noted, and does not end the process.
  sigprocmask(SIG_SETMASK, &previous_mask_, nullptr);
  restore_actions();
}

void InterruptGuard::restore_actions() const {
  for (std::size_t i = 0; i < std::size(kEndingSignals); ++i) {
    sigaction(kEndingSignals[i], &previous_[i], nullptr);
  }
}

int InterruptGuard::signal() { return first_signal; }

void InterruptGuard::restore_in_child() const {
  restore_actions();
  sigprocmask(SIG_SETMASK, &previous_mask_, nullptr);
}

}  // namespace ohm::engine
