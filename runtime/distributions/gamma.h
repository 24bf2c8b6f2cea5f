// Gamma distributions.
#pragma once

#include "runtime/distributions/distribution.h"

namespace ohm::distributions {

/// rate^α · x^(α − 1) · exp(−rate · x) / Γ(α) of x ≥ 0, element by element; α is `concentration`.
class Gamma final : public Distribution {
 public:
  Gamma(const ops::TensorOrNumber& concentration, const ops::TensorOrNumber& rate, bool validates);

  std::string_view type_name() const override { return "Gamma"; }
  std::vector<std::string_view> parameter_names() const override {
    return {"concentration", "rate"};
  }
  Tensor mean() override;
  Tensor mode() override;
  Tensor variance() override;
  bool has_rsample() const override { return true; }
  Tensor rsample(const Shape& sample_shape) override;
  Tensor log_prob(const Tensor& value) override;
  Tensor entropy() override;
  DistributionPtr expand(const Shape& batch_shape) const override;
  Constraint support() const override { return nonnegative(); }

  const Tensor& concentration() const { return *find_field("concentration"); }
  const Tensor& rate() const { return *find_field("rate"); }

 private:
  Gamma(const Gamma& of, const Shape& batch_shape);
};

}  // namespace ohm::distributions
