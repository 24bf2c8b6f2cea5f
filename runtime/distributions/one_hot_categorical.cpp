#include "runtime/distributions/one_hot_categorical.h"

#include <utility>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/variable.h"
#include "runtime/distributions/temporaries.h"
#include "runtime/ops/arithmetic.h"
#include "runtime/ops/convert.h"
#include "runtime/ops/extremum.h"
#include "runtime/ops/scatter.h"
#include "runtime/ops/view.h"

namespace ohm::distributions {
namespace {

// Python's one_hot(places, events).to(probs).
Tensor one_hot_like(const Tensor& places, std::int64_t events, const Tensor& probs) {
  const Tensor whole = ops::one_hot(places, events);
  return ops::to_dtype(whole, probs.dtype());
}

}  // namespace

OneHotCategorical::OneHotCategorical(std::shared_ptr<Categorical> numbers, Straight straight,
                                     bool validates)
    : Distribution(validates), numbers_(std::move(numbers)), straight_(straight) {
  set_shapes(numbers_->batch_shape(), {numbers_->events()});
}

std::string_view OneHotCategorical::type_name() const {
  return straight_ == Straight::through ? "OneHotCategoricalStraightThrough" : "OneHotCategorical";
}

void OneHotCategorical::validate_probabilities() {
  validate_values({{"probs", simplex()}, {"logits", real_vector()}},
                  [this](std::string_view name) { return parameter(name); });
}

DistributionPtr OneHotCategorical::expand(const Shape& batch_shape) const {
  auto numbers = std::dynamic_pointer_cast<Categorical>(numbers_->expand(batch_shape));
  return std::make_shared<OneHotCategorical>(std::move(numbers), straight_, validates());
}

Tensor OneHotCategorical::mode() {
  const Tensor places = ops::argmax(numbers_->probs(), -1, false);
  return one_hot_like(places, events(), numbers_->probs());
}

Tensor OneHotCategorical::variance() {
  const Tensor others = ops::rsub(numbers_->probs(), 1);
  return ops::mul(numbers_->probs(), others);
}

Tensor OneHotCategorical::sample(const Shape& sample_shape) {
  const Tensor probs = numbers_->probs();
  Tensor places = of_inner_call([&] { return numbers_->sample(sample_shape); });
  Tensor result = one_hot_like(places, events(), probs);
  outlive_arguments(std::move(places));
  return result;
}

Tensor OneHotCategorical::rsample(const Shape& sample_shape) {
  if (straight_ == Straight::none) return Distribution::rsample(sample_shape);
  Tensor samples = of_inner_call([&] { return sample(sample_shape); });
  const Tensor probs = numbers_->probs();
  const Tensor nothing = ops::sub(probs, detach(probs));
  Tensor result = ops::add(samples, nothing);
  outlive_arguments(std::move(samples));
  return result;
}

Tensor OneHotCategorical::log_prob(const Tensor& value) {
  validate_sample(value);
  Tensor places = ops::max(value, -1, false).second;
  Tensor result = of_inner_call([&] { return numbers_->log_prob(places); });
  outlive_arguments(std::move(places));
  return result;
}

Tensor OneHotCategorical::entropy() {
  return of_inner_call([&] { return numbers_->entropy(); });
}

Tensor OneHotCategorical::enumerate_support(bool expand) {
  const std::int64_t count = events();
  const Tensor values = zeros({count, count}, options_of(numbers_->probs()));
  fill_values(make_view(values, {count}, {count + 1}, 0), 1.0);
  Shape spread = joined({count}, Shape(batch_shape().dims(), 1));
  spread.push_back(count);
  const Tensor all = ops::view(values, spread);
  return expand ? ops::expand(all, joined({count}, joined(batch_shape(), {count}))) : all;
}

}  // namespace ohm::distributions
