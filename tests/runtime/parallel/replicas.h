// What tests of parallel training share: machines of several GPUs, and what a module has to show.
#pragma once

#include <vector>

#include "runtime/nn/module.h"
#include "tests/support/test_machine.h"

namespace ohm::parallel {

inline constexpr test::MachineOptions kTwoGpus{.gpus = 2, .values = ValueMode::keeps_values};
inline constexpr test::MachineOptions kFourGpus{.gpus = 4, .values = ValueMode::keeps_values};

/// By parameter; one that is undefined is empty.
using Gradients = std::vector<std::vector<double>>;

inline Gradients gradients_of(const nn::Module& net) {
  Gradients gradients;
  for (const Tensor& parameter : net.parameters()) {
    gradients.push_back(parameter.grad().defined() ? to_doubles(parameter.grad())
                                                   : std::vector<double>());
  }
  return gradients;
}

}  // namespace ohm::parallel
