// The host memory of a command's processes, as libohm_host.so recorded it: a file for each.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace ohm::engine {

/// A call: a file, and an address in it. Without a file: code that the program made.
struct HostFrame {
  std::string module;
  std::uint64_t address = 0;
};

/// A call stack that asked for memory.
struct HostSite {
  std::uint64_t point = 0;  ///< the same number in every process of the program
  std::int64_t requests = 0;
  std::int64_t peak_bytes = 0;  ///< of what was alive at the process's peak
  std::int64_t peak_blocks = 0;
  std::int64_t failure_bytes = 0;  ///< of what was alive when the first request failed
  std::int64_t failure_blocks = 0;
  std::vector<HostFrame> frames;  ///< the innermost first
};

/// The first request that failed.
struct HostFailure {
  bool is_limit = false;     ///< false: a fault plan wanted it
  std::int64_t request = 0;  ///< its number, from 1
  std::int64_t bytes = 0;
  std::int64_t live_bytes = 0;
  std::vector<HostFrame> frames;
};

struct HostRecord {
  int pid = 0;
  int parent = 0;
  std::string program;
  std::vector<std::string> arguments;
  bool has_ended = false;  ///< false: it left no figures of its end
  std::int64_t requests = 0;
  std::int64_t failed = 0;
  std::int64_t live_bytes = 0;  ///< when it ended
  std::int64_t peak_bytes = 0;
  std::optional<HostFailure> failure;
  std::vector<HostSite> sites;
  std::string unwritten;  ///< why the record could not be written; empty: it was
};

/// Pairs of a module, counted from 1, and an address; 0 is not a module. As the files of records
/// have them.
std::vector<HostFrame> frames_of(const nlohmann::json& numbers,
                                 const std::vector<std::string>& modules);

/// Throws std::invalid_argument where the file is none of the library's.
HostRecord read_host_record(const std::string& path);

/// Of every process that wrote to the folder, by their numbers. A file that cannot be read, as its
/// process was killed meanwhile, is a record that has not ended.
std::vector<HostRecord> read_host_records(const std::string& folder);

/// How a stack is shown: by the innermost function that is not there to allocate.
struct HostPlace {
  std::string function;  ///< "PyByteArray_Resize", "ls+0x5f3a"
  std::string module;    ///< "libpython3.11.so.1.0"
};

class ProgramFunctions;
HostPlace place_of(const std::vector<HostFrame>& frames, ProgramFunctions& functions);

/// "PyByteArray_Resize", "ls+0x5f3a".
std::string function_of(const HostFrame& frame, ProgramFunctions& functions);

}  // namespace ohm::engine
