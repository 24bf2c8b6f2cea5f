// One call of a module that is checkpointed: what becomes of the blocks that it makes. See Note
// [Checkpointing a record].
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "allocator_shim/replay/block_lives.h"
#include "allocator_shim/replay/what_if.h"
#include "allocator_shim/snapshot/snapshot.h"
#include "harness/replay/recorded_calls.h"

namespace ohm::engine {

/// What the record leaves open.
struct CheckpointReading {
  bool runs_again_first = false;       ///< at the first node that may have saved something
  bool runs_to_its_end = false;        ///< when it runs again
  bool is_held_until_the_end = false;  ///< of the call, what is not saved any more
  bool keeps_inputs_longest = false;  ///< to the end of the last node that may have saved something
  bool is_summed_last = false;        ///< where results of unknown number are summed up
};

/// Of all calls that were noted on a device: where nodes begin, and where no backward goes on that
/// has begun before; ascending.
struct BackwardMoments {
  std::vector<std::uint32_t> nodes;
  std::vector<std::uint32_t> stops;

  BackwardMoments(const Snapshot& snapshot, std::size_t device,
                  std::vector<std::uint32_t> step_ends);

  /// That runs at this event: at most the end of its step, or the next call.
  std::uint32_t end_of_backward(std::uint32_t event) const;
  /// Where the node ends that begins here, which is where the next one begins; nullopt: it is the
  /// last.
  std::optional<std::uint32_t> end_of_node(std::uint32_t begin) const;
};

/// Whether a block is handed out by this event.
bool is_request_of(const BlockLives& lives, std::uint32_t event);

/// What becomes of the blocks of one call.
class CheckpointedCall {
 public:
  using Repeat = ChangedProgram::Repeat;

  /// `cut`: what lives longer was not saved by it. All outlive this.
  CheckpointedCall(const RecordedCall& call, const BlockLives& lives, std::uint32_t cut,
                   const BackwardMoments& moments);

  /// What it makes and does not give outlives its backward, and goes later.
  bool keeps_something() const { return keeps_something_; }
  bool changes_something() const { return last_free_ > 0; }
  const RecordedCall& call() const { return call_; }
  /// What comes out and one of its own nodes has saved.
  const std::vector<std::uint32_t>& own_outputs() const { return own_outputs_; }

  /// Where its backward is done: with the last node that has saved something.
  std::uint32_t done_at(const CheckpointReading& reading) const;
  /// Where it runs again: when the first node asks for what was saved.
  std::uint32_t again_at(const CheckpointReading& reading) const;
  Repeat repeat(const CheckpointReading& reading) const;
  /// In the call, and in its backward where that goes before sums are made.
  void add_early_frees(const CheckpointReading& reading, ChangedProgram& program) const;

 private:
  enum class Fate : std::uint8_t {
    goes_before,  ///< its backward, or comes out
    saved,        ///< by one of its nodes
    own_output,   ///< comes out, and is saved
    lasts,        ///< a library's workspace, a cache
  };

  void take(std::uint32_t event, std::uint32_t cut);
  /// The first event behind it.
  std::uint32_t end_of(const RecordedNode& node) const;
  /// That runs at this event.
  const RecordedNode& node_at(std::uint32_t event) const;
  /// When the call is over, or with the request behind the one that its user makes.
  std::uint32_t gone_at(std::uint32_t made_at, const CheckpointReading& reading) const;
  /// Of what a node has saved the first event behind its last use. Unpacked, it is held by the
  /// node's own code alone: gradients of what was broadcast are summed up behind that.
  std::uint32_t used_until(const RecordedNode& node, const CheckpointReading& reading) const;
  /// Before anything else is requested, as a library's workspace does.
  bool goes_at_once(std::uint32_t event) const;
  bool is_request(std::uint32_t event) const { return is_request_of(lives_, event); }
  bool comes_out(std::uint32_t event) const;
  void note_first_free(std::uint32_t life);

  const RecordedCall& call_;
  const BlockLives& lives_;
  const BackwardMoments& moments_;
  std::unordered_map<std::uint32_t, Fate> fates_;  ///< of the lives that begin in it
  std::vector<std::uint32_t> own_outputs_;
  std::uint32_t first_free_ = kNever;
  std::uint32_t last_free_ = 0;
  bool keeps_something_ = false;
};

}  // namespace ohm::engine
