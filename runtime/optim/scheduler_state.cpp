#include "runtime/optim/scheduler_state.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

namespace ohm::optim {
namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw std::invalid_argument("[load_state_dict] " + text);
}

[[noreturn]] void refuse_value(std::string_view name, const char* wanted) {
  refuse(fmt::format("'{}' must be {}", name, wanted));
}

std::int64_t whole_number(std::string_view name, double value) {
  using Limits = std::numeric_limits<std::int32_t>;
  if (!(value >= Limits::min() && value <= Limits::max()) || value != std::floor(value)) {
    refuse_value(name, "whole and of 32 bits");
  }
  return static_cast<std::int64_t>(value);
}

double number_in(std::string_view name, const SchedulerValue& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* number = std::get_if<double>(&value)) return *number;
  refuse_value(name, "a number");
}

const std::vector<double>& numbers_in(std::string_view name, const SchedulerValue& value) {
  if (const auto* numbers = std::get_if<std::vector<double>>(&value)) return *numbers;
  refuse_value(name, "a list of numbers");
}

}  // namespace

SchedulerField field(std::string_view name, std::int64_t& member) {
  return {name, [&member] { return SchedulerValue(member); },
          [&member, name](const SchedulerValue& value) {
            member = whole_number(name, number_in(name, value));
          }};
}

SchedulerField field(std::string_view name, double& member) {
  return {name, [&member] { return SchedulerValue(member); },
          [&member, name](const SchedulerValue& value) { member = number_in(name, value); }};
}

SchedulerField field(std::string_view name, bool& member) {
  return {name, [&member] { return SchedulerValue(member); },
          [&member, name](const SchedulerValue& value) {
            const bool* flag = std::get_if<bool>(&value);
            if (flag == nullptr) refuse_value(name, "true or false");
            member = *flag;
          }};
}

SchedulerField field(std::string_view name, std::vector<double>& member) {
  return {name, [&member] { return SchedulerValue(member); },
          [&member, name](const SchedulerValue& value) { member = numbers_in(name, value); }};
}

SchedulerField field(std::string_view name, std::vector<std::int64_t>& member) {
  return {name,
          [&member] { return SchedulerValue(std::vector<double>(member.begin(), member.end())); },
          [&member, name](const SchedulerValue& value) {
            std::vector<std::int64_t> numbers;
            for (const double number : numbers_in(name, value)) {
              numbers.push_back(whole_number(name, number));
            }
            member = std::move(numbers);
          }};
}

namespace {

// The i-th part of each group's scheduler.
SchedulerGroups parts_of(const SchedulerGroups& groups, std::size_t i) {
  SchedulerGroups parts;
  for (StatefulScheduler* group : groups) parts.push_back(group->parts()[i]);
  return parts;
}

const SchedulerField* find(const std::vector<SchedulerField>& fields, std::string_view name) {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const SchedulerField& field) { return field.name == name; });
  return found == fields.end() ? nullptr : &*found;
}

void set_shared(const SchedulerGroups& groups, const NamedSchedulerValue& named) {
  for (StatefulScheduler* group : groups) {
    const std::vector<SchedulerField> fields = group->fields();
    const SchedulerField* field = find(fields, named.name);
    if (field == nullptr) refuse(fmt::format("such a scheduler has no '{}'", named.name));
    field->set(named.value);
  }
}

void set_of_groups(const SchedulerGroups& groups, const NamedSchedulerValue& named) {
  const std::vector<double>& numbers = numbers_in(named.name, named.value);
  if (numbers.size() != groups.size()) {
    refuse(fmt::format("'{}' has {} numbers for {} parameter groups", named.name, numbers.size(),
                       groups.size()));
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const std::vector<SchedulerField> fields = groups[i]->group_fields();
    find(fields, named.name)->set(numbers[i]);
  }
}

void set_all(const SchedulerGroups& groups, const SchedulerState& state) {
  const std::vector<SchedulerField> of_group = groups.front()->group_fields();
  for (const NamedSchedulerValue& named : state.values) {
    if (find(of_group, named.name) != nullptr) {
      set_of_groups(groups, named);
    } else {
      set_shared(groups, named);
    }
  }
  for (std::size_t i = 0; i < state.schedulers.size(); ++i) {
    set_all(parts_of(groups, i), state.schedulers[i]);
  }
  for (StatefulScheduler* group : groups) group->take_fields();
}

void require_parts(StatefulScheduler& scheduler, const SchedulerState& state) {
  const SchedulerGroups parts = scheduler.parts();
  if (state.schedulers.empty()) return;
  if (parts.size() != state.schedulers.size()) {
    refuse(fmt::format("the state is of {} schedulers, not of {}", state.schedulers.size(),
                       parts.size()));
  }
  for (std::size_t i = 0; i < parts.size(); ++i) require_parts(*parts[i], state.schedulers[i]);
}

}  // namespace

SchedulerState state_of(const SchedulerGroups& groups) {
  SchedulerState state;
  for (const SchedulerField& field : groups.front()->fields()) {
    state.values.push_back({std::string(field.name), field.get()});
  }
  for (const SchedulerField& of_group : groups.front()->group_fields()) {
    std::vector<double> numbers;
    for (StatefulScheduler* group : groups) {
      const std::vector<SchedulerField> fields = group->group_fields();
      numbers.push_back(std::get<double>(find(fields, of_group.name)->get()));
    }
    state.values.push_back({std::string(of_group.name), std::move(numbers)});
  }
  const std::size_t parts = groups.front()->parts().size();
  for (std::size_t i = 0; i < parts; ++i) state.schedulers.push_back(state_of(parts_of(groups, i)));
  return state;
}

void load_state(const SchedulerGroups& groups, const SchedulerState& state) {
  require_parts(*groups.front(), state);
  const SchedulerState before = state_of(groups);
  try {
    set_all(groups, state);
  } catch (...) {
    set_all(groups, before);
    throw;
  }
}

}  // namespace ohm::optim
