// The process records of programs without PyTorch.
#pragma once

#include <string>

#include "harness/exec/process_record.h"

namespace ohm::engine {

/// Of the file that the process left, beside which it writes the snapshot cuda-PID.pickle. What
/// cannot be read or written is a problem of the process.
ProcessRecord cuda_process_record(const std::string& path);

/// Of a file name without its ending: "cuda-1234" is 1234; 0: it is none of such a record.
int cuda_process_of(const std::string& stem);

}  // namespace ohm::engine
