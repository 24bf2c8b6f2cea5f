// Free memory stranded in segments that are partly in use, where a record shows it.
#pragma once

#include <cstdint>
#include <optional>

#include "reports/history/stepped_device.h"

namespace ohm::reports {

/// What is stranded would have served the request of so many bytes that ran out of memory, on this
/// device or another. nullopt: it would not have, or none did.
std::optional<FindingResult> stranded_finding(const SteppedDevice& device,
                                              std::int64_t request_bytes);

}  // namespace ohm::reports
