#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/lua/script_test.h"

namespace ohm::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class ModuleLibrary : public ScriptTest {};

TEST_F(ModuleLibrary, ConstructsAndCallsTheModulesOfTheRegistry) {
  EXPECT_EQ(text("local nn = ohm.nn "
                 "local net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)) "
                 "local y = net(ohm.randn(3, 4)) "
                 "return table.concat(y.shape, ',') .. ' ' .. #net:parameters()"),
            "3,2 4");
}

TEST_F(ModuleLibrary, TakesArgumentsByPositionAndByName) {
  EXPECT_EQ(number("return #ohm.nn.Linear(4, 8, {bias = false}):parameters()"), 1);
  EXPECT_EQ(number("return #ohm.nn.Linear{in_features = 4, out_features = 8}:parameters()"), 2);
  EXPECT_EQ(text("return ohm.nn.Linear(2, 2, {dtype = ohm.float16, device = 'cuda'}).weight.dtype"),
            "float16");
  EXPECT_EQ(error_of("ohm.nn.Linear(4)"),
            "scenarios/test.lua:1: [Linear] argument 'out_features' must be an integer, got nil");
  EXPECT_EQ(error_of("ohm.nn.Linear(4, 8, {biass = false})"),
            "scenarios/test.lua:1: [Linear] has no argument 'biass' (did you mean \"bias\"?)");
  EXPECT_EQ(error_of("ohm.nn.Linaer(4, 8)"),
            "scenarios/test.lua:1: ohm.nn has no field 'Linaer' (did you mean \"Linear\"?)");
}

TEST_F(ModuleLibrary, MaxPoolsGiveTheirIndices) {
  const std::string pooled =
      "local nn, F = ohm.nn, ohm.nn.functional "
      "local x = ohm.arange(1, 36, {dtype = 'float32'}):reshape({1, 1, 5, 7}) "
      "local y, i = table.unpack(nn.MaxPool2d(2, 2, 0, 1, true)(x)) ";
  EXPECT_EQ(text(pooled + "return table.concat(i:flatten():tolist(), ' ')"), "8 10 12 22 24 26");
}

TEST_F(ModuleLibrary, AnActivationMayBeAFunction) {
  EXPECT_EQ(text("local F, options = ohm.nn.functional, {activation = ohm.nn.functional.gelu} "
                 "local by_name = ohm.nn.TransformerEncoderLayer(8, 2, options) "
                 "local by_place = ohm.nn.TransformerDecoderLayer(8, 2, 16, 0.0, F.relu) "
                 "return by_name.activation .. ' ' .. by_place.activation .. ' ' .. "
                 "type(options.activation)"),
            "gelu relu function");
  EXPECT_EQ(error_of("ohm.nn.TransformerEncoderLayer(8, 2, {activation = ohm.tanh})"),
            "scenarios/test.lua:1: [TransformerEncoderLayer] activation should be relu or gelu, "
            "not tanh");
  EXPECT_EQ(error_of("ohm.nn.TransformerEncoderLayer(8, 2, {activation = function() end})"),
            "scenarios/test.lua:1: [TransformerEncoderLayer] argument 'activation' must be a "
            "string, got function");
}

TEST_F(ModuleLibrary, TakesInputsByName) {
  const std::string attention =
      "local m = ohm.nn.MultiheadAttention(4, 2, {batch_first = true})\n"
      "local x = ohm.randn(1, 3, 4)\n";
  EXPECT_EQ(text(attention + "return type(m(x, x, x, {need_weights = false}))"), "userdata");
  EXPECT_EQ(number(attention + "return #m(x, x, x, {average_attn_weights = false})[2].shape"), 4);
  EXPECT_THAT(error_of(attention + "m(x, x, x, {query = x})"),
              testing::HasSubstr("argument 'query' is given twice"));
  EXPECT_THAT(error_of(attention + "m(x, x, x, {mask = x})"),
              testing::HasSubstr("has no argument 'mask'"));
}

