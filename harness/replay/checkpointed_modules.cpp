#include "harness/replay/checkpointed_modules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "allocator_shim/base/format_bytes.h"
#include "harness/replay/replay_error.h"
#include "reports/history/recorded_steps.h"

namespace ohm::engine {

namespace {

using Repeat = ChangedProgram::Repeat;

/// What the record leaves open.
struct Reading {
  bool runs_again_first = false;       ///< at the first node that may have saved something
  bool runs_to_its_end = false;        ///< when it runs again
  bool is_held_until_the_end = false;  ///< of the call, what is not saved any more
  bool keeps_inputs_longest = false;  ///< to the end of the last node that may have saved something
  bool is_summed_last = false;        ///< where results are summed up that nobody has counted
};
constexpr unsigned kReadings = 1U << 5U;

Reading reading_of(unsigned bits) {
  const auto has = [bits](unsigned bit) { return (bits >> bit & 1U) != 0; };
  return {has(0), has(1), has(2), has(3), has(4)};
}

/// Of all calls that were noted on a device: where nodes begin, and where no backward goes on that
/// has begun before; ascending.
struct Moments {
  std::vector<std::uint32_t> nodes;
  std::vector<std::uint32_t> stops;

  Moments(const Snapshot& snapshot, std::size_t device, std::vector<std::uint32_t> step_ends)
      : stops(std::move(step_ends)) {
    for (const RecordedCall& call : recorded_calls(snapshot)) {
      if (call.device != device) continue;
      stops.push_back(call.begin);
      for (const RecordedNode& node : call.nodes) nodes.push_back(node.event);
    }
    std::sort(nodes.begin(), nodes.end());
    std::sort(stops.begin(), stops.end());
  }

  /// That runs at this event: at most the end of its step, or the next call.
  std::uint32_t end_of_backward(std::uint32_t event) const {
    const auto stop = std::upper_bound(stops.begin(), stops.end(), event);
    return stop == stops.end() ? kNever : *stop;
  }

  /// Where the node ends that begins here, which is where the next one begins; nullopt: it is the
  /// last.
  std::optional<std::uint32_t> end_of_node(std::uint32_t begin) const {
    const auto next = std::upper_bound(nodes.begin(), nodes.end(), begin);
    const auto stop = std::upper_bound(stops.begin(), stops.end(), begin);
    const bool is_last = next == nodes.end() || (stop != stops.end() && *stop <= *next);
    return is_last ? std::nullopt : std::optional(*next);
  }
};

bool is_request_of(const BlockLives& lives, std::uint32_t event) {
  const std::uint32_t life = lives.life_of[event];
  return life != kNever && lives.lives[life].allocated_at == event;
}

/// What becomes of the blocks of one call.
class CheckpointedCall {
 public:
  /// `cut`: what lives longer was not saved by it. All outlive this.
  CheckpointedCall(const RecordedCall& call, const BlockLives& lives, std::uint32_t cut,
                   const Moments& moments)
      : call_(call), lives_(lives), moments_(moments) {
    for (std::uint32_t event = call.begin; event < call.end; ++event) {
      if (is_request(event)) take(event, cut);
    }
    // What comes out and goes in the module's own backward, one of its nodes has saved.
    const std::uint32_t end = end_of(call.nodes.back());
    for (const auto& [life, fate] : fates_) {
      const std::uint32_t freed = lives.lives[life].freed_at;
      const bool goes_there = call.nodes.front().event <= freed && freed < end;
      if (goes_there && comes_out(lives.lives[life].allocated_at)) own_outputs_.push_back(life);
    }
    std::sort(own_outputs_.begin(), own_outputs_.end());
    for (const std::uint32_t life : own_outputs_) {
      fates_[life] = Fate::own_output;
      note_first_free(life);
    }
  }

  /// What it makes and does not give outlives its backward, and goes later.
  bool keeps_something() const { return keeps_something_; }
  bool changes_something() const { return last_free_ > 0; }
  const RecordedCall& call() const { return call_; }
  /// What comes out and one of its own nodes has saved.
  const std::vector<std::uint32_t>& own_outputs() const { return own_outputs_; }

