#include "runtime/parallel/collective_work.h"

#include <algorithm>
#include <utility>

#include "runtime/parallel/rank_group.h"

namespace ohm::parallel {

RankSchedule::Wait wait_for(const Pending& pending) {
  return {pending.call, [&pending] { return pending.is_done; },
          [&pending] { return pending.missing; }};
}

CollectiveWork::CollectiveWork(GroupPtr group, std::vector<PendingPtr> pending, HeldByCall held)
    : group_(std::move(group)),
      pending_(std::move(pending)),
      held_(std::move(held)),
      rank_(group_->rank()) {}

CollectiveWork::~CollectiveWork() {
  if (held_.until_waited.empty()) return;
  group_->keep_until_next_call(rank_, std::move(held_.until_waited));
}

void CollectiveWork::wait() {
  for (const PendingPtr& pending : pending_) {
    RankSchedule& schedule = group_->running_schedule("wait");
    if (!pending->is_done) schedule.wait(wait_for(*pending));
  }
  held_.until_waited.clear();
}

bool CollectiveWork::is_completed() const {
  return std::all_of(pending_.begin(), pending_.end(),
                     [](const PendingPtr& pending) { return pending->is_done; });
}

}  // namespace ohm::parallel
