#include "harness/replay/checkpointed_call.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ohm::engine {

namespace {

bool counts(const RecordedNode& node, bool takes_maybe) {
  using Saves = RecordedNode::Saves;
  return node.saves == Saves::something || (takes_maybe && node.saves == Saves::maybe);
}

}  // namespace

BackwardMoments::BackwardMoments(const Snapshot& snapshot, std::size_t device,
                                 std::vector<std::uint32_t> step_ends)
    : stops(std::move(step_ends)) {
  for (const RecordedCall& call : recorded_calls(snapshot)) {
    if (call.device != device) continue;
    stops.push_back(call.begin);
    for (const RecordedNode& node : call.nodes) nodes.push_back(node.event);
  }
  std::sort(nodes.begin(), nodes.end());
  std::sort(stops.begin(), stops.end());
}

std::uint32_t BackwardMoments::end_of_backward(std::uint32_t event) const {
  const auto stop = std::upper_bound(stops.begin(), stops.end(), event);
  return stop == stops.end() ? kNever : *stop;
}

std::optional<std::uint32_t> BackwardMoments::end_of_node(std::uint32_t begin) const {
  const auto next = std::upper_bound(nodes.begin(), nodes.end(), begin);
  const auto stop = std::upper_bound(stops.begin(), stops.end(), begin);
  const bool is_last = next == nodes.end() || (stop != stops.end() && *stop <= *next);
  return is_last ? std::nullopt : std::optional(*next);
}

bool is_request_of(const BlockLives& lives, std::uint32_t event) {
  const std::uint32_t life = lives.life_of[event];
  return life != kNever && lives.lives[life].allocated_at == event;
}

CheckpointedCall::CheckpointedCall(const RecordedCall& call, const BlockLives& lives,
                                   std::uint32_t cut, const BackwardMoments& moments)
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

std::uint32_t CheckpointedCall::done_at(const CheckpointReading& reading) const {
  std::uint32_t done = last_free_ + 1;
  for (const RecordedNode& node : call_.nodes) {
    if (counts(node, reading.keeps_inputs_longest)) done = std::max(done, end_of(node));
  }
  return done;
}

std::uint32_t CheckpointedCall::again_at(const CheckpointReading& reading) const {
  std::uint32_t again = node_at(first_free_).event;
  for (const RecordedNode& node : call_.nodes) {
    if (counts(node, reading.runs_again_first)) again = std::min(again, node.event);
  }
  return again;
}

CheckpointedCall::Repeat CheckpointedCall::repeat(const CheckpointReading& reading) const {
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

void CheckpointedCall::add_early_frees(const CheckpointReading& reading,
                                       ChangedProgram& program) const {
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

void CheckpointedCall::take(std::uint32_t event, std::uint32_t cut) {
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

std::uint32_t CheckpointedCall::end_of(const RecordedNode& node) const {
  return moments_.end_of_node(node.event).value_or(last_free_ + 1);
}

const RecordedNode& CheckpointedCall::node_at(std::uint32_t event) const {
  const auto behind =
      std::upper_bound(call_.nodes.begin(), call_.nodes.end(), event,
                       [](std::uint32_t at, const RecordedNode& node) { return at < node.event; });
  return behind == call_.nodes.begin() ? call_.nodes.front() : *std::prev(behind);
}

std::uint32_t CheckpointedCall::gone_at(std::uint32_t made_at,
                                        const CheckpointReading& reading) const {
  if (reading.is_held_until_the_end) return call_.end;
  std::uint32_t event = made_at + 1;
  while (event < call_.end && !is_request(event)) ++event;
  return std::min(event + 1, call_.end);
}

std::uint32_t CheckpointedCall::used_until(const RecordedNode& node,
                                           const CheckpointReading& reading) const {
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

bool CheckpointedCall::goes_at_once(std::uint32_t event) const {
  const std::uint32_t freed = lives_.lives[lives_.life_of[event]].freed_at;
  std::uint32_t next = event + 1;
  while (next < lives_.life_of.size() && next <= freed && !is_request(next)) ++next;
  return freed < next;
}

bool CheckpointedCall::comes_out(std::uint32_t event) const {
  return std::binary_search(call_.outputs.begin(), call_.outputs.end(), event);
}

void CheckpointedCall::note_first_free(std::uint32_t life) {
  first_free_ = std::min(first_free_, lives_.lives[life].freed_at);
}

}  // namespace ohm::engine
