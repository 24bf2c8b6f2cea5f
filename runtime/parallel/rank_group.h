// A group of ranks that communicate: all of a program, or some of them.
//
// Calls do with memory what PyTorch's do over NCCL. Before 2.15 they run on a stream of the group:
// what they use is free for something else once that has caught up. With 2.15 they run on the
// current stream, or hold what they use until they are waited for.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/parallel/collective_work.h"
#include "runtime/parallel/rank_reduction.h"
#include "runtime/parallel/rank_schedule.h"
#include "runtime/tensor/tensor.h"

namespace ohm::parallel {

/// Whether a call returns when it is done, or at once with a handle.
enum class Mode : std::uint8_t { waits, async };

/// How large the pieces of all_to_all_single are, in the first dimension; none: all alike.
struct Splits {
  std::vector<std::int64_t> output;
  std::vector<std::int64_t> input;
};

class RankGroup;
using GroupPtr = std::shared_ptr<RankGroup>;

class RankGroup : public std::enable_shared_from_this<RankGroup> {
 public:
  /// Runs body(0) … body(world_size − 1) to their ends. When one throws, collectives that wait for
  /// it throw on the others, and run() rethrows what the first failing rank threw. Throws
  /// std::invalid_argument for a world size below 1 or inside another group.
  static void run(int world_size, const std::function<void(int rank)>& body);

  /// The group of all ranks; nullptr where none runs.
  static RankGroup* current();

  /// `ranks`: of the program, each once.
  RankGroup(std::shared_ptr<RankSchedule> schedule, std::vector<int> ranks, StreamId stream);

  int world_size() const { return static_cast<int>(members_.size()); }
  /// Of the running rank among the group's; kNoMember where it is none of them.
  int rank() const { return member_of(schedule_->rank()); }
  static constexpr int kNoMember = -1;
  /// The program's ranks, by rank in the group.
  const std::vector<int>& ranks() const { return ranks_; }
  /// The rank in the group of one of the program's; kNoMember.
  int member_of(int rank) const;

  /// Every rank of this group asks for the same ranks of the program; none: for all of them.
  GroupPtr new_group(const std::vector<int>& ranks);
  /// Groups that came of this one, in the order in which they did.
  const std::vector<GroupPtr>& groups() const { return groups_; }

  // Collectives: every rank of the group calls the same one, with tensors of equal shape and dtype.
  // They throw std::invalid_argument where tensors do not fit, std::runtime_error when a rank
  // failed or ended without joining. Ranks that are arguments are ranks in the group. The handle is
  // null where the call waited.

  /// Each rank's tensor becomes the reduction of all.
  WorkPtr all_reduce(const Tensor& tensor, Reduction reduction = Reduction::sum,
                     Mode mode = Mode::waits);
  /// Each rank's tensor becomes that of rank `source`.
  WorkPtr broadcast(const Tensor& tensor, int source, Mode mode = Mode::waits);
  /// The tensor of rank `destination` becomes the reduction of all.
  WorkPtr reduce(const Tensor& tensor, int destination, Reduction reduction = Reduction::sum,
                 Mode mode = Mode::waits);
  /// outputs[i] on each rank becomes the tensor of rank i. Before 2.15 outputs of one size take
  /// their bytes once more while it runs.
  WorkPtr all_gather(const std::vector<Tensor>& outputs, const Tensor& tensor,
                     Mode mode = Mode::waits);
  /// `output` on rank i becomes the reduction of all ranks' inputs[i]. Before 2.15 inputs of one
  /// size take their bytes once more while it runs.
  WorkPtr reduce_scatter(const Tensor& output, const std::vector<Tensor>& inputs,
                         Reduction reduction = Reduction::sum, Mode mode = Mode::waits);
  /// outputs[i] on rank r becomes inputs[r] of rank i.
  WorkPtr all_to_all(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                     Mode mode = Mode::waits);
  /// outputs[i] on rank `destination` becomes the tensor of rank i; the others have no outputs.
  WorkPtr gather(const std::vector<Tensor>& outputs, const Tensor& tensor, int destination,
                 Mode mode = Mode::waits);
  /// `output` on rank i becomes inputs[i] of rank `source`; the others have no inputs.
  WorkPtr scatter(const Tensor& output, const std::vector<Tensor>& inputs, int source,
                  Mode mode = Mode::waits);

  // Of pieces: as many equal parts of a contiguous tensor's elements as there are ranks.

