// The signals that ask a program to end.
#pragma once

#include <csignal>

namespace ohm {

/// Ctrl-C and Ctrl-\, a terminal that goes, and what schedulers send: of a limit of CPU time, and
/// before they kill a job (`--signal=USR1`).
inline constexpr int kEndingSignals[] = {SIGINT,  SIGTERM, SIGHUP, SIGQUIT,
                                         SIGXCPU, SIGUSR1, SIGUSR2};

}  // namespace ohm
