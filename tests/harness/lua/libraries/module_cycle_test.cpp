// No module contains itself, whichever way it comes to be the child of another one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/harness/lua/script_test.h"

namespace ohm::test {
namespace {

struct CycleCase {
  const char* name;
  const char* chunk;  // `list` is an empty nn.ModuleList
};

class ModuleCycle : public ScriptTest, public testing::WithParamInterface<CycleCase> {
 protected:
  static std::string with_list(const std::string& chunk) {
    return "local nn = ohm.nn local list = nn.ModuleList()\n" + chunk;
  }
};

TEST_P(ModuleCycle, IsRefused) {
  EXPECT_THAT(error_of(with_list(GetParam().chunk)),
              testing::HasSubstr("would make the module contain itself"));
}

constexpr CycleCase kCycleCases[] = {
    {"AppendedToItself", "list:append(list)"},
    {"AppendedToAChild", "local outer = nn.ModuleList(list) list:append(outer)"},
    {"AppendedToAGrandchild",
     "local outer = nn.Sequential(nn.ReLU(), nn.Sequential(list)) list:append(outer)"},
    {"AppendedToWhatWasAppended",
     "local outer = nn.ModuleList() outer:append(list) list:append(outer)"},
    {"AppendedInAFunctionOfAClass",
     "local Block = nn.Module:extend('Block')\n"
     "function Block:__init() self.inner = nn.ModuleList() self.inner:append(self) end\n"
     "Block()"},
    {"AppendedAsAFieldOfAClass",
     "local Block = nn.Module:extend('Block')\n"
     "function Block:__init() self.list = list end\n"
     "list:append(Block())"},
    {"AppendedAsAFieldOfATable", "list:append(nn.Module {list = list})"},
    {"AppendedInDataParallel", "list:append(nn.DataParallel(nn.Sequential(list)))"},
    {"AppendedInDistributedDataParallel",
     "list:append(nn.ReLU()) list:append(nn.Linear(2, 2):cuda())\n"
     "ohm.distributed.spawn(1, function()\n"
     "  list:append(nn.parallel.DistributedDataParallel(nn.Sequential(list)))\n"
     "end)"},
    {"AppendedAsTheNormOfAnEncoder",
     "local layer = nn.TransformerEncoderLayer(4, 2)\n"
     "list:append(nn.TransformerEncoder(layer, 1, {norm = list}))"},
    {"AppendedByAHook",
     "local outer = nn.Sequential(list)\n"
     "local relu = nn.ReLU()\n"
     "relu:register_forward_hook(function() list:append(outer) end)\n"
     "relu(ohm.ones(1))"},
    {"AField", "list.inner = list"},
    {"AFieldOfAChild", "local outer = nn.Module {list = list} list.outer = outer"},
    {"AFieldOfWhatIsCalledForward", "list.forward = nn.Sequential(list)"},
    {"InPlaceOfAChild", "local net = nn.Sequential(nn.ReLU()) net['0'] = net"},
    {"InPlaceOfAGrandchild",
     "local net = nn.Sequential(nn.ReLU()) local outer = nn.Sequential(net) net['0'] = outer"},
    {"InPlaceOfAnAppendedChild",
     "list:append(nn.ReLU()) local outer = nn.Sequential(list) list['0'] = outer"},
};

INSTANTIATE_TEST_SUITE_P(All, ModuleCycle, testing::ValuesIn(kCycleCases),
                         [](const testing::TestParamInfo<CycleCase>& info) {
                           return info.param.name;
                         });

class SharedModule : public ModuleCycle {};

TEST_P(SharedModule, IsNone) { EXPECT_EQ(error_of(with_list(GetParam().chunk)), ""); }

constexpr CycleCase kSharedCases[] = {
    {"TwiceInAList", "local relu = nn.ReLU() list:append(relu):append(relu)"},
    {"OnceMoreInAParent", "local outer = nn.ModuleList(list) outer:append(list)"},
    {"OfAFormerChild",
     "local net = nn.Sequential(list) net['0'] = nn.ReLU() list:append(net) assert(#list == 1)"},
    {"ManyTimesOnEachLevel",
     "local net = nn.ReLU()\n"
     "for _ = 1, 60 do net = nn.Module {a = net, b = net} end\n"
     "local outer = nn.Sequential(list) list:append(net)"},
};

INSTANTIATE_TEST_SUITE_P(All, SharedModule, testing::ValuesIn(kSharedCases),
                         [](const testing::TestParamInfo<CycleCase>& info) {
                           return info.param.name;
                         });

}  // namespace
}  // namespace ohm::test
