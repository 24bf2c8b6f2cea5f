// What to do about an out-of-memory error, as far as its message and its log tell: a suggestion,
// which no replay has tried.
#pragma once

#include <string>

#include "reports/conclusion/oom_cause.h"

namespace ohm::reports {

/// What a log tells about the program beside the figures.
struct Circumstances {
  bool uses_no_grad = false;   ///< the failing call runs without gradients already
  bool runs_backward = false;  ///< it is a backward pass, or the traceback shows a training step
  std::string own_remedy;      ///< what the framework's own message says to do; empty: nothing
};

/// One or two sentences: who holds the memory, and why that leaves no room for the request.
std::string cause_sentence(const OomMessage& message);

/// What fits the cause, the version of PyTorch, and the kind of device.
std::string advice(const OomMessage& message, const Circumstances& circumstances);

/// Of OomCause::not_said: one sentence of what is known to do that.
std::string what_refuses_without_a_reason();

/// The setting against fragmentation that this PyTorch has: a sentence.
std::string fragmentation_setting(const OomMessage& message);

/// Whether `torch.cuda.memory._record_memory_history` exists there.
bool has_memory_history(const OomMessage& message);

}  // namespace ohm::reports
