#include "harness/replay/checkpointed_modules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

#include "allocator_shim/base/format_bytes.h"
#include "harness/replay/checkpointed_call.h"
#include "harness/replay/replay_error.h"
#include "reports/history/recorded_steps.h"

namespace ohm::engine {

namespace {

constexpr unsigned kReadings = 1U << 5U;

CheckpointReading reading_of(unsigned bits) {
  const auto has = [bits](unsigned bit) { return (bits >> bit & 1U) != 0; };
  return {has(0), has(1), has(2), has(3), has(4)};
}

/// Where each block is kept until, as it goes into a call: until that is done.
std::map<std::uint32_t, std::uint32_t> kept_inputs(const std::vector<CheckpointedCall>& calls,
                                                   const BlockLives& lives,
                                                   const CheckpointReading& reading) {
  std::map<std::uint32_t, std::uint32_t> kept;
  for (const CheckpointedCall& one : calls) {
    for (const std::uint32_t input : one.call().inputs) {
      if (input >= lives.life_of.size() || !is_request_of(lives, input)) continue;
      std::uint32_t& until = kept[lives.life_of[input]];
      until = std::max(until, one.done_at(reading));
    }
  }
  return kept;
}

void keep_inputs(const std::vector<CheckpointedCall>& calls, const BlockLives& lives,
                 const CheckpointReading& reading, ChangedProgram& program) {
  std::map<std::uint32_t, std::uint32_t> kept = kept_inputs(calls, lives, reading);
  program.kept_until.assign(lives.lives.size(), 0);
  for (const CheckpointedCall& one : calls) {
    for (const std::uint32_t life : one.own_outputs()) {
      // Who takes it may be no such module: then it goes when this one runs again.
      const auto known = kept.find(life);
      const std::uint32_t again = one.again_at(reading);
      const std::uint32_t until = known == kept.end() ? again : std::min(known->second, again);
      program.early_frees.push_back({until, life});
      if (known != kept.end()) kept.erase(known);
    }
  }
  for (const auto& [life, until] : kept) {
    const std::uint32_t freed = lives.lives[life].freed_at;
    if (freed == kNever || freed >= until) continue;
    program.kept_until[life] = until;
    program.early_frees.push_back({until, life});
  }
}

ChangedProgram program_of(const std::vector<CheckpointedCall>& calls, const BlockLives& lives,
                          const CheckpointReading& reading, std::size_t end) {
  ChangedProgram program;
  program.end = end;
  for (const CheckpointedCall& one : calls) {
    one.add_early_frees(reading, program);
    program.repeats.push_back(one.repeat(reading));
  }
  keep_inputs(calls, lives, reading, program);
  const auto earlier = [](const auto& a, const auto& b) { return a.event < b.event; };
  std::stable_sort(program.early_frees.begin(), program.early_frees.end(), earlier);
  std::stable_sort(program.repeats.begin(), program.repeats.end(), earlier);
  return program;
}

/// "GPT.blocks.*.mlp" of "GPT.blocks.3.mlp".
std::string without_numbers(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('.'), path.size());
    const std::string_view part = path.substr(0, end);
    const bool is_number =
        std::all_of(part.begin(), part.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
    out += (out.empty() ? "" : ".") + (is_number ? "*" : std::string(part));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return out;
}

}  // namespace

CheckpointedModules::CheckpointedModules(const Snapshot& snapshot, const std::string& file,
                                         const std::vector<std::string>& patterns)
    : snapshot_(snapshot), file_(file) {
  if (patterns.empty()) return;
  for (const std::string& pattern : patterns) {
    patterns_ += (patterns_.empty() ? "" : " --checkpoint ") + pattern;
  }
  const std::vector<RecordedCall> all = recorded_calls(snapshot);
  if (all.empty()) {
    refuse(
        "the record has no module calls; ohm record --modules adds those of the first steps of a "
        "job (with --max-entries for all of their events)");
  }
  for (const RecordedCall& call : all) {
    if (std::any_of(patterns.begin(), patterns.end(),
                    [&](const std::string& pattern) { return is_module_of(call.path, pattern); })) {
      calls_.push_back(call);
    }
  }
  if (calls_.empty()) refuse(fmt::format("no such module was called; {}", known_paths(all)));
  std::stable_sort(calls_.begin(), calls_.end(), [](const RecordedCall& a, const RecordedCall& b) {
    return std::pair(a.device, a.begin) < std::pair(b.device, b.begin);
  });
  check(patterns);
}

void CheckpointedModules::refuse(const std::string& why) const {
  throw ReplayError(fmt::format("{}: --checkpoint {}: {}", file_, patterns_, why));
}

void CheckpointedModules::check(const std::vector<std::string>& patterns) const {
  for (const std::string& pattern : patterns) {
    if (std::none_of(calls_.begin(), calls_.end(),
                     [&](const RecordedCall& call) { return is_module_of(call.path, pattern); })) {
      refuse(fmt::format("{} was not called", pattern));
    }
  }
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    const RecordedCall& call = calls_[i];
    if (call.casts) {
      refuse(
          "it was called under autocast, whose cached casts of weights the record does not "
          "distinguish from what the module saves");
    }
    if (call.nodes.empty()) {
      refuse(fmt::format(
          "a call of {} had no known backward pass, or several: what it saves is unknown (if "
          "memory ran out before it, record on a larger GPU, such as a virtual one)",
          call.path));
    }
    const bool overlaps = i + 1 < calls_.size() && calls_[i + 1].device == call.device &&
                          calls_[i + 1].begin < call.end;
    if (overlaps) {
      refuse(fmt::format("{} is called within {}: checkpoint one of them", calls_[i + 1].path,
                         call.path));
    }
  }
}