TEST_F(ModuleLibrary, RecurrentStatesMayStandInAList) {
  EXPECT_EQ(number("local m = ohm.nn.LSTM(2, 3)\n"
                   "local x, h, c = ohm.randn(4, 1, 2), ohm.randn(1, 1, 3), ohm.randn(1, 1, 3)\n"
                   "return (m(x, {h, c})[1] - m(x, h, c)[1]):abs():max():item()"),
            0);
}

TEST_F(ModuleLibrary, AStateThatIsNilIsOneThatIsLeftOut) {
  EXPECT_EQ(number("local m = ohm.nn.GRU(2, 3)\n"
                   "local x, state = ohm.randn(4, 1, 2), nil\n"
                   "return (m(x, state)[1] - m(x)[1]):abs():max():item()"),
            0);
}

TEST_F(ModuleLibrary, RecurrentLayersTakeOneSequence) {
  EXPECT_EQ(number("local m = ohm.nn.LSTM(2, 3, {batch_first = true})\n"
                   "local x = ohm.randn(4, 2)\n"
                   "local alone, batch = m(x), m(x:unsqueeze(0))\n"
                   "assert(#alone[1].shape == 2 and #alone[2].shape == 2)\n"
                   "return (alone[1] - batch[1]:squeeze(0)):abs():max():item()"),
            0);
  EXPECT_EQ(number("return #ohm.nn.GRUCell(2, 3)(ohm.randn(2), ohm.randn(3)).shape"), 1);
  EXPECT_THAT(error_of("ohm.nn.GRU(2, 3)(ohm.randn(4, 2), ohm.randn(1, 1, 3))"),
              HasSubstr("For unbatched 2-D input, hx and cx should also be 2-D tensors"));
}

TEST_F(ModuleLibrary, AnLstmMayProjectItsStates) {
  EXPECT_EQ(text("local m = ohm.nn.LSTM(2, 5, {proj_size = 3, num_layers = 2})\n"
                 "local r = m(ohm.randn(4, 1, 2))\n"
                 "return r[1].shape[3] .. r[2].shape[3] .. r[3].shape[3] .. #m:parameters()"),
            "33510");
  EXPECT_THAT(error_of("ohm.nn.LSTM(2, 3, {proj_size = 3})"),
              HasSubstr("[LSTM] proj_size must be from 0 to below hidden_size 3, got 3"));
}

TEST_F(ModuleLibrary, PartsAreFoundByTheirPaths) {
  const std::string net = "local m = ohm.nn.Sequential(ohm.nn.Sequential(ohm.nn.BatchNorm1d(3)))\n";
  EXPECT_EQ(number(net + "return m:get_submodule('0.0') == m[1][1] and 1"), 1);
  EXPECT_EQ(number(net + "return m:get_submodule('') == m and 1"), 1);
  EXPECT_EQ(number(net + "return m:get_parameter('0.0.weight') == m[1][1].weight and 1"), 1);
  EXPECT_EQ(number(net + "return m:get_buffer('0.0.running_var'):sum():item()"), 3);
  EXPECT_THAT(error_of(net + "m:get_submodule('0.conv')"),
              HasSubstr("[get_submodule] Sequential has no attribute `conv`"));
  EXPECT_THAT(error_of(net + "m:get_parameter('0.0.scale')"),
              HasSubstr("[get_parameter] BatchNorm1d has no attribute `scale`"));
}

TEST_F(ModuleLibrary, PartsAreAddedByTheirNames) {
  EXPECT_EQ(number("local m = ohm.nn.Sequential()\n"
                   "m:add_module('fc', ohm.nn.Linear(2, 3)) m:append(ohm.nn.ReLU())\n"
                   "assert(m.fc == m[1]) return m(ohm.randn(1, 2)).shape[2]"),
            3);
  EXPECT_EQ(
      number("local M = ohm.nn.Module:extend('M')\n"
             "local m = M() m:register_parameter('scale', ohm.nn.Parameter(ohm.ones(1)))\n"
             "m:register_parameter('bias', nil) m:register_module('fc', ohm.nn.Linear(1, 1))\n"
             "return #m:parameters()"),
      3);
  EXPECT_THAT(error_of("ohm.nn.Sequential():add_module('a.b', ohm.nn.ReLU())"),
              HasSubstr("a name can't be empty or contain"));
  EXPECT_THAT(error_of("ohm.nn.Linear(1, 1):add_module('a', ohm.nn.ReLU())"),
              HasSubstr("[add_module] Linear is made of the modules that it has"));
}

