// Reads the out-of-memory messages of PyTorch 1.0 to 2.10, and says what their figures mean.
//
// Pure functions of the text: nothing is measured here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ohm::reports {

/// A figure as the message has it, with the half of a unit in its last digit that it may be off by.
struct PrintedBytes {
  double bytes = 0;
  double rounding = 0;
};

/// What one message says; absent is what its PyTorch does not print.
struct OomMessage {
  std::optional<int> gpu;
  PrintedBytes requested;                     ///< what the device was asked for
  std::optional<PrintedBytes> capacity;       ///< of the card
  std::optional<PrintedBytes> free;           ///< of the card
  std::optional<PrintedBytes> allocated;      ///< handed out by PyTorch's allocator
  std::optional<PrintedBytes> reserved;       ///< all of its segments
  std::optional<PrintedBytes> allowed;        ///< by set_per_process_memory_fraction
  std::optional<PrintedBytes> this_process;   ///< with what is outside the allocator
  std::optional<PrintedBytes> private_pools;  ///< of CUDA graphs
  std::vector<PrintedBytes> other_processes;  ///< one for each that is named
};

/// The first message in the text, which may be a whole log, broken into lines anywhere. Throws
/// std::invalid_argument that says what is missing.
OomMessage parse_oom_message(std::string_view text);

enum class OomCause : std::uint8_t { too_large, fraction, fragmented, other_process, full };

/// The main cause; several can apply.
OomCause cause_of(const OomMessage& message);

/// Scenarios that show the cause and what helps.
std::vector<std::string> pitfalls_of(OomCause cause);

/// The explanation, with the arithmetic: lines of at most `columns`.
std::string explained_oom_message(const OomMessage& message, std::size_t columns);

}  // namespace ohm::reports
