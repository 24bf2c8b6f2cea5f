// Dropout: zeroes elements at random when training, and scales the rest up.
#pragma once

#include "runtime/nn/module.h"

namespace ohm::nn {

/// Elements are dropped with probability `p`. In evaluation the input itself comes back.
class Dropout final : public UnaryModule<Dropout> {
 public:
  Dropout(double p, bool in_place) : p_(p), in_place_(in_place) {}

  std::string_view type_name() const override { return "Dropout"; }

 protected:
  Tensor apply(const Tensor& input) override;

 private:
  double p_;
  bool in_place_;
};

}  // namespace ohm::nn
