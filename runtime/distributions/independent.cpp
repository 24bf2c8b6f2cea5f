#include "runtime/distributions/independent.h"

#include <fmt/format.h>

#include <stdexcept>

#include "runtime/distributions/temporaries.h"

namespace ohm::distributions {
namespace {

// The dimensions of `shape` before and behind `at`.
Shape head(const Shape& shape, int at) {
  Shape part;
  for (int i = 0; i < at; ++i) part.push_back(shape[i]);
  return part;
}
Shape tail(const Shape& shape, int at) {
  Shape part;
  for (int i = at; i < shape.dims(); ++i) part.push_back(shape[i]);
  return part;
}

}  // namespace

Independent::Independent(DistributionPtr base, std::int64_t dims, bool validates)
    : Distribution(validates), base_(std::move(base)), dims_(static_cast<int>(dims)) {
  const int batch_dims = base_->batch_shape().dims();
  if (dims < 0 || dims > batch_dims) {
    throw std::invalid_argument(
        fmt::format("[Independent] Expected reinterpreted_batch_ndims <= "
                    "len(base_distribution.batch_shape), actual {} vs {}",
                    dims, batch_dims));
  }
  const Shape shape = joined(base_->batch_shape(), base_->event_shape());
  set_shapes(head(shape, batch_dims - dims_), tail(shape, batch_dims - dims_));
}

DistributionPtr Independent::expand(const Shape& batch_shape) const {
  return std::make_shared<Independent>(
      base_->expand(joined(batch_shape, head(event_shape(), dims_))), dims_, validates());
}

Tensor Independent::sample(const Shape& sample_shape) {
  return of_inner_call([&] { return base_->sample(sample_shape); });
}

Tensor Independent::rsample(const Shape& sample_shape) {
  return of_inner_call([&] { return base_->rsample(sample_shape); });
}

Tensor Independent::log_prob(const Tensor& value) {
  Tensor each = of_inner_call([&] { return base_->log_prob(value); });
  Tensor result = sum_rightmost(each, dims_);
  outlive_arguments(std::move(each));
  return result;
}

Tensor Independent::entropy() {
  const Tensor each = of_inner_call([&] { return base_->entropy(); });
  return sum_rightmost(each, dims_);
}

Tensor Independent::enumerate_support(bool expand) {
  if (dims_ > 0) {
    throw std::invalid_argument(
        "[Independent] Enumeration over cartesian product is not implemented");
  }
  return base_->enumerate_support(expand);
}

Constraint Independent::support() const {
  return dims_ == 0 ? base_->support() : independent(base_->support(), dims_);
}

std::string Independent::str() const {
  return fmt::format("{}({}, {})", type_name(), base_->str(), dims_);
}

}  // namespace ohm::distributions