  /// Where its backward is done: with the last node that has saved something.
  std::uint32_t done_at(const Reading& reading) const {
    std::uint32_t done = last_free_ + 1;
    for (const RecordedNode& node : call_.nodes) {
      if (counts(node, reading.keeps_inputs_longest)) done = std::max(done, end_of(node));
    }
    return done;
  }

  /// Where it runs again: when the first node asks for what was saved.
  std::uint32_t again_at(const Reading& reading) const {
    std::uint32_t again = node_at(first_free_).event;
    for (const RecordedNode& node : call_.nodes) {
      if (counts(node, reading.runs_again_first)) again = std::min(again, node.event);
    }
    return again;
  }

  Repeat repeat(const Reading& reading) const {
    Repeat repeat;
    repeat.event = again_at(reading);
    std::size_t needed = 0;
    for (std::uint32_t event = call_.begin; event < call_.end; ++event) {
      const std::uint32_t life = lives_.life_of[event];
      const auto fate = fates_.find(life);
      if (fate == fates_.end() || fate->second == Fate::lasts) continue;
      if (is_request(event)) {
        const bool is_kept = fate->second != Fate::goes_before;
        repeat.steps.push_back({life, is_kept ? Repeat::Kind::keep : Repeat::Kind::take});
        if (is_kept) needed = repeat.steps.size();
      } else if (lives_.lives[life].freed_at == event) {
        repeat.steps.push_back({life, Repeat::Kind::drop});
      }
    }
    if (!reading.runs_to_its_end) repeat.steps.resize(needed);
    return repeat;
  }

  /// In the call, and in its backward where that goes before sums are made.
  void add_early_frees(const Reading& reading, ChangedProgram& program) const {
    for (std::uint32_t made_at = call_.begin; made_at < call_.end; ++made_at) {
      if (!is_request(made_at)) continue;
      const std::uint32_t life = lives_.life_of[made_at];
      const Fate fate = fates_.at(life);
      if (fate == Fate::saved) program.early_frees.push_back({gone_at(made_at, reading), life});
      if (fate != Fate::saved && fate != Fate::own_output) continue;
      const std::uint32_t freed = lives_.lives[life].freed_at;
      const std::uint32_t event = used_until(node_at(freed), reading);
      if (event <= freed) program.early_frees.push_back({event, life});
    }
  }

 private:
  enum class Fate : std::uint8_t {
    goes_before,  ///< its backward, or comes out
    saved,        ///< by one of its nodes
    own_output,   ///< comes out, and is saved
    lasts,        ///< a library's workspace, a cache
  };

  void take(std::uint32_t event, std::uint32_t cut) {
    const std::uint32_t life = lives_.life_of[event];
    const std::uint32_t freed = lives_.lives[life].freed_at;
    Fate& fate = fates_[life];
    const bool is_held = freed >= moments_.end_of_backward(call_.nodes.back().event);
    if (freed >= cut) {
      fate = Fate::lasts;
    } else if (is_held && !comes_out(event)) {
      keeps_something_ = true;
    } else if (freed >= call_.nodes.front().event && !comes_out(event)) {
      fate = Fate::saved;
      last_free_ = std::max(last_free_, freed);
      note_first_free(life);
    }
  }

  static bool counts(const RecordedNode& node, bool takes_maybe) {
    using Saves = RecordedNode::Saves;
    return node.saves == Saves::something || (takes_maybe && node.saves == Saves::maybe);
  }
  /// The first event behind it.
  std::uint32_t end_of(const RecordedNode& node) const {
    return moments_.end_of_node(node.event).value_or(last_free_ + 1);
  }
  /// That runs at this event.
  const RecordedNode& node_at(std::uint32_t event) const {
    const auto behind = std::upper_bound(
        call_.nodes.begin(), call_.nodes.end(), event,
        [](std::uint32_t at, const RecordedNode& node) { return at < node.event; });
    return behind == call_.nodes.begin() ? call_.nodes.front() : *std::prev(behind);
  }

