// Bernoulli distributions.
#pragma once

#include <optional>

#include "runtime/distributions/distribution.h"

namespace ohm::distributions {

/// 1 with probability `probs`, else 0.
class Bernoulli final : public Distribution {
 public:
  /// Exactly one of them must be given. `logits` are log(probs / (1 − probs)).
  Bernoulli(const std::optional<ops::TensorOrNumber>& probs,
            const std::optional<ops::TensorOrNumber>& logits, bool validates);

  std::string_view type_name() const override { return "Bernoulli"; }
  std::vector<std::string_view> parameter_names() const override { return {"probs", "logits"}; }
  Tensor parameter(std::string_view name) override;
  Tensor mean() override { return probs(); }
  Tensor mode() override;
  Tensor variance() override;
  Tensor sample(const Shape& sample_shape) override;
  Tensor log_prob(const Tensor& value) override;
  Tensor entropy() override;
  Tensor enumerate_support(bool expand) override;
  DistributionPtr expand(const Shape& batch_shape) const override;
  Constraint support() const override { return boolean(); }

  Tensor probs() { return parameter("probs"); }
  Tensor logits() { return parameter("logits"); }

 private:
  Bernoulli(const Bernoulli& of, const Shape& batch_shape);
  const Tensor& given() const;
};

}  // namespace ohm::distributions
