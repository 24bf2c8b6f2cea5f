// A real card in words, on one line.
#pragma once

#include <string>

#include "reports/model/verification_result.h"

namespace ohm::reports {

/// "2 × NVIDIA H200 (139.81 GiB, compute capability 9.0), driver for CUDA 12.8".
std::string card_text(const VerifiedCard& card);

/// The same with the libraries' versions: equal for equal cards alone, but for the reasons why
/// something is missing.
std::string card_and_library_text(const VerifiedCard& card);

}  // namespace ohm::reports
