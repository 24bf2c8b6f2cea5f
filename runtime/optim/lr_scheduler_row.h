// LrSchedulerDef: a learning rate scheduler that numbers describe, as scripts construct it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/ops/signature.h"
#include "runtime/optim/lr_scheduler.h"

namespace ohm::optim {

struct LrSchedulerDef {
  std::string_view name;           ///< PyTorch's class name
  std::vector<ops::Param> params;  ///< without the optimizer
  std::function<LrSchedulerPtr(OptimizerPtr, std::span<const ops::Value>)> make;
  bool is_of_averages = false;  ///< PyTorch has it in optim.swa_utils
};

/// The type of arguments that are counts.
using Count = std::int64_t;

/// Throws std::invalid_argument unless the count is positive and fits 32 bits: epochs are counted
/// in 64, twice and squared, too.
void require_count(Count count, std::string_view scheduler, std::string_view argument);

template <class... Args>
LrSchedulerDef define_lr_scheduler(std::string_view name,
                                   LrSchedulerPtr (*make)(OptimizerPtr, Args...),
                                   std::vector<ops::ParamName> names) {
  auto call = [make](OptimizerPtr optimizer, std::span<const ops::Value> values) {
    const auto expand = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return make(optimizer, ops::ParamTraits<std::decay_t<Args>>::get(values[I])...);
    };
    return expand(std::index_sequence_for<Args...>());
  };
  return {name, ops::params_of<Args...>(std::move(names)), std::move(call), false};
}

template <class Scheduler, class... Args>
LrSchedulerPtr made_lr_scheduler(OptimizerPtr optimizer, Args... arguments) {
  return std::make_shared<Scheduler>(std::move(optimizer), std::move(arguments)...);
}

}  // namespace ohm::optim
