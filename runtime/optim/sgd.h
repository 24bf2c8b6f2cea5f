// Stochastic gradient descent.
//
//   g = grad + weight_decay · p;  v = momentum · v + (1 − dampening) · g;  p −= lr · (v or g)
//
// State: with momentum one buffer of the parameter's size and dtype, made at the first step as a
// copy of the gradient. Temporaries: with weight decay or maximize one of the parameter's size.
#pragma once

#include <unordered_map>

#include "runtime/optim/optimizer.h"

namespace ohm::optim {

struct SgdOptions {
  double lr = 1e-3;
  double momentum = 0.0;
  double dampening = 0.0;
  double weight_decay = 0.0;
  bool nesterov = false;
  bool maximize = false;
  Form form = Form::for_loop;
};

class Sgd final : public Optimizer {
 public:
  Sgd(std::vector<Tensor> parameters, const SgdOptions& options);

  std::string_view type_name() const override { return "SGD"; }

 protected:
  void update(const std::vector<Tensor>& parameters) override;

 private:
  Tensor with_momentum(const Tensor& parameter, const Tensor& grad);
  void apply(const Tensor& parameter, const Tensor& direction) const;

  SgdOptions options_;
  std::unordered_map<const TensorImpl*, Tensor> momentum_;
};

}  // namespace ohm::optim
