// Uniform distributions.
#pragma once

#include "runtime/distributions/distribution.h"

namespace ohm::distributions {

/// Every number in [low, high) is as likely as any other.
class Uniform final : public Distribution {
 public:
  Uniform(const ops::TensorOrNumber& low, const ops::TensorOrNumber& high, bool validates);

  std::string_view type_name() const override { return "Uniform"; }
  std::vector<std::string_view> parameter_names() const override { return {"low", "high"}; }
  Tensor mean() override;
  Tensor mode() override;
  Tensor variance() override;
  Tensor stddev() override;
  bool has_rsample() const override { return true; }
  Tensor rsample(const Shape& sample_shape) override;
  Tensor log_prob(const Tensor& value) override;
  Tensor entropy() override;
  Tensor cdf(const Tensor& value) override;
  Tensor icdf(const Tensor& value) override;
  DistributionPtr expand(const Shape& batch_shape) const override;
  Constraint support() const override { return interval(low(), high()); }

  const Tensor& low() const { return *find_field("low"); }
  const Tensor& high() const { return *find_field("high"); }

 private:
  Uniform(const Uniform& of, const Shape& batch_shape);
  void require_order() const;
};

}  // namespace ohm::distributions
