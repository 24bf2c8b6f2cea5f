// The result of ohm verify-device for programs: schema "ohm.verification/1", described in
// reports/json/ohm.verification.schema.json.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "reports/model/verification_result.h"

namespace ohm::reports {

inline constexpr std::string_view kVerificationSchema = "ohm.verification/1";

/// Keys are sorted, bytes are integers.
std::string verification_json(const VerificationResult& result);

/// The same before it is text.
nlohmann::json verification_object(const VerificationResult& result);

}  // namespace ohm::reports
