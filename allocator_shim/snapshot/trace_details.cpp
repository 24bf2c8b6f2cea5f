#include "allocator_shim/snapshot/trace_details.h"

#include <stdexcept>
#include <vector>

namespace ohm {

namespace {

std::uint64_t hash_of(const TraceDetail& detail) {
  constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15U;
  auto hash = static_cast<std::uint64_t>(detail.stream);
  for (const std::uint32_t part :
       {detail.category, detail.compile_context, detail.user_metadata, packed(detail.pool)}) {
    hash = (hash ^ hash >> 32U ^ part) * kFactor;
  }
  return hash ^ hash >> 32U;
}

}  // namespace

void TraceDetails::set(Snapshot& snapshot, TraceEntry& entry, const TraceDetail& detail) {
  std::vector<TraceDetail>& details = snapshot.details;
  // Mostly it is the one before.
  if (last_ < details.size() && details[last_] == detail) {
    entry.detail = last_ & (kMaxDetails - 1);
    return;
  }
  const std::uint64_t hash = hash_of(detail);
  const auto known = index_.find(hash, [&](std::uint32_t i) { return details[i] == detail; });
  const auto index = known.value_or(static_cast<std::uint32_t>(details.size()));
  if (!known) {
    if (details.size() == kMaxDetails) throw std::length_error("[snapshot] more than 2^28 details");
    details.push_back(detail);
    index_.add(hash, index);
  }
  last_ = index;
  entry.detail = index & (kMaxDetails - 1);
}

}  // namespace ohm
