// The events of a memory snapshot as columns: what the Python package maps into memory with NumPy.
//
// A line of JSON (schema ohm.columns/1), padded with spaces to a multiple of 32 bytes, and then the
// TraceEntry rows of each device as they lie in memory, oldest first: little-endian address u64,
// bytes u64, time_us i64, stack u32, and in one u32 the detail (28 bits) and the action (the upper
// 4).
#pragma once

#include "allocator_shim/snapshot/snapshot.h"
#include "reports/text/report_file.h"

namespace ohm::reports {

/// Writes all of it; the caller commits the file. Throws std::runtime_error as ReportFile does.
void write_snapshot_columns(const Snapshot& snapshot, ReportFile& file);

}  // namespace ohm::reports
