// The result of ohm verify-device for people.
#pragma once

#include <string>

#include "reports/model/verification_result.h"

namespace ohm::reports {

/// A table for each card.
std::string verification_text(const VerificationResult& result);

}  // namespace ohm::reports
