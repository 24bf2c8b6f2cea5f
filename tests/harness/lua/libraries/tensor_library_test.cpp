// Tensors and their factories, as scripts use them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "harness/lua/bind/op_functions.h"
#include "harness/lua/bind/tensor_handle.h"
#include "harness/lua/libraries/libraries.h"
#include "harness/lua/libraries/library_table.h"
#include "tests/harness/lua/script_test.h"

namespace ohm::test {
namespace {

class TensorLibrary : public ScriptTest {};

TEST_F(TensorLibrary, ComputesWithOperatorsFunctionsAndMethods) {
  EXPECT_EQ(number("local x = ohm.tensor({1.0, 2.0}) return ((x + 1) * x - x / 2):sum():item()"),
            6.5);
  EXPECT_EQ(number("return ohm.relu(ohm.tensor({-1.0, 2.0})):sum():item()"), 2.0);
  EXPECT_EQ(number("return (2 - 3 * -ohm.ones(2) ^ 2):sum():item()"), 10.0);
  EXPECT_EQ(number("return (1 / ohm.full({2}, 4.0)):sum():item()"), 0.5);
}

TEST_F(TensorLibrary, RefusesADeviceThatDoesNotExist) {
  EXPECT_THAT(error_of("ohm.zeros(2, {device = 'cuda:3'})"),
              testing::HasSubstr("cuda:3 does not exist: this machine has 1 GPU"));
}

TEST_F(TensorLibrary, BackwardFillsGradients) {
  EXPECT_EQ(number("local w = ohm.ones(3, {requires_grad = true}); (w * 2):sum():backward() "
                   "return w.grad:sum():item()"),
            6);
  EXPECT_EQ(number("local w = ohm.ones(3, {requires_grad = true}) local y = w * 2 "
                   "y:backward(ohm.full({3}, 5.0), {retain_graph = true}) "
                   "y:backward({gradient = ohm.ones(3)}) return w.grad:sum():item()"),
            36);
  EXPECT_EQ(number("local w = ohm.ones(3, {requires_grad = true}); (w * 2):sum():backward() "
                   "w.grad = nil return w.grad == nil"),
            1);
}

constexpr const char* kShow =
    "local function show(t) local s = '' for _, v in ipairs(t:tolist()) do s = s .. ' ' .. v end "
    "return s end\n";

// What PyTorch 2.15 gives.
TEST_F(TensorLibrary, GradientsAtTheEdgesAreThoseOfPyTorch) {
  const std::string show = kShow;
  EXPECT_EQ(text(show + "local x = ohm.tensor({0.0, 1.0, 0.5, 2.0}, {requires_grad = true})\n"
                        "x:clamp(0, 1):sum():backward() return show(x.grad)"),
            " 0.0 0.0 1.0 0.0");
  EXPECT_EQ(text(show + "local x = ohm.tensor({-1.0, 0.0, 1.0, 2.0}, {requires_grad = true})\n"
                        "local y = 0 ^ x y:sum():backward() return show(y) .. show(x.grad)"),
            " inf 1.0 0.0 0.0 -inf 0.0 0.0 0.0");
  EXPECT_EQ(text(show + "local x = ohm.tensor({0.5, 0.25}, {requires_grad = true})\n"
                        "local y = ohm.bernoulli(x) y:sum():backward()\n"
                        "return y.grad_fn .. show(x.grad)"),
            "BernoulliBackward 0.0 0.0");
}

TEST_F(TensorLibrary, ADeepCopyHasTheStorageAndTheGradient) {
  EXPECT_EQ(text("local b = ohm.arange(10.0, {device = 'cuda'})\n"
                 "local before = ohm.cuda.memory_allocated()\n"
                 "local c = ohm.copy.deepcopy(b:narrow(0, 2, 3))\n"
                 "return c:tolist()[1] .. ' ' .. (ohm.cuda.memory_allocated() - before)"),
            "2.0 512");
  EXPECT_EQ(number("local x = ohm.zeros(300, {device = 'cuda', requires_grad = true})\n"
                   "local before = ohm.cuda.memory_allocated()\n"
                   "local c = ohm.copy.deepcopy(x:detach():narrow(0, 0, 2))\n"
                   "return ohm.cuda.memory_allocated() - before"),
            1536);
  EXPECT_EQ(number("local x = ohm.ones(2, {requires_grad = true}) x:sum():backward()\n"
                   "local c = ohm.copy.deepcopy(x) x.grad:zero_()\n"
                   "return c.grad:sum():item()"),
            2);
  EXPECT_EQ(text("local p = ohm.nn.Parameter(ohm.ones(2)) p:sum():backward()\n"
                 "return tostring(ohm.copy.deepcopy(p).grad)"),
            "nil");
}

TEST_F(TensorLibrary, ADeepCopyOfATableCopiesEachStorageOnce) {
  EXPECT_EQ(
      text("local b = ohm.arange(10.0, {device = 'cuda'})\n"
           "local before = ohm.cuda.memory_allocated()\n"
           "local inner = {b, 'text'}\n"
           "local c = ohm.copy.deepcopy({part = b:narrow(0, 2, 3), inner = inner, again = inner})\n"
           "b:zero_()\n"
           "return c.part:tolist()[1] .. ' ' .. c.inner[1]:sum():item() .. ' ' .. c.inner[2]\n"
           "  .. ' ' .. tostring(c.inner == c.again) .. ' '\n"
           "  .. (ohm.cuda.memory_allocated() - before)"),
      "2.0 45.0 text true 512");
  EXPECT_THAT(error_of("ohm.copy.deepcopy({setmetatable({}, {})})"),
              testing::HasSubstr("a metatable"));
}

TEST_F(TensorLibrary, DataCanBeReplaced) {
  EXPECT_EQ(text("local p = ohm.nn.Parameter(ohm.ones(2, 2))\n"
                 "local optimizer = ohm.optim.SGD({p}, {lr = 1})\n"
                 "p.data = p.data * 3 + 1\n"
                 "p:sum():backward() optimizer:step()\n"
                 "return p:sum():item() .. ' ' .. tostring(p.requires_grad)"),
            "12.0 true");
  EXPECT_THAT(error_of("local p = ohm.nn.Parameter(ohm.ones(2)) p.data = ohm.arange(2)"),
              testing::HasSubstr("must be floating point"));
  EXPECT_THAT(error_of("local p = ohm.nn.Parameter(ohm.ones(2)) p.data = ohm.ones(3)"),
              testing::HasSubstr("the data of float32 [2] on cpu cannot be float32 [3] on cpu"));
}

TEST_F(TensorLibrary, IndicesOfTheHostChooseOnAGpu) {
  EXPECT_EQ(text("local x = ohm.arange(12.0, {device = 'cuda'}):reshape(3, 4):requires_grad_()\n"
                 "local rows, columns = ohm.tensor({2, 0, 2}), ohm.tensor({1, 1, -1})\n"
                 "local y = x:index({rows, columns}) + x[rows]:sum(1)\n"
                 "y:sum():backward()\n"
                 "return y:sum():item() .. ' ' .. x.grad:select(0, 2):sum():item()"),
            "103.0 10.0");
}

TEST_F(TensorLibrary, CtcLossOfWhatIsNoNumberIsNone) {
  EXPECT_TRUE(std::isnan(
      number("local given = ohm.tensor({{{-1.0, -1.0, -1.0}}, {{-1.0, -1.0, -1.0}}, {{-1.0, 0/0, "
             "-1.0}}})\n"
             "local function whole(n) return ohm.tensor(n, {dtype = 'int64'}) end\n"
             "return ohm.nn.functional.ctc_loss(given, whole({{1}}), whole({3}), whole({1}),\n"
             "                                  {zero_infinity = true}):item()")));
}

TEST_F(TensorLibrary, SaysWhichArgumentsCannotBe) {
  EXPECT_THAT(error_of("ohm.zeros(2, 3):to({memory_format = ohm.channels_last})"),
              testing::HasSubstr("channels_last is of tensors of four dimensions"));
  EXPECT_THAT(error_of("ohm.nn.Conv3d(2, 2, 2):to({memory_format = ohm.channels_last})"),
              testing::HasSubstr("channels_last is of tensors of four dimensions"));
  EXPECT_THAT(error_of("ohm.zeros(1, 2, 3, 4):contiguous({memory_format = ohm.channels_last_3d})"),
              testing::HasSubstr("channels_last_3d is of tensors of five dimensions"));
  EXPECT_THAT(error_of("ohm.zeros(2, 3):contiguous({memory_format = 'rows'})"),
              testing::HasSubstr("[memory_format] none is called 'rows'"));
  EXPECT_THAT(error_of("ohm.bernoulli(ohm.tensor({0.5, 2.0}))"),
              testing::HasSubstr("expected probabilities from 0 to 1, got 2"));
  EXPECT_THAT(error_of("ohm.zeros(2, 3):index({ohm.tensor({0}), ohm.tensor({0})}, {1, 0})"),
              testing::HasSubstr("expected one for each, in their order"));
  EXPECT_THAT(error_of("ohm.nn.functional.triplet_margin_loss(ohm.ones(1, 2), ohm.ones(1, 2),"
                       " ohm.ones(1, 2), {margin = -1})"),
              testing::HasSubstr("margin must be greater than 0, got -1"));
  EXPECT_THAT(error_of("ohm.nn.functional.ctc_loss(ohm.zeros(4, 1, 3), ohm.tensor({{1, 2}}),"
                       " ohm.tensor({5}), ohm.tensor({2}))"),
              testing::HasSubstr("input_lengths hold 5, but sequences are from 0 to 4 long"));
  EXPECT_THAT(error_of("ohm.nn.functional.ctc_loss(ohm.zeros(4, 1, 3), ohm.tensor({{1, 3}}),"
                       " ohm.tensor({4}), ohm.tensor({2}))"),
              testing::HasSubstr("label 3 is none of 3 classes"));
}

TEST_F(TensorLibrary, InPlaceOpsReturnTheSameHandle) {
  EXPECT_EQ(number("local x = ohm.ones(2) return x:relu_() == x and rawequal(x:add_(1), x)"), 1);
}

TEST_F(TensorLibrary, InputsAreLabelledAsSuch) {
  run("kept = {ohm.ones(1, {device = 'cuda'}), ohm.ones(1):cuda(), "
      "ohm.ones(1, {device = 'cuda'}) + 1}");
  interpreter_->collect(interpreter_->state());
  const CategoryBytes bytes = machine_.gpu().allocated_bytes_by_category();
  EXPECT_EQ(bytes[static_cast<std::size_t>(Category::input)], 2 * 512);
  EXPECT_EQ(bytes[static_cast<std::size_t>(Category::activation)], 512);
}

TEST_F(TensorLibrary, ACloseVariableLetsItsTensorGo) {
  EXPECT_EQ(number("do local x <close> = ohm.ones(1, {device = 'cuda'}) end "
                   "return ohm.cuda.memory_allocated()"),
            0);
}

TEST_F(TensorLibrary, NoNameStandsForTwoThings) {
  std::multiset<std::string> names;
  for (const std::string& name : lua::op_names(ops::kMethod)) names.insert(name);
  for (const luaL_Reg& method : tensor_methods()) names.insert(method.name);
  for (const std::string& name : names) EXPECT_EQ(names.count(name), 1U) << name;
  for (const lua::Library& library : lua::libraries()) {
    const std::vector<std::string> known = lua::names_of(library);
    for (std::size_t i = 1; i < known.size(); ++i) {
      EXPECT_NE(known[i], known[i - 1]) << library.name;
    }
  }
}

TEST_F(TensorLibrary, EveryNameOfEveryLibraryCanBeLookedUp) {
  for (const lua::Library& library : lua::libraries()) {
    for (const std::string& name : lua::names_of(library)) {
      EXPECT_EQ(error_of("local x = " + std::string(library.name) + "." + name), "");
    }
  }
}

TEST_F(TensorLibrary, CudaCountersAreTheAllocatorsOwn) {
  EXPECT_EQ(number("local x = ohm.ones(100, {device = 'cuda'}) "
                   "return ohm.cuda.memory_allocated(0)"),
            512);
  EXPECT_EQ(number("return ohm.cuda.max_memory_allocated('cuda:0')"), 512);
  EXPECT_EQ(number("ohm.cuda.reset_peak_memory_stats() return ohm.cuda.max_memory_allocated()"), 0);
  EXPECT_EQ(number("return ohm.cuda.memory_reserved()"), 2 << 20);
  EXPECT_EQ(number("ohm.cuda.empty_cache() return ohm.cuda.memory_reserved()"), 0);
  EXPECT_EQ(number("return ohm.cuda.max_memory_reserved()"), 2 << 20);
  EXPECT_EQ(number("local free, total = ohm.cuda.mem_get_info() return total - free"), 0);
  EXPECT_EQ(number("return ohm.cuda.memory_stats()['num_device_alloc']"), 1);
  EXPECT_EQ(number("return ohm.cuda.device_count() + ohm.cuda.current_device()"), 1);
  EXPECT_EQ(number("ohm.cuda.synchronize() return ohm.cuda.is_available()"), 1);
  EXPECT_THAT(text("return ohm.cuda.memory_summary()"), testing::HasSubstr("Allocated memory"));
  EXPECT_EQ(text("return tostring(ohm.cuda.memory_summary({abbreviated = true, device = 0}) == "
                 "ohm.cuda.memory_summary(0, true))"),
            "true");
  EXPECT_EQ(text("local major, minor = ohm.cuda.get_device_capability() "
                 "local properties = ohm.cuda.get_device_properties('cuda:0') "
                 "return major .. minor .. properties.major .. properties.minor .. ' ' .. "
                 "tostring(properties.total_memory == select(2, ohm.cuda.mem_get_info()))"),
            "8080 true");
}

class SizeOnly : public ScriptTest {
 protected:
  SizeOnly() : ScriptTest({.values = ValueMode::size_only}) {}
};

TEST_F(SizeOnly, WhatAScriptReadsIsNoNumber) {
  EXPECT_EQ(text("local x = ohm.ones(2, {device = 'cuda'}) "
                 "return tostring(x) .. ' ' .. tostring(x:sum():item() ~= x:sum():item()) .. ' ' "
                 ".. tostring(x.has_values)"),
            "tensor(float32 [2] on cuda:0) true false");
}

// Of two tensors Lua's == cannot give what PyTorch's gives: one answer for each element.
TEST_F(TensorLibrary, TwoTensorsAreNotComparedWithTheOperator) {
  for (const char* operation : {"==", "~="}) {
    EXPECT_THAT(error_of("local x = ohm.ones(2) return x " + std::string(operation) + " x:clone()"),
                testing::HasSubstr("cannot be compared with == and ~=: write a:eq(b)"))
        << operation;
  }
  EXPECT_EQ(number("local m = ohm.nn.Linear(2, 2) return m.weight == m.weight"), 1);
  EXPECT_EQ(number("local x = ohm.ones(2) return x ~= nil and x.grad == nil"), 1);
  EXPECT_EQ(
      number("local x = ohm.ones(2) return x:is_same(x:add_(1)) and not x:is_same(x:clone())"), 1);
}

TEST_F(TensorLibrary, EqualIsOfAllElements) {
  EXPECT_EQ(number("local x = ohm.ones(2, 3) return x:equal(x:clone()) and ohm.equal(x, x)"), 1);
  EXPECT_EQ(number("return ohm.ones(2, 3):equal(ohm.zeros(2, 3))"), 0);
  EXPECT_EQ(number("return ohm.ones(2, 3):equal(ohm.ones(3, 2))"), 0);
  EXPECT_EQ(number("return ohm.ones(0, 3):equal(ohm.zeros(0, 3))"), 1);
  EXPECT_EQ(number("return ohm.ones(2):equal(ohm.ones(2, {dtype = 'float64'}))"), 1);
  EXPECT_EQ(number("local x = ohm.tensor({0 / 0}) return x:equal(x) and not x:equal(x:clone())"),
            1);
  EXPECT_THAT(error_of("return ohm.ones(2):equal(ohm.ones(2, {device = 'cuda'}))"),
              testing::HasSubstr("[equal]"));
}

TEST_F(TensorLibrary, AllcloseTakesTolerances) {
  EXPECT_EQ(number("local x = ohm.ones(3) return x:allclose(x + 1e-6) and not x:allclose(x + 1)"),
            1);
  EXPECT_EQ(number("local x = ohm.ones(3) return ohm.allclose(x, x + 1, {atol = 1})"), 1);
  EXPECT_EQ(number("local x = ohm.ones(3) return ohm.allclose(x, x * 1.5, 0.4)"), 1);
  EXPECT_EQ(number("local x = ohm.tensor({0 / 0}) return x:allclose(x:clone(), {equal_nan = true})"
                   " and not x:allclose(x)"),
            1);
  EXPECT_THAT(error_of("return ohm.ones(2):allclose(ohm.ones(2), {rtol = -1})"),
              testing::HasSubstr("rtol must be greater than or equal to zero, but got -1"));
  EXPECT_THAT(error_of("return ohm.ones(2):allclose(ohm.ones(2, {dtype = 'float64'}))"),
              testing::HasSubstr("[isclose] float32 did not match float64"));
}

// As PyTorch 2.6.0 and 2.15.0: a mask and whether all of it is true, but not for one place.
TEST_F(TensorLibrary, NormalDrawsTakeNumbersAndTensors) {
  EXPECT_EQ(number(R"(
    local mean = ohm.tensor({{0.0, 100.0}}, {requires_grad = true})
    local deviation = ohm.tensor({{1.0}, {0.0}}, {requires_grad = true})
    local x = ohm.normal(mean, deviation)
    assert(table.concat(x.shape) == '22' and x:select(0, 1):equal(ohm.tensor{0.0, 100.0}))
    assert(ohm.normal(5.0, ohm.zeros(3)):equal(ohm.full({3}, 5.0)))
    assert(ohm.normal(ohm.ones(3), 0.0):equal(ohm.ones(3)))
    assert(table.concat(ohm.normal(0, 1, {2, 4}).shape) == '24')
    x:sum():backward()
    assert(mean.grad:abs():sum():item() == 0 and deviation.grad:abs():sum():item() == 0)
    return 1
  )"),
            1);
  EXPECT_THAT(error_of("ohm.normal(ohm.zeros(2), ohm.tensor{1.0, -1.0})"),
              testing::HasSubstr("normal expects all elements of std >= 0.0"));
  EXPECT_THAT(error_of("ohm.normal(ohm.zeros(2), -1.0)"),
              testing::HasSubstr("normal expects std >= 0.0, but found std -1"));
}

TEST_F(TensorLibrary, WholeDrawsLikeATensorStayWithinTheirBounds) {
  EXPECT_EQ(number(R"(
    local x = ohm.randint_like(ohm.zeros(50), 2, 4)
    return x.dtype == 'float32' and x:ge(2):all():item() and x:lt(4):all():item()
  )"),
            1);
}

TEST_F(TensorLibrary, OnlyOneElementIsNonzeroOrNot) {
  EXPECT_EQ(number("return ohm.is_nonzero(ohm.ones(1)) and not ohm.zeros(1, 1):is_nonzero()"), 1);
  EXPECT_THAT(error_of("ohm.is_nonzero(ohm.zeros(2))"),
              testing::HasSubstr("Boolean value of Tensor with more than one value is ambiguous"));
}

TEST_F(TensorLibrary, EqualComparesInATemporary) {
  const std::string start =
      "local x = ohm.ones(2, 1000, {device = 'cuda'}) local y = x:clone()\n"
      "local before = ohm.cuda.memory_allocated() ohm.cuda.reset_peak_memory_stats()\n";
  const std::string peak = " return ohm.cuda.max_memory_allocated() - before";
  EXPECT_EQ(number(start + "x:equal(y)" + peak), 2048 + 512);
  EXPECT_EQ(number(start + "x:equal(x:view(2, 1000))" + peak), 0);
  EXPECT_EQ(number(start + "x:equal(y:t())" + peak), 0);
}

}  // namespace
}  // namespace ohm::test
