// Dirichlet distributions, and Beta distributions, which are made of them.
#pragma once

#include <memory>

#include "runtime/distributions/distribution.h"

namespace ohm::distributions {

/// Rows with a sum of 1: Πᵢ xᵢ^(αᵢ − 1) · Γ(Σα) / ΠΓ(αᵢ); α is `concentration`, [*batch_shape, n].
class Dirichlet final : public Distribution {
 public:
  Dirichlet(const Tensor& concentration, bool validates);

  std::string_view type_name() const override { return "Dirichlet"; }
  std::vector<std::string_view> parameter_names() const override { return {"concentration"}; }
  Tensor mean() override;
  /// Looks at values: refused.
  Tensor mode() override { refuse("mode"); }
  Tensor variance() override;
  bool has_rsample() const override { return true; }
  Tensor rsample(const Shape& sample_shape) override;
  Tensor log_prob(const Tensor& value) override;
  Tensor entropy() override;
  DistributionPtr expand(const Shape& batch_shape) const override;
  Constraint support() const override { return simplex(); }

  const Tensor& concentration() const { return *find_field("concentration"); }

 private:
  Dirichlet(const Dirichlet& of, const Shape& batch_shape);
};

/// x^(α₁ − 1) · (1 − x)^(α₀ − 1) · Γ(α₁ + α₀) / (Γ(α₁) · Γ(α₀)) of x in [0, 1], element by element.
class Beta final : public Distribution {
 public:
  Beta(const ops::TensorOrNumber& concentration1, const ops::TensorOrNumber& concentration0,
       bool validates);

  std::string_view type_name() const override { return "Beta"; }
  std::vector<std::string_view> parameter_names() const override {
    return {"concentration1", "concentration0"};
  }
  /// Views of what both lie in.
  Tensor parameter(std::string_view name) override;
  Tensor mean() override;
  Tensor mode() override { refuse("mode"); }
  Tensor variance() override;
  bool has_rsample() const override { return true; }
  Tensor rsample(const Shape& sample_shape) override;
  Tensor log_prob(const Tensor& value) override;
  Tensor entropy() override;
  DistributionPtr expand(const Shape& batch_shape) const override;
  Constraint support() const override { return unit_interval(); }

  Tensor concentration1() { return parameter("concentration1"); }
  Tensor concentration0() { return parameter("concentration0"); }

 private:
  Beta(std::shared_ptr<Dirichlet> both, bool validates);
  Tensor sum_of_concentrations();

  std::shared_ptr<Dirichlet> both_;
};

}  // namespace ohm::distributions
