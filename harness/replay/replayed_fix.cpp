#include "harness/replay/replayed_fix.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <string_view>

#include "harness/replay/replay_file.h"
#include "reports/text/measured_text.h"

namespace ohm::engine {

namespace {

std::string bytes_text(std::uint64_t bytes) {
  return reports::short_bytes(static_cast<std::int64_t>(bytes));
}

const DeviceResult* device_of(const VariantResult& variant, const std::string& name) {
  const auto found = std::find_if(variant.devices.begin(), variant.devices.end(),
                                  [&](const DeviceResult& one) { return one.device == name; });
  return found == variant.devices.end() ? nullptr : &*found;
}

/// What one question is answered of this device: as it was, and with the change.
struct Answer {
  std::optional<WhatIfRow> recorded;
  std::optional<WhatIfRow> changed;
};

/// nullopt: the record does not tell.
std::optional<Answer> answer_of(const ReplayOptions& options, const std::string& device) {
  try {
    Answer answer;
    for (const WhatIfRow& row : replay_file(options).what_ifs) {
      if (!row.device || fmt::format("cuda:{}", *row.device) != device) continue;
      const bool is_changed = !row.change.empty() || !options.changes_program();
      (is_changed ? answer.changed : answer.recorded) = row;
    }
    return answer.changed ? std::optional(answer) : std::nullopt;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

/// Where memory ran out: whether the request would have been served within what was reserved.
std::string served_text(ReplayOptions options, const VariantResult& variant,
                        const std::string& what) {
  const DeviceResult* const device = device_of(variant, variant.oom->device);
  if (device == nullptr) return "";
  options.capacities = {static_cast<std::size_t>(device->peak_reserved_bytes)};
  const auto answer = answer_of(options, device->device);
  if (!answer || !answer->changed->fits() || answer->changed->rescued == 0) return "";
  return fmt::format("Replayed with {} the request succeeds, with at most {} reserved.", what,
                     bytes_text(options.capacities.front()));
}

/// Where it did not: what is allocated at the peak.
std::string peak_text(const ReplayOptions& options, const std::string& device,
                      const std::string& what) {
  const auto answer = answer_of(options, device);
  if (!answer || !answer->recorded || !answer->changed->fits()) return "";
  const std::uint64_t before = answer->recorded->peak_allocated_bytes;
  const std::uint64_t after = answer->changed->peak_allocated_bytes;
  // A hundredth is not worth a word.
  if (after + before / 100 >= before) return "";
  return fmt::format("Replayed with {} the peak is {} in place of {}.", what, bytes_text(after),
                     bytes_text(before));
}

std::string text_of(const ReplayOptions& options, const VariantResult& variant,
                    const std::string& device, const std::string& what) {
  const bool ran_out = variant.oom && variant.oom->device == device;
  return ran_out ? served_text(options, variant, what) : peak_text(options, device, what);
}

std::string text_of_finding(ReplayOptions options, const VariantResult& variant,
                            const FindingResult& finding) {
  if (finding.scenario == "fragmentation") {
    if (!variant.oom) return "";
    options.settings = {"expandable_segments:True"};
    return served_text(options, variant, "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True");
  }
  const bool is_kept =
      finding.pitfall == "growth per step" || finding.pitfall == "a graph kept alive across steps";
  if (!is_kept) return "";
  for (const FindingEvidence& one : finding.evidence) {
    if (!one.file.empty()) options.free_at.push_back(fmt::format("{}:{}", one.file, one.line));
  }
  std::sort(options.free_at.begin(), options.free_at.end());
  options.free_at.erase(std::unique(options.free_at.begin(), options.free_at.end()),
                        options.free_at.end());
  if (options.free_at.empty()) return "";
  return text_of(options, variant, finding.device,
                 options.free_at.size() == 1
                     ? "what that line makes freed at the end of its step"
                     : "what these lines make freed at the end of its step");
}

std::string text_of_fused(ReplayOptions options, const VariantResult& variant) {
  options.is_fused = true;
  return served_text(options, variant, "a fused optimizer (fused=True)");
}

/// "GPT.blocks.*" of "GPT.blocks.*.mlp", by whose activations the peak is made.
std::string text_of_checkpoints(ReplayOptions options, const VariantResult& variant) {
  for (const DeviceResult& device : variant.devices) {
    if (!device.peak || device.peak->holders.empty()) continue;
    const HolderResult& most = device.peak->holders.front();
    const std::size_t star = most.module.find('*');
    if (most.category != Category::activation || star == std::string::npos) continue;
    options.checkpoints = {most.module.substr(0, star + 1)};
    return peak_text(options, device.device,
                     fmt::format("{} checkpointed", options.checkpoints.front()));
  }
  return "";
}

}  // namespace

ReplayedFix replayed_fix(const std::string& file, const VariantResult& variant) {
  ReplayOptions options;
  options.file = file;
  ReplayedFix fix;
  if (!variant.findings.empty()) {
    fix.text = text_of_finding(std::move(options), variant, variant.findings.front());
    fix.serves_request = variant.oom && !fix.text.empty();
    return fix;
  }
  fix.text = variant.oom ? text_of_fused(std::move(options), variant)
                         : text_of_checkpoints(std::move(options), variant);
  return fix;
}

}  // namespace ohm::engine
