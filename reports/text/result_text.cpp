#include "reports/text/result_text.h"

#include <fmt/format.h>

#include <array>

#include "allocator_shim/base/base_name.h"
#include "allocator_shim/base/format_bytes.h"
#include "reports/text/measured_text.h"

namespace ohm::reports {

namespace {

std::string counted(std::size_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace

std::string place_text(const std::string& file, int line) {
  if (file.empty()) return "place unknown";
  return line > 0 ? fmt::format("{}:{}", file, line) : file;
}

std::string behind_text(const std::string& library, const std::string& module) {
  const std::string line(base_name(library));
  return line.empty() || module.empty() ? line + module : line + ", " + module;
}

std::string full_place_text(const std::string& file, int line, const std::string& library,
                            const std::string& module) {
  const std::string behind = behind_text(library, module);
  return place_text(file, line) + (behind.empty() ? "" : fmt::format(" ({})", behind));
}

std::string_view role_text(const VariantResult& variant) {
  return variant.verdict == Verdict::recorded ? std::string_view() : name_of(variant.role);
}

std::string in_step_text(std::int64_t step, std::string_view before) {
  return step > 0 ? fmt::format("{}in step {}", before, step) : std::string();
}

std::string oom_sentence(const OomResult& oom) {
  return fmt::format("out of memory{} on {}: {}{}, {}", in_step_text(oom.step, " "), oom.device,
                     human_bytes(static_cast<std::uint64_t>(oom.requested_bytes)),
                     oom.op.empty() ? "" : " for " + oom.op,
                     full_place_text(oom.file, oom.line, oom.library, oom.module));
}

bool is_in_growth(const VariantResult& variant) {
  if (variant.oom || !variant.retention || variant.retention->entries.empty()) return false;
  const RetentionResult& retention = *variant.retention;
  const bool is_of_python = !retention.entries.front().file.empty();
  return is_of_python && !retention.is_at_end && retention.step_calls == 0;
}

std::string moment_text(const VariantResult& variant) {
  if (variant.retention && variant.retention->is_at_end) return "at the end";
  if (variant.retention && variant.retention->step_calls > 0) {
    return fmt::format("after {} calls of step()", grouped(variant.retention->step_calls));
  }
  if (is_in_growth(variant)) return "while memory grew";
  return variant.oom ? "when memory ran out" : "at the peak";
}

std::string explained_by(const FindingResult& finding) {
  if (finding.scenario.empty()) return "";
  return fmt::format("explained by scenarios/{}.lua", finding.scenario);
}

std::string shard_text(const std::optional<ShardResult>& shard) {
  return shard ? fmt::format("shard {}/{}: ", shard->number, shard->count) : "";
}

std::string run_summary(const RunResult& result) {
  std::array<std::size_t, kVerdictNames.size()> counts{};
  std::size_t variants = 0;
  std::size_t unloadable = 0;
  for (const ScenarioResult& scenario : result.scenarios) {
    unloadable += scenario.error.has_value();
    variants += scenario.variants.size();
    for (const VariantResult& variant : scenario.variants) {
      ++counts[static_cast<std::size_t>(variant.verdict)];
    }
  }
  std::string parts;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", counts[i], kVerdictNames[i]);
  }
  if (unloadable > 0) {
    parts += fmt::format("{}{} could not be loaded", parts.empty() ? "" : ", ", unloadable);
  }
  return fmt::format("{}{}, {}: {}", shard_text(result.shard),
                     counted(result.scenarios.size(), "scenario"), counted(variants, "variant"),
                     parts.empty() ? "nothing ran" : parts);
}

}  // namespace ohm::reports
