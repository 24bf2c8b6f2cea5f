// Spectral normalisation: a weight divided by its largest singular value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/nn/module.h"

namespace ohm::nn {

struct SpectralNormOptions {
  std::int64_t power_iterations = 1;  ///< at each call in training
  double eps = 1e-12;
  std::optional<std::int64_t> dim;  ///< of the outputs; none: 1 of a transposed convolution, else 0
};

/// The parameter `name` becomes an attribute, W / σ, computed at each call of the module, of the
/// parameter <name>_orig and of buffers <name>_u and <name>_v, which approach the singular vectors.
/// Throws std::invalid_argument where there is no such parameter.
void spectral_norm(Module& module, const std::string& name, const SpectralNormOptions& options);
/// The attribute becomes the parameter again. Throws std::invalid_argument where it is none.
void remove_spectral_norm(Module& module, const std::string& name);

/// The same with `original` of parametrizations.<name> and buffers _u and _v of its child 0; the
/// parameter is computed whenever it is used.
void parametrize_spectral_norm(Module& module, const std::string& name,
                               const SpectralNormOptions& options);

}  // namespace ohm::nn
