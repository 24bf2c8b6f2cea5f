// What the processes of a sweep tell each other.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/sweep/fault_trials.h"
#include "harness/sweep/trial.h"

namespace ohm::engine {

std::string encoded(const UndisturbedRun& run);
std::string encoded(const std::vector<TaskVerdict>& verdicts);

/// Both throw std::runtime_error where the message ends too early.
UndisturbedRun decoded_undisturbed(std::string_view bytes);
std::vector<TaskVerdict> decoded_verdicts(std::string_view bytes);

}  // namespace ohm::engine