TEST_F(ModuleLibrary, StatisticsOfBatchesStartAgain) {
  const std::string used =
      "local m = ohm.nn.BatchNorm1d(2) m(ohm.randn(4, 2) + 7)\n"
      "m.weight:detach():fill_(4)\n";
  EXPECT_EQ(number(used + "m:reset_running_stats() return m.running_mean:abs():sum():item() +\n"
                          "  m.num_batches_tracked:item() + m.running_var:sum():item()"),
            2);
  EXPECT_EQ(number(used + "m:reset_running_stats() return m.weight:sum():item()"), 8);
  EXPECT_EQ(number(used + "m:reset_parameters() return m.weight:sum():item()"), 2);
  EXPECT_THAT(error_of("ohm.nn.ReLU():reset_running_stats()"),
              HasSubstr("[reset_running_stats] expected a BatchNorm or an InstanceNorm, not ReLU"));
}

TEST_F(ModuleLibrary, ShowsTheNumbersItWasMadeWith) {
  EXPECT_EQ(number("return ohm.nn.Linear(2, 3).out_features"), 3);
  EXPECT_EQ(number("return ohm.nn.Conv2d(2, 4, 3).in_channels"), 2);
}

TEST_F(ModuleLibrary, AnOptionIsChangedOrRefused) {
  EXPECT_EQ(number("local m = ohm.nn.Dropout(0.5) m.p = 1.0\n"
                   "assert(m.p == 1.0)\n"
                   "return m(ohm.ones(8)):sum():item()"),
            0);
  EXPECT_EQ(number("local m, x = ohm.nn.Dropout(0.0), ohm.ones(8) m.p, m.inplace = 1, true\n"
                   "m(x) return x:sum():item()"),
            0);
  EXPECT_THAT(error_of("local m = ohm.nn.BatchNorm1d(3) m.momentum = 0.5"),
              testing::HasSubstr("[BatchNorm1d] 'momentum' was read when the module was made"));
  EXPECT_THAT(error_of("local m = ohm.nn.MSELoss() m.reduction = 'sum'"),
              testing::HasSubstr("[MSELoss] 'reduction' was read when the module was made"));
  EXPECT_THAT(error_of("local m = ohm.nn.Dropout() m.p = 'half'"),
              testing::HasSubstr("[Dropout] 'p' must be a number"));
  EXPECT_THAT(error_of("local m = ohm.nn.Dropout() m.inplace = 1"),
              testing::HasSubstr("[Dropout] 'inplace' must be a boolean"));
  EXPECT_EQ(number("local m, r = ohm.nn.BatchNorm1d(3), ohm.nn.ReLU()\n"
                   "m.momentum, r.inplace = m.momentum, r.inplace\n"
                   "return r.inplace and 1 or 0"),
            0);
  EXPECT_THAT(error_of("ohm.nn.TripletMarginLoss({margin = -1})"),
              testing::HasSubstr("expected margin to be greater than 0, got -1"));
}

TEST_F(ModuleLibrary, DeepCopiesShareNothing) {
  EXPECT_EQ(number("local m = ohm.nn.Linear(2, 2) local c = ohm.copy.deepcopy(m)\n"
                   "ohm.nn.init.zeros_(m.weight)\n"
                   "return c.weight:abs():sum():item() > 0 and c.weight.requires_grad"),
            1);
  EXPECT_THAT(error_of("ohm.copy.deepcopy(ohm.ones(1, {requires_grad = true}) * 2)"),
              testing::HasSubstr("only tensors created explicitly by the user"));
}