/// The outermost first.
std::string CheckpointedModules::known_paths(const std::vector<RecordedCall>& all) const {
  constexpr std::size_t kMost = 6;
  std::vector<std::string> paths;
  for (const RecordedCall& call : all) {
    const std::string path = without_numbers(call.path);
    if (std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(path);
  }
  std::stable_sort(paths.begin(), paths.end(), [](const std::string& a, const std::string& b) {
    return std::count(a.begin(), a.end(), '.') < std::count(b.begin(), b.end(), '.');
  });
  std::string text;
  for (std::size_t i = 0; i < paths.size() && i < kMost; ++i) {
    text += (text.empty() ? "" : ", ") + paths[i];
  }
  return fmt::format("these were: {}{}", text, paths.size() > kMost ? ", …" : "");
}

std::vector<ChangedProgram> CheckpointedModules::on(const VerifiedHistory& history) {
  const auto device = static_cast<std::size_t>(history.history().device);
  std::uint32_t last = 0;
  for (const RecordedCall& call : calls_) {
    if (call.device == device) last = std::max(last, call.nodes.back().event);
  }
  if (last == 0) return {};
  // Behind the noted calls nothing is known.
  std::size_t cut = history.history().events.size();
  const std::vector<std::uint32_t> ends = reports::step_ends(snapshot_, device);
  const auto end = std::upper_bound(ends.begin(), ends.end(), last);
  if (end != ends.end()) cut = *end;
  const BackwardMoments moments(snapshot_, device, ends);
  std::vector<CheckpointedCall> calls;
  for (const RecordedCall& call : calls_) {
    if (call.device != device) continue;
    CheckpointedCall one(call, history.lives(), static_cast<std::uint32_t>(cut), moments);
    if (one.keeps_something()) {
      refuse(fmt::format(
          "{} keeps some of its results after its backward pass, which may be saved tensors",
          call.path));
    }
    if (one.changes_something()) calls.push_back(std::move(one));
  }
  changes_something_ = changes_something_ || !calls.empty();
  std::vector<ChangedProgram> programs;
  for (unsigned bits = 0; bits < kReadings && !calls.empty(); ++bits) {
    programs.push_back(program_of(calls, history.lives(), reading_of(bits), cut));
  }
  return programs;
}

void CheckpointedModules::refuse_unless_equal(const std::vector<std::size_t>& peaks) const {
  const auto [least, most] = std::minmax_element(peaks.begin(), peaks.end());
  if (*least == *most) return;
  refuse(
      fmt::format("the peak would be {} to {}: the record does not show which of its last ops "
                  "would run again, and when",
                  human_and_exact_bytes(*least), human_and_exact_bytes(*most)));
}

void CheckpointedModules::refuse_what_changes_nothing() const {
  if (calls_.empty() || changes_something_) return;
  refuse("it saves nothing that it makes itself: checkpointing it changes nothing");
}

}  // namespace ohm::engine
