// Windows that pieces of a signal are weighed with.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// alpha − beta · cos(2πi / n) for i < `window_length`, where n is the length, or, where the window
/// is not periodic, one less. float32 on the host unless said otherwise.
Tensor hamming_window(std::int64_t window_length, bool periodic, double alpha, double beta,
                      std::optional<DType> dtype, std::optional<Device> device);
/// The same with 0.5 for both.
Tensor hann_window(std::int64_t window_length, bool periodic, std::optional<DType> dtype,
                   std::optional<Device> device);

std::vector<OpDef> signal_window_ops();

}  // namespace ohm::ops
