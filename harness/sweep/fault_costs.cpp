#include "harness/sweep/fault_costs.h"

namespace ohm::engine {

std::vector<std::pair<std::size_t, std::size_t>> numbered_by_call(
    const std::vector<FaultTask>& tasks) {
  std::vector<std::pair<std::size_t, std::size_t>> numbered;
  for (std::size_t index = 0; index < tasks.size(); ++index) {
    std::size_t number = 0;
    if (index > 0) {
      const bool is_same_call = tasks[index - 1].call == tasks[index].call;
      number = numbered.back().first + (is_same_call ? 0 : 1);
    }
    numbered.emplace_back(number, index);
  }
  return numbered;
}

std::vector<double> fault_costs(const std::vector<FaultTask>& tasks, const CountedRun& run) {
  // Measured over the catalogue. Most programs end soon after a failure; some make the rest of
  // their requests. A run of its own is cut short by its failure, too. That it may be one failure
  // more, which lasts, hardly counts: see Note [Both forms].
  constexpr double kSecondsOfATrial = 3e-4;
  constexpr double kPartOfTheRest = 0.05;
  constexpr double kPartOfAnOwnRun = 0.7;
  const auto calls = static_cast<double>(run.calls.size());
  std::vector<double> costs;
  for (const auto& [number, index] : numbered_by_call(tasks)) {
    const std::size_t call = tasks[index].call;
    const double rest = (calls - static_cast<double>(call)) / calls;
    const bool is_copied = run.calls.can_be_copied[call] != 0;
    const double part = is_copied ? kPartOfTheRest * rest : kPartOfAnOwnRun;
    costs.resize(number + 1, kSecondsOfATrial + part * run.seconds);
  }
  return costs;
}

}  // namespace ohm::engine