TEST_F(ModuleLibrary, MovesAndCastsInPlaceAndReturnsTheModule) {
  EXPECT_EQ(text("local m = ohm.nn.Linear(2, 2) local n = m:to('cuda'):half() "
                 "return m.weight.device .. ' ' .. m.bias.dtype .. ' ' .. tostring(m == n)"),
            "cuda:0 float16 true");
  EXPECT_EQ(text("local m = ohm.nn.Linear(2, 2):to('cuda', ohm.bfloat16) "
                 "return m.weight.device .. ' ' .. m.weight.dtype"),
            "cuda:0 bfloat16");
}

TEST_F(ModuleLibrary, ListsParametersInTheOrderOfRegistration) {
  EXPECT_EQ(text("local nn = ohm.nn local net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2)) "
                 "local names = {} "
                 "for name in net:named_parameters() do names[#names + 1] = name end "
                 "return table.concat(names, ' ')"),
            "0.weight 0.bias 1.weight 1.bias");
}

TEST_F(ModuleLibrary, IndexesChildrenByNumberNameAndLength) {
  EXPECT_EQ(number("local nn = ohm.nn local net = nn.Sequential(nn.Linear(2, 3), nn.ReLU()) "
                   "local count = 0 for _, child in ipairs(net) do count = count + 1 end "
                   "return count * 10 + #net + net[1].weight:size(0) * 100"),
            322);
}

TEST_F(ModuleLibrary, SuggestsTheNearestNameOfAMethodOrParameter) {
  EXPECT_EQ(error_of("return ohm.nn.Linear(2, 2).wieght"),
            "scenarios/test.lua:1: [Linear] has no 'wieght' (did you mean \"weight\"?)");
  EXPECT_EQ(error_of("ohm.nn.Linear(2, 2):parametres()"),
            "scenarios/test.lua:1: [Linear] has no 'parametres' (did you mean \"parameters\"?)");
}

// Deeper than a stack would be that took a frame of each.
constexpr const char* kNested =
    "local nested = ohm.nn.Linear(2, 2, {device = 'cuda'})\n"
    "for _ = 1, 100000 do nested = ohm.nn.Sequential(nested) end\n";

TEST_F(ModuleLibrary, ModulesMayBeNestedDeepAsLongAsTheyAreNotCalled) {
  EXPECT_EQ(2, number(std::string(kNested) + "return #nested:parameters()"));
  EXPECT_EQ(100001, number(std::string(kNested) + "return #nested:modules()"));
  EXPECT_TRUE(
      number(std::string(kNested) +
             "nested:train() nested:eval() nested:requires_grad_(false) nested:zero_grad()\n"
             "nested:cpu() nested:half()\n"
             "local deepest = nested\n"
             "nested:apply(function(m) if #m == 0 then deepest = m end end)\n"
             "return not deepest.training and deepest.weight.device == 'cpu'") != 0);
  EXPECT_EQ(200000 + 6,
            number(std::string(kNested) + "for name in pairs(nested:state_dict()) do\n"
                                          "  if name:sub(-6) == 'weight' then return #name end\n"
                                          "end"));
  interpreter_.reset();
  EXPECT_EQ(0, machine_.allocated_bytes());
}

TEST_F(ModuleLibrary, CallsAndTextsOfModulesThatAreNestedTooDeepAreRefused) {
  const std::string call =
      error_of(std::string(kNested) + "nested(ohm.ones(1, 2, {device = 'cuda'}))");
  EXPECT_NE(std::string::npos, call.find("[Sequential] modules that are nested more than 1000 deep "
                                         "cannot be called"))
      << call;
  const std::string text = error_of(std::string(kNested) + "tostring(nested)");
  EXPECT_NE(std::string::npos, text.find("[Sequential] modules that are nested more than 1000 deep "
                                         "have no text"))
      << text;
  EXPECT_EQ("", error_of("local nested = ohm.nn.ReLU()\n"
                         "for _ = 1, 999 do nested = ohm.nn.Sequential(nested) end\n"
                         "nested(ohm.ones(2))"));
}

