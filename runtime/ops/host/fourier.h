// Discrete Fourier transforms of arrays on the host, in double.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "runtime/base/shape.h"

namespace ohm::ops {

/// Elements in row-major order.
struct FourierArray {
  Shape sizes;
  std::vector<std::complex<double>> values;
};

/// Transforms every line along `dim`: Σ value[k] · e^(∓2πi·j·k/n), − forward and + inverse. Nothing
/// is scaled.
void transform_lines(FourierArray& array, int dim, bool is_inverse);

/// The first half of each line along `dim`: n / 2 + 1 elements.
FourierArray halved(const FourierArray& array, int dim);
/// What a line of `size` elements whose transform is real looks like, out of its first half: the
/// rest are the conjugates, and the elements without a partner are real.
FourierArray mirrored(const FourierArray& array, int dim, std::int64_t size);

}  // namespace ohm::ops
