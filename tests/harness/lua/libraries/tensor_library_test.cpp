// Tensors and their factories, as scripts use them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

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

/// An expression and the text of its value.
struct Expression {
  const char* chunk;
  const char* value;
};

class Expressions : public ScriptTest, public testing::WithParamInterface<Expression> {};

TEST_P(Expressions, HaveTheirValue) {
  EXPECT_EQ(text(std::string("local x = ohm.tensor({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}})\n"
                             "local function show(v)\n"
                             "  if type(v) ~= 'table' then return tostring(v) end\n"
                             "  local parts = {}\n"
                             "  for i, e in ipairs(v) do parts[i] = show(e) end\n"
                             "  return '{' .. table.concat(parts, ' ') .. '}'\n"
                             "end\n"
                             "return show((function() return ") +
                 GetParam().chunk + " end)())"),
            GetParam().value);
}

constexpr Expression kExpressions[] = {
    // Complex numbers.
    {"ohm.complex(x, x).dtype == ohm.complex64", "true"},
    {"ohm.cfloat", "complex64"},
    {"ohm.complex(x, -x).imag:tolist()", "{{-1.0 -2.0 -3.0} {-4.0 -5.0 -6.0}}"},
    {"ohm.complex(x, x):select(0, 1):tolist()", "{{4.0 4.0} {5.0 5.0} {6.0 6.0}}"},
    {"{ohm.complex(x, -x):sum():item()}", "{21.0 -21.0}"},
    {"x:to(ohm.complex64):is_complex()", "true"},
    {"ohm.complex(x, x):conj():is_conj()", "true"},
    {"ohm.fft.irfft(ohm.fft.rfft(x), {n = 3}).shape", "{2 3}"},
    {"ohm.fft.fftfreq(4, {d = 0.25}):tolist()", "{0.0 1.0 -2.0 -1.0}"},
    {"x:stft(2, {hop_length = 1, return_complex = true}):abs().shape", "{2 2 4}"},
    // Whole numbers and masks.
    {"(ohm.tensor({2, -3}) ^ 3):tolist()", "{8 -27}"},
    {"(ohm.tensor({3, -1}) ^ ohm.tensor({-2, -3})):tolist()", "{0 -1}"},
    {"(2 ^ ohm.tensor({0, 10})):tolist()", "{1 1024}"},
    {"(ohm.tensor({4}) ^ 0.5):tolist()", "{2.0}"},
    {"(ohm.tensor({3037000500}) ^ 2):tolist()", "{-9223372036709301616}"},
    {"ohm.tensor({1, 4}):sqrt():tolist()", "{1.0 2.0}"},
    {"ohm.tensor({true}):exp().dtype", "float32"},
    {"ohm.tensor({2, -3}):square():tolist()", "{4 9}"},
    {"ohm.tensor({5, -7, 0}):sign():tolist()", "{1 -1 0}"},
    {"ohm.tensor({5, -7}):round():tolist()", "{5 -7}"},
    {"ohm.tensor({5, -7}):clamp_({min = 0}):tolist()", "{5 0}"},
    {"ohm.tensor({5, -7}):pow_(2):tolist()", "{25 49}"},
    {"ohm.addcmul(ohm.tensor({1}), ohm.tensor({2}), ohm.tensor({3}), {value = 2}):tolist()",
     "{13}"},
    {"ohm.atan2(ohm.tensor({0}), ohm.tensor({1})):tolist()", "{0.0}"},
    {"ohm.tensor({1, 2}):mean({dtype = ohm.float64}):item()", "1.5"},
    {"ohm.tensor({1, 2}):cumsum({dim = 0, dtype = ohm.float32}):tolist()", "{1.0 3.0}"},
    {"ohm.tensor({0, 2}):to(ohm.uint8):any().dtype", "uint8"},
    // What is written at a tensor.
    {"(function() local y = ohm.zeros(3) y[ohm.tensor({0, -1})] = 2 return y:tolist() end)()",
     "{2.0 0.0 2.0}"},
    {"(function() x[x:gt(2)] = 0.0 return x:tolist() end)()", "{{1.0 2.0 0.0} {0.0 0.0 0.0}}"},
    {"(function() x[ohm.tensor({true, false})] = 7 return x:tolist() end)()",
     "{{7.0 7.0 7.0} {4.0 5.0 6.0}}"},
    {"(function() x[ohm.tensor({1})] = ohm.ones(1, 1, 3) return x:tolist() end)()",
     "{{1.0 2.0 3.0} {1.0 1.0 1.0}}"},
    {"(function() x[ohm.tensor(1)] = 5 return x:tolist() end)()", "{{1.0 2.0 3.0} {5.0 5.0 5.0}}"},
    {"(function() x:index_put_({ohm.tensor({2})}, 9, false, {1}) return x:tolist() end)()",
     "{{1.0 2.0 9.0} {4.0 5.0 9.0}}"},
    // Norms.
    {"ohm.linalg.matrix_norm(x, 1):item()", "9.0"},
    {"ohm.linalg.matrix_norm(x, {ord = -1}):item()", "5.0"},
    {"ohm.linalg.matrix_norm(x, {ord = math.huge, keepdim = true}):tolist()", "{{15.0}}"},
    {"ohm.linalg.norm(x, -math.huge):item()", "6.0"},
    {"x:norm('fro'):pow(2):round():item()", "91.0"},
    {"ohm.norm(x:half(), 'fro', {dtype = ohm.float32}).dtype", "float32"},
    {"ohm.linalg.vector_norm(x, {dtype = ohm.float64}).dtype", "float64"},
    {"x:clamp_min(ohm.tensor(3.0)):min():item()", "3.0"},
    {"ohm.linalg.norm(x, 'fro'):pow(2):round():item()", "91.0"},
    {"ohm.linalg.norm(x):pow(2):round():item()", "91.0"},
    {"ohm.linalg.norm(x, {ord = math.huge, dim = 0}):tolist()", "{4.0 5.0 6.0}"},
    {"ohm.linalg.vector_norm(x, {ord = 1}):item()", "21.0"},
    {"ohm.linalg.vector_norm(x, 0, {1}):tolist()", "{3.0 3.0}"},
    // Integers beyond 2^53.
    {"ohm.tensor((1 << 60) + 1):item() - (1 << 60)", "1"},
    {"ohm.tensor({{3, -(1 << 60) - 1}}):tolist()", "{{3 -1152921504606846977}}"},
    {"(ohm.ones(1, {dtype = ohm.int64}) * (1 << 30) * (1 << 30) + 1):item() - (1 << 60)", "1"},
    {"ohm.tensor({1 << 60, 0.5}).dtype == ohm.float32", "true"},
    {"ohm.full(1, (1 << 60) + 1):item() - (1 << 60)", "1"},
    {"ohm.full_like(ohm.tensor(0), (1 << 60) + 1):item() - (1 << 60)", "1"},
    {"ohm.tensor(0):new_full(1, -(1 << 60) - 1):item() + (1 << 60)", "-1"},
    {"(ohm.tensor({1, 2}):cuda() + ((1 << 60) + 1)):tolist()",
     "{1152921504606846978 1152921504606846979}"},
    {"((1 << 60) + 1 - ohm.tensor(1 << 60)):item()", "1"},
    {"(ohm.tensor(1):to(ohm.int32) + ((1 << 60) + 1)).dtype == ohm.int32", "true"},
    {"(ohm.tensor(true) + ((1 << 60) + 1)):item() - (1 << 60)", "2"},
    {"(ohm.tensor(1) * math.maxinteger):item() == math.maxinteger", "true"},
    {"(((1 << 60) + 1) % ohm.tensor(1 << 60)):item()", "1"},
    {"ohm.tensor({1 << 60, (1 << 60) + 1}):eq((1 << 60) + 1):tolist()", "{false true}"},
    {"ohm.tensor({1 << 60, (1 << 60) + 1}):lt((1 << 60) + 1):tolist()", "{true false}"},
    {"ohm.where(ohm.tensor({true, false}), (1 << 60) + 1, ohm.tensor(3)):tolist()",
     "{1152921504606846977 3}"},
    {"(ohm.tensor({1.0}) + ((1 << 60) + 1)).dtype == ohm.float32", "true"},
    {"(ohm.tensor({1, 2}) / ((1 << 60) + 1)).dtype == ohm.float32", "true"},
    {"(function() local a = ohm.tensor({1, 2}) a:add_((1 << 60) + 1) return a:tolist() end)()",
     "{1152921504606846978 1152921504606846979}"},
    {"ohm.tensor({1 << 60, (1 << 60) + 1}):max():item() - (1 << 60)", "1"},
    {"select(2, ohm.tensor({1 << 60, (1 << 60) + 1}):max(0)):item()", "1"},
    {"ohm.tensor({-(1 << 60), -(1 << 60) - 1}):cuda():min():item() + (1 << 60)", "-1"},
    // Properties.
    {"x.shape", "{2 3}"},
    {"x.dtype == ohm.float32", "true"},
    {"x.device", "cpu"},
    {"x:cuda().device", "cuda:0"},
    {"x.requires_grad", "false"},
    {"x.is_leaf", "true"},
    {"x.is_cuda", "false"},
    {"x:cuda(0).is_cuda", "true"},
    {"x.ndim", "2"},
    {"x.nbytes", "24"},
    {"x.itemsize", "4"},
    {"x.grad", "nil"},
    {"x.grad_fn", "nil"},
    {"x:requires_grad_():relu().grad_fn", "ReluBackward"},
    {"x:requires_grad_().data.requires_grad", "false"},
    // Sizes.
    {"x:size()", "{2 3}"},
    {"x:size(-1)", "3"},
    {"x:stride()", "{3 1}"},
    {"x:stride(0)", "3"},
    {"x:dim()", "2"},
    {"x:numel()", "6"},
    {"x:element_size()", "4"},
    {"x:is_contiguous()", "true"},
    {"x:t():is_contiguous()", "false"},
    {"x:get_device()", "-1"},
    {"x:cuda():get_device()", "0"},
    // Views: dimensions count from 0, sizes may be spread or a list.
    {"x:view(3, 2).shape", "{3 2}"},
    {"x:view({3, -1}).shape", "{3 2}"},
    {"x:reshape(-1).shape", "{6}"},
    {"x:transpose(0, 1).shape", "{3 2}"},
    {"x:unsqueeze(0):permute(2, 0, 1).shape", "{3 1 2}"},
    {"x:select(0, 1):tolist()", "{4.0 5.0 6.0}"},
    {"x:narrow(1, 1, 2):tolist()", "{{2.0 3.0} {5.0 6.0}}"},
    {"select('#', x:chunk(3, 1))", "3"},
    {"ohm.cat({x, x}, 0).shape", "{4 3}"},
    {"ohm.stack({x, x}, {dim = 2}).shape", "{2 3 2}"},
    // Reductions.
    {"x:sum():item()", "21.0"},
    {"x:sum(0):tolist()", "{5.0 7.0 9.0}"},
    {"x:sum(1, true).shape", "{2 1}"},
    {"x:sum({dim = {0, 1}, keepdim = true}).shape", "{1 1}"},
    {"x:mean({dim = 1}):tolist()", "{2.0 5.0}"},
    {"x:argmax():item()", "5"},
    {"x:clamp(ohm.tensor({2, 2, 2}), ohm.tensor({{3}, {5}})):tolist()",
     "{{2.0 2.0 3.0} {4.0 5.0 5.0}}"},
    {"x:clone():clamp_({max = ohm.tensor({2, 3, 4})}):tolist()", "{{1.0 2.0 3.0} {2.0 3.0 4.0}}"},
    {"(pcall(ohm.clamp, x, ohm.tensor({2, 2, 2}), 4))", "false"},
    {"x:masked_fill(x:gt(2), ohm.tensor(0)):tolist()", "{{1.0 2.0 0.0} {0.0 0.0 0.0}}"},
    {"select(2, pcall(ohm.masked_fill, x, x:gt(2), x)):match('only supports .*')",
     "only supports a 0-dimensional value tensor, but got tensor with 2 dimension(s)"},
    {"ohm.nn.functional.one_hot(ohm.tensor({0, 2})):tolist()", "{{1 0 0} {0 0 1}}"},
    {"x:any({dim = 1}):tolist()", "{true true}"},
    {"x:max(x * -1 + 4):tolist()", "{{3.0 2.0 3.0} {4.0 5.0 6.0}}"},
    // Masks, whole numbers and parts.
    {"(x:gt(1) & x:lt(4)):tolist()", "{{false true true} {false false false}}"},
    {"(x:lt(2) | x:gt(5)):tolist()", "{{true false false} {false false true}}"},
    {"(~x:gt(2)):select(0, 0):tolist()", "{true true false}"},
    {"(x:long() // 2):tolist()", "{{0 1 1} {2 2 3}}"},
    // As PyTorch divides: by the remainder, since 1 / 0.1 and 6 / 0.1 would round up.
    {"(ohm.tensor({1.0, 0.9, 6.0, 1e10}) // 0.1):tolist()", "{9.0 8.0 59.0 99999997952.0}"},
    {"(ohm.tensor({1.0, 0.9, 6.0, 1e10}, {dtype = ohm.float64}) // 0.1):tolist()",
     "{9.0 8.0 59.0 99999999999.0}"},
    {"(7 // ohm.tensor({2.0, -2.0, 0.0, 3.0})):tolist()", "{3.0 -4.0 inf 2.0}"},
    {"(7 // ohm.tensor({2, -2, 3})):tolist()", "{3 -4 2}"},
    {"(ohm.tensor({-7, 7, -7}) // ohm.tensor({2, -2, 3})):tolist()", "{-4 -4 -3}"},
    // Index tensors behind and around a dimension that is whole.
    {"x:index({ohm.tensor({2, 0})}, 1):tolist()", "{{3.0 1.0} {6.0 4.0}}"},
    {"x:view(1, 2, 3):index({ohm.tensor({1, 0}), ohm.tensor({0, 2})}, {1, 2}):tolist()",
     "{{4.0 3.0}}"},
    {"x:view(2, 1, 3):index({ohm.tensor({1, 0}), ohm.tensor({0, 2})}, {0, -1}):tolist()",
     "{{4.0} {3.0}}"},
    // The order in memory.
    {"ohm.zeros(2, 3, 4, 5):to({memory_format = ohm.channels_last}):stride()", "{60 1 15 3}"},
    {"ohm.zeros(2, 3, 2, 4, 5):to({memory_format = ohm.channels_last_3d}):stride()",
     "{120 1 60 15 3}"},
    {"ohm.zeros(2, 3, 4, 5):contiguous({memory_format = ohm.channels_last}):is_contiguous()",
     "false"},
    {"ohm.zeros(2, 3, 4, 5):contiguous({memory_format = ohm.channels_last})"
     ":is_contiguous({memory_format = ohm.channels_last})",
     "true"},
    {"ohm.nn.Conv2d(3, 4, 2):to({memory_format = ohm.channels_last}).weight:stride()",
     "{12 1 6 3}"},
    {"(2 ^ x):select(0, 0):tolist()", "{2.0 4.0 8.0}"},
    {"x.T.shape", "{3 2}"},
    {"x:view(1, 2, 3).mT.shape", "{1 3 2}"},
    // The remainder has the sign of the divisor.
    {"(ohm.tensor({-7, 7, -7}) % 3):tolist()", "{2 1 2}"},
    {"(ohm.tensor({-7.5, 7.5}) % -2):tolist()", "{-1.5 -0.5}"},
    {"(7 % ohm.tensor({2.0, -2.0, 5.0})):tolist()", "{1.0 -1.0 2.0}"},
    {"(x % ohm.tensor({1.5, 2.0, 4.0})):tolist()", "{{1.0 0.0 3.0} {1.0 1.0 2.0}}"},
    {"(ohm.tensor({-2, 5}):byte() % 3).dtype", "uint8"},
    // What values choose.
    {"x[x:gt(2)]:tolist()", "{3.0 4.0 5.0 6.0}"},
    {"x[ohm.tensor({1, 0, 1})].shape", "{3 3}"},
    {"x[ohm.tensor({false, true})]:tolist()", "{{4.0 5.0 6.0}}"},
    {"x:index({ohm.tensor({true, false, true})}, 1):tolist()", "{{1.0 3.0} {4.0 6.0}}"},
    {"x:masked_select(ohm.tensor({true, false, true})):tolist()", "{1.0 3.0 4.0 6.0}"},
    {"x:masked_select(x:gt(9)).shape", "{0}"},
    {"x:gt(4):nonzero():tolist()", "{{1 1} {1 2}}"},
    {"ohm.zeros(2, 3):nonzero().shape", "{0 2}"},
    {"select('#', ohm.where(x:gt(4)))", "2"},
    {"select(2, ohm.where(x:gt(4))):tolist()", "{1 2}"},
    {"ohm.where(x:gt(4), x, 0):tolist()", "{{0.0 0.0 0.0} {0.0 5.0 6.0}}"},
    {"ohm.where(x:gt(4), -1, x):tolist()", "{{1.0 2.0 3.0} {4.0 -1.0 -1.0}}"},
    {"ohm.where(x:gt(4), 1, 0).dtype", "int64"},
    {"ohm.where(x:gt(4), 0.5, 0):tolist()", "{{0.0 0.0 0.0} {0.0 0.5 0.5}}"},
    {"ohm.ones(1, 3):expand(2, 3):masked_fill_(x:gt(5), 7):tolist()",
     "{{1.0 1.0 7.0} {1.0 1.0 7.0}}"},
    {"ohm.einsum('ij,ij->ji', x, x):tolist()", "{{1.0 16.0} {4.0 25.0} {9.0 36.0}}"},
    {"ohm.einsum('i,j->ij', ohm.ones(2), ohm.ones(3)).shape", "{2 3}"},
    {"x:diagonal():tolist()", "{1.0 5.0}"},
    {"x:diagonal(1):tolist()", "{2.0 6.0}"},
    {"x:diagonal(-2):tolist()", "{}"},
    {"x:view(2, 3, 1):diagonal({offset = -1, dim1 = 1, dim2 = 0}):tolist()", "{{2.0 6.0}}"},
    {"x:var(nil, false):item() == x:var({correction = 0}):item()", "true"},
    {"x:var({unbiased = false}):item() < x:var():item()", "true"},
    {"x:std(1, true, true).shape", "{2 1}"},
    {"ohm.rsub(x, 1):select(0, 0):tolist()", "{0.0 -1.0 -2.0}"},
    {"ohm.rsub(x, ohm.tensor({1.0, 2.0, 3.0}), 2):select(0, 0):tolist()", "{-1.0 -2.0 -3.0}"},
    {"ohm.lerp(x, x * 2, ohm.tensor({0.0, 0.5, 1.0})):tolist()", "{{1.0 3.0 6.0} {4.0 7.5 12.0}}"},
    {"ohm.tensor({0 / 0, math.huge, -math.huge, 1.5}):nan_to_num(7, 8, 9):tolist()",
     "{7.0 8.0 9.0 1.5}"},
    {"ohm.tensor({math.huge}):half():nan_to_num():tolist()", "{65504.0}"},
    {"x:positive() == x", "true"},
    {"ohm.take_along_dim(x, ohm.tensor({{2}, {0}}), 1):tolist()", "{{3.0} {4.0}}"},
    {"ohm.take_along_dim(x, ohm.tensor({5, 0})):tolist()", "{6.0 1.0}"},
    // An ellipsis stands for the dimensions that have no letter.
    {"ohm.einsum('...i->...', x):tolist()", "{6.0 15.0}"},
    {"ohm.einsum('...i,...i->...', x, x:narrow(0, 0, 1)):tolist()", "{14.0 32.0}"},
    {"ohm.einsum('i...,i...', x, x).shape", "{3}"},
    {"ohm.einsum('b...i,ij->b...j', x:view(2, 1, 3), ohm.ones(3, 2)):tolist()",
     "{{{6.0 6.0}} {{15.0 15.0}}}"},
    {"x:slice(1, 0, nil, 2):tolist()", "{{1.0 3.0} {4.0 6.0}}"},
    {"x:slice(1, -2):select(0, 0):tolist()", "{2.0 3.0}"},
    {"ohm.zeros(4):scatter_(0, ohm.tensor({1, 3}), 2):tolist()", "{0.0 2.0 0.0 2.0}"},
    {"ohm.zeros(2):scatter_add_(0, ohm.tensor({1, 1}), ohm.ones(2)):tolist()", "{0.0 2.0}"},
    {"ohm.zeros(2):index_add_(0, ohm.tensor({0}), ohm.ones(1)):tolist()", "{1.0 0.0}"},
    // Values.
    {"x:long().dtype", "int64"},
    {"x:long():select(0, 0):tolist()", "{1 2 3}"},
    {"x:gt(3):select(1, 0):tolist()", "{false true}"},
    {"ohm.tensor(true):item()", "true"},
    {"ohm.tensor(3):item()", "3"},
    // Devices and dtypes.
    {"x:to('cuda').device", "cuda:0"},
    {"x:to('cuda:0', ohm.float16).dtype", "float16"},
    {"x:to({dtype = ohm.float64}).dtype", "float64"},
    {"x:to(x:half()).dtype", "float16"},
    {"x:to('cpu') == x", "true"},
    {"x:to({copy = true}):is_same(x)", "false"},
    {"x:half():float().dtype", "float32"},
    {"x:bfloat16().dtype", "bfloat16"},
    {"x:double().dtype", "float64"},
    {"x:int().dtype", "int32"},
    {"x:byte().dtype", "uint8"},
    {"x:bool().dtype", "bool"},
    {"(x:half() + x).dtype", "float32"},
    // Factories.
    {"ohm.zeros(2, 3).shape", "{2 3}"},
    {"ohm.zeros({2, 3}, {dtype = 'float16'}).dtype", "float16"},
    {"ohm.ones({}).shape", "{}"},
    {"ohm.ones().shape", "{}"},
    {"ohm.full({2}, 7):tolist()", "{7 7}"},
    {"ohm.full({2}, 7.5):tolist()", "{7.5 7.5}"},
    {"ohm.full({1}, true).dtype", "bool"},
    {"ohm.arange(3):tolist()", "{0 1 2}"},
    {"(ohm.randperm(4):sort()):tolist()", "{0 1 2 3}"},
    {"ohm.linspace(0, 1, 3):tolist()", "{0.0 0.5 1.0}"},
    {"ohm.linspace(2, 5, 1):tolist()", "{2.0}"},
    // A factory's own arguments by their names.
    {"ohm.linspace(0, 1, {steps = 3}):tolist()", "{0.0 0.5 1.0}"},
    {"ohm.arange(5, {step = 2}):tolist()", "{0 2 4}"},
    {"ohm.arange(1, {['end'] = 6, step = 2}):tolist()", "{1 3 5}"},
    {"ohm.arange({['end'] = 2}):tolist()", "{0 1}"},
    {"ohm.randint(3, 4, {size = {2}}):tolist()", "{3 3}"},
    {"ohm.randint({low = 3, high = 4, size = {2}}):tolist()", "{3 3}"},
    {"ohm.randint(1, {size = {2}}):tolist()", "{0 0}"},
    {"ohm.full({size = {2}, fill_value = 3}):tolist()", "{3 3}"},
    {"ohm.full_like(x, {fill_value = 3.0}):sum():item()", "18.0"},
    {"ohm.zeros({size = {2, 1}}).shape", "{2 1}"},
    {"x:new_ones({size = {2}, dtype = ohm.int64}):tolist()", "{1 1}"},
    {"ohm.tril_indices(2, 3):tolist()", "{{0 1 1} {0 0 1}}"},
    {"ohm.tril_indices(2, 2, 5):tolist()", "{{0 0 1 1} {0 1 0 1}}"},
    {"ohm.tril_indices(3, 2, -4).shape", "{2 0}"},
    {"ohm.triu_indices(2, 3, {offset = 1}):tolist()", "{{0 0 1} {1 2 2}}"},
    {"ohm.triu_indices(3, 1, -1, {dtype = ohm.int32}):tolist()", "{{0 1} {0 0}}"},
    {"ohm.eye(2, 3):tolist()", "{{1.0 0.0 0.0} {0.0 1.0 0.0}}"},
    {"ohm.eye(2, {dtype = ohm.bool}):tolist()", "{{true false} {false true}}"},
    {"x:long():type_as(x).dtype", "float32"},
    {"x:type(ohm.float16).dtype", "float16"},
    {"ohm.device('cuda')", "cuda"},
    {"ohm.device('cuda', 1)", "cuda:1"},
    {"ohm.zeros(2, {device = ohm.device('cpu')}).device", "cpu"},
    {"ohm.zeros(2, {dtype = ohm.bool}):fill_(true):tolist()", "{true true}"},
    {"(ohm.arange(3) ^ 2):tolist()", "{0 1 4}"},
    {"(2 ^ ohm.arange(3)):tolist()", "{1 2 4}"},
    {"(2.0 ^ ohm.arange(3)):tolist()", "{1.0 2.0 4.0}"},
    {"(ohm.arange(-2, 2) ^ ohm.tensor(-1)):tolist()", "{0 -1 0 1}"},
    {"(x:topk(2, 1, true, true)).shape", "{2 2}"},
    {"ohm.arange(1, 2, 0.5):tolist()", "{1.0 1.5}"},
    {"ohm.arange(5, 0, -2):tolist()", "{5 3 1}"},
    {"ohm.empty(2, {device = 'cuda'}).device", "cuda:0"},
    {"ohm.randn(2, 2).dtype", "float32"},
    {"ohm.rand({3}).shape", "{3}"},
    {"ohm.randint(10, {64}).dtype", "int64"},
    {"ohm.randint(5, 6, {2}):tolist()", "{5 5}"},
    {"ohm.randint(5, 6, {2}, {dtype = ohm.int32}).dtype", "int32"},
    {"ohm.tensor({1, 2}).dtype", "int64"},
    {"ohm.tensor({1, 2.5}).dtype", "float32"},
    {"ohm.tensor({true}).dtype", "bool"},
    {"ohm.tensor({}).shape", "{0}"},
    {"ohm.tensor({{1}, {2}}, {dtype = ohm.float64, device = 'cuda'}).device", "cuda:0"},
    {"ohm.tensor(1.0, {requires_grad = true}).requires_grad", "true"},
    {"ohm.zeros_like(x).shape", "{2 3}"},
    {"ohm.ones_like(ohm.zeros(2, 3, 5):narrow(2, 1, 4):transpose(0, 1)):stride()", "{4 12 1}"},
    {"ohm.full_like(ohm.zeros(3, 1):expand(3, 4), 2):stride()", "{4 1}"},
    {"(x:long() * 2).dtype", "int64"},
    {"(x:long() * 2.0).dtype", "float32"},
    {"(2.0 - x:long()).dtype", "float32"},
    {"(x:long() // 2.0).dtype", "float32"},
    {"x:long():add(1.0).dtype", "float32"},
    {"(x:gt(0) * 2).dtype", "int64"},
    {"ohm.where(x:gt(0), 1, 0).dtype", "int64"},
    {"ohm.where(x:gt(0), 1.0, 0).dtype", "float32"},
    {"x:roll(1):tolist()", "{{6.0 1.0 2.0} {3.0 4.0 5.0}}"},
    {"ohm.ones_like(x:half()).dtype", "float16"},
    {"ohm.randn_like(x, {dtype = ohm.float64}).dtype", "float64"},
    {"ohm.full_like(x, 2):sum():item()", "12.0"},
    {"x:half():new_zeros(2).dtype", "float16"},
    {"x:cuda():new_ones({2, 2}).device", "cuda:0"},
    {"x:new_full({2}, 3):tolist()", "{3.0 3.0}"},
    {"x:cuda():new_tensor({1, 2}).dtype", "float32"},
    {"x:cuda():new_tensor({1, 2}).device", "cuda:0"},
    {"x:new_empty(0).shape", "{0}"},
    {"ohm.is_tensor(x)", "true"},
    {"ohm.is_tensor(3)", "false"},
    {"(ohm.ones(1, 7):transpose(0, 1) * 2):stride()", "{1 7}"},
    {"(ohm.ones(8, 1, 2) * ohm.ones(1, 8, 2):narrow(2, 1, 1):transpose(0, 1)):stride()",
     "{2 16 1}"},
    {"ohm.zeros(3):normal_(5, 0):tolist()", "{5.0 5.0 5.0}"},
    {"ohm.zeros(2):uniform_(3, 3):tolist()", "{3.0 3.0}"},
    // Text.
    {"tostring(ohm.tensor({1, 2}))", "tensor([1, 2], int64 [2] on cpu)"},
    {"tostring(ohm.zeros(100))", "tensor(float32 [100] on cpu)"},
};

