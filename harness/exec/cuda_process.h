// What became of a program without PyTorch that requested GPU memory: its record, and what that
// shows.
#pragma once

#include <string>
#include <vector>

#include "harness/exec/cuda_record.h"
#include "reports/model/finding_result.h"

namespace ohm::engine {

struct CudaProcess {
  CudaRecord record;
  std::vector<FindingResult> findings;
  std::string snapshot;  ///< its file; empty: the process left no figures of its end
  std::string problem;   ///< why the record cannot be read, or the snapshot not be written
};

/// Of the file that the process left, beside which it writes the snapshot cuda-PID.pickle.
CudaProcess cuda_process(const std::string& path);

/// The name of the file without its ending: "cuda-1234".
std::string cuda_record_stem(int process);
/// The process whose record has this name, without its ending; 0: it is none of such a record.
int cuda_process_of(const std::string& stem);

}  // namespace ohm::engine
