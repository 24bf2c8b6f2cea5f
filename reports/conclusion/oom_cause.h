// The cause of an out-of-memory error, concluded from the figures of its message or of a record.
//
// The rules for such conclusions are here alone: a cause is named only where the figures bear it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reports/text/oom_message_parser.h"

namespace ohm::reports {

enum class OomCause : std::uint8_t {
  too_large,      ///< the request is larger than the card
  large_request,  ///< one request takes more than half of the card; others hold less than it needs
  fraction,       ///< set_per_process_memory_fraction
  fragmented,     ///< what is free would do, in one piece
  other_process,  ///< or, where no process is named, anything outside this process's allocator
  outside,        ///< memory of this process outside PyTorch's allocator
  private_pools,  ///< free blocks of CUDA graphs' pools, which serve nothing else
  full,           ///< tensors of this process
  shared,         ///< several of these together, none of them by itself
  not_said,       ///< refused with room for it: the figures do not tell why
  cut_off,        ///< the message breaks off before the figures that would tell
};

/// Who holds the card, as far as the figures tell. What is known adds up to what is in use.
struct CardUse {
  std::optional<PrintedBytes> tensors;  ///< without the free blocks of private pools
  std::optional<PrintedBytes> pools;    ///< free blocks of private pools
  std::optional<PrintedBytes> cache;    ///< reserved, free, and in no private pool
  std::optional<PrintedBytes> outside;  ///< of this process, outside PyTorch's allocator
  std::optional<PrintedBytes> others;   ///< of named processes
  std::optional<PrintedBytes> unnamed;  ///< in use, and not by this process's allocator
};

CardUse use_of(const OomMessage& message);

/// "tensors 27.25 GiB, private pools of CUDA graphs 24.90 GiB, …": largest first, without what is
/// too little to matter.
std::string use_text(const CardUse& use);

/// Reserved and not handed out; nullopt when the message has only one of the two.
std::optional<PrintedBytes> unallocated(const OomMessage& message);

/// What would have had to be free besides: all of the request where something is free and was
/// refused nevertheless.
PrintedBytes missing_bytes(const OomMessage& message);

/// Beyond the context of this process that a card has at least: named processes, else what is in
/// use and not accounted for.
PrintedBytes held_by_others(const OomMessage& message);

/// The main cause; several can apply.
OomCause cause_of(const OomMessage& message);

/// Scenarios that show the cause and what helps; none for a cause that is not known.
std::vector<std::string> pitfalls_of(OomCause cause);

/// Whether the first is less, whatever the figures were rounded from.
bool is_less(const PrintedBytes& a, const PrintedBytes& b);

PrintedBytes difference(const PrintedBytes& a, const PrintedBytes& b);

}  // namespace ohm::reports
