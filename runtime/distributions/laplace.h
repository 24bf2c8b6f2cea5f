// Laplace distributions.
#pragma once

#include "runtime/distributions/distribution.h"

namespace ohm::distributions {

/// exp(−|x − loc| / scale) / (2 · scale), element by element.
class Laplace final : public Distribution {
 public:
  Laplace(const ops::TensorOrNumber& loc, const ops::TensorOrNumber& scale, bool validates);

  std::string_view type_name() const override { return "Laplace"; }
  std::vector<std::string_view> parameter_names() const override { return {"loc", "scale"}; }
  Tensor mean() override { return loc(); }
  Tensor mode() override { return loc(); }
  Tensor variance() override;
  Tensor stddev() override;
  bool has_rsample() const override { return true; }
  Tensor rsample(const Shape& sample_shape) override;
  Tensor log_prob(const Tensor& value) override;
  Tensor entropy() override;
  Tensor cdf(const Tensor& value) override;
  Tensor icdf(const Tensor& value) override;
  DistributionPtr expand(const Shape& batch_shape) const override;
  Constraint support() const override { return real(); }

  const Tensor& loc() const { return *find_field("loc"); }
  const Tensor& scale() const { return *find_field("scale"); }

 private:
  Laplace(const Laplace& of, const Shape& batch_shape);
};

}  // namespace ohm::distributions
