// Categorical distributions.
#pragma once

#include <optional>

#include "runtime/distributions/distribution.h"

namespace ohm::distributions {

/// One of the numbers 0 … n − 1, of batches of weights [*batch_shape, n].
class Categorical final : public Distribution {
 public:
  /// Exactly one of them must be given: weights, which are divided by their sum, or their
  /// logarithms.
  Categorical(const std::optional<Tensor>& probs, const std::optional<Tensor>& logits,
              bool validates);

  std::string_view type_name() const override { return "Categorical"; }
  std::vector<std::string_view> parameter_names() const override { return {"probs", "logits"}; }
  Tensor parameter(std::string_view name) override;
  Tensor mean() override;
  Tensor mode() override;
  Tensor variance() override { return mean(); }
  Tensor sample(const Shape& sample_shape) override;
  Tensor log_prob(const Tensor& value) override;
  Tensor entropy() override;
  Tensor enumerate_support(bool expand) override;
  DistributionPtr expand(const Shape& batch_shape) const override;
  Constraint support() const override { return integer_interval(0, events() - 1); }

  Tensor probs() { return parameter("probs"); }
  Tensor logits() { return parameter("logits"); }
  std::int64_t events() const { return given().shape().back(); }

 private:
  Categorical(const Categorical& of, const Shape& batch_shape);
  const Tensor& given() const;
};

}  // namespace ohm::distributions
