// y = x · Wᵀ + b.
#pragma once

#include "runtime/nn/module.h"
#include "runtime/nn/new_parameter.h"

namespace ohm::nn {

/// x: [*, in_features] -> [*, out_features]. weight [out_features, in_features] and bias
/// [out_features] start uniform in ±1/√in_features.
class Linear final : public UnaryModule<Linear> {
 public:
  Linear(std::int64_t in_features, std::int64_t out_features, bool has_bias,
         const ParameterOptions& options);

  std::string_view type_name() const override { return "Linear"; }

 protected:
  Tensor apply(const Tensor& input) override;
};

}  // namespace ohm::nn
