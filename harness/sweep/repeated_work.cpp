#include "harness/sweep/repeated_work.h"

#include <algorithm>
#include <map>
#include <utility>

namespace ohm::engine {
namespace {

/// How many calls at the end of both are of equal kinds and bytes.
std::size_t common_end(const RecordedCalls& a, const RecordedCalls& b) {
  std::size_t length = 0;
  while (length < std::min(a.size(), b.size())) {
    const std::size_t in_a = a.size() - length - 1;
    const std::size_t in_b = b.size() - length - 1;
    if (a.kinds[in_a] != b.kinds[in_b] || a.bytes[in_a] != b.bytes[in_b]) break;
    ++length;
  }
  return length;
}

/// Whether of each kind and size as many requests succeeded as without failures.
bool is_all_made(const CallRecorder& recorder, const RecordedCalls& fault_free) {
  const RecordedCalls& calls = recorder.calls();
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::int64_t> missing;
  const auto of = [&missing](const RecordedCalls& in, std::size_t call) -> std::int64_t& {
    return missing[{in.kinds[call], in.bytes[call]}];
  };
  for (std::size_t i = 0; i < fault_free.size(); ++i) ++of(fault_free, i);
  for (std::size_t i = 0; i < calls.size(); ++i) --of(calls, i);
  for (const std::size_t call : recorder.failed()) ++of(calls, call);
  return std::all_of(missing.begin(), missing.end(),
                     [](const auto& kind) { return kind.second <= 0; });
}

/// Between two failures a program may have done work again, so that nothing says which request of
/// the fault-free run the second one was to be: it may be any that it is made again as.
bool goes_on_after_chain(const CallRecorder& recorder, const RecordedCalls& fault_free) {
  const RecordedCalls& calls = recorder.calls();
  const std::size_t failed = recorder.failed().back();
  const std::size_t tail = std::min(common_end(calls, fault_free), calls.size() - failed - 1);
  bool is_made_again = false;
  for (std::size_t i = fault_free.size() - tail; i < fault_free.size(); ++i) {
    is_made_again = is_made_again || (fault_free.kinds[i] == calls.kinds[failed] &&
                                      fault_free.bytes[i] == calls.bytes[failed]);
  }
  return is_made_again && is_all_made(recorder, fault_free);
}

}  // namespace

bool goes_on_as(const CallRecorder& recorder, const RecordedCalls& fault_free) {
  if (recorder.has_chained()) return goes_on_after_chain(recorder, fault_free);
  const std::size_t tail = fault_free.size() - recorder.target();
  return recorder.calls().size() >= recorder.calls_before_recovery() + tail &&
         common_end(recorder.calls(), fault_free) >= tail;
}

bool is_work_missing(const CallRecorder& recorder, const RecordedCalls& fault_free) {
  const RecordedCalls& calls = recorder.calls();
  const std::vector<std::size_t>& failed = recorder.failed();
  const auto is_missing = [&](std::size_t call) {
    const std::uint64_t kind = calls.kinds[call];
    const auto failures = std::count_if(failed.begin(), failed.end(), [&](std::size_t other) {
      return calls.kinds[other] == kind;
    });
    return std::count(calls.kinds.begin(), calls.kinds.end(), kind) - failures <
           std::count(fault_free.kinds.begin(), fault_free.kinds.end(), kind);
  };
  // What fails with a lasting failure are the program's tries, not the work.
  return is_missing(failed.front()) || (recorder.has_chained() && is_missing(failed.back()));
}

}  // namespace ohm::engine
