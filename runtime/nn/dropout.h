// Dropout: zeroes elements or channels at random when training, and scales the rest up.
#pragma once

#include "runtime/nn/module.h"

namespace ohm::nn {

/// What one sort of dropout is called and does.
struct DropoutKind {
  std::string_view name;
  Tensor (*drop)(const Tensor& input, double p, bool training);
  Tensor (*drop_in_place)(const Tensor& input, double p, bool training);
};

extern const DropoutKind kElementDropout;
extern const DropoutKind kChannelDropout;
extern const DropoutKind kLineDropout;
extern const DropoutKind kAlphaDropout;
extern const DropoutKind kVolumeDropout;

/// Elements, or channels of [N, C, …], are dropped with probability `p`. In evaluation the input
/// itself comes back.
class Dropout final : public UnaryModule<Dropout> {
 public:
  Dropout(const DropoutKind& kind, double p, bool in_place)
      : kind_(&kind), p_(p), in_place_(in_place) {}

  std::string_view type_name() const override { return kind_->name; }
  bool set_option(std::string_view name, const Value& value) override;

 protected:
  Tensor apply(const Tensor& input) override;

 private:
  const DropoutKind* kind_;
  double p_;
  bool in_place_;
};

}  // namespace ohm::nn