  /// When the call is over, or with the request behind the one that its user makes.
  std::uint32_t gone_at(std::uint32_t made_at, const Reading& reading) const {
    if (reading.is_held_until_the_end) return call_.end;
    std::uint32_t event = made_at + 1;
    while (event < call_.end && !is_request(event)) ++event;
    return std::min(event + 1, call_.end);
  }

  /// Of what a node has saved the first event behind its last use. Unpacked, it is held by the
  /// node's own code alone: gradients of what was broadcast are summed up behind that.
  std::uint32_t used_until(const RecordedNode& node, const Reading& reading) const {
    if (node.has_unknown_results) return reading.is_summed_last ? node.event : kNever;
    if (node.results == 0) return kNever;
    const std::uint32_t end = end_of(node);
    std::uint32_t results = 0;
    std::uint32_t behind = node.event;  // what belongs to the results: a library's workspace
    for (std::uint32_t event = node.event; event < end; ++event) {
      if (lives_.life_of[event] == kNever) continue;
      if (is_request(event) && !goes_at_once(event) && ++results > node.results) return behind;
      behind = event + 1;
    }
    return kNever;
  }

  /// Before anything else is requested, as a library's workspace does.
  bool goes_at_once(std::uint32_t event) const {
    const std::uint32_t freed = lives_.lives[lives_.life_of[event]].freed_at;
    std::uint32_t next = event + 1;
    while (next < lives_.life_of.size() && next <= freed && !is_request(next)) ++next;
    return freed < next;
  }

  bool is_request(std::uint32_t event) const { return is_request_of(lives_, event); }
  bool comes_out(std::uint32_t event) const {
    return std::binary_search(call_.outputs.begin(), call_.outputs.end(), event);
  }
  void note_first_free(std::uint32_t life) {
    first_free_ = std::min(first_free_, lives_.lives[life].freed_at);
  }

  const RecordedCall& call_;
  const BlockLives& lives_;
  const Moments& moments_;
  std::unordered_map<std::uint32_t, Fate> fates_;  ///< of the lives that begin in it
  std::vector<std::uint32_t> own_outputs_;
  std::uint32_t first_free_ = kNever;
  std::uint32_t last_free_ = 0;
  bool keeps_something_ = false;
};

/// Where each block is kept until, as it goes into a call: until that is done.
std::map<std::uint32_t, std::uint32_t> kept_inputs(const std::vector<CheckpointedCall>& calls,
                                                   const BlockLives& lives,
                                                   const Reading& reading) {
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
                 const Reading& reading, ChangedProgram& program) {
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
                          const Reading& reading, std::size_t end) {
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
        "the record does not say where modules are called and when their backward comes; "
        "ohm record --modules does, of the first steps of a job (with --max-entries for all of "
        "their events)");
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
          "it was called under autocast, which keeps casts of weights for as long as it pleases: "
          "the record does not tell them from what the module saves");
    }
    if (call.nodes.empty()) {
      refuse(fmt::format(
          "a call of {} had no backward that is known, or more than one: what it saves cannot be "
          "told (where memory ran out before, record it on a larger GPU, as a virtual one)",
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
  const Moments moments(snapshot_, device, ends);
  std::vector<CheckpointedCall> calls;
  for (const RecordedCall& call : calls_) {
    if (call.device != device) continue;
    CheckpointedCall one(call, history.lives(), static_cast<std::uint32_t>(cut), moments);
    if (one.keeps_something()) {
      refuse(fmt::format(
          "{} keeps something that it makes beyond its backward, which may be what it saves",
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
  refuse(fmt::format(
      "the peak would be {} to {}: the record does not tell which of its last ops would "
      "run again, and at which moment",
      human_and_exact_bytes(*least), human_and_exact_bytes(*most)));
}

void CheckpointedModules::refuse_what_changes_nothing() const {
  if (calls_.empty() || changes_something_) return;
  refuse("it saves nothing that it makes itself: checkpointing it changes nothing");
}

}  // namespace ohm::engine
