// Categorical distributions whose samples are one-hot vectors.
#pragma once

#include <memory>
#include <optional>

#include "runtime/distributions/categorical.h"

namespace ohm::distributions {

/// How a gradient gets from samples to the probabilities.
enum class Straight : bool { none, through };

/// A 1 where a Categorical's number is, and else zeros, in the dtype of the weights.
class OneHotCategorical final : public Distribution {
 public:
  OneHotCategorical(std::shared_ptr<Categorical> numbers, Straight straight, bool validates);

  /// Computes the parameter that was not given. What PyTorch's constructor does, of which expand()
  /// has nothing.
  void validate_probabilities();

  std::string_view type_name() const override;
  std::vector<std::string_view> parameter_names() const override { return {"probs", "logits"}; }
  Tensor parameter(std::string_view name) override { return numbers_->parameter(name); }
  Tensor mean() override { return numbers_->probs(); }
  Tensor mode() override;
  Tensor variance() override;
  Tensor sample(const Shape& sample_shape) override;
  bool has_rsample() const override { return straight_ == Straight::through; }
  /// Straight through: the value of a sample, with the gradient of the probabilities.
  Tensor rsample(const Shape& sample_shape) override;
  Tensor log_prob(const Tensor& value) override;
  Tensor entropy() override;
  Tensor enumerate_support(bool expand) override;
  DistributionPtr expand(const Shape& batch_shape) const override;
  Constraint support() const override { return one_hot(); }

  const std::shared_ptr<Categorical>& numbers() const { return numbers_; }

 private:
  std::int64_t events() const { return event_shape().back(); }

  std::shared_ptr<Categorical> numbers_;
  Straight straight_;
};

}  // namespace ohm::distributions