INSTANTIATE_TEST_SUITE_P(All, Expressions, testing::ValuesIn(kExpressions),
                         [](const testing::TestParamInfo<Expression>& info) {
                           return std::to_string(info.index);
                         });

class BadArguments : public ScriptTest, public testing::WithParamInterface<Expression> {};

TEST_P(BadArguments, AreNamed) {
  EXPECT_EQ(error_of(std::string("local x = ohm.ones(2, 3) ") + GetParam().chunk),
            std::string("scenarios/test.lua:1: ") + GetParam().value);
}

constexpr Expression kBadArguments[] = {
    {"ohm.relu()", "[relu] argument 'input' must be a tensor, got nil"},
    {"ohm.relu({})", "[relu] argument 'input' must be a tensor, got table"},
    {"ohm.relu(ohm.nn.ReLU())", "[relu] argument 'input' must be a tensor, got module"},
    {"ohm.sigmoid(x, x)", "[sigmoid] takes at most 1 argument, got 2"},
    {"ohm.relu(x, {inptu = x})", "[relu] has no argument 'inptu' (did you mean \"input\"?)"},
    {"ohm.relu(x, {input = x})", "[relu] argument 'input' is given twice"},
    {"ohm.mm(x)", "[mm] argument 'other' must be a tensor, got nil"},
    {"x:add({})", "[add] argument 'other' must be a tensor or a number, got table"},
    {"x:add(1, {alpha = '2'})", "[add] argument 'alpha' must be a number, got \"2\""},
    {"x:sum(0.5)", "[sum] argument 'dim' must be an integer, got 0.5"},
    {"x:sum('0')", "[sum] argument 'dim' must be a list of integers, got \"0\""},
    {"x:sum({0, 'a'})", "[sum] argument 'dim[2]' must be an integer, got \"a\""},
    {"x:sum({0, keepdim = true})",
     "[sum] argument 'dim' must be a list, but has a field 'keepdim'"},
    {"x:sum(0, 1)", "[sum] argument 'keepdim' must be a boolean, got 1"},
    {"ohm.cat(x)", "[cat] argument 'tensors' must be a list of tensors, got tensor"},
    {"ohm.cat({x, 1})", "[cat] argument 'tensors[2]' must be a tensor, got 1"},
    {"ohm.zeros(2, 'a')", "[zeros] argument 'size' must be an integer, got \"a\""},
    {"ohm.zeros({2}, 3)", "[zeros] argument 'size' must be an integer, got table"},
    {"ohm.zeros(2, {dtpye = 'int64'})",
     "[zeros] has no argument 'dtpye' (did you mean \"dtype\"?)"},
    {"ohm.zeros(2, {dtype = 3})", "[zeros] argument 'dtype' must be a dtype, got 3"},
    {"ohm.zeros(2, {device = true})", "[zeros] argument 'device' must be a device, got boolean"},
    {"ohm.zeros(2, {requires_grad = 1})",
     "[zeros] argument 'requires_grad' must be a boolean, got 1"},
    {"ohm.tensor()", "[tensor] argument 'data' must be a number, got nil"},
    {"ohm.tensor({1, {2}})", "[tensor] expected a number at data[2], got a list of 1"},
    {"ohm.tensor({{1, 2}, {3}})", "[tensor] expected a list of 2 at data[2], got a list of 1"},
    {"ohm.tensor({{1, 2}, 3})", "[tensor] expected a list of 2 at data[2], got number"},
    {"ohm.tensor({'a'})", "[tensor] argument 'data[1]' must be a number, got \"a\""},
    {"ohm.linspace(0, 1, 3, {steps = 4})", "[linspace] argument 'steps' is given twice"},
    {"ohm.arange(1, 5, 0)", "[arange] cannot go from 1 to 5 in steps of 0"},
    {"ohm.arange(5, 1)", "[arange] cannot go from 5 to 1 in steps of 1"},
    {"x:to({})", "[to] argument 'other' must be a device, a dtype or a tensor, got table"},
    {"x:item(1)", "[item] a tensor with 6 elements cannot be converted to a number"},
    {"x:size(2)", "[size] dimension out of range (expected to be in range of [-2, 1], but got 2)"},
    {"x:backward()", "[backward] the tensor does not require grad and does not have a grad_fn"},
    {"return x.shpae", "a tensor has no 'shpae' (did you mean \"shape\"?)"},
    {"x:reul()", "a tensor has no 'reul' (did you mean \"relu\"?)"},
    {"return x[0]",
     "a tensor cannot be indexed with [ ] by anything but a tensor: write x:select(dim, index)"},
    {"x[0] = 1",
     "elements of a tensor are not assigned with [ ] by anything but a tensor: write "
     "x:select(dim, index):fill_(value)"},
    {"x[ohm.tensor({0})] = 'one'",
     "[index_put_] argument 'values' must be a tensor or a number, got \"one\""},
    {"return x[ohm.tensor({true, false, true})]",
     "[index] The shape of the mask [3] at index 0 does not match the shape of the indexed tensor "
     "[2, 3] at index 0"},
    {"return x[ohm.tensor(true)]", "[index] a mask needs dimensions"},
    {"x:masked_select(x)", "[masked_select] expected BoolTensor for mask"},
    {"return x - x:gt(2)",
     "[sub] Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying "
     "to invert a mask, use the `~` or `logical_not()` operator instead."},
    {"local b = x:gt(2) b:addcmul_(b, b)", "[addcmul_] not implemented for bool"},
    {"return ohm.tensor({2}) ^ -1", "[pow] Integers to negative integer powers are not allowed."},
    {"ohm.tensor({2}):pow_(0.5)",
     "[pow_] result type float32 can't be cast to the desired output type int64"},
    {"return ohm.tensor({2}):mean()",
     "[mean] could not infer output dtype. Input dtype must be either a floating point or complex "
     "dtype. Got: int64"},
    {"return ohm.ones(3).mT",
     "tensor.mT is only supported on matrices or batches of matrices. Got 1-D tensor."},
    {"return x:long() % 0", "[remainder] ZeroDivisionError"},
    {"return x:long() // 0", "[floor_divide] ZeroDivisionError"},
    {"return 7 // ohm.tensor({1, 0})", "[floor_divide] ZeroDivisionError"},
    {"return x:gt(1) % x:gt(1)", "[remainder] \"remainder_cuda\" not implemented for 'Bool'"},
    {"return x % {}", "[remainder] argument 'other' must be a tensor or a number, got table"},
    {"x:diagonal(0, 1, -1)", "[diagonal] diagonal dimensions cannot be identical 1, -1"},
    {"x:var({unbiased = true, correction = 1})",
     "[var] expected one of unbiased and correction, not both"},
    {"x:var(nil, 1)", "[var] argument 'unbiased' must be a boolean, got 1"},
    {"x:gt(1):positive()", "[positive] The `+` operator, on a bool tensor is not supported."},
    {"ohm.where(x:gt(1), 1)", "[where] expected a value for both answers, or for none"},
    {"ohm.einsum('i..j->ij', x)", "[einsum] \"i..j->ij\": '.' is no letter"},
    {"ohm.einsum('...ijk->i', x)",
     "[einsum] \"...ijk->i\": \"...ijk\" has more letters than an operand [2, 3] has dimensions"},
    {"ohm.take_along_dim(x, ohm.tensor({0}), 1)",
     "[take_along_dim] input and indices should have the same number of dimensions, but got 2 "
     "dimensions for input, and 1 dimensions for indices"},
    {"x:requires_grad_() local y = x // 2 y:sum():backward()",
     "[floor_divide] derivative for aten::floor_divide is not implemented"},
    {"x:requires_grad_() local y = 2 % x y:sum():backward()",
     "[remainder] derivative for aten::remainder is not implemented"},
    {"ohm.relu(x:gt(1))", "[relu] Boolean inputs not supported for relu"},
    {"return #x", "a tensor has no length: write x:size(dim) or x:numel()"},
    {"return x < x",
     "tensors cannot be compared with < and <=: write a:lt(b), a:le(b), … element by element"},
    {"x.requires_grad = 1", "[tensor] argument 'requires_grad' must be a boolean, got 1"},
    {"x.requires_grda = true",
     "'requires_grda' of a tensor cannot be set (did you mean \"requires_grad\"?)"},
    {"return x + 'a'", "[add] argument 'other' must be a tensor or a number, got \"a\""},
    {"return {} ^ x", "[pow] argument 'input' must be a tensor or a number, got table"},
    {"ohm.cuda.memory_allocated('cpu')",
     "[memory_allocated] argument 'device' must be a GPU, got cpu"},
    {"ohm.no_grad(3)", "[no_grad] argument 'fn' must be a function, got 3"},
    {"ohm.autocast('cpu')", "[autocast] supports 'cuda' only, got 'cpu'"},
    {"ohm.manual_seed('x')", "[manual_seed] argument 'seed' must be an integer, got \"x\""},
    {"ohm.step()", "[step] marks a step of a variant: call it in a variant's function"},
    {"ohm.distributed.barrier()", "[barrier] must be called inside ohm.distributed.spawn"},
};

INSTANTIATE_TEST_SUITE_P(All, BadArguments, testing::ValuesIn(kBadArguments),
                         [](const testing::TestParamInfo<Expression>& info) {
                           return std::to_string(info.index);
                         });

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
