// The record of a program without PyTorch as a memory snapshot, with the names of its functions and
// the lines of its source: reports show it as they show PyTorch's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "allocator_shim/snapshot/snapshot.h"
#include "harness/exec/cuda_record.h"
#include "reports/model/finding_result.h"

namespace ohm::engine {

/// A call stack as reports name it.
struct CudaPlace {
  std::string call;  ///< CUDA's function: "cudaMalloc"
  std::string function;
  std::string file;  ///< of the source, or of the program
  int line = 0;      ///< 0: not known
  /// Of the call further out.
  std::string caller = {};
  std::string caller_file = {};
  int caller_line = 0;
};

struct CudaSnapshot {
  Snapshot snapshot;
  std::vector<CudaPlace> places;            ///< of the record's stacks
  std::vector<std::int64_t> events_before;  ///< events of the snapshot before one of the record
};

CudaSnapshot cuda_snapshot(const CudaRecord& record);

/// What the record shows that the program does wrong: memory that it never freed (where it ended by
/// itself), freed twice, or used when it was free.
std::vector<FindingResult> cuda_findings(const CudaRecord& record, const CudaSnapshot& shown);

}  // namespace ohm::engine