TEST_F(ModuleLibrary, FreezesParametersAndNotTheModuleItself) {
  EXPECT_EQ(text("local m = ohm.nn.Linear(2, 2) m.requires_grad = false "
                 "local a = m.weight.requires_grad m.weight.requires_grad = false "
                 "return tostring(a) .. ' ' .. tostring(m.weight.requires_grad)"),
            "true false");
}

TEST_F(ModuleLibrary, TiesWeights) {
  EXPECT_EQ(number("local nn = ohm.nn local net = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3)) "
                   "net[2].weight = net[1].weight return #net:parameters()"),
            3);
}

TEST_F(ModuleLibrary, TablesWithAForwardAreModules) {
  EXPECT_EQ(text("local nn = ohm.nn "
                 "local net = nn.Module {b = nn.Linear(4, 2), a = nn.Linear(2, 4), scale = 2, "
                 "  forward = function(self, x) return self.b(self.a(x)) * self.scale end} "
                 "local names = {} "
                 "for name in net:named_parameters() do names[#names + 1] = name end "
                 "return table.concat(net(ohm.ones(3, 2)).shape, ',') .. ' ' .. "
                 "table.concat(names, ' ')"),
            "3,2 a.weight a.bias b.weight b.bias");
}

constexpr const char* kNetClass =
    "local nn = ohm.nn\n"
    "local Net = nn.Module:extend('Net')\n"
    "function Net:__init(width)\n"
    "  self.up = nn.Linear(2, width)\n"
    "  self.act = nn.ReLU()\n"
    "  self.down = nn.Linear(width, 2)\n"
    "  self.gain = nn.Parameter(ohm.ones(2))\n"
    "end\n"
    "function Net:forward(x) return self.down(self.act(self.up(x))) * self.gain end\n";

TEST_F(ModuleLibrary, ClassesRegisterInTheOrderOfAssignment) {
  EXPECT_EQ(text(std::string(kNetClass) +
                 "local net = Net(5)\n"
                 "local names = {}\n"
                 "for name in net:named_parameters() do names[#names + 1] = name end\n"
                 "return tostring(net):match('%a+') .. ' ' .. table.concat(names, ' ')"),
            "Net gain up.weight up.bias down.weight down.bias");
}

TEST_F(ModuleLibrary, ClassesInheritAndOverride) {
  EXPECT_EQ(number(std::string(kNetClass) +
                   "local Twice = Net:extend('Twice')\n"
                   "function Twice:forward(x) return Net.forward(self, x) * 2 end\n"
                   "local t = Twice(3)\n"
                   "local x = ohm.ones(1, 2)\n"
                   "return (t(x) - 2 * Net.forward(t, x)):abs():sum():item()"),
            0);
}

TEST_F(ModuleLibrary, ScriptModulesWorkInsideNativeOnes) {
  EXPECT_EQ(
      number(std::string(kNetClass) + "local net = nn.Sequential(Net(4), nn.Flatten(), Net(4))\n"
                                      "net(ohm.ones(3, 2)):sum():backward()\n"
                                      "local with_grad = 0\n"
                                      "for _, p in ipairs(net:parameters()) do\n"
                                      "  if p.grad then with_grad = with_grad + 1 end\n"
                                      "end\n"
                                      "return with_grad"),
      10);
}

TEST_F(ModuleLibrary, AModuleWithoutForwardSaysSo) {
  EXPECT_EQ(error_of("ohm.nn.Module{}(ohm.ones(1))"),
            "scenarios/test.lua:1: [Module] has no function 'forward'");
  EXPECT_EQ(error_of("ohm.nn.ModuleList{}(ohm.ones(1))"),
            "scenarios/test.lua:1: [ModuleList] has no function 'forward'");
}

TEST_F(ModuleLibrary, ModuleListsHoldModulesByNumber) {
  EXPECT_EQ(number("local nn = ohm.nn local list = nn.ModuleList{nn.Linear(2, 2)} "
                   "list:append(nn.Linear(2, 2)) local x = ohm.ones(1, 2) "
                   "for _, layer in ipairs(list) do x = layer(x) end "
                   "return #list * 10 + #list:parameters()"),
            24);
}

