// Exponential distributions.
#pragma once

#include "runtime/distributions/distribution.h"

namespace ohm::distributions {

/// rate · exp(−rate · x) of x ≥ 0, element by element.
class Exponential final : public Distribution {
 public:
  Exponential(const ops::TensorOrNumber& rate, bool validates);

  std::string_view type_name() const override { return "Exponential"; }
  std::vector<std::string_view> parameter_names() const override { return {"rate"}; }
  Tensor mean() override;
  Tensor mode() override;
  Tensor variance() override;
  Tensor stddev() override { return mean(); }
  bool has_rsample() const override { return true; }
  Tensor rsample(const Shape& sample_shape) override;
  Tensor log_prob(const Tensor& value) override;
  Tensor entropy() override;
  Tensor cdf(const Tensor& value) override;
  Tensor icdf(const Tensor& value) override;
  DistributionPtr expand(const Shape& batch_shape) const override;
  Constraint support() const override { return nonnegative(); }

  const Tensor& rate() const { return *find_field("rate"); }

 private:
  Exponential(const Exponential& of, const Shape& batch_shape);
};

}  // namespace ohm::distributions
