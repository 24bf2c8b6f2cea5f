// The places at which a command calls CUDA, from the lists that its processes leave
// (allocator_shim/interpose/call_trace.h), and the errors that are injected there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "allocator_shim/fault/fault_error.h"
#include "allocator_shim/interpose/call_kind.h"
#include "harness/sweep/point_choice.h"
#include "reports/model/sweep_result.h"

namespace ohm::engine {

/// A function that is called at one place.
struct CallSite {
  std::string call;  ///< "cudaLaunchKernel"
  interpose::CallKind kind = interpose::CallKind::other;
  std::uint64_t place = 0;
  /// Of its calls here, numbers among all calls of the function by the process, from 1.
  std::vector<std::uint64_t> numbers;
};

/// What the process did that made the most calls; the first that is rank 0 where there are ranks.
struct TracedCalls {
  std::vector<CallSite> sites;  ///< in the order of their first calls
  std::size_t calls = 0;
  std::string process;  ///< its number, as in names of files; empty: no process made any
};

TracedCalls read_call_traces(const std::string& folder);

/// An error that one call returns.
struct CallFault {
  std::size_t site = 0;
  FaultError error = FaultError::memory;
  std::uint64_t number = 0;
};

struct ChosenCallFaults {
  std::vector<CallFault> faults;  ///< in the order of the sites
  std::size_t left_out = 0;       ///< of those that `all` tries
};

/// Each error that a call of its kind can return, at each site, in a middle call; with the points
/// `all` and `sample` in the first and the last one, too. At most `most` of them: each site once
/// comes first, the busiest of each function before the others, with the kinds of errors in turn.
ChosenCallFaults chosen_call_faults(const std::vector<CallSite>& sites, const PointChoice& points,
                                    std::size_t most);

/// A site as a point of the report, with its whole number: the same in every run.
struct SitePoint {
  SweepPoint point;
  std::uint64_t number = 0;
};

/// One for each site, by the names of the program's own places.
std::vector<SitePoint> points_of_sites(const TracedCalls& traced, const std::string& folder,
                                       const std::string& program);

/// As `ohm exec --fault` takes it.
std::string plan_text(const CallSite& site, const CallFault& fault);

}  // namespace ohm::engine
