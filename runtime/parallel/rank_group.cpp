#include "runtime/parallel/rank_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "runtime/arithmetic/factories.h"
#include "runtime/parallel/collective_guard.h"
#include "runtime/tensor/context.h"

namespace ohm::parallel {
namespace {

thread_local RankGroup* current_group = nullptr;

void use_on(StreamId stream, const std::vector<Tensor>& tensors) {
  for (const Tensor& tensor : tensors) {
    if (tensor.device().is_cuda()) tensor.storage().record_stream(stream);
  }
}

bool are_held() { return Context::current().rules.collectives_hold_tensors; }

}  // namespace

// ---- the group ----------------------------------------------------------------------------------

RankGroup* RankGroup::current() { return current_group; }

RankGroup::RankGroup(std::shared_ptr<RankSchedule> schedule, std::vector<int> ranks,
                     StreamId stream)
    : schedule_(std::move(schedule)),
      ranks_(std::move(ranks)),
      stream_(stream),
      members_(ranks_.size()) {}

void RankGroup::run(int world_size, const std::function<void(int rank)>& body) {
  if (world_size < 1) {
    throw std::invalid_argument(
        fmt::format("[spawn] the world size must be at least 1, not {}", world_size));
  }
  if (current() != nullptr) throw std::invalid_argument("[spawn] a rank cannot spawn ranks");
  const auto schedule = std::make_shared<RankSchedule>(world_size, Context::current());
  std::vector<int> all(static_cast<std::size_t>(world_size));
  std::iota(all.begin(), all.end(), 0);
  const auto world = std::make_shared<RankGroup>(schedule, std::move(all), kCollectiveStream);
  schedule->run([&](int rank) {
    current_group = world.get();
    body(rank);
  });
}

int RankGroup::member_of(int rank) const {
  const auto found = std::find(ranks_.begin(), ranks_.end(), rank);
  return found == ranks_.end() ? kNoMember : static_cast<int>(found - ranks_.begin());
}

RankSchedule& RankGroup::running_schedule(std::string_view call) const {
  if (current() == nullptr || current()->schedule_ != schedule_) {
    throw std::invalid_argument(fmt::format("[{}] the group's ranks have ended", call));
  }
  return *schedule_;
}

GroupPtr RankGroup::new_group(const std::vector<int>& ranks) {
  constexpr std::string_view kName = "new_group";
  std::vector<int> asked = ranks.empty() ? ranks_ : ranks;
  std::sort(asked.begin(), asked.end());
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (member_of(asked[i]) == kNoMember) {
      throw std::invalid_argument(fmt::format("[new_group] there is no rank {}", asked[i]));
    }
    if (i > 0 && asked[i] == asked[i - 1]) {
      throw std::invalid_argument(fmt::format("[new_group] rank {} stands there twice", asked[i]));
    }
  }
  const auto make = [this](Meeting& meeting) {
    const Numbers& first = meeting.numbers[0];
    for (std::size_t i = 1; i < meeting.numbers.size(); ++i) {
      if (meeting.numbers[i] == first) continue;
      throw std::invalid_argument(
          fmt::format("[new_group] rank 0 asks for ranks [{}], rank {} for [{}]: all have to ask "
                      "for the same",
                      fmt::join(first, ", "), i, fmt::join(meeting.numbers[i], ", ")));
    }
    meeting.group = std::make_shared<RankGroup>(
        schedule_, std::vector<int>(first.begin(), first.end()), schedule_->next_stream());
    groups_.push_back(meeting.group);
  };
  return join(kName, Numbers(asked.begin(), asked.end()), make)->group;
}

void RankGroup::require_rank(std::string_view collective, int rank) const {
  if (rank >= 0 && rank < world_size()) return;
  throw std::invalid_argument(fmt::format("[{}] there is no rank {}", collective, rank));
}

void RankGroup::require_member(std::string_view call) const {
  if (rank() == kNoMember) {
    throw std::invalid_argument(fmt::format("[{}] rank {} is none of the group's, which are {}",
                                            call, schedule_->rank(), names_of_ranks(ranks_)));
  }
  if (!has_left()) return;
  throw std::invalid_argument(
      fmt::format("[{}] rank {} has destroyed the group", call, schedule_->rank()));
}

void RankGroup::keep_until_next_call(int rank, std::vector<Tensor>&& tensors) {
  Tensors& kept = members_[static_cast<std::size_t>(rank)].kept;
  kept.insert(kept.end(), tensors.begin(), tensors.end());
  tensors.clear();
}

void RankGroup::leave() {
  if (rank() == kNoMember) return;
  member().kept.clear();
  member().barrier_number = Tensor();
  member().has_left = true;
}

bool RankGroup::has_left() const {
  return rank() != kNoMember && members_[static_cast<std::size_t>(rank())].has_left;
}

// ---- calls --------------------------------------------------------------------------------------

