// The explanation of an out-of-memory message: what its figures mean, and which scenarios show it.
//
// Pure functions of the message: nothing is measured here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reports/text/oom_message_parser.h"

namespace ohm::reports {

enum class OomCause : std::uint8_t {
  too_large,
  fraction,
  fragmented,
  other_process,
  full,
  not_said,  ///< refused with room for it: the figures do not tell why
  cut_off    ///< the message breaks off before the figures that would tell
};

/// Reserved and not handed out; nullopt when the message has only one of the two.
std::optional<PrintedBytes> unallocated(const OomMessage& message);

/// The main cause; several can apply.
OomCause cause_of(const OomMessage& message);

/// Scenarios that show the cause and what helps; none for a cause that is not known.
std::vector<std::string> pitfalls_of(OomCause cause);

/// Of OomCause::not_said: one sentence of what is known to do that.
std::string what_refuses_without_a_reason();

/// The explanation, with the arithmetic: lines of at most `columns`.
std::string explained_oom_message(const OomMessage& message, std::size_t columns);

}  // namespace ohm::reports
