// Hooks on the gradients of one call of a module: on those of its outputs before they go into its
// backward pass, and on those of its inputs when they come out of it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/autograd/node.h"
#include "runtime/tensor/tensor.h"

namespace ohm::nn {

/// One for each input or output of a module; undefined for what has none.
using GradientList = std::vector<Tensor>;

/// As PyTorch's, keeps the gradients of the outputs until those of the inputs are there.
class BackwardHook : public std::enable_shared_from_this<BackwardHook> {
 public:
  /// Each may change the list that it is given first. Either may be empty.
  struct Calls {
    std::function<void(GradientList& of_outputs)> before;
    std::function<void(GradientList& of_inputs, const GradientList& of_outputs)> after;
  };

  explicit BackwardHook(Calls calls) : calls_(std::move(calls)) {}

  /// Puts a node on the tensors, which become others on the same elements; undefined ones stand
  /// for what is not a tensor. Does nothing where no graph is recorded.
  void watch_inputs(std::vector<Tensor>& inputs);
  void watch_outputs(std::vector<Tensor>& outputs);

 private:
  void take_input_gradients(TensorList& grads);
  void take_output_gradients(TensorList& grads);

  Calls calls_;
  std::vector<std::size_t> input_places_;  ///< of the tensors
  std::vector<std::size_t> output_places_;
  std::size_t input_count_ = 0;
  std::size_t output_count_ = 0;
  bool watches_inputs_ = false;
  GradientList output_gradients_;  ///< empty: not there yet
};

}  // namespace ohm::nn
