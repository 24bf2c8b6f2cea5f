#include "harness/sweep/point_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace ohm::engine {

namespace {

/// What it takes to make a trial: a copy of the process, and a look at what is left.
constexpr std::size_t kRequestsOfATrial = 200;
/// A budget that every program has: it is spent in a fraction of a second.
constexpr std::size_t kLeastBudget = 100 * kRequestsOfATrial;

/// See Note [Spread].
std::size_t cost_of(const RecordedCalls& calls, const FaultTask& task) {
  if (calls.can_be_copied[task.call] == 0) return kRequestsOfATrial + calls.size();
  const bool is_mostly_no_run = task.form == FaultForm::persistent;  // see Note [Both forms]
  return is_mostly_no_run ? 0 : kRequestsOfATrial + calls.size() - task.call;
}

/// Of a loop's passes, from 1. The first and the last can be of one kind where a program does
/// something every second time: the middle one is of the other.
std::size_t middle_pass(std::size_t passes) {
  const std::size_t middle = (passes + 1) / 2;
  const bool is_odd_as_both_ends = passes % 2 == 1 && middle % 2 == 1;
  return is_odd_as_both_ends ? middle - 1 : middle;
}

/// Of each point the calls that pass it, in their order.
std::vector<std::vector<std::size_t>> passes_of_points(const RecordedCalls& calls) {
  std::map<std::uint64_t, std::size_t> index;
  std::vector<std::vector<std::size_t>> passes;
  for (std::size_t call = 0; call < calls.size(); ++call) {
    const auto [known, is_new] = index.try_emplace(calls.points[call], passes.size());
    if (is_new) passes.emplace_back();
    passes[known->second].push_back(call);
  }
  return passes;
}

/// Spends a budget on failures.
class Spread {
 public:
  explicit Spread(const RecordedCalls& calls) : calls_(calls) {}

  void take_all(const std::vector<std::size_t>& wanted, FaultForm form) {
    for (const std::size_t call : wanted) {
      chosen_.push_back({call, form});
      budget_ += cost_of(calls_, chosen_.back());
    }
    budget_ = std::max(budget_, kLeastBudget);
  }

  /// The cheap ones first, as long as the budget lasts.
  void take_affordable(const std::vector<std::size_t>& wanted, FaultForm form) {
    std::vector<FaultTask> tasks;
    for (const std::size_t call : wanted) tasks.push_back({call, form});
    std::stable_sort(tasks.begin(), tasks.end(), [this](const FaultTask& a, const FaultTask& b) {
      return cost_of(calls_, a) < cost_of(calls_, b);
    });
    for (const FaultTask& task : tasks) {
      const std::size_t cost = cost_of(calls_, task);
      if (cost > budget_) {
        ++beyond_budget_;
        continue;
      }
      budget_ -= cost;
      chosen_.push_back(task);
    }
  }

  ChosenFaults chosen() {
    std::sort(chosen_.begin(), chosen_.end(), [](const FaultTask& a, const FaultTask& b) {
      return std::tie(a.call, a.form) < std::tie(b.call, b.form);
    });
    return {std::move(chosen_), beyond_budget_};
  }

 private:
  const RecordedCalls& calls_;
  std::vector<FaultTask> chosen_;
  std::size_t budget_ = 0;
  std::size_t beyond_budget_ = 0;
};

ChosenFaults spread_over(const RecordedCalls& calls, const std::vector<FaultForm>& forms) {
  std::vector<std::size_t> first;
  std::vector<std::size_t> middle;
  std::vector<std::size_t> last;
  for (const std::vector<std::size_t>& passes : passes_of_points(calls)) {
    first.push_back(passes.front());
    if (passes.size() > 1) last.push_back(passes.back());
    if (passes.size() > 2) middle.push_back(passes[middle_pass(passes.size()) - 1]);
  }
  // What has found most of tests/recovery_bugs comes first.
  Spread spread(calls);
  spread.take_all(first, forms.front());
  spread.take_affordable(last, forms.front());
  if (forms.size() > 1) spread.take_affordable(first, forms.back());
  spread.take_affordable(middle, forms.front());
  if (forms.size() > 1) {
    spread.take_affordable(last, forms.back());
    spread.take_affordable(middle, forms.back());
  }
  return spread.chosen();
}

std::vector<bool> unique_calls(const RecordedCalls& calls) {
  std::vector<bool> is_chosen(calls.size());
  for (const std::vector<std::size_t>& passes : passes_of_points(calls)) {
    is_chosen[passes.front()] = true;
  }
  return is_chosen;
}

/// Evenly spread: the calls at which another whole sample begins.
std::vector<bool> sampled_calls(std::size_t count, std::size_t sample) {
  std::vector<bool> is_chosen(count, sample >= count);
  for (std::size_t call = 0; sample < count && call < count; ++call) {
    is_chosen[call] = call * sample / count != (call + 1) * sample / count;
  }
  return is_chosen;
}

}  // namespace

std::string PointChoice::text() const {
  switch (kind) {
    case Kind::spread:
      return "spread";
    case Kind::all:
      return "all";
    case Kind::unique:
      return "unique";
    case Kind::sample:
      break;
  }
  return fmt::format("sample={}", sample);
}

std::vector<FaultForm> PointChoice::forms() const {
  if (kind == Kind::spread) return {FaultForm::transient, FaultForm::persistent};
  return {FaultForm::transient};
}

PointChoice parse_point_choice(std::string_view text) {
  using Kind = PointChoice::Kind;
  if (text == "spread") return {Kind::spread, 0};
  if (text == "all") return {Kind::all, 0};
  if (text == "unique") return {Kind::unique, 0};
  constexpr std::string_view kSample = "sample=";
  PointChoice choice{Kind::sample, 0};
  const std::size_t begin = std::min(kSample.size(), text.size());
  const auto [end, error] =
      std::from_chars(text.data() + begin, text.data() + text.size(), choice.sample);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  if (!text.starts_with(kSample) || !is_number || choice.sample == 0) {
    throw std::invalid_argument(fmt::format("\"{}\" is not spread, unique, all or sample=N", text));
  }
  return choice;
}

ChosenFaults chosen_faults(const RecordedCalls& calls, const PointChoice& choice,
                           const std::vector<FaultForm>& forms) {
  std::vector<bool> is_chosen(calls.size(), true);
  switch (choice.kind) {
    case PointChoice::Kind::spread:
      return spread_over(calls, forms);
    case PointChoice::Kind::unique:
      is_chosen = unique_calls(calls);
      break;
    case PointChoice::Kind::sample:
      is_chosen = sampled_calls(calls.size(), choice.sample);
      break;
    case PointChoice::Kind::all:
      break;
  }
  ChosenFaults chosen;
  for (std::size_t call = 0; call < calls.size(); ++call) {
    for (const FaultForm form : forms) {
      if (is_chosen[call]) chosen.tasks.push_back({call, form});
    }
  }
  return chosen;
}

}  // namespace ohm::engine
