// The settings of libohm_host.so in a process, and the files that it shares with ohm for them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ohm::interpose::host {

/// A folder: each process leaves what it recorded there, as host-PID.json.
inline constexpr const char* kRecordVariable = "OHM_HOST_RECORD";
/// Bytes that the requests of one process may have at a time; nothing: as many as there are.
inline constexpr const char* kLimitVariable = "OHM_HOST_LIMIT";
/// Requests that fail (host_fault.h); nothing: none. Each process counts its own.
inline constexpr const char* kFaultVariable = "OHM_HOST_FAULT";
/// A folder with the files below. The first process takes part in a sweep; what it starts runs as
/// if there were none: these variables, and LD_PRELOAD, are taken out of its environment.
inline constexpr const char* kSweepVariable = "OHM_HOST_SWEEP";

/// Files of a sweep's folder.
inline constexpr const char* kControlFile = "control";     ///< SweepControl, then the faults
inline constexpr const char* kTraceFile = "trace";         ///< points of the requests, in order
inline constexpr const char* kPointsFile = "points.json";  ///< of the run that traces
inline constexpr const char* kOutputFile = "out";          ///< of the run
inline constexpr const char* kErrorsFile = "err";          ///< likewise
inline constexpr const char* kExpectedOutput = "expected.out";  ///< of the run without faults
inline constexpr const char* kExpectedErrors = "expected.err";
inline constexpr const char* kCopyOutput = "copy.out";  ///< of the copy that a request failed in
inline constexpr const char* kCopyErrors = "copy.err";
inline constexpr const char* kLeftFile = "left";  ///< SiteLeft rows of the run without faults
inline constexpr const char* kWrittenFile =
    "written";  ///< of the run: a line for each (written_files.h)
inline constexpr const char* kFramesFile = "frames";  ///< of Python, where the last request failed

/// Requests of a process that are numbered in a trace; those after them are only counted.
inline constexpr std::size_t kTracedRequests = std::size_t{1} << 24;

/// Makes a point's number of module-relative frames; what is the same in another process of the
/// same program. 0 is not a point.
using PointHash = std::uint64_t;

/// A request, as a trace has it.
struct TracedRequest {
  PointHash point = 0;
  std::uint64_t bytes = 0;
};

enum class SweepRun : std::uint32_t {
  trace,  ///< nothing fails; the points of all requests are written down
  fork,   ///< each of the faults happens in a copy of the process, made at the request
  fail,   ///< the first of the faults happens in the process itself
};

/// What became of one fault.
enum class FaultEnd : std::uint32_t {
  not_reached,
  ended,             ///< with `status`
  hung,              ///< and was killed
  other_point,       ///< the request came from elsewhere than in the run without faults
  several_threads,   ///< no copy of the process can be made
  writes_files,      ///< a copy would change what the process has open
  speaks_to_others,  ///< likewise: a pipe or socket with something at its other end
  has_children,      ///< a copy could not wait for them
  no_copy,           ///< the machine has none left
};

/// What a call stack left when the process ended.
struct SiteLeft {
  PointHash point = 0;
  std::uint64_t bytes = 0;          ///< that are still allocated
  std::uint64_t lost_bytes = 0;     ///< of these: no pointer of the process leads to them
  std::uint64_t is_of_program = 0;  ///< 1: they were not allocated by the C library for itself
};

/// What a process in which a request failed left beyond the run without faults.
struct MemoryLeft {
  std::uint64_t lost_bytes = 0;
  PointHash lost_point = 0;  ///< that most of them are of; 0: requested after the failure
  /// Of these: by the function whose request failed, which has returned. All others may be of a
  /// function that ends the process, and has no use for its pointers any more.
  std::uint64_t abandoned_bytes = 0;
  PointHash abandoned_point = 0;
  /// Of call stacks that leave nothing without faults, in a program that frees all it allocates.
  std::uint64_t kept_bytes = 0;
  PointHash kept_point = 0;
};

inline constexpr std::size_t kMessageBytes = 240;
inline constexpr std::size_t kFramesBytes = 2048;
inline constexpr std::size_t kHostNameBytes = 256;

/// Written by ohm up to `is_persistent`, the rest by the library.
struct SweptFault {
  std::uint64_t request = 0;  ///< from 1
  PointHash point = 0;
  std::uint32_t is_persistent = 0;  ///< 1: all requests after it fail, too
  FaultEnd end = FaultEnd::not_reached;
  std::int32_t status = 0;                       ///< as waitpid() tells it
  std::uint32_t has_same_output = 0;             ///< 1: its standard output is the expected one
  std::uint32_t has_same_errors = 0;             ///< 1: likewise
  std::array<char, kMessageBytes> message = {};  ///< what it wrote to stderr that is not expected
  MemoryLeft left;
  std::uint64_t writes_files = 0;              ///< 1: a copy opened a file for writing
  std::array<char, kFramesBytes> frames = {};  ///< as kFramesFile has them
};

struct SweepControl {
  SweepRun run = SweepRun::trace;
  std::uint32_t copy_milliseconds = 0;  ///< that a copy may take
  std::uint64_t fault_count = 0;        ///< that follow, by their requests
  std::uint64_t requests = 0;           ///< of the process, when it ended
  std::uint64_t has_ended = 0;          ///< 1: the library saw the process end
  std::uint64_t first_difference = 0;   ///< the first request that came from elsewhere; 0: none did
  /// The first host beyond this machine that a run which traces asked for, by name or address.
  std::array<char, kHostNameBytes> network_host = {};
};

}  // namespace ohm::interpose::host