TEST_F(ModuleLibrary, StateGoesOverToAnotherModule) {
  EXPECT_EQ(number("local nn = ohm.nn local a, b = nn.Linear(3, 3), nn.Linear(3, 3) "
                   "b:load_state_dict(a:state_dict()) local x = ohm.randn(2, 3) "
                   "return (a(x) - b(x)):abs():sum():item()"),
            0);
  EXPECT_THAT(error_of("local nn = ohm.nn nn.Linear(3, 3):load_state_dict({})"),
              HasSubstr("[load_state_dict] argument 'weight' must be a tensor, got nil"));
}

TEST_F(ModuleLibrary, TrainsWithAnOptimizer) {
  EXPECT_LT(number("ohm.manual_seed(1) local nn, F = ohm.nn, ohm.nn.functional\n"
                   "local net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))\n"
                   "local opt = ohm.optim.Adam(net:parameters(), {lr = 0.05})\n"
                   "local x = ohm.randn(32, 4)\n"
                   "local y = x:sum(1, true)\n"
                   "local loss\n"
                   "for _ = 1, 200 do\n"
                   "  opt:zero_grad()\n"
                   "  loss = F.mse_loss(net(x), y)\n"
                   "  loss:backward()\n"
                   "  opt:step()\n"
                   "end\n"
                   "return loss:item()"),
            0.05);
}

TEST_F(ModuleLibrary, OptimizersSuggestAndExposeTheirLearningRate) {
  EXPECT_EQ(number("local opt = ohm.optim.SGD({ohm.ones(1, {requires_grad = true})}, {lr = 0.5}) "
                   "opt.lr = opt.lr / 2 return opt.lr"),
            0.25);
  EXPECT_EQ(error_of("ohm.optim.SGD({ohm.ones(1, {requires_grad = true})}).stop()"),
            "scenarios/test.lua:1: [optimizer] has no 'stop' (did you mean \"step\"?)");
  EXPECT_THAT(error_of("ohm.optim.SGD({1})"), HasSubstr("[SGD] argument 'params[1]' must be a "
                                                        "tensor, got 1"));
}

TEST_F(ModuleLibrary, AnOptimizerWhoseStateIsClearedBeginsAnew) {
  const std::string begin =
      "local w = ohm.ones(1, {device = 'cuda', requires_grad = true}) "
      "local opt = ohm.optim.Adam({w}) w.grad = ohm.ones(1, {device = 'cuda'}) opt:step() "
      "opt:step() ";
  EXPECT_EQ(number(begin + "return opt:state_dict().state[1].step:item()"), 2);
  EXPECT_EQ(number(begin + "opt.state = {} return #opt:state_dict().state"), 0);
  EXPECT_EQ(number(begin + "opt.state = {} opt:step() "
                           "return opt:state_dict().state[1].step:item()"),
            1);
  EXPECT_THAT(error_of(begin + "opt.state = opt:state_dict().state"),
              HasSubstr("[optimizer] only an empty table can be its state"));
  EXPECT_THAT(error_of(begin + "opt.state = 1"),
              HasSubstr("[optimizer] argument 'state' must be an empty table, got 1"));
}

TEST_F(ModuleLibrary, TheScalerSkipsAStepWithInfiniteGradients) {
  EXPECT_EQ(text("local w = ohm.ones(1, {device = 'cuda', requires_grad = true}) "
                 "local opt = ohm.optim.SGD({w}, {lr = 1.0}) "
                 "local scaler = ohm.amp.GradScaler{init_scale = 8} "
                 "scaler:scale((w * (1 / 0)):sum()):backward() "
                 "local stepped = scaler:step(opt) scaler:update() "
                 "return tostring(stepped) .. ' ' .. w:item() .. ' ' .. scaler:get_scale() .. ' ' "
                 ".. scaler.skipped_steps"),
            "false 1.0 4.0 1");
}

class ManyGpus : public ScriptTest {
 protected:
  ManyGpus() : ScriptTest({.gpus = 4, .values = ValueMode::keeps_values}) {}
};

