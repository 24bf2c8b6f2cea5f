#include "runtime/distributions/distribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/distributions/temporaries.h"
#include "runtime/ops/pointwise_unary.h"
#include "runtime/ops/reduction.h"
#include "runtime/ops/view.h"

namespace ohm::distributions {
namespace {

// As Python prints a tuple: "(3,)".
std::string tuple_of(const Shape& shape) {
  std::string text = shape.str();
  text.front() = '(';
  text.back() = ')';
  if (shape.dims() == 1) text.insert(text.size() - 1, ",");
  return text;
}

// The shapes from the last dimension on.
bool can_broadcast(const Shape& actual, const Shape& expected) {
  for (int i = 1; i <= std::min(actual.dims(), expected.dims()); ++i) {
    const std::int64_t a = actual[actual.dims() - i];
    const std::int64_t b = expected[expected.dims() - i];
    if (a != 1 && b != 1 && a != b) return false;
  }
  return true;
}

bool ends_with(const Shape& shape, const Shape& end) {
  return shape.dims() >= end.dims() && std::equal(end.begin(), end.end(), shape.end() - end.dims());
}

}  // namespace

Distribution::~Distribution() {
  for (Field& field : fields_) {
    if (field.name == released_first_) field.tensor = Tensor();
  }
  for (Field& field : fields_) field.tensor = Tensor();
}

Tensor Distribution::parameter(std::string_view name) {
  const Tensor* const field = find_field(name);
  return field == nullptr ? Tensor() : *field;
}

Tensor Distribution::stddev() {
  const Tensor squared = variance();
  return ops::sqrt(squared);
}

Tensor Distribution::sample(const Shape& sample_shape) {
  const NoGradGuard no_grad;
  return rsample(sample_shape);
}

Tensor Distribution::rsample(const Shape& /*sample_shape*/) { refuse("rsample"); }
Tensor Distribution::cdf(const Tensor& /*value*/) { refuse("cdf"); }
Tensor Distribution::icdf(const Tensor& /*value*/) { refuse("icdf"); }
Tensor Distribution::enumerate_support(bool /*expand*/) { refuse("enumerate_support"); }

Tensor Distribution::perplexity() {
  const Tensor bits = of_inner_call([this] { return entropy(); });
  return ops::exp(bits);
}

std::string Distribution::str() const {
  std::string text;
  for (const std::string_view name : parameter_names()) {
    const Tensor* const field = find_field(name);
    if (field == nullptr) continue;
    const bool is_number = field->dims() == 0 && field->has_values();
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", name,
                        is_number ? fmt::format("{}", field->item())
                                  : fmt::format("torch.Size({})", field->shape().str()));
  }
  return fmt::format("{}({})", type_name(), text);
}

const Tensor* Distribution::find_field(std::string_view name) const {
  const auto found = std::find_if(fields_.begin(), fields_.end(),
                                  [&](const Field& field) { return field.name == name; });
  return found == fields_.end() ? nullptr : &found->tensor;
}

void Distribution::add_field(std::string_view name, Tensor tensor) {
  fields_.push_back({name, std::move(tensor)});
}

void Distribution::set_shapes(const Shape& batch_shape, const Shape& event_shape) {
  batch_shape_ = batch_shape;
  event_shape_ = event_shape;
}

void Distribution::validate(const std::vector<ParameterConstraint>& constraints) const {
  validate_values(constraints, [this](std::string_view name) {
    const Tensor* const field = find_field(name);
    return field == nullptr ? Tensor() : *field;
  });
}

void Distribution::validate_values(
    const std::vector<ParameterConstraint>& constraints,
    const std::function<Tensor(std::string_view name)>& value_of) const {
  if (!validates_) return;
  Tensor valid;  // of the last one, until that of the next is there
  for (const auto& [name, constraint] : constraints) {
    const Tensor value = value_of(name);
    if (!value.defined()) continue;
    valid = constraint.check(value);
    if (all_true(valid)) continue;
    throw std::invalid_argument(fmt::format(
        "[{}] Expected parameter {} (Tensor of shape {}) of distribution {} to satisfy the "
        "constraint {}, but found invalid values",
        type_name(), name, tuple_of(value.shape()), str(), constraint.description));
  }
}

void Distribution::validate_sample(const Tensor& value) const {
  if (!validates_) return;
  if (!ends_with(value.shape(), event_shape_)) {
    throw std::invalid_argument(
        fmt::format("[{}] The right-most size of value must match event_shape: torch.Size({}) vs "
                    "torch.Size({}).",
                    type_name(), value.shape().str(), event_shape_.str()));
  }
  const Shape expected = joined(batch_shape_, event_shape_);
  if (!can_broadcast(value.shape(), expected)) {
    throw std::invalid_argument(fmt::format(
        "[{}] Value is not broadcastable with batch_shape+event_shape: torch.Size({}) vs "
        "torch.Size({}).",
        type_name(), value.shape().str(), expected.str()));
  }
  const Constraint needed = support();
  const Tensor valid = needed.check(value);
  if (all_true(valid)) return;
  throw std::invalid_argument(fmt::format(
      "[{}] Expected value argument (Tensor of shape {}) to be within the support ({}) of the "
      "distribution {}, but found invalid values",
      type_name(), tuple_of(value.shape()), needed.description, str()));
}

Shape Distribution::extended_shape(const Shape& sample_shape) const {
  return joined(joined(sample_shape, batch_shape_), event_shape_);
}

void Distribution::refuse(std::string_view function) const {
  throw std::invalid_argument(fmt::format("[{}] has no {}", type_name(), function));
}

Shape joined(const Shape& a, const Shape& b) {
  Shape all = a;
  for (const std::int64_t size : b) all.push_back(size);
  return all;
}

Tensor spread_over_batch(const Tensor& values, const Shape& batch_shape, bool expand) {
  Tensor spread = ops::view(values, joined({-1}, Shape(batch_shape.dims(), 1)));
  if (expand) spread = ops::expand(spread, joined({-1}, batch_shape));
  return spread;
}

std::vector<Tensor> broadcast_all(const std::vector<ops::TensorOrNumber>& values) {
  TensorOptions options{DType::float32, Device::cpu()};
  for (const auto& value : values) {
    if (const auto* tensor = std::get_if<Tensor>(&value)) {
      options = options_of(*tensor);
      break;
    }
  }
  std::vector<Tensor> tensors;
  Shape shape;
  for (const auto& value : values) {
    const auto* tensor = std::get_if<Tensor>(&value);
    tensors.push_back(tensor != nullptr
                          ? *tensor
                          : from_values({std::get<ops::Number>(value).value}, {}, options));
    shape = broadcast_shapes(shape, tensors.back().shape(), "broadcast_tensors");
  }
  std::vector<Tensor> views;
  for (const Tensor& tensor : tensors) {
    views.push_back(tensor.shape() == shape ? tensor : ops::expand(tensor, shape));
  }
  return views;
}

Tensor sum_rightmost(const Tensor& value, int dims) {
  if (dims == 0) return value;
  Shape shape = value.shape();
  for (int i = 0; i < dims; ++i) shape.erase(shape.dims() - 1);
  shape.push_back(-1);
  const Tensor rows = ops::reshape(value, shape);
  return ops::sum(rows, Shape{-1}, false, std::nullopt);
}

}  // namespace ohm::distributions
