#include "runtime/nn/backward_hook.h"

#include <algorithm>

#include "runtime/autograd/custom_function.h"
#include "runtime/tensor/context.h"

namespace ohm::nn {
namespace {

// Hands tensors on as they are, and their gradients back; `see` may change those.
class PassingFunction final : public CustomFunction {
 public:
  explicit PassingFunction(std::function<void(TensorList&)> see) : see_(std::move(see)) {}

  std::string_view name() const override { return "BackwardHookFunctionBackward"; }

  CustomForward forward(const std::vector<Tensor>& inputs,
                        const std::vector<bool>& needs) override {
    CustomForward forward;
    forward.outputs = inputs;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!needs[i]) forward.not_differentiable.push_back(inputs[i]);
    }
    return forward;
  }

  TensorList backward(BackwardCall& call, const TensorList& grads) override {
    TensorList results;
    for (std::size_t i = 0; i < grads.size(); ++i) {
      results.push_back(call.needs(i) ? grads[i] : Tensor());
    }
    see_(results);
    return results;
  }

 private:
  std::function<void(TensorList&)> see_;
};

// The places of the tensors, which become results of a PassingFunction; false where none requires
// a gradient.
bool watch(std::vector<Tensor>& values, std::vector<std::size_t>& places,
           std::function<void(TensorList&)> see) {
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!values[i].defined()) continue;
    places.push_back(i);
    tensors.push_back(values[i]);
  }
  const bool is_recorded = Context::current().state.grad_enabled &&
                           std::any_of(tensors.begin(), tensors.end(),
                                       [](const Tensor& tensor) { return tensor.requires_grad(); });
  if (!is_recorded) return false;
  const auto function = std::make_shared<PassingFunction>(std::move(see));
  const std::vector<Tensor> passed = call_function(function, tensors);
  for (std::size_t i = 0; i < places.size(); ++i) values[places[i]] = passed[i];
  return true;
}

GradientList spread(const TensorList& grads, const std::vector<std::size_t>& places,
                    std::size_t count) {
  GradientList list(count);
  for (std::size_t i = 0; i < places.size(); ++i) list[places[i]] = grads[i];
  return list;
}

void gather(const GradientList& list, const std::vector<std::size_t>& places, TensorList& grads) {
  for (std::size_t i = 0; i < places.size(); ++i) grads[i] = list[places[i]];
}

}  // namespace

void BackwardHook::watch_inputs(std::vector<Tensor>& inputs) {
  input_count_ = inputs.size();
  watches_inputs_ = watch(inputs, input_places_, [self = shared_from_this()](TensorList& grads) {
    self->take_input_gradients(grads);
  });
}

void BackwardHook::watch_outputs(std::vector<Tensor>& outputs) {
  output_count_ = outputs.size();
  watch(outputs, output_places_,
        [self = shared_from_this()](TensorList& grads) { self->take_output_gradients(grads); });
}

void BackwardHook::take_output_gradients(TensorList& grads) {
  output_gradients_ = spread(grads, output_places_, output_count_);
  if (calls_.before) {
    calls_.before(output_gradients_);
    gather(output_gradients_, output_places_, grads);
  }
  if (watches_inputs_) return;
  // No gradient comes out of the module: this is the end of its backward pass.
  GradientList none(input_count_);
  if (calls_.after) calls_.after(none, output_gradients_);
  output_gradients_.clear();
}

void BackwardHook::take_input_gradients(TensorList& grads) {
  // Other calls in between, or gradients that were asked for inside the module.
  if (output_gradients_.empty()) return;
  if (calls_.after) {
    GradientList of_inputs = spread(grads, input_places_, input_count_);
    calls_.after(of_inputs, output_gradients_);
    gather(of_inputs, input_places_, grads);
  }
  output_gradients_.clear();
}

}  // namespace ohm::nn
