// The parameters of an optimizer as one long vector.
#pragma once

#include <vector>

#include "runtime/optim/update_kernel.h"

namespace ohm::optim {

class FlatParameters {
 public:
  /// `is_negated`: gradients are taken with the other sign. Refers to `parameters`.
  FlatParameters(const std::vector<Tensor>& parameters, bool is_negated)
      : parameters_(parameters), is_negated_(is_negated) {}

  const std::vector<Tensor>& parameters() const { return parameters_; }
  /// All gradients in one new vector, with zeros for a parameter that has none. Throws
  /// std::invalid_argument for a gradient that is not row-major, as PyTorch's view() does.
  Tensor gradient() const;
  /// Adds factor · direction, a vector of all elements.
  void add(double factor, const Tensor& direction) const;
  /// Into `copies`: row-major ones, one for each parameter.
  void copy_to(TemporaryList& copies) const;
  void restore(const TemporaryList& copies) const;

 private:
  const std::vector<Tensor>& parameters_;
  bool is_negated_;
};

}  // namespace ohm::optim
