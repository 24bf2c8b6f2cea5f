// A layer's gradients as the outputs of a node, which create_graph makes.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/autograd/recorder.h"
#include "runtime/ops/host/layer_gradients.h"

namespace ohm::ops {

/// Gradients as the outputs of a node that differentiates them: those that are defined.
class GradientOutputs {
 public:
  explicit GradientOutputs(const LayerGradients& gradients) {
    for (const Member member :
         {&LayerGradients::input, &LayerGradients::weight, &LayerGradients::bias}) {
      if ((gradients.*member).defined()) members_.push_back(member);
    }
  }

  std::vector<Tensor> of(const LayerGradients& gradients) const {
    std::vector<Tensor> outputs;
    for (const Member member : members_) outputs.push_back(gradients.*member);
    return outputs;
  }

  /// The gradients of the outputs, each in its place.
  LayerGradients incoming(const BackwardCall& call) const {
    LayerGradients gradients;
    for (std::size_t i = 0; i < members_.size(); ++i) gradients.*members_[i] = call.grad(i);
    return gradients;
  }

 private:
  using Member = Tensor LayerGradients::*;
  std::vector<Member> members_;
};

}  // namespace ohm::ops
