// The search for the smallest GPU: its steps, and the card of the table that is as large.
#pragma once

#include <cstddef>
#include <cstdint>

#include "allocator_shim/base/bytes.h"
#include "reports/model/fit_result.h"

namespace ohm::engine {

/// Segments come in multiples of this: no GPU between two of them holds more than the smaller.
inline constexpr std::int64_t kGranule = 2_MiB;
/// A GPU on which everything is measured, whatever it takes.
inline constexpr std::size_t kLargeCapacity = 512_GiB;

/// The smallest card that has so many bytes beside its context; none where none is large enough.
void name_smallest_gpu(std::int64_t bytes, FitRow& row);

}  // namespace ohm::engine
