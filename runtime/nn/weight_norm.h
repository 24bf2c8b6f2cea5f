// Weight normalisation: a parameter as a direction v and a length g.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/nn/module.h"

namespace ohm::nn {

/// The parameter `name` becomes an attribute, v · g / ‖v‖, computed at each call of the module, of
/// new parameters <name>_g and <name>_v; the norm is taken over all dimensions but `dim`, with −1
/// over all. Throws std::invalid_argument where there is no such parameter.
void weight_norm(Module& module, const std::string& name, std::int64_t dim);
/// The attribute becomes the parameter again. Throws std::invalid_argument where it is none.
void remove_weight_norm(Module& module, const std::string& name);

/// The same with original0 and original1 of parametrizations.<name>; the parameter is computed
/// whenever it is used.
void parametrize_weight_norm(Module& module, const std::string& name, std::int64_t dim);

}  // namespace ohm::nn