  /// Piece i of `output` on each rank becomes the input of rank i.
  WorkPtr all_gather_into(const Tensor& output, const Tensor& input, Mode mode = Mode::waits);
  /// `output` on rank i becomes the reduction of all ranks' pieces i.
  WorkPtr reduce_scatter_from(const Tensor& output, const Tensor& input,
                              Reduction reduction = Reduction::sum, Mode mode = Mode::waits);
  /// Pieces as of all_to_all.
  WorkPtr all_to_all_single(const Tensor& output, const Tensor& input, const Splits& splits = {},
                            Mode mode = Mode::waits);

  /// Reduces a number on each rank's GPU.
  WorkPtr barrier(Mode mode = Mode::waits);
  /// Entry i: whether it is set on any rank. Without device memory.
  std::vector<bool> any(const std::vector<bool>& flags);

  // Between two ranks of the group. What the one sends is what the other one receives, in order.

  enum class Direction : std::uint8_t { send, receive };
  struct Transfer {
    Direction direction;
    Tensor tensor;
    int peer;
  };
  /// Returns when the other rank has done its part.
  void transfer(const Transfer& transfer);
  WorkPtr begin_transfer(const Transfer& transfer);
  /// Several at once.
  WorkPtr begin_transfers(const std::vector<Transfer>& transfers);

  /// Keeps tensors of the running rank until its next call of the group.
  void keep_until_next_call(int rank, std::vector<Tensor>&& tensors);
  /// The running rank leaves: what it has in the group besides tensors of the program goes. It
  /// cannot call the group any more.
  void leave();
  bool has_left() const;

  /// Throws std::invalid_argument where these ranks do not run.
  RankSchedule& running_schedule(std::string_view call) const;

 private:
  using Tensors = std::vector<Tensor>;
  using Numbers = std::vector<std::int64_t>;

  /// One collective, until all have joined it.
  struct Meeting : Pending {
    std::vector<Tensors> brought;  ///< by rank
    std::vector<Numbers> numbers;
    GroupPtr group;  ///< that came of it
  };
  using Combine = std::function<void(Meeting& meeting)>;

  /// A tensor that waits for the other rank's.
  struct Offer : Pending {
    Tensor tensor;
    Direction direction;
  };

  /// What a call is given and gives, and what it means for memory.
  struct Call {
    std::string_view name;
    Tensors brought;
    Tensors inputs;
    Tensors outputs;
    // Before 2.15, where it differs:
    std::optional<Tensors> used = std::nullopt;  ///< on the group's stream; else all
    std::optional<Tensors> held = std::nullopt;  ///< by the handle; else the outputs
  };

  struct Member {
    std::size_t calls = 0;  ///< collectives that it has joined
    Tensors kept;           ///< of handles that were not waited for
    Tensor barrier_number;
    Tensor dispatch_number;
    bool has_left = false;
  };

  Member& member() { return members_[static_cast<std::size_t>(rank())]; }
  std::shared_ptr<Meeting> post(std::string_view name, Tensors brought, Numbers numbers,
                                const Combine& combine);
  void complete(const std::shared_ptr<Meeting>& meeting, const Combine& combine);
  std::shared_ptr<Meeting> join(std::string_view name, Numbers numbers, const Combine& combine);
  WorkPtr run(const Call& call, const Combine& combine, Mode mode);
  WorkPtr handle_of(const std::vector<PendingPtr>& pending, HeldByCall held);
  HeldByCall held_by(const Call& call) const;
  void require_rank(std::string_view collective, int rank) const;
  void refuse_other_call(std::string_view name, const Meeting& meeting) const;
  WorkPtr barrier_of(const Tensor& number, Mode mode);
  void require_member(std::string_view call) const;
  void require_transfer(const Transfer& transfer) const;
  static void use_in_transfer(const Tensor& tensor, StreamId stream);
  PendingPtr offer(const Transfer& transfer);
  StreamId stream_of_pair(int first, int second);

  std::shared_ptr<RankSchedule> schedule_;
  std::vector<int> ranks_;
  StreamId stream_;
  std::vector<Member> members_;
  std::deque<std::shared_ptr<Meeting>> meetings_;  ///< that not all have joined
  std::size_t ended_meetings_ = 0;
  std::map<std::pair<int, int>, std::deque<std::shared_ptr<Offer>>> offers_;  ///< from, to
  std::map<std::pair<int, int>, StreamId> pair_streams_;
  std::vector<GroupPtr> groups_;
};

}  // namespace ohm::parallel
