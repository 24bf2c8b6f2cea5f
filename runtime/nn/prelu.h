// A leaky rectifier whose slope is learnt.
#pragma once

#include "runtime/nn/module.h"
#include "runtime/nn/new_parameter.h"

namespace ohm::nn {

/// x above 0, weight · x below. weight [num_parameters]: one, or one for each channel [N, C, *].
class PRelu final : public UnaryModule<PRelu> {
 public:
  PRelu(std::int64_t num_parameters, double init, const ParameterOptions& parameters);

  std::string_view type_name() const override { return "PReLU"; }

 protected:
  Tensor apply(const Tensor& input) override;
};

}  // namespace ohm::nn
