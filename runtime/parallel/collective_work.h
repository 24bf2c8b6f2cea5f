// Work that ranks have begun together and not ended yet: the handles that asynchronous collectives
// return. They call their group, in whose source they are.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "runtime/parallel/rank_schedule.h"
#include "runtime/tensor/tensor.h"

namespace ohm::parallel {

class RankGroup;

/// What is over once the last of several ranks has done its part.
struct Pending {
  std::string_view call;     ///< the collective's name
  std::vector<int> missing;  ///< the ranks that did not do theirs
  bool is_done = false;
};
using PendingPtr = std::shared_ptr<const Pending>;

/// Waits of RankSchedule for that. Pre-condition: `pending` outlives it.
RankSchedule::Wait wait_for(const Pending& pending);

/// Tensors that a call holds when its caller no longer does, in the order in which they go.
struct HeldByCall {
  std::vector<Tensor> until_waited;
  std::vector<Tensor> until_dropped;
};

/// A call that its rank did not wait for. It belongs to the rank that made it.
class CollectiveWork {
 public:
  CollectiveWork(std::shared_ptr<RankGroup> group, std::vector<PendingPtr> pending,
                 HeldByCall held);
  CollectiveWork(const CollectiveWork&) = delete;
  CollectiveWork& operator=(const CollectiveWork&) = delete;
  /// What was to be held until it is waited for is held until the rank's next call of the group.
  ~CollectiveWork();

  /// Returns once all is done, and lets go of what is held until then. Throws std::runtime_error
  /// where it cannot end, std::invalid_argument outside of the ranks that began it.
  void wait();
  bool is_completed() const;

 private:
  std::shared_ptr<RankGroup> group_;
  std::vector<PendingPtr> pending_;
  HeldByCall held_;
  int rank_;
};
using WorkPtr = std::shared_ptr<CollectiveWork>;

}  // namespace ohm::parallel
