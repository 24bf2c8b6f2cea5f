// Windows that pieces of a signal are weighed with, and transforms of such pieces.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
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

/// The transforms [*, frequencies, pieces] of pieces of a signal [*, samples], `n_fft` samples each
/// and `hop_length` apart (a quarter of n_fft where none is said), weighed with `window`, which
/// stands in the middle of n_fft. With `center` the signal is padded so that the first piece is
/// around its first sample. `return_complex` must be true.
Tensor stft(const Tensor& input, std::int64_t n_fft, std::optional<std::int64_t> hop_length,
            std::optional<std::int64_t> win_length, const std::optional<Tensor>& window,
            bool center, const std::string& pad_mode, bool normalized, std::optional<bool> onesided,
            bool return_complex);

std::vector<OpDef> signal_window_ops();

}  // namespace ohm::ops
