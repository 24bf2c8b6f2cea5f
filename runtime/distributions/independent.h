// Distributions of several independent numbers.
#pragma once

#include "runtime/distributions/distribution.h"

namespace ohm::distributions {

/// A distribution whose last batch dimensions are those of an event.
class Independent final : public Distribution {
 public:
  /// `dims` of the batch dimensions of `base`.
  Independent(DistributionPtr base, std::int64_t dims, bool validates);

  std::string_view type_name() const override { return "Independent"; }
  std::vector<std::string_view> parameter_names() const override { return {}; }
  Tensor mean() override { return base_->mean(); }
  Tensor mode() override { return base_->mode(); }
  Tensor variance() override { return base_->variance(); }
  bool has_rsample() const override { return base_->has_rsample(); }
  Tensor sample(const Shape& sample_shape) override;
  Tensor rsample(const Shape& sample_shape) override;
  Tensor log_prob(const Tensor& value) override;
  Tensor entropy() override;
  Tensor enumerate_support(bool expand) override;
  DistributionPtr expand(const Shape& batch_shape) const override;
  Constraint support() const override;
  std::string str() const override;

  const DistributionPtr& base() const { return base_; }
  int dims() const { return dims_; }

 private:
  DistributionPtr base_;
  int dims_;
};

}  // namespace ohm::distributions
