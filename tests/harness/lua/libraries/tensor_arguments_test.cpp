// Arguments that functions of tensors cannot have, and the errors that name them.
#include <gtest/gtest.h>

#include <string>

#include "tests/harness/lua/script_test.h"

namespace ohm::test {
namespace {

/// A statement and what its error says.
struct BadStatement {
  const char* chunk;
  const char* error;
};

class BadArguments : public ScriptTest, public testing::WithParamInterface<BadStatement> {};

TEST_P(BadArguments, AreNamed) {
  EXPECT_EQ(error_of(std::string("local x = ohm.ones(2, 3) ") + GetParam().chunk),
            std::string("scenarios/test.lua:1: ") + GetParam().error);
}

constexpr BadStatement kBadArguments[] = {
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
    {"ohm.einsum('i..j->ij', x)", "[einsum] \"i..j->ij\": '.' is not a letter"},
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
                         [](const testing::TestParamInfo<BadStatement>& info) {
                           return std::to_string(info.index);
                         });

}  // namespace
}  // namespace ohm::test
