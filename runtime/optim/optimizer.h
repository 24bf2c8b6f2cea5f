// Optimizers: what is common to all, and how a training step looks:
//
//   optimizer.zero_grad();                       // frees the gradients
//   Tensor loss = cross_entropy(net->forward(x), y);
//   backward(loss);
//   optimizer.step();                            // state is allocated at the first step
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace ohm::optim {

/// How the update is computed. All forms give the same numbers; they differ in temporaries.
enum class Form : std::uint8_t {
  foreach_list,  ///< over all parameters at once: temporaries of all of them live together
  for_loop,      ///< one parameter after the other: temporaries of one at a time
  fused,         ///< one kernel: no temporaries
};

class Optimizer {
 public:
  /// `lr`: learning rate. Throws std::invalid_argument for an empty list, for tensors that are no
  /// leaves, and for a learning rate that is negative or no number.
  Optimizer(std::vector<Tensor> parameters, double lr);
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  virtual std::string_view type_name() const = 0;

  /// One update of every parameter that has a gradient.
  void step();

  /// Drops all gradients, or fills them with zeros.
  void zero_grad(bool set_to_none);

  double learning_rate() const { return lr_; }
  void set_learning_rate(double lr) { lr_ = lr; }
  const std::vector<Tensor>& parameters() const { return parameters_; }

 protected:
  /// The update of `parameters`, all of which have a gradient; grad mode is off.
  virtual void update(const std::vector<Tensor>& parameters) = 0;

 private:
  std::vector<Tensor> parameters_;
  double lr_;
};

using OptimizerPtr = std::shared_ptr<Optimizer>;

/// The form that PyTorch takes by itself: foreach where all parameters are on GPUs.
Form default_form(const std::vector<Tensor>& parameters);

}  // namespace ohm::optim
