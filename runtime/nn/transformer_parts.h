// The parts that layers of encoders and decoders share.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "runtime/lifetimes/lifetimes.h"
#include "runtime/nn/module.h"
#include "runtime/nn/new_parameter.h"
#include "runtime/ops/pointwise/arithmetic.h"

namespace ohm::nn {

struct TransformerLayerOptions {
  std::int64_t width = 0;
  std::int64_t heads = 0;
  std::int64_t hidden = 2048;
  double dropout = 0.1;
  std::string activation = "relu";  ///< or "gelu"
  double eps = 1e-5;
  bool is_batch_first = false;
  bool normalises_first = false;
  bool has_bias = true;
};

/// The input at a place where a tensor may stand.
std::optional<Tensor> tensor_at(const std::vector<Value>& inputs, std::size_t place);

/// Whether a mask leaves out what comes later, and nothing else: PyTorch compares it with one that
/// does. Without values it is none.
bool is_causal_mask(const Tensor& mask);

/// Throws std::invalid_argument for an activation that is neither relu nor gelu.
void check_activation(const TransformerLayerOptions& options, std::string_view module);

/// Makes the children of one kind of layer.
class TransformerParts {
 public:
  TransformerParts(const TransformerLayerOptions& options, const ParameterOptions& parameters)
      : options_(options), parameters_(parameters) {}

  ModulePtr attention() const;
  ModulePtr linear_to_hidden() const;
  ModulePtr linear_from_hidden() const;
  ModulePtr norm() const;
  ModulePtr dropout() const;

 private:
  const TransformerLayerOptions& options_;
  const ParameterOptions& parameters_;
};

/// The children of a layer's two linear layers, by their numbers.
struct FeedForward {
  std::size_t linear1;
  std::size_t dropout;
  std::size_t linear2;
  std::size_t last_dropout;

  /// Lets go of its input before the last dropout.
  Tensor operator()(const Module& layer, const std::string& activation, Tensor input) const;
};

/// A residual around a branch, normalised before it or behind by this child.
template <class Branch>
Tensor residual(const Tensor& x, Module& norm, bool normalises_first, const Branch& branch) try {
  if (normalises_first) return ops::add(x, branch(norm.forward(x)));
  const Tensor sum = ops::add(x, branch(x));
  return norm.forward(sum);
} catch (...) {
  hold_variables({x});
  throw;
}

}  // namespace ohm::nn
