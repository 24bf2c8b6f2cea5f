// The GPU memory of a command's processes, as harness/record/ohm_recorder.py recorded it: a
// snapshot and a summary for each process that used CUDA from PyTorch; others left a record of
// their own.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reports/model/error_result.h"
#include "reports/model/finding_result.h"
#include "reports/model/memory_result.h"
#include "reports/model/unknown_value.h"

namespace ohm::engine {

/// The allocator's own counters over the whole process.
struct RecordedDevice {
  std::string name;
  std::int64_t capacity_bytes = 0;
  std::int64_t peak_allocated_bytes = 0;
  std::int64_t peak_reserved_bytes = 0;
  std::int64_t allocated_at_end_bytes = 0;
  std::int64_t num_ooms = 0;
  std::int64_t num_alloc_retries = 0;
  std::int64_t num_device_alloc = 0;
  std::vector<std::string> modelled;  ///< names of the assumptions that its figures rest on
};

struct ProcessRecord {
  int pid = 0;
  int ordinal = 1;  ///< of the programs that the process has been, one after the other
  int rank = -1;    ///< $RANK; -1: none
  std::vector<std::string> arguments;     ///< of Python: the script comes first
  std::string folder;                     ///< in which it started
  std::vector<std::string> user_folders;  ///< whose files are the user's; the repository first
  std::string torch_version;
  bool has_ended = false;  ///< false: it was killed before it could write what it had recorded
  std::int64_t most_events = 0;  ///< of a device; of more the last ones were kept
  std::vector<RecordedDevice> devices;
  std::optional<ErrorResult> error;                  ///< that no part of the program handled
  bool is_out_of_memory = false;                     ///< that error
  std::vector<UnknownValueResult> unknown_values;    ///< in the order of their first occurrence
  std::optional<RetentionResult> retention;          ///< what keeps memory alive
  std::map<std::string, std::int64_t> not_computed;  ///< operators, and how often: --values cpu
  std::vector<std::string> problems;                 ///< of the recorder itself
  bool is_native = false;                            ///< without PyTorch (cuda_process.h)
  std::vector<FindingResult> findings;               ///< of such a program
  bool is_unwritten = false;                         ///< the last problem is that of writing it
  std::string snapshot;                              ///< its file; empty: there is none
};

/// Of every process that wrote to the folder: by rank, then in the order of their numbers. A
/// summary that cannot be read is a problem of its process.
std::vector<ProcessRecord> read_process_records(const std::string& folder);

/// "train", "train (rank 1)", "train (process 2)": a name for each, told apart.
std::vector<std::string> process_names(const std::vector<ProcessRecord>& records);

/// Numbers the names that are equal: "cc1 (process 1)", "cc1 (process 2)".
void tell_apart(std::vector<std::string>& names);

}  // namespace ohm::engine
