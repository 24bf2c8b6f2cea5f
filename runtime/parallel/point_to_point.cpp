// What one rank of a RankGroup sends to another one.
#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include "runtime/parallel/collective_pieces.h"
#include "runtime/parallel/rank_group.h"

namespace ohm::parallel {
namespace {

std::string_view name_of(RankGroup::Direction direction) {
  return direction == RankGroup::Direction::send ? "send" : "recv";
}

}  // namespace

StreamId RankGroup::stream_of_pair(int first, int second) {
  const auto [place, is_new] = pair_streams_.try_emplace(std::minmax(first, second));
  if (is_new) place->second = schedule_->next_stream();
  return place->second;
}

// The other rank's offer that waits for this one is met; else this one waits.
PendingPtr RankGroup::offer(const Transfer& transfer) {
  const bool sends = transfer.direction == Direction::send;
  const std::pair<int, int> way =
      sends ? std::pair(rank(), transfer.peer) : std::pair(transfer.peer, rank());
  auto made = std::make_shared<Offer>();
  made->call = name_of(transfer.direction);
  made->tensor = transfer.tensor;
  made->direction = transfer.direction;
  made->missing = {ranks_[static_cast<std::size_t>(transfer.peer)]};
  std::deque<std::shared_ptr<Offer>>& waiting = offers_[way];
  if (waiting.empty() || waiting.front()->direction == transfer.direction) {
    waiting.push_back(made);
    return made;
  }
  Offer& other = *waiting.front();
  const Tensor& from = sends ? made->tensor : other.tensor;
  const Tensor& to = sends ? other.tensor : made->tensor;
  if (from.numel() != to.numel() || from.dtype() != to.dtype()) {
    throw std::invalid_argument(
        fmt::format("[{}] rank {} sends {}, but rank {} receives {}: they must be alike",
                    made->call, ranks_[static_cast<std::size_t>(way.first)], describe(from),
                    ranks_[static_cast<std::size_t>(way.second)], describe(to)));
  }
  move_elements(made->call, to, from);
  for (Offer* met : {made.get(), &other}) {
    met->is_done = true;
    met->missing.clear();
    met->tensor = Tensor();
  }
  waiting.pop_front();
  return made;
}

void RankGroup::require_transfer(const Transfer& transfer) const {
  const std::string_view name = name_of(transfer.direction);
  running_schedule(name);
  require_member(name);
  require_rank(name, transfer.peer);
  if (transfer.tensor.is_contiguous()) return;
  throw std::invalid_argument(fmt::format("[{}] tensors have to be contiguous: {} has strides {}",
                                          name, describe(transfer.tensor),
                                          transfer.tensor.strides().str()));
}

// A batch is of the group, each other transfer of its two ranks.
void RankGroup::use_in_transfer(const Tensor& tensor, StreamId stream) {
  if (Context::current().rules.transfers_hold_tensors || !tensor.device().is_cuda()) return;
  tensor.storage().record_stream(stream);
}

void RankGroup::transfer(const Transfer& transfer) {
  require_transfer(transfer);
  if (transfer.peer == rank()) {
    const bool sends = transfer.direction == Direction::send;
    throw std::invalid_argument(fmt::format("[{}] rank {} cannot {} itself: isend and irecv can",
                                            name_of(transfer.direction), schedule_->rank(),
                                            sends ? "send to" : "receive from"));
  }
  member().kept.clear();
  use_in_transfer(transfer.tensor, stream_of_pair(rank(), transfer.peer));
  const PendingPtr pending = offer(transfer);
  schedule_->wait(wait_for(*pending));
}

WorkPtr RankGroup::begin_transfer(const Transfer& transfer) {
  require_transfer(transfer);
  member().kept.clear();
  use_in_transfer(transfer.tensor, stream_of_pair(rank(), transfer.peer));
  const PendingPtr pending = offer(transfer);
  schedule_->let_others_go_on(wait_for(*pending));
  return handle_of({pending}, {{}, {transfer.tensor}});
}

// With 2.15 what is sent is held until it is waited for.
WorkPtr RankGroup::begin_transfers(const std::vector<Transfer>& transfers) {
  for (const Transfer& transfer : transfers) require_transfer(transfer);
  member().kept.clear();
  std::vector<PendingPtr> pending;
  HeldByCall held;
  for (const Transfer& transfer : transfers) {
    use_in_transfer(transfer.tensor, stream_);
    pending.push_back(offer(transfer));
    if (transfer.direction == Direction::send) held.until_waited.push_back(transfer.tensor);
  }
  if (!Context::current().rules.transfers_hold_tensors) held = {};
  for (const PendingPtr& each : pending) schedule_->let_others_go_on(wait_for(*each));
  return handle_of(pending, std::move(held));
}

}  // namespace ohm::parallel
