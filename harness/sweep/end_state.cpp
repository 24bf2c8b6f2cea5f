#include "harness/sweep/end_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>

#include "allocator_shim/fault/fault_point.h"
#include "runtime/autograd/autograd_state.h"

namespace ohm::engine {
namespace {

std::vector<std::string> modes_of(const Machine& machine) {
  const ExecutionState& state = machine.context_state();
  const AutogradState* const autograd = find_autograd_state(state);
  const AutocastState* const autocast = autograd == nullptr ? nullptr : autograd->autocast.get();
  std::vector<std::string> modes;
  const auto add = [&](bool is_on, std::string_view what) {
    if (is_on) modes.emplace_back(what);
  };
  add(!state.grad_enabled, "gradients are disabled");
  add(state.inference_mode, "inference mode is on");
  add(autocast != nullptr && autocast->is_enabled, "autocast is on");
  add(autocast != nullptr && !autocast->cache.is_empty(), "autocast's cache is not empty");
  add(state.category != Category::activation, "allocations have another category");
  add(!state.op.empty(), "an op seems to be running");
  add(state.current_gpu != Device::cuda(0), "another GPU is current");
  add(state.backward_pass != 0, "a backward pass seems to be running");
  add(!state.after_backward.empty(), "callbacks wait for the end of a backward pass");
  add(autograd != nullptr && autograd->saved_tensor_hook != nullptr, "a saved-tensor hook is set");
  add(!state.stops_recomputation_early, "recomputation does not stop early");
  for (int gpu = 0; gpu < machine.gpu_count(); ++gpu) {
    add(state.streams.of(Device::cuda(gpu)) != kDefaultStream,
        fmt::format("another stream of cuda:{} is current", gpu));
  }
  return modes;
}

/// What of `now` stands not in `then`; both without what stands twice.
std::vector<std::string> more_modes(const EndState& now, const EndState& then) {
  std::vector<std::string> more;
  std::copy_if(now.modes.begin(), now.modes.end(), std::back_inserter(more),
               [&](const std::string& mode) {
                 return std::find(then.modes.begin(), then.modes.end(), mode) == then.modes.end();
               });
  return more;
}

std::string setting_left(const EndState& now, const EndState& then) {
  for (std::size_t gpu = 0; gpu < now.memory_limits.size(); ++gpu) {
    const std::int64_t limit = now.memory_limits[gpu];
    if (limit < then.memory_limits[gpu]) {
      return fmt::format("cuda:{} may use only {} bytes", gpu, limit);
    }
  }
  return {};
}

/// By device and category.
std::map<std::string, std::int64_t> sums_of(const EndMemory& memory) {
  std::map<std::string, std::int64_t> sums;
  for (const auto& [place, held] : memory) {
    sums[place.substr(0, place.find(' ', place.find(' ') + 1))] += held.bytes;
  }
  return sums;
}

}  // namespace

EndMemory memory_at_end(Machine& machine) {
  machine.context().pinned->empty_cache();
  const MemoryBySiteName memory = in_words(live_memory_by_site(machine, /*host=*/true), machine);
  return {memory.begin(), memory.end()};
}

EndState end_state(Machine& machine, ScenarioProgram& program) {
  EndState left;
  left.modes = modes_of(machine);
  for (int gpu = 0; gpu < machine.gpu_count(); ++gpu) {
    constexpr auto kNone = static_cast<std::size_t>(INT64_MAX);
    const std::size_t limit = machine.caching_allocator(gpu).memory_limit().value_or(kNone);
    left.memory_limits.push_back(static_cast<std::int64_t>(limit));
  }
  left.settings = program_settings(machine, program);
  left.memory = memory_at_end(machine);
  return left;
}

std::string left_behind(const EndState& now, const EndState& fault_free) {
  const std::vector<std::string> modes = more_modes(now, fault_free);
  if (!modes.empty()) return fmt::format("left behind: {}", fmt::join(modes, ", "));
  const std::string setting = setting_left(now, fault_free);
  return setting.empty() ? setting : "left behind: " + setting;
}

std::string left_behind(const ModuleCounts& now, const ModuleCounts& fault_free) {
  const auto more = [](std::int64_t count, std::int64_t than, std::string_view what) {
    return fmt::format("left behind: {} {}, where the fault-free run leaves {}", count, what, than);
  };
  if (now.evaluating > fault_free.evaluating) {
    return more(now.evaluating, fault_free.evaluating, "modules in evaluation mode");
  }
  if (now.hooks > fault_free.hooks) return more(now.hooks, fault_free.hooks, "hooks of modules");
  if (now.frozen_parameters <= fault_free.frozen_parameters) return {};
  return more(now.frozen_parameters, fault_free.frozen_parameters,
              "parameters that require no gradient");
}

std::string leaked(const EndMemory& now, const EndMemory& fault_free) {
  const std::map<std::string, std::int64_t> allowed = sums_of(fault_free);
  MemoryBySiteName too_much;
  for (const auto& [kind, bytes] : sums_of(now)) {
    const auto known = allowed.find(kind);
    if (bytes <= (known == allowed.end() ? 0 : known->second)) continue;
    for (const auto& [place, held] : now) {
      if (place.starts_with(kind + " ")) too_much[place] = held;
    }
  }
  const MemoryBySiteName then(fault_free.begin(), fault_free.end());
  return excess_text(too_much, then, SiteScope::all);
}

std::uint64_t settings_key(Machine& machine) {
  const Context& context = machine.context();
  const AttentionKernels& attention = context.state.attention_kernels;
  PointHash hash;
  const ConvolutionPlans& convolutions = context.state.convolution_plans;
  for (const bool is_on :
       {context.cudnn_enabled, convolutions.is_benchmark, convolutions.is_deterministic,
        attention.flash, attention.efficient, attention.math, attention.cudnn}) {
    hash.add(std::uint64_t{is_on});
  }
  // Which convolutions were computed so far decides when the cache is emptied next.
  convolutions.for_each(
      [&](ExecutionThread thread, const ConvolutionKey& key, ConvolutionPlan plan) {
        hash.add(static_cast<std::uint64_t>(thread)).add(static_cast<std::uint64_t>(plan));
        for (const std::int64_t number : key) hash.add(static_cast<std::uint64_t>(number));
      });
  for (int gpu = 0; gpu < machine.gpu_count(); ++gpu) {
    const CachingAllocator& allocator = machine.caching_allocator(gpu);
    const AllocatorSettings& settings = allocator.settings();
    hash.add(settings.text).add(std::uint64_t{settings.expandable_segments});
    hash.add(settings.max_non_split_rounding_bytes);
    hash.add(allocator.memory_limit().value_or(~std::size_t{0}));
    hash.add(context.gpus[static_cast<std::size_t>(gpu)].cublas_workspace_bytes);
  }
  return hash.value();
}

}  // namespace ohm::engine
