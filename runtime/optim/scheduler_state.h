// The state of a scheduler, by PyTorch's names: state_dict() and load_state_dict().
//
// PyTorch has one scheduler for all parameter groups; here each group has its own, and a state is
// of all of them: what they share is there once, what each has of its own as a list.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace ohm::optim {

using SchedulerValue = std::variant<bool, std::int64_t, double, std::string, std::vector<double>>;

struct NamedSchedulerValue {
  std::string name;
  SchedulerValue value;
};

struct SchedulerState {
  std::vector<NamedSchedulerValue> values;
  std::vector<SchedulerState> schedulers;  ///< of those that it puts together
};

/// A member by its name. `set` throws std::invalid_argument for a value of another kind.
struct SchedulerField {
  std::string_view name;
  std::function<SchedulerValue()> get;
  std::function<void(const SchedulerValue&)> set;
};

/// Whole numbers are from -2^31 to 2^31 - 1.
SchedulerField field(std::string_view name, std::int64_t& member);
SchedulerField field(std::string_view name, double& member);
SchedulerField field(std::string_view name, bool& member);
SchedulerField field(std::string_view name, std::vector<double>& member);
/// Whole numbers, as a list.
SchedulerField field(std::string_view name, std::vector<std::int64_t>& member);

/// A scheduler of one parameter group.
class StatefulScheduler {
 public:
  /// Its options, and where it is: the same for all groups.
  virtual std::vector<SchedulerField> fields() = 0;
  /// Numbers that each group has of its own.
  virtual std::vector<SchedulerField> group_fields() = 0;
  /// Those that it puts together.
  virtual std::vector<StatefulScheduler*> parts() { return {}; }
  /// After fields were set. Throws std::invalid_argument where it cannot go on from them.
  virtual void take_fields() {}

 protected:
  StatefulScheduler() = default;
  StatefulScheduler(const StatefulScheduler&) = default;
  StatefulScheduler(StatefulScheduler&&) = default;
  StatefulScheduler& operator=(const StatefulScheduler&) = default;
  StatefulScheduler& operator=(StatefulScheduler&&) = default;
  ~StatefulScheduler() = default;
};

/// The schedulers of all groups; there is one at least.
using SchedulerGroups = std::vector<StatefulScheduler*>;

SchedulerState state_of(const SchedulerGroups& groups);

/// Takes what the state has and leaves the rest, and the optimizer, as they are. Throws
/// std::invalid_argument for names and values that do not belong to such a scheduler; nothing is
/// changed then.
void load_state(const SchedulerGroups& groups, const SchedulerState& state);

}  // namespace ohm::optim
