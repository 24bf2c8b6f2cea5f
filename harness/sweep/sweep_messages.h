// Messages between the processes of a sweep.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/sweep/cost_share.h"
#include "harness/sweep/fault_task.h"
#include "harness/sweep/trial.h"

namespace ohm::engine {

std::string encoded(const FaultFreeRun& run);
std::string encoded(const std::vector<TaskVerdict>& verdicts);
std::string encoded(const GroupCost& cost);

/// They throw std::runtime_error where the message ends too early.
FaultFreeRun decoded_fault_free_run(std::string_view bytes);
std::vector<TaskVerdict> decoded_verdicts(std::string_view bytes);
GroupCost decoded_group_cost(std::string_view bytes);

}  // namespace ohm::engine
