#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/lua/script_test.h"

namespace ohm::test {
namespace {

using testing::HasSubstr;

// Numbers are those of PyTorch 2.15.
constexpr const char* kDistributions = R"(
  local D = ohm.distributions
  local inf, nan = math.huge, 0 / 0
  local function are(tensor, expected)
    return tensor:detach():to('float32'):reshape({-1}):allclose(ohm.tensor(expected, {dtype = 'float32'}),
                                                  {atol = 1e-4, equal_nan = true})
  end
  local function leaf(values)
    return ohm.tensor(values, {dtype = 'float32'}):requires_grad_()
  end
)";

class DistributionLibrary : public ScriptTest {
 protected:
  bool holds(const std::string& code) { return number(kDistributions + code + "\nreturn 1") == 1; }
  std::string refusal(const std::string& code) { return error_of(kDistributions + code); }
};

constexpr const char* kNormal = R"(
  local mean, deviation = leaf{0.5, -1, 2}, leaf{1, 0.5, 2}
  local d, x = D.Normal(mean, deviation), ohm.tensor{0.2, -0.7, 3.5}
)";

TEST_F(DistributionLibrary, NormalComputesWhatPyTorchDoes) {
  EXPECT_TRUE(holds(std::string(kNormal) + R"(
    assert(are(d:log_prob(x), {-0.96394, -0.40579, -1.89334}))
    assert(are(d:entropy(), {1.41894, 0.72579, 2.11209}))
    assert(are(d:perplexity(), {4.13273, 2.06637, 8.26546}))
    assert(are(d:cdf(x), {0.38209, 0.72575, 0.77337}))
    assert(are(d:icdf(ohm.tensor{0.1, 0.5, 0.8}), {-0.78155, -1, 3.68324}))
    assert(are(d.variance, {1, 0.25, 4}) and d.stddev:equal(deviation) and d.mode:equal(mean))
    local kl = D.kl_divergence(d, D.Normal(ohm.zeros(3), ohm.ones(3)))
    assert(are(kl, {0.125, 0.81815, 2.80685}));
    (d:log_prob(x):sum() + 2 * d:entropy():sum() + kl:sum()):backward()
    assert(are(mean.grad, {0.2, 0.2, 2.375}) and are(deviation.grad, {1.09, 1.22, 2.28125}))
  )"));
}

TEST_F(DistributionLibrary, SamplesHaveTheShapeOfTheBatchAndTheEvent) {
  EXPECT_TRUE(holds(std::string(kNormal) + R"(
    local function is_shape(x, shape) return table.concat(x.shape, ',') == shape end
    assert(is_shape(d:sample({4, 2}), '4,2,3') and is_shape(d:rsample(), '3'))
    assert(not d:sample().requires_grad and d:rsample().requires_grad)
    local i = D.Independent(D.Normal(ohm.zeros(5, 3), 1), 1)
    assert(table.concat(i.batch_shape) == '5' and table.concat(i.event_shape) == '3')
    assert(is_shape(i:rsample({2}), '2,5,3') and is_shape(i:log_prob(i:sample()), '5'))
    assert(i.has_rsample and not D.Categorical(ohm.ones(3)).has_rsample)
    assert(is_shape(D.Categorical(ohm.ones(4, 3)):sample({2}), '2,4'))
    assert(is_shape(D.Bernoulli(0.5):sample({6}), '6'))
    assert(is_shape(D.Uniform(0, ohm.ones(2)):expand({3, 2}):sample(), '3,2'))
    assert(is_shape(D.Categorical(ohm.ones(4, 3)):enumerate_support(), '3,4'))
    assert(tostring(d) == 'Normal(loc: torch.Size([3]), scale: torch.Size([3]))')
  )"));
}

TEST_F(DistributionLibrary, CategoricalComputesWhatPyTorchDoes) {
  EXPECT_TRUE(holds(R"(
    local logits = leaf{{0.1, 0.9, -0.4}, {1.5, 0, 0.3}}
    local d, a = D.Categorical{logits = logits}, ohm.tensor{2, 0}
    local w = D.Categorical(ohm.tensor{{1, 2, 1}, {0, 3, 1}})
    assert(are(d:log_prob(a), {-1.84341, -0.42155}) and are(d:entropy(), {0.95793, 0.87823}))
    assert(are(d.probs, {0.26096, 0.58077, 0.15828, 0.65603, 0.14638, 0.19759}))
    assert(are(d.mode, {1, 0}) and are(w:entropy(), {1.03972, 0.56234}))
    assert(are(w.logits, {-1.38629, -0.69315, -1.38629, -15.94238, -0.28768, -1.38629}))
    assert(are(D.kl_divergence(w, d), {0.02868, 1.28422}))
    assert(are(D.kl_divergence(d, w), {0.02581, inf}));
    (d:log_prob(a):sum() + d:entropy():sum() + D.kl_divergence(w, d):sum()):backward()
    assert(are(logits.grad, {-0.14941, -0.74074, 0.89015, 0.70041, -0.59728, -0.10313}))
  )"));
}

TEST_F(DistributionLibrary, BernoulliComputesWhatPyTorchDoes) {
  EXPECT_TRUE(holds(R"(
    local logits, y = leaf{0.4, -1, 2}, ohm.tensor{1, 0, 1}:to('float32')
    local p, q = D.Bernoulli(leaf{0.2, 0.5, 1}), D.Bernoulli{logits = logits}
    assert(are(q:log_prob(y), {-0.51302, -0.31326, -0.12693}))
    assert(are(q:entropy(), {0.67354, 0.5822, 0.36533}))
    assert(are(p.variance, {0.16, 0.25, 0}) and are(p.mode, {0, nan, 1}))
    assert(are(p:log_prob(y), {-1.60944, -0.69315, 0}))
    assert(are(D.kl_divergence(p, q), {0.33261, 0.12011, 0.12693}))
    local kl = D.kl_divergence(D.Bernoulli(ohm.tensor{0.2, 0.5, 0.9}), q);
    (q:log_prob(y):sum() + q:entropy():sum() + kl:sum()):backward()
    assert(are(logits.grad, {0.7039, -0.30339, -0.10999}))
  )"));
}

TEST_F(DistributionLibrary, UniformAndIndependentComputeWhatPyTorchDoes) {
  EXPECT_TRUE(holds(R"(
    local u = D.Uniform(ohm.tensor{0, -1}:to('float32'), ohm.tensor{2, 3}:to('float32'))
    local z = ohm.tensor{1, 0.5}
    assert(are(u:log_prob(z), {-0.69315, -1.38629}) and are(u:entropy(), {0.69315, 1.38629}))
    assert(are(u.mean, {1, 1}) and are(u.stddev, {0.57735, 1.1547}) and are(u:cdf(z), {0.5, 0.375}))
    local wider = D.Uniform(ohm.tensor{-1.0, 0.0}, ohm.tensor{3.0, 3.0})
    assert(are(D.kl_divergence(u, wider), {0.69315, inf}))
    local normal = D.Normal(ohm.tensor{{0.5, -1, 2}}, ohm.tensor{{1, 0.5, 2}})
    local i = D.Independent(normal, 1)
    assert(are(i:log_prob(ohm.tensor{{0.2, -0.7, 3.5}}), {-3.26307}))
    assert(are(i:entropy(), {4.25682}) and are(i.stddev, {1, 0.5, 2}))
    assert(are(D.kl_divergence(i, i), {0}) and are(i.base_dist.mean, {0.5, -1, 2}))
  )"));
}

TEST_F(DistributionLibrary, ExponentialComputesWhatPyTorchDoes) {
  EXPECT_TRUE(holds(R"(
    local rate, x = leaf{0.5, 1, 3}, ohm.tensor{0.2, 1.7, 0.4}
    local d = D.Exponential(rate)
    assert(are(d:log_prob(x), {-0.79315, -1.7, -0.10139}))
    assert(are(d:entropy(), {1.69315, 1, -0.09861}))
    assert(are(d:cdf(x), {0.09516, 0.81732, 0.69881}))
    assert(are(d:icdf(ohm.tensor{0.1, 0.5, 0.8}), {0.21072, 0.69315, 0.53648}))
    assert(are(d.mean, {2, 1, 0.33333}) and are(d.variance, {4, 1, 0.11111}) and are(d.mode, {0, 0, 0}))
    local kl = D.kl_divergence(d, D.Exponential(ohm.ones(3)))
    assert(are(kl, {0.30685, 0, 0.43195}) and d:sample({2}):ge(0):all():item() == true);
    (d:log_prob(x):sum() + 2 * d:entropy():sum() + kl:sum()):backward()
    assert(are(rate.grad, {-4.2, -2.7, -0.51111}))
  )"));
}

TEST_F(DistributionLibrary, LaplaceComputesWhatPyTorchDoes) {
  EXPECT_TRUE(holds(R"(
    local loc, scale, x = leaf{0.5, -1, 2}, leaf{1, 0.5, 2}, ohm.tensor{0.2, -0.7, 3.5}
    local d = D.Laplace(loc, scale)
    assert(are(d:log_prob(x), {-0.99315, -0.6, -2.13629}))
    assert(are(d:entropy(), {1.69315, 1, 2.38629}) and are(d:cdf(x), {0.37041, 0.72559, 0.76382}))
    assert(are(d:icdf(ohm.tensor{0.1, 0.5, 0.8}), {-1.10944, -1, 3.83258}))
    assert(are(d.variance, {2, 0.5, 8}) and are(d.stddev, {1.41421, 0.70711, 2.82843}))
    local kl = D.kl_divergence(d, D.Laplace(ohm.zeros(3), ohm.ones(3)))
    assert(are(kl, {0.10653, 0.76081, 1.04261}));
    (d:log_prob(x):sum() + 2 * d:entropy():sum() + kl:sum()):backward()
    assert(are(loc.grad, {-0.60653, 1.13534, 1.13212}))
    assert(are(scale.grad, {1.2098, 1.60601, 1.11076}) and d:rsample().requires_grad)
  )"));
}

TEST_F(DistributionLibrary, GammaComputesWhatPyTorchDoes) {
  EXPECT_TRUE(holds(R"(
    local shape, rate, x = leaf{0.5, 2, 4}, leaf{1, 0.5, 2}, ohm.tensor{0.2, 1.7, 3.5}
    local d = D.Gamma(shape, rate)
    assert(are(d:log_prob(x), {0.03235, -1.70567, -2.26088}))
    assert(are(d:entropy(), {0.09061, 2.27036, 1.33026}) and are(d.mean, {0.5, 4, 2}))
    assert(are(d.variance, {0.5, 8, 1}) and are(d.mode, {0, 2, 1.5}))
    local kl = D.kl_divergence(d, D.Gamma(ohm.ones(3), ohm.ones(3)))
    assert(are(kl, {0.40939, 1.72964, 0.66974}));
    (d:log_prob(x):sum() + 2 * d:entropy():sum() + kl:sum()):backward()
    assert(are(shape.grad, {4.82147, 1.76976, 1.33832}) and are(rate.grad, {-1.2, -7.7, -3}))
  )"));
}

TEST_F(DistributionLibrary, DirichletComputesWhatPyTorchDoes) {
  EXPECT_TRUE(holds(R"(
    local shape, x = leaf{{0.5, 2, 4}, {1, 1, 1.5}}, ohm.tensor{{0.2, 0.3, 0.5}, {0.1, 0.6, 0.3}}
    local d = D.Dirichlet(shape)
    assert(are(d:log_prob(x), {0.81974, 0.71977}) and are(d:entropy(), {-2.19614, -0.78842}))
    assert(are(d.mean, {0.07692, 0.30769, 0.61538, 0.28571, 0.28571, 0.42857}))
    assert(are(d.variance, {0.00947, 0.0284, 0.03156, 0.04535, 0.04535, 0.05442}))
    local kl = D.kl_divergence(d, D.Dirichlet(ohm.ones(2, 3)))
    assert(are(kl, {1.50299, 0.09528}) and table.concat(d.event_shape) == '3');
    (d:log_prob(x):sum() + 2 * d:entropy():sum() + kl:sum()):backward()
    assert(are(shape.grad, {5.19638, 0.10322, -0.42583, -0.45703, 1.33473, -0.43953}))
  )"));
}

TEST_F(DistributionLibrary, BetaComputesWhatPyTorchDoes) {
  EXPECT_TRUE(holds(R"(
    local a, b, x = leaf{0.5, 2, 4}, leaf{1, 0.5, 2}, ohm.tensor{0.2, 0.7, 0.35}
    local d = D.Beta(a, b)
    assert(are(d:log_prob(x), {0.11157, -0.04237, -0.58452}))
    assert(are(d:entropy(), {-0.30685, -0.76528, -0.3624}) and are(d.mean, {0.33333, 0.8, 0.66667}))
    assert(are(d.variance, {0.08889, 0.04571, 0.03175}) and are(d.concentration0, {1, 0.5, 2}))
    local kl = D.kl_divergence(d, D.Beta(ohm.ones(3), ohm.ones(3)))
    assert(are(kl, {0.30685, 0.76528, 0.3624}));
    (d:log_prob(x):sum() + 2 * d:entropy():sum() + kl:sum()):backward()
    assert(are(a.grad, {2.39056, -0.47606, -0.726}) and are(b.grad, {-0.07684, 4.17527, 0.93291}))
  )"));
}

TEST_F(DistributionLibrary, GammaAndDirichletDrawAroundTheirMeans) {
  EXPECT_TRUE(holds(R"(
    local shape = ohm.tensor{0.3, 1.0, 5.0, 200.0}
    local draws = D.Gamma(shape, 2.0):sample({20000})
    assert(draws:gt(0):all():item() == true and draws:mean(0):allclose(shape / 2, {rtol = 0.04}))
    assert(draws:var(0):allclose(shape / 4, {rtol = 0.08}))
    local rows = D.Dirichlet(ohm.tensor{0.5, 2.0, 4.0}):sample({20000})
    assert(rows:sum(-1):allclose(ohm.ones(20000)))
    assert(rows:mean(0):allclose(ohm.tensor{0.07692, 0.30769, 0.61538}, {rtol = 0.04}))
    assert(D.Beta(2.0, 6.0):sample({20000}):mean():allclose(ohm.tensor(0.25), {rtol = 0.03}))
    local d = D.Beta(ohm.tensor{2.0, 3.0}:requires_grad_(), 6.0)
    assert(d:rsample().requires_grad and not d:sample().requires_grad and d.has_rsample)
    assert(table.concat(d:rsample({4}).shape, ',') == '4,2' and tostring(d) == 'Beta()')
  )"));
}

TEST_F(DistributionLibrary, OneHotCategoricalComputesWhatPyTorchDoes) {
  EXPECT_TRUE(holds(R"(
    local logits = leaf{{0.1, 0.9, -0.4}, {1.5, 0, 0.3}}
    local d = D.OneHotCategoricalStraightThrough{logits = logits}
    local w = D.OneHotCategorical(ohm.tensor{{1.0, 2.0, 1.0}, {1.0, 3.0, 1.0}})
    local a = ohm.tensor{{0.0, 0.0, 1.0}, {1.0, 0.0, 0.0}}
    assert(are(d:log_prob(a), {-1.84341, -0.42155}) and are(d:entropy(), {0.95793, 0.87823}))
    assert(are(d.mode, {0, 1, 0, 1, 0, 0}) and are(d.mean, {0.26096, 0.58077, 0.15828, 0.65603, 0.14638, 0.19759}))
    assert(are(d.variance, {0.19286, 0.24348, 0.13323, 0.22566, 0.12495, 0.15855}))
    assert(are(D.kl_divergence(w, d), {0.02868, 0.61128}))
    assert(are(w:enumerate_support(), {1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1}))
    assert(d.has_rsample and not w.has_rsample and table.concat(w.event_shape) == '3')
    assert(are(w:sample({4}):sum(-1), {1, 1, 1, 1, 1, 1, 1, 1}))
    local samples = d:rsample();
    (samples * ohm.tensor{1.0, 2.0, 3.0}):sum():backward()
    assert(are(logits.grad, {-0.23416, 0.05963, 0.17453, -0.35528, 0.06711, 0.28818}))
    assert(tostring(w) == 'OneHotCategorical()')
  )"));
}

TEST_F(DistributionLibrary, RefusesWhatPyTorchRefusesInItsWords) {
  EXPECT_THAT(refusal("D.Exponential(ohm.tensor{-1.0})"),
              HasSubstr("Expected parameter rate (Tensor of shape (1,)) of distribution "
                        "Exponential(rate: torch.Size([1])) to satisfy the constraint "
                        "GreaterThan(lower_bound=0.0)"));
  EXPECT_THAT(refusal("D.OneHotCategorical(ohm.ones(3)):rsample()"),
              HasSubstr("[OneHotCategorical] has no"));
  EXPECT_THAT(refusal("D.Normal(ohm.tensor{0, nan}, ohm.ones(2))"),
              HasSubstr("Expected parameter loc (Tensor of shape (2,)) of distribution Normal(loc: "
                        "torch.Size([2]), scale: torch.Size([2])) to satisfy the constraint "
                        "Real(), but found invalid values"));
  EXPECT_THAT(refusal("D.Normal(0, -1)"),
              HasSubstr("to satisfy the constraint GreaterThan(lower_bound=0.0)"));
  EXPECT_THAT(refusal("D.Categorical(ohm.tensor{{-1.0, 2.0}})"),
              HasSubstr("Expected parameter probs (Tensor of shape (1, 2)) of distribution "
                        "Categorical(probs: torch.Size([1, 2])) to satisfy the constraint "
                        "Simplex()"));
  EXPECT_THAT(refusal("D.Bernoulli(1.5)"), HasSubstr("Interval(lower_bound=0.0, upper_bound=1.0)"));
  EXPECT_THAT(refusal("D.Categorical()"),
              HasSubstr("Either `probs` or `logits` must be specified, but not both."));
  EXPECT_THAT(refusal("D.Uniform(1, 0)"), HasSubstr("Uniform is not defined when low>= high"));
  EXPECT_THAT(refusal("D.Independent(D.Normal(0, 1), 1)"),
              HasSubstr("Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), "
                        "actual 1 vs 0"));
  EXPECT_THAT(refusal("D.kl_divergence(D.Normal(0, 1), D.Bernoulli(0.5))"),
              HasSubstr("No KL(p || q) is implemented for p type Normal and q type Bernoulli"));
  EXPECT_THAT(refusal("D.Categorical(ohm.ones(3)):rsample()"), HasSubstr("[Categorical] has no"));
}

TEST_F(DistributionLibrary, RefusesValuesOutsideOfTheSupport) {
  EXPECT_THAT(refusal("D.OneHotCategorical(ohm.ones(3)):log_prob(ohm.tensor{1.0, 1.0, 0.0})"),
              HasSubstr("to be within the support (OneHot())"));
  EXPECT_THAT(refusal("D.Exponential(1.0):log_prob(ohm.tensor(-1.0))"),
              HasSubstr("to be within the support (GreaterThanEq(lower_bound=0.0))"));
  EXPECT_THAT(refusal("D.Categorical(ohm.ones(2, 3)):log_prob(ohm.tensor{3, 0})"),
              HasSubstr("Expected value argument (Tensor of shape (2,)) to be within the support "
                        "(IntegerInterval(lower_bound=0, upper_bound=2)) of the distribution "
                        "Categorical(probs: torch.Size([2, 3])), but found invalid values"));
  EXPECT_THAT(refusal("D.Bernoulli(ohm.ones(3) / 2):log_prob(ohm.ones(3) / 2)"),
              HasSubstr("to be within the support (Boolean())"));
  EXPECT_THAT(refusal("D.Normal(ohm.zeros(1, 3), 1):log_prob(ohm.zeros(2, 2))"),
              HasSubstr("Value is not broadcastable with batch_shape+event_shape: torch.Size([2, "
                        "2]) vs torch.Size([1, 3])."));
}

TEST_F(DistributionLibrary, ChecksNothingWhereValidationIsOff) {
  EXPECT_TRUE(holds(R"(
    D.Normal(0, -1, {validate_args = false}):log_prob(ohm.tensor(nan))
    D.Distribution.set_default_validate_args(false)
    D.Normal(0, -1)
    assert(not pcall(D.Normal, 0, -1, {validate_args = true}))
    D.Distribution.set_default_validate_args(true)
    assert(not pcall(D.Normal, 0, -1))
  )"));
}

TEST_F(DistributionLibrary, NormalDrawsTakeNumbersAndTensors) {
  EXPECT_TRUE(holds(R"(
    local mean, deviation = leaf{{0, 100}}, leaf{{1}, {0}}
    local x = ohm.normal(mean, deviation)
    assert(table.concat(x.shape) == '22' and are(x:select(0, 1), {0, 100}))
    assert(ohm.normal(5.0, ohm.zeros(3)):equal(ohm.full({3}, 5.0)))
    assert(ohm.normal(ohm.ones(3), 0.0):equal(ohm.ones(3)))
    assert(table.concat(ohm.normal(0, 1, {2, 4}).shape) == '24')
    x:sum():backward()
    assert(are(mean.grad, {0, 0}) and are(deviation.grad, {0, 0}))
  )"));
  EXPECT_TRUE(holds(R"(
    local x = ohm.randint_like(ohm.zeros(50), 2, 4)
    assert(x.dtype == 'float32' and x:ge(2):all():item() and x:lt(4):all():item())
    assert(ohm.is_nonzero(ohm.ones(1)) and not ohm.zeros(1, 1):is_nonzero())
  )"));
  EXPECT_THAT(refusal("ohm.is_nonzero(ohm.zeros(2))"),
              HasSubstr("Boolean value of Tensor with more than one value is ambiguous"));
  EXPECT_THAT(refusal("ohm.normal(ohm.zeros(2), ohm.tensor{1.0, -1.0})"),
              HasSubstr("normal expects all elements of std >= 0.0"));
  EXPECT_THAT(refusal("ohm.normal(ohm.zeros(2), -1.0)"),
              HasSubstr("normal expects std >= 0.0, but found std -1"));
}

}  // namespace
}  // namespace ohm::test
