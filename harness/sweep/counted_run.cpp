#include "harness/sweep/counted_run.h"

#include <algorithm>
#include <map>

#include "allocator_shim/fault/fault_point.h"

namespace ohm::engine {

std::size_t CountedRun::point_index(std::size_t call) const {
  const auto known = std::find(hashes.begin(), hashes.end(), calls.points[call]);
  return static_cast<std::size_t>(known - hashes.begin());
}

std::vector<std::uint64_t> occurrences(const RecordedCalls& calls) {
  std::map<std::uint64_t, std::uint64_t> passes;
  std::vector<std::uint64_t> numbers;
  for (const std::uint64_t point : calls.points) numbers.push_back(++passes[point]);
  return numbers;
}

std::size_t first_difference(const RecordedCalls& a, const RecordedCalls& b) {
  const std::size_t common = std::min(a.size(), b.size());
  std::size_t call = 0;
  while (call < common && a.points[call] == b.points[call] && a.bytes[call] == b.bytes[call]) {
    ++call;
  }
  return call;
}

std::uint64_t hash_of(const RecordedCalls& calls) {
  PointHash hash;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    hash.add(calls.points[i]).add(std::uint64_t{calls.bytes[i]});
  }
  return hash.value();
}

}  // namespace ohm::engine
