// A parser of the out-of-memory messages of PyTorch 1.0 to 2.15.
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

/// As exact as the two are together.
PrintedBytes sum(const PrintedBytes& a, const PrintedBytes& b);

/// Whose memory it is, by the first word of the message.
enum class OomBackend : std::uint8_t { cuda, hip, xpu, npu, other };

/// Versions of PyTorch that share one wording.
enum class OomWording : std::uint8_t {
  cached,     ///< up to 1.3
  in_total,   ///< 1.4 to 1.9
  with_hint,  ///< 1.10 to 2.0: it recommends max_split_size_mb
  by_process  ///< from 2.1 on
};

/// What one message says; absent is what its PyTorch does not print.
struct OomMessage {
  OomBackend backend = OomBackend::cuda;
  OomWording wording = OomWording::by_process;
  std::string variable;                  ///< PYTORCH_CUDA_ALLOC_CONF or the like, where it is named
  bool recommends_expandable = false;    ///< expandable_segments:True
  bool has_expandable_segments = false;  ///< they are on
  std::optional<int> gpu;
  PrintedBytes requested;                     ///< what the device was asked for
  std::optional<PrintedBytes> capacity;       ///< of the card
  std::optional<PrintedBytes> free;           ///< of the card
  std::optional<PrintedBytes> allocated;      ///< handed out by PyTorch's allocator
  std::optional<PrintedBytes> reserved;       ///< all of its segments
  std::optional<PrintedBytes> allowed;        ///< by set_per_process_memory_fraction
  std::optional<PrintedBytes> this_process;   ///< with what is outside the allocator; in a
                                              ///< container the named one that fits
  std::optional<PrintedBytes> private_pools;  ///< of CUDA graphs
  std::vector<PrintedBytes> other_processes;  ///< one for each that is named
  bool is_cut = false;  ///< it breaks off before its last figures, which say what was reserved
};

/// The first message in the text, which may be a whole log, broken into lines anywhere. A message
/// that a log's limit has cut has the figures that are there as a whole. Throws
/// std::invalid_argument that says what is missing.
OomMessage parse_oom_message(std::string_view text);

/// What the first message asked for, also where it breaks off right behind; nullopt: it does not
/// say.
std::optional<PrintedBytes> requested_bytes(std::string_view text);

}  // namespace ohm::reports
