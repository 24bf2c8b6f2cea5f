// Records that are missing: one that could not be written left a file instead, which is empty and
// named by why.
#pragma once

#include <map>
#include <string>

namespace ohm::engine {

/// By the name of the record without its ending ("1234", "host-1234") why it could not be written,
/// as in "No space left on device".
std::map<std::string, std::string> unwritten_records(const std::string& folder);

/// Why a process has left neither: it still runs, or was killed.
std::string reason_of_no_record(int process);

}  // namespace ohm::engine
