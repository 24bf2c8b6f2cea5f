// Modules that hold others: ModuleDict, TransformerDecoder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/lua/script_test.h"

namespace ohm::test {
namespace {

using testing::HasSubstr;

class ContainerLibrary : public ScriptTest {};

TEST_F(ContainerLibrary, ModuleDictsHaveAnOrderOfTheirOwn) {
  EXPECT_EQ(text("local names = {} local dict = ohm.nn.ModuleDict{{'z', ohm.nn.ReLU()}, "
                 "{'a', ohm.nn.Linear(2, 3)}} dict.m = ohm.nn.Identity() "
                 "for name in dict:named_children() do names[#names + 1] = name end "
                 "assert(dict.z and dict['a'].out_features == 3 and #dict == 3) "
                 "return table.concat(names, ' ') .. ' ' .. #dict:parameters()"),
            "z a m 2");
  EXPECT_EQ(text("local names = {} "
                 "for name in ohm.nn.ModuleDict{b = ohm.nn.ReLU(), a = ohm.nn.ReLU()}"
                 ":named_children() do names[#names + 1] = name end "
                 "return table.concat(names, ' ')"),
            "a b");
}

TEST_F(ContainerLibrary, EntriesHaveToBeWhatTheyAreCalled) {
  EXPECT_THAT(error_of("ohm.nn.ModuleDict{a = ohm.ones(2)}"), HasSubstr("a module"));
  EXPECT_THAT(error_of("ohm.nn.ModuleDict{ohm.nn.ReLU()}"), HasSubstr("a list of pairs"));
}

TEST_F(ContainerLibrary, DecodersAttendToThemselvesAndToMemory) {
  EXPECT_EQ(text("local layer = ohm.nn.TransformerDecoderLayer(8, 2, {dim_feedforward = 4, "
                 "dropout = 0, batch_first = true}) "
                 "local net = ohm.nn.TransformerDecoder(layer, 2, {norm = ohm.nn.LayerNorm(8)}) "
                 "local y = net(ohm.ones(3, 5, 8), ohm.ones(3, 7, 8), {tgt_is_causal = false}) "
                 "return table.concat(y.shape, ' ') .. ' ' .. #net:parameters()"),
            "3 5 8 38");
  EXPECT_THAT(error_of("ohm.nn.TransformerDecoderLayer(8, 2)(ohm.ones(3, 5, 8))"),
              HasSubstr("takes two tensors"));
}

}  // namespace
}  // namespace ohm::test
