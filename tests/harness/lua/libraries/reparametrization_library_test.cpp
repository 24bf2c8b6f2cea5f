#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/lua/script_test.h"

namespace ohm::test {
namespace {

using testing::HasSubstr;

// A layer, an input, and lists of what a test looks at, as PyTorch 2.6 computes them.
constexpr const char* kLayer = R"(
  local utils, m = ohm.nn.utils, ohm.nn.Linear(3, 2)
  ohm.no_grad(function()
    m.weight:copy_(ohm.tensor({{1, 2, 3}, {-1, 0.5, 2}}))
    m.bias:copy_(ohm.tensor({0.5, -0.5}))
  end)
  local x = ohm.tensor({{1, -2, 0.5}, {3, 1, 2}})
  local function is_near(tensor, expected)
    return tensor:detach():reshape({-1}):allclose(ohm.tensor(expected, {dtype = 'float32'}), {atol = 1e-4})
  end
  local function names()
    local all = {}
    for name in m:named_parameters() do all[#all + 1] = name end
    for name in m:named_buffers() do all[#all + 1] = name end
    return table.concat(all, ' ')
  end
  local function call()
    local y = m(x)
    y:pow(2):sum():backward()
    return y
  end
)";

class ReparametrizationLibrary : public ScriptTest {
 protected:
  bool holds(const std::string& code) { return number(kLayer + code + "\nreturn 1") == 1; }
};

TEST_F(ReparametrizationLibrary, SplitsAWeightIntoLengthAndDirection) {
  EXPECT_TRUE(holds(R"(
    assert(utils.weight_norm(m) == m)
    assert(names() == 'bias weight_g weight_v')
    assert(is_near(call(), {-1, -1.5, 11.5, 1}))
    assert(is_near(m.weight_g.grad, {68.418877, 2.618615}))
    assert(is_near(m.weight_v.grad, {48.714287, -9.571426, -9.85714, 4.142857, 7.428572, 0.214286}))
  )"));
}

TEST_F(ReparametrizationLibrary, ComputesTheWeightAtEachCall) {
  EXPECT_TRUE(holds(R"(
    utils.weight_norm(m, {dim = -1})
    local before = m.weight
    ohm.no_grad(function() m.weight_g:mul_(2.0) end)
    assert(is_near(m.weight - before, {0, 0, 0, 0, 0, 0}))
    m(x)
    assert(is_near(m.weight, {2, 4, 6, -2, 1, 4}))
  )"));
}

TEST_F(ReparametrizationLibrary, PutsTheWeightBackBehindTheOtherParameters) {
  EXPECT_TRUE(holds(R"(
    utils.remove_weight_norm(utils.weight_norm(m, 'weight', 1))
    assert(names() == 'bias weight' and m.weight.is_leaf and m.weight.requires_grad)
    assert(is_near(m.weight, {1, 2, 3, -1, 0.5, 2}))
    utils.remove_weight_norm(utils.weight_norm(m, 'bias'), 'bias')
    assert(names() == 'weight bias')
  )"));
}

TEST_F(ReparametrizationLibrary, DividesAWeightByItsLargestSingularValue) {
  EXPECT_TRUE(holds(R"(
    utils.spectral_norm(m, {n_power_iterations = 2})
    assert(names() == 'bias weight_orig weight_u weight_v')
    m.weight_u:copy_(ohm.tensor({0.6, 0.8}))
    m.weight_v:copy_(ohm.tensor({1, 0, 0}))
    assert(is_near(call(), {0.136656, -0.74223, 3.164526, -0.136656}))
    assert(is_near(m.weight_orig.grad,
                   {4.352681, -0.354338, -0.097983, -0.720454, -0.257514, -1.970876}))
    assert(is_near(m.weight_u, {0.887659, 0.460502}))
    assert(is_near(m.weight_v, {0.085442, 0.479427, 0.873412}))
  )"));
}

TEST_F(ReparametrizationLibrary, LeavesTheVectorsAloneInEvaluation) {
  EXPECT_TRUE(holds(R"(
    utils.spectral_norm(m)
    m(x)
    local u = m.weight_u:clone()
    m:eval()
    m(x)
    assert(m.weight_u:equal(u))
    m:train()
    m(x)
    assert(not m.weight_u:equal(u))
    utils.remove_spectral_norm(m)
    assert(names() == 'bias weight')
  )"));
}

TEST_F(ReparametrizationLibrary, ParametrizesAWeight) {
  EXPECT_TRUE(holds(R"(
    utils.parametrizations.weight_norm(m)
    assert(names() == 'bias parametrizations.weight.original0 parametrizations.weight.original1')
    assert(is_near(call(), {-1, -1.5, 11.5, 1}))
    assert(is_near(m.parametrizations.weight.original0.grad, {68.418877, 2.618615}))
    ohm.no_grad(function() m.parametrizations.weight.original0:mul_(2.0) end)
    assert(is_near(m.weight, {2, 4, 6, -2, 1, 4}))
  )"));
}

TEST_F(ReparametrizationLibrary, ParametrizesAWeightBySpectralNorm) {
  EXPECT_TRUE(holds(R"(
    utils.parametrizations.spectral_norm(m, {n_power_iterations = 2})
    local list = m.parametrizations.weight
    assert(names() == 'bias parametrizations.weight.original parametrizations.weight.0._u ' ..
                      'parametrizations.weight.0._v')
    list[1]._u:copy_(ohm.tensor({0.6, 0.8}))
    list[1]._v:copy_(ohm.tensor({1, 0, 0}))
    assert(is_near(call(), {0.113204, -0.757864, 3.336506, -0.113204}))
    assert(is_near(list.original.grad,
                   {4.077022, -0.978888, -0.551502, -0.673207, 0.481179, -0.689268}))
    assert(is_near(list[1]._u, {0.995634, 0.093341}))
    assert(is_near(list[1]._v, {0.232669, 0.525511, 0.818354}))
  )"));
}

TEST_F(ReparametrizationLibrary, NormalisesParametersOfAScriptsModule) {
  EXPECT_TRUE(holds(R"(
    local Scale = ohm.nn.Module:extend('Scale')
    function Scale:__init() self.weight = ohm.nn.Parameter(ohm.tensor({{3.0, 4}, {0, 2}}, {dtype = 'float32'})) end
    function Scale:forward(input) return input * self.weight end
    local scale = ohm.nn.utils.weight_norm(Scale())
    ohm.no_grad(function() scale.weight_g:fill_(1.0) end)
    assert(is_near(scale(ohm.ones(2, 2)), {0.6, 0.8, 0, 1}))
  )"));
}

TEST_F(ReparametrizationLibrary, KeepsAParametrizedModuleUntilCyclesAreCollected) {
  EXPECT_EQ(text("local m = ohm.nn.utils.parametrizations.weight_norm("
                 "ohm.nn.Linear(2, 2, {device = 'cuda'})) "
                 "local alive = ohm.cuda.memory_allocated() "
                 "m = nil "
                 "local kept = ohm.cuda.memory_allocated() "
                 "local found = ohm.gc.collect() "
                 "return string.format('%d %d %d %d', alive, kept, found, "
                 "ohm.cuda.memory_allocated())"),
            "1536 1536 1 0");
}

class ReparametrizationOnASmallGpu : public ScriptTest {
 protected:
  ReparametrizationOnASmallGpu() : ScriptTest({.capacity_bytes = std::size_t{64} << 20U}) {}
};

// The bias is computed before the weight, for which there is no memory.
TEST_F(ReparametrizationOnASmallGpu, ACallThatRunsOutOfMemoryKeepsNothingOfWhatItComputed) {
  EXPECT_EQ(text("local m = ohm.nn.Linear(4096, 1024, {device = 'cuda'}) "
                 "ohm.nn.utils.parametrizations.weight_norm(m, 'bias') "
                 "ohm.nn.utils.parametrizations.weight_norm(m, 'weight') "
                 "local rest = ohm.empty(36 << 20, {device = 'cuda', dtype = 'uint8'}) "
                 "local x = ohm.ones(1, 4096, {device = 'cuda'}) "
                 "local before = ohm.cuda.memory_allocated() "
                 "local is_done, failure = pcall(m, x) "
                 "failure = tostring(failure):sub(1, 18) "
                 "return string.format('%s %s %d', is_done, failure, "
                 "ohm.cuda.memory_allocated() - before)"),
            "false CUDA out of memory 0");
}

TEST_F(ReparametrizationLibrary, RefusesWhatIsNotThere) {
  const std::string layer = "local m = ohm.nn.Linear(2, 2) ";
  EXPECT_THAT(error_of(layer + "ohm.nn.utils.weight_norm(m, 'wait')"),
              HasSubstr("[Linear] has no parameter 'wait'"));
  EXPECT_THAT(error_of(layer + "ohm.nn.utils.remove_weight_norm(m)"),
              HasSubstr("weight_norm of 'weight' not found in Linear"));
  EXPECT_THAT(error_of(layer + "ohm.nn.utils.remove_spectral_norm(m)"),
              HasSubstr("spectral_norm of 'weight' not found in Linear"));
  EXPECT_THAT(error_of(layer + "ohm.nn.utils.weight_norm(ohm.nn.utils.weight_norm(m))"),
              HasSubstr("two weight_norm hooks on the same parameter weight"));
  EXPECT_THAT(error_of(layer + "ohm.nn.utils.spectral_norm(m, {n_power_iterations = 0})"),
              HasSubstr("n_power_iterations to be positive"));
  EXPECT_THAT(error_of(layer + "ohm.nn.utils.spectral_norm(m, {dim = 2})"),
              HasSubstr("dim 2 is not in the range"));
  EXPECT_THAT(error_of("ohm.nn.utils.weight_norm(3)"), HasSubstr("must be a module"));
}

}  // namespace
}  // namespace ohm::test