TEST_F(ManyGpus, DataParallelReplicatesScriptModules) {
  EXPECT_LT(number(std::string(kNetClass) + "local net = Net(8):to('cuda:0')\n"
                                            "local x = ohm.randn(8, 2):cuda(0)\n"
                                            "local y = nn.DataParallel(net)(x)\n"
                                            "y:sum():backward()\n"
                                            "local parallel = net.gain.grad:clone()\n"
                                            "net:zero_grad()\n"
                                            "net(x):sum():backward()\n"
                                            "return (parallel - net.gain.grad):abs():sum():item()"),
            1e-4);
}

TEST_F(ManyGpus, DataParallelChecksItsDevices) {
  EXPECT_THAT(error_of("ohm.nn.DataParallel(ohm.nn.Linear(2, 2), {device_ids = {0, 7}})"),
              HasSubstr("cuda:7"));
  EXPECT_EQ(text("local m = ohm.nn.DataParallel(ohm.nn.Linear(2, 2):cuda(1), "
                 "{device_ids = {1, 2}, output_device = 2}) "
                 "return m(ohm.ones(4, 2):cuda(1)).device"),
            "cuda:2");
}

TEST_F(ManyGpus, RanksTakeTurnsAtCollectives) {
  EXPECT_EQ(text("local log = {}\n"
                 "local results = ohm.distributed.spawn(3, function(rank, size)\n"
                 "  local x = ohm.full({1}, rank + 1, {device = 'cuda', dtype = ohm.float32})\n"
                 "  log[#log + 1] = 'a' .. rank\n"
                 "  ohm.distributed.all_reduce(x)\n"
                 "  log[#log + 1] = 'b' .. rank\n"
                 "  return x:item(), x.device\n"
                 "end)\n"
                 "return table.concat(log, ' ') .. ' ' .. results[3][1] .. ' ' .. results[3][2]"),
            "a0 a1 a2 b0 b1 b2 6.0 cuda:2");
}

TEST_F(ManyGpus, AFailingRankEndsTheOthersAndItsErrorComesBack) {
  EXPECT_THAT(error_of("ohm.distributed.spawn(2, function(rank)\n"
                       "  if rank == 1 then error('rank one gave up') end\n"
                       "  ohm.distributed.barrier()\n"
                       "end)"),
              StartsWith("scenarios/test.lua:2: rank one gave up"));
}

TEST_F(ManyGpus, RanksHaveModesOfTheirOwn) {
  EXPECT_EQ(text("local results = ohm.distributed.spawn(2, function(rank)\n"
                 "  local before = ohm.is_grad_enabled()\n"
                 "  local inside\n"
                 "  if rank == 0 then\n"
                 "    ohm.no_grad(function()\n"
                 "      ohm.distributed.barrier()\n"
                 "      inside = ohm.is_grad_enabled()\n"
                 "    end)\n"
                 "  else\n"
                 "    ohm.distributed.barrier()\n"
                 "    inside = ohm.is_grad_enabled()\n"
                 "  end\n"
                 "  return tostring(before) .. tostring(inside) .. "
                 "tostring(ohm.is_grad_enabled())\n"
                 "end)\n"
                 "return results[1][1] .. ' ' .. results[2][1]"),
            "truefalsetrue truetruetrue");
}

TEST_F(ManyGpus, DistributedDataParallelAveragesGradients) {
  EXPECT_LT(number("local nn = ohm.nn\n"
                   "local grads = ohm.distributed.spawn(2, function(rank)\n"
                   "  local net = nn.Linear(2, 1, {bias = false}):cuda()\n"
                   "  local ddp = nn.parallel.DistributedDataParallel(net)\n"
                   "  local x = ohm.full({1, 2}, 1.0 + rank, {device = 'cuda'})\n"
                   "  ddp(x):sum():backward()\n"
                   "  return net.weight.grad:cpu()\n"
                   "end)\n"
                   "return (grads[1][1] - 1.5):abs():sum():item() + "
                   "(grads[2][1] - 1.5):abs():sum():item()"),
            1e-6);
}

}  // namespace
}  // namespace ohm::test
