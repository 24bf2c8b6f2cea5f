#include "runtime/parallel/buckets.h"

#include <algorithm>
#include <deque>
#include <numeric>
#include <utility>

#include "runtime/arithmetic/copy.h"
#include "runtime/parallel/coalesced.h"
#include "runtime/parallel/collective_guard.h"
#include "runtime/tensor/context.h"

namespace ohm::parallel {
namespace {

// The bucket of one dtype that is being filled.
struct OpenBucket {
  DType dtype;
  std::vector<std::size_t> indices;
  std::size_t bytes = 0;
  std::size_t filled_before = 0;
};

// A broadcast on its way.
struct Flight {
  std::vector<Tensor> members;
  Tensor flat;
};

void land(Flight& flight) {
  const std::vector<Tensor> pieces = unflatten(flight.flat, flight.members);
  for (std::size_t i = 0; i < pieces.size(); ++i) copy_into(flight.members[i], pieces[i]);
}

}  // namespace

Buckets assign_buckets_in_order(const std::vector<Tensor>& tensors,
                                const std::vector<std::size_t>& order,
                                const std::vector<std::size_t>& limits) {
  std::vector<OpenBucket> open;
  Buckets buckets;
  for (const std::size_t index : order) {
    const Tensor& tensor = tensors[index];
    auto bucket = std::find_if(open.begin(), open.end(), [&](const OpenBucket& candidate) {
      return candidate.dtype == tensor.dtype();
    });
    if (bucket == open.end()) bucket = open.insert(open.end(), {tensor.dtype(), {}});
    bucket->indices.push_back(index);
    bucket->bytes += tensor.nbytes();
    if (bucket->bytes < limits[std::min(bucket->filled_before, limits.size() - 1)]) continue;
    buckets.push_back(std::exchange(bucket->indices, {}));
    bucket->bytes = 0;
    ++bucket->filled_before;
  }
  for (OpenBucket& bucket : open) {
    if (!bucket.indices.empty()) buckets.push_back(std::move(bucket.indices));
  }
  return buckets;
}

Buckets assign_buckets(const std::vector<Tensor>& tensors, const std::vector<std::size_t>& limits) {
  std::vector<std::size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Buckets buckets = assign_buckets_in_order(tensors, order, limits);
  std::sort(buckets.begin(), buckets.end(),
            [](const auto& a, const auto& b) { return a.front() < b.front(); });
  return buckets;
}

void broadcast_in_buckets(RankGroup& group, const std::vector<Tensor>& tensors,
                          std::size_t limit_bytes) {
  constexpr std::size_t kMostInFlight = 2;
  const CollectiveGuard collective("broadcast");
  std::deque<Flight> flights;
  const auto land_first = [&flights] {
    land(flights.front());
    flights.pop_front();
  };
  for (const std::vector<std::size_t>& bucket : assign_buckets(tensors, {limit_bytes})) {
    if (flights.size() == kMostInFlight) land_first();
    std::vector<Tensor> members;
    members.reserve(bucket.size());
    for (const std::size_t index : bucket) members.push_back(tensors[index]);
    const Tensor flat = flatten(members);
    group.broadcast(flat, 0);
    flights.push_back({std::move(members), flat});
  }
  while (!flights.empty()) land_first();
}

}  // namespace ohm::parallel
