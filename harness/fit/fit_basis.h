// The basis of a prediction from recordings: how sizes were found, and the lines that hold the
// peak.
#pragma once

#include <cstdint>

#include "harness/fit/compared_recordings.h"
#include "harness/fit/value_prediction.h"
#include "reports/model/fit_result.h"

namespace ohm::engine {

/// The holders are those of the peak at `value`, on the GPU where it is highest.
FitBasis basis_of(const ComparedRecordings& compared, const ValuePrediction& prediction,
                  std::int64_t value);

}  // namespace ohm::engine
