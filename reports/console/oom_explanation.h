// The explanation of an out-of-memory message: what its figures mean, and which scenarios show it.
//
// Pure functions of the message: nothing is measured here.
#pragma once

#include <cstddef>
#include <string>

#include "reports/conclusion/oom_advice.h"

namespace ohm::reports {

/// The explanation, with the arithmetic: lines of at most `columns`.
std::string explained_oom_message(const OomMessage& message, const Circumstances& circumstances,
                                  std::size_t columns);

}  // namespace ohm::reports