void RankGroup::refuse_other_call(std::string_view name, const Meeting& meeting) const {
  std::vector<int> there;
  for (const int rank : ranks_) {
    const auto& missing = meeting.missing;
    if (std::find(missing.begin(), missing.end(), rank) == missing.end()) there.push_back(rank);
  }
  throw std::runtime_error(
      fmt::format("[{}] rank {} calls it where {} called {}: ranks must call the same collectives "
                  "in the same order",
                  name, schedule_->rank(), names_of_ranks(there), meeting.call));
}

std::shared_ptr<RankGroup::Meeting> RankGroup::post(std::string_view name, Tensors brought,
                                                    Numbers numbers, const Combine& combine) {
  const auto self = static_cast<std::size_t>(rank());
  const std::size_t place = members_[self].calls - ended_meetings_;
  if (place == meetings_.size()) {
    auto made = std::make_shared<Meeting>();
    made->call = name;
    made->missing = ranks_;
    made->brought.resize(ranks_.size());
    made->numbers.resize(ranks_.size());
    meetings_.push_back(std::move(made));
  }
  const std::shared_ptr<Meeting> meeting = meetings_[place];
  if (meeting->call != name) refuse_other_call(name, *meeting);
  schedule_->require_running(name, meeting->missing);
  meeting->brought[self] = std::move(brought);
  meeting->numbers[self] = std::move(numbers);
  ++members_[self].calls;
  if (meeting->missing.size() == 1) {
    complete(meeting, combine);
  } else {
    std::erase(meeting->missing, schedule_->rank());
  }
  return meeting;
}

// All are there: the calling rank's call has come to the front.
void RankGroup::complete(const std::shared_ptr<Meeting>& meeting, const Combine& combine) {
  meetings_.pop_front();
  ++ended_meetings_;
  combine(*meeting);
  meeting->missing.clear();
  meeting->brought.clear();
  meeting->is_done = true;
}

std::shared_ptr<RankGroup::Meeting> RankGroup::join(std::string_view name, Numbers numbers,
                                                    const Combine& combine) {
  const auto meeting = post(name, {}, std::move(numbers), combine);
  schedule_->wait(wait_for(*meeting));
  return meeting;
}

HeldByCall RankGroup::held_by(const Call& call) const {
  if (are_held()) return {call.inputs, call.outputs};
  return {{}, call.held.value_or(call.outputs)};
}

WorkPtr RankGroup::handle_of(const std::vector<PendingPtr>& pending, HeldByCall held) {
  return std::make_shared<CollectiveWork>(shared_from_this(), pending, std::move(held));
}

WorkPtr RankGroup::run(const Call& call, const Combine& combine, Mode mode) {
  running_schedule(call.name);
  require_member(call.name);
  member().kept.clear();
  if (!are_held()) {
    use_on(stream_, call.used.value_or(call.inputs));
    if (!call.used) use_on(stream_, call.outputs);
  }
  const auto meeting = post(call.name, call.brought, {}, combine);
  if (mode == Mode::waits) {
    schedule_->wait(wait_for(*meeting));
    return nullptr;
  }
  schedule_->let_others_go_on(wait_for(*meeting));
  return handle_of({meeting}, held_by(call));
}

// ---- handles ------------------------------------------------------------------------------------

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

// ---- what moves nothing of the program's --------------------------------------------------------

WorkPtr RankGroup::barrier_of(const Tensor& number, Mode mode) {
  Call call{.name = "barrier", .brought = {}, .inputs = {}, .outputs = {}};
  // The number that the group keeps is not a handle's.
  if (number.defined() && !are_held()) call.outputs = {number};
  return run(
      call, [](Meeting&) {}, mode);
}

// Which GPU a barrier is for is told by a byte: with 2.15 it goes when the call returns, and the
// number that is reduced stays; before, a number is made for each call, and the last byte stays.
WorkPtr RankGroup::barrier(Mode mode) {
  running_schedule("barrier");
  const Context& context = Context::current();
  if (context.gpus.empty() || rank() == kNoMember) return barrier_of(Tensor(), mode);
  const Device gpu = context.state.current_gpu;
  const CollectiveGuard collective("barrier");
  const Tensor byte = empty({1}, {DType::uint8, gpu});
  if (!are_held()) {
    current()->member().dispatch_number = byte;
    return barrier_of(zeros({1}, {DType::float32, gpu}), mode);
  }
  if (!member().barrier_number.defined()) {
    member().barrier_number = zeros({1}, {DType::float32, gpu});
  }
  return barrier_of(member().barrier_number, mode);
}

std::vector<bool> RankGroup::any(const std::vector<bool>& flags) {
  const auto merge = [](Meeting& meeting) {
    Numbers merged = meeting.numbers[0];
    for (const Numbers& numbers : meeting.numbers) {
      for (std::size_t i = 0; i < merged.size(); ++i) merged[i] = merged[i] | numbers[i];
    }
    meeting.numbers[0] = merged;
  };
  const Numbers merged = join("any", Numbers(flags.begin(), flags.end()), merge)->numbers[0];
  std::vector<bool> result;
  for (const std::int64_t number : merged) result.push_back(number != 0);
  return result;
}

}  // namespace ohm::parallel
