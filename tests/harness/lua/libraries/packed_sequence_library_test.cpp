#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/lua/script_test.h"

namespace ohm::test {
namespace {

using testing::HasSubstr;

// Numbers are those of PyTorch 2.6.
constexpr const char* kSequences = R"(
  local nn, rnn = ohm.nn, ohm.nn.utils.rnn
  local function filled(module)
    local number = 0
    for _, parameter in module:named_parameters() do
      number = number + 1
      local values = ohm.sin(ohm.arange(parameter:numel(), {dtype = 'float32'}) * number)
      ohm.no_grad(function() parameter:copy_(values:reshape(parameter.shape)) end)
    end
    return module
  end
  local function is_near(tensor, expected)
    return tensor:detach():reshape({-1}):allclose(ohm.tensor(expected, {dtype = 'float32'}), {atol = 1e-4})
  end
  local function are(tensor, expected) return tensor:equal(ohm.tensor(expected)) end
  local x = ohm.cos(ohm.arange(18, {dtype = 'float32'})):reshape(3, 3, 2):requires_grad_()
)";

class PackedSequenceLibrary : public ScriptTest {
 protected:
  bool holds(const std::string& code) { return number(kSequences + code + "\nreturn 1") == 1; }
};

TEST_F(PackedSequenceLibrary, SequencesOfAnyOrderGoThroughABidirectionalLayer) {
  EXPECT_TRUE(holds(R"(
    local m = filled(nn.GRU(2, 2, {batch_first = true, bidirectional = true}))
    local packed = rnn.pack_padded_sequence(x, {2, 3, 1}, {batch_first = true, enforce_sorted = false})
    assert(are(packed.batch_sizes, {3, 2, 1}))
    assert(are(packed.sorted_indices, {1, 0, 2}) and are(packed.unsorted_indices, {1, 0, 2}))
    local out, h = table.unpack(m(packed))
    local y, lengths =
      rnn.pad_packed_sequence(out, {batch_first = true, padding_value = 9, total_length = 4})
    assert(are(lengths, {2, 3, 1}))
    assert(is_near(y, {0.29431, 0.05405, 0.03779, -0.37436, 0.17874, 0.67926, -0.17458, 0.26892,
                       9, 9, 9, 9, 9, 9, 9, 9, 0.33163, -0.04134, 0.13171, -0.49309,
                       0.19932, 0.67053, -0.11555, 0.40230, -0.07404, 0.73240, -0.03883, 0.13507,
                       9, 9, 9, 9, 0.30551, -0.08554, 0.19517, -0.56916, 9, 9, 9, 9, 9, 9, 9, 9,
                       9, 9, 9, 9}))
    assert(is_near(h, {0.17874, 0.67926, -0.07404, 0.73240, 0.30551, -0.08554, 0.03779, -0.37436,
                       0.13171, -0.49309, 0.19517, -0.56916}));
    (y:sum() + h:pow(2):sum()):backward()
    assert(is_near(x.grad, {1.08498, 0.02718, 0.83340, -0.10682, 0, 0, 1.48683, 0.48826, 0.76151,
                            -0.20173, 0.65265, -0.01372, 0.72490, 0.25731, 0, 0, 0, 0}))
    assert(is_near(m.weight_ih_l0.grad, {-0.23415, -0.17202, 0.26688, 0.18108, -0.97318, -0.88510,
                                         0.37591, 0.95207, 3.59221, 2.65666, 1.13118, 0.80672}))
    assert(is_near(m.weight_hh_l0_reverse.grad,
                   {-0.00393, 0.01252, -0.00434, 0.00888, 0.05571, -0.13142, 0.00158, -0.01665,
                    -0.02249, 0.07490, -0.02557, 0.05084}))
  )"));
}

TEST_F(PackedSequenceLibrary, FirstStatesAreSortedAsTheSequencesAre) {
  EXPECT_TRUE(holds(R"(
    local m = filled(nn.LSTM(2, 2, {num_layers = 2}))
    local h0 = ohm.sin(ohm.arange(12, {dtype = 'float32'})):reshape(2, 3, 2)
    local c0 = ohm.cos(ohm.arange(12, {dtype = 'float32'})):reshape(2, 3, 2)
    local packed = rnn.pack_padded_sequence(x, {1, 3, 2}, {enforce_sorted = false})
    local out, h, c = table.unpack(m(packed, {h0, c0}))
    local y = rnn.pad_packed_sequence(out)
    assert(is_near(y, {0.17487, 0.04541, -0.03803, -0.05146, -0.03033, 0.00973, 0, 0, 0.03873,
                       0.01647, 0.02733, 0.03789, 0, 0, 0.08464, 0.01678, 0, 0}))
    assert(is_near(h, {0.01666, 0.45144, -0.10049, 0.26999, -0.22436, 0.20722, 0.17487, 0.04541,
                       0.08464, 0.01678, 0.02733, 0.03789}))
    assert(is_near(c, {0.07949, 0.60549, -0.95743, 0.45007, -0.97230, 0.46018, 0.81894, 0.20762,
                       0.46262, 0.10145, 0.14455, 0.26005}));
    (y:sum() + h:pow(2):sum() + c:sum()):backward()
    assert(is_near(x.grad, {0.40050, -0.23385, 0.01353, -0.07668, 0.16384, 0.09800, 0, 0, 0.04298,
                            -0.03411, 0.10082, -0.00089, 0, 0, 0.33279, 0.07216, 0, 0}))
  )"));
}

TEST_F(PackedSequenceLibrary, SequencesArePaddedAndPacked) {
  EXPECT_TRUE(holds(R"(
    local lists = {ohm.tensor({1, 2, 3}), ohm.tensor({4, 5}), ohm.tensor({6})}
    local packed = rnn.pack_sequence(lists)
    assert(are(packed.data, {1, 4, 6, 2, 5, 3}) and are(packed.batch_sizes, {3, 2, 1}))
    assert(packed.sorted_indices == nil)
    local doubled = rnn.PackedSequence(packed.data * 2, packed)
    assert(are(rnn.pad_packed_sequence(doubled, {batch_first = true}),
               {{2, 4, 6}, {8, 10, 0}, {12, 0, 0}}))
    assert(are(rnn.pad_sequence({lists[1], lists[3]},
                                {batch_first = true, padding_value = -1, padding_side = 'left'}),
               {{1, 2, 3}, {-1, -1, 6}}))
  )"));
}

TEST_F(PackedSequenceLibrary, WhatDoesNotFitIsRefused) {
  const auto fails = [this](const std::string& code) { return error_of(kSequences + code); };
  EXPECT_THAT(fails("rnn.pack_padded_sequence(x, {1, 3, 2})"),
              HasSubstr("must be sorted in decreasing order when `enforce_sorted` is True"));
  EXPECT_THAT(fails("rnn.pack_padded_sequence(x, {3, 2})"), HasSubstr("batch_size=3"));
  EXPECT_THAT(fails("rnn.pack_padded_sequence(x, {4, 3, 2})"), HasSubstr("a length is 4"));
  EXPECT_THAT(fails("rnn.pack_padded_sequence(x, 3)"), HasSubstr("must be a list or a tensor"));
  EXPECT_THAT(fails("rnn.pad_packed_sequence(rnn.pack_padded_sequence(x, {3, 2, 1}), "
                    "{total_length = 2})"),
              HasSubstr("got total_length=2"));
  EXPECT_THAT(fails("nn.Linear(2, 2)(rnn.pack_padded_sequence(x, {3, 2, 1}))"),
              HasSubstr("[Linear]"));
  EXPECT_THAT(fails("nn.GRU(3, 2)(rnn.pack_padded_sequence(x, {3, 2, 1}))"),
              HasSubstr("takes a packed sequence of elements [3]"));
  EXPECT_THAT(fails("print(rnn.pack_padded_sequence(x, {3, 2, 1}).dat)"),
              HasSubstr("has no 'dat'"));
}

}  // namespace
}  // namespace ohm::test
