// A leaky rectifier whose slopes are random in training.
#pragma once

#include "runtime/nn/module.h"

namespace ohm::nn {

/// x above 0, slope · x below: slopes uniform in [lower, upper), in evaluation their mean.
class RRelu final : public UnaryModule<RRelu> {
 public:
  RRelu(double lower, double upper) : lower_(lower), upper_(upper) {}

  std::string_view type_name() const override { return "RReLU"; }

 protected:
  Tensor apply(const Tensor& input) override;

 private:
  double lower_;
  double upper_;
};

}  // namespace ohm::nn
