#include "runtime/optim/flat_parameters.h"

#include "runtime/arithmetic/copy.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/ops/shape/concat.h"
#include "runtime/ops/shape/slice.h"
#include "runtime/ops/shape/view.h"

namespace ohm::optim {

Tensor FlatParameters::gradient() const {
  std::vector<Tensor> rows;
  for (const Tensor& parameter : parameters_) {
    const Tensor grad = parameter.grad();
    rows.push_back(grad.defined() ? ops::view(grad, {-1})
                                  : zeros({parameter.numel()}, options_of(parameter)));
  }
  Tensor all = ops::cat(rows, 0);
  // As a list of Python's, whose last element a variable holds.
  const Tensor last = rows.empty() ? Tensor() : rows.back();
  while (!rows.empty()) rows.pop_back();
  if (is_negated_) update(all, functors::Neg());
  return all;
}

void FlatParameters::add(double factor, const Tensor& direction) const {
  std::int64_t begin = 0;
  for (const Tensor& parameter : parameters_) {
    const Tensor own = ops::narrow(direction, 0, begin, parameter.numel());
    add_scaled(parameter, ops::view(own, parameter.shape()), factor);
    begin += parameter.numel();
  }
}

void FlatParameters::copy_to(TemporaryList& copies) const {
  TemporaryList made;
  for (const Tensor& parameter : parameters_) {
    Tensor copy = empty(parameter.shape(), options_of(parameter));
    copy_into(copy, parameter);
    made.push_back(std::move(copy));
  }
  copies.swap(made);
}

void FlatParameters::restore(const TemporaryList& copies) const {
  for (std::size_t i = 0; i < parameters_.size(); ++i) copy_into(parameters_[i], copies[i]);
}

}  // namespace ohm::optim
