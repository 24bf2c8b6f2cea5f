#include "harness/sweep/program_settings.h"

#include <fmt/format.h>

#include <algorithm>

namespace ohm::engine {
namespace {

std::string on_or_off(bool is_on) { return is_on ? "on" : "off"; }

/// What differs from the defaults, however it was written.
std::string words_of(const AllocatorSettings& settings) {
  const AllocatorSettings defaults;
  std::vector<std::string> parts;
  const auto add = [&](const char* name, const auto& value, const auto& by_default) {
    if (value != by_default) parts.push_back(fmt::format("{}:{}", name, value));
  };
  add("max_split_size_bytes", settings.max_split_size_bytes, defaults.max_split_size_bytes);
  add("max_non_split_rounding_bytes", settings.max_non_split_rounding_bytes,
      defaults.max_non_split_rounding_bytes);
  add("garbage_collection_threshold", settings.garbage_collection_threshold,
      defaults.garbage_collection_threshold);
  if (settings.roundup_power2_divisions != defaults.roundup_power2_divisions) {
    parts.push_back(fmt::format("roundup_power2_divisions:[{}]",
                                fmt::join(settings.roundup_power2_divisions, ",")));
  }
  add("expandable_segments", settings.expandable_segments, defaults.expandable_segments);
  return parts.empty() ? "the defaults" : fmt::format("{}", fmt::join(parts, ","));
}

std::string history_words(std::size_t entries) {
  if (entries == 0) return "off";
  return entries == Machine::kAllHistory ? "on" : fmt::format("on, {} entries", entries);
}

}  // namespace

ProgramSettings program_settings(Machine& machine, ScenarioProgram& program) {
  const AttentionKernels& attention = machine.context_state().attention_kernels;
  const ConvolutionPlans& convolutions = machine.context_state().convolution_plans;
  ProgramSettings settings = {
      {"flash attention", on_or_off(attention.flash)},
      {"memory-efficient attention", on_or_off(attention.efficient)},
      {"attention step by step", on_or_off(attention.math)},
      {"cuDNN's attention", on_or_off(attention.cudnn)},
      {"cudnn.enabled", on_or_off(machine.context().cudnn_enabled)},
      {"cudnn.benchmark", on_or_off(convolutions.is_benchmark)},
      {"cudnn.deterministic", on_or_off(convolutions.is_deterministic)},
      {"the memory history", history_words(machine.history_entries())},
  };
  for (int gpu = 0; gpu < machine.gpu_count(); ++gpu) {
    settings.push_back({fmt::format("the allocator's setting on cuda:{}", gpu),
                        words_of(machine.caching_allocator(gpu).settings())});
  }
  const ProgramSettings own = program.settings();
  settings.insert(settings.end(), own.begin(), own.end());
  return settings;
}

std::string left_changed(const ProgramSettings& now, const ProgramSettings& fault_free,
                         const ProgramSettings& at_start, const ProgramSettings& at_failure) {
  for (std::size_t i = 0; i < now.size(); ++i) {
    const bool is_not_set_yet = now[i] == at_start[i] && now[i] == at_failure[i];
    if (now[i] == fault_free[i] || is_not_set_yet) continue;
    return fmt::format("left behind: {} is {}, where the fault-free run leaves {}", now[i].name,
                       now[i].value, fault_free[i].value);
  }
  return {};
}

}  // namespace ohm::engine
