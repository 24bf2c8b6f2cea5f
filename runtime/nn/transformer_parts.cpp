#include "runtime/nn/transformer_parts.h"

#include <fmt/core.h>

#include <limits>
#include <memory>
#include <stdexcept>

#include "runtime/arithmetic/factories.h"
#include "runtime/lifetimes/lifetimes.h"
#include "runtime/nn/attention.h"
#include "runtime/nn/dropout.h"
#include "runtime/nn/linear.h"
#include "runtime/nn/normalization.h"
#include "runtime/ops/activation/activation.h"
#include "runtime/ops/pointwise/comparison.h"
#include "runtime/ops/shape/rearrange.h"

namespace ohm::nn {

std::optional<Tensor> tensor_at(const std::vector<Value>& inputs, std::size_t place) {
  const Tensor* tensor = place < inputs.size() ? std::get_if<Tensor>(&inputs[place]) : nullptr;
  return tensor == nullptr ? std::nullopt : std::optional<Tensor>(*tensor);
}

bool is_causal_mask(const Tensor& mask) {
  constexpr double kLeftOut = -std::numeric_limits<double>::infinity();
  const Shape square(2, mask.size(-2));
  Tensor causal;
  {
    const Tensor all_left_out = full(square, kLeftOut, options_of(mask));
    causal = ops::triu(all_left_out, 1);
  }
  if (!(mask.shape() == square)) return false;
  Tensor verdict;
  {
    const Tensor is_equal = ops::eq(mask, causal);
    verdict = empty({}, {DType::boolean, mask.device()});
  }
  return mask.has_values() && to_doubles(mask) == to_doubles(causal);
}

void check_activation(const TransformerLayerOptions& options, std::string_view module) {
  if (options.activation == "relu" || options.activation == "gelu") return;
  throw std::invalid_argument(
      fmt::format("[{}] activation should be relu or gelu, not {}", module, options.activation));
}

ModulePtr TransformerParts::attention() const {
  const MultiheadAttentionOptions attention{options_.dropout, options_.has_bias,
                                            options_.is_batch_first};
  return std::make_shared<MultiheadAttention>(options_.width, options_.heads, attention,
                                              parameters_);
}

ModulePtr TransformerParts::linear_to_hidden() const {
  return std::make_shared<Linear>(options_.width, options_.hidden, options_.has_bias, parameters_);
}

ModulePtr TransformerParts::linear_from_hidden() const {
  return std::make_shared<Linear>(options_.hidden, options_.width, options_.has_bias, parameters_);
}

ModulePtr TransformerParts::norm() const {
  const LayerNormOptions options{options_.eps, true, options_.has_bias};
  return std::make_shared<LayerNorm>(Shape{options_.width}, options, parameters_);
}

ModulePtr TransformerParts::dropout() const {
  return std::make_shared<Dropout>(kElementDropout, options_.dropout, false);
}

namespace {

// PyTorch has gelu() in C++ alone, and relu() behind a function in Python.
Tensor relu_in_python(const Tensor& input) try { return ops::relu(input); } catch (...) {
  hold_variables({input});
  throw;
}

}  // namespace

Tensor FeedForward::operator()(const Module& layer, const std::string& activation,
                               Tensor input) const try {
  const auto by_child = [&layer](std::size_t number, const Tensor& tensor) {
    return layer.children()[number].module->forward(tensor);
  };
  Tensor inner = by_child(linear1, input);
  inner = activation == "gelu" ? ops::gelu(inner, "none") : relu_in_python(inner);
  inner = by_child(dropout, inner);
  inner = by_child(linear2, inner);
  input = Tensor();
  return by_child(last_dropout, inner);
} catch (...) {
  hold_variables({input});
  throw;
}

}  // namespace ohm::nn
