// ohm.optim.swa_utils: averages of weights, and statistics of batches for them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/harness/lua/script_test.h"

namespace ohm::test {
namespace {

using testing::HasSubstr;

class AveragingLibrary : public ScriptTest {};

// A model of one number, which is 1, then 3, then 5; and an average of it.
std::string averaged(const std::string& options) {
  return "local swa = ohm.optim.swa_utils\n"
         "local m = ohm.nn.Linear(1, 1, {bias = false})\n"
         "local a = swa.AveragedModel(m" +
         options +
         ")\n"
         "for _, value in ipairs({1, 3, 5}) do\n"
         "  m.weight:detach():fill_(value) a:update_parameters(m)\n"
         "end\n";
}

TEST_F(AveragingLibrary, TheMeanOfAllModelsIsWhatItHasByItself) {
  EXPECT_NEAR(number(averaged("") + "return a.module.weight:item()"), 3.0, 1e-6);
  EXPECT_NEAR(number(averaged(", 'cuda'") + "return a.module.weight:item()"), 3.0, 1e-6);
  EXPECT_EQ(number(averaged("") + "return a.n_averaged:item()"), 3);
}

TEST_F(AveragingLibrary, FunctionsOfOneParameterAndOfListsGiveTheSame) {
  const std::string result = "return a.module.weight:item()";
  EXPECT_NEAR(number(averaged(", {avg_fn = swa.get_ema_avg_fn(0.5)}") + result), 3.5, 1e-6);
  EXPECT_NEAR(number(averaged(", {multi_avg_fn = swa.get_ema_multi_avg_fn(0.5)}") + result), 3.5,
              1e-6);
  EXPECT_NEAR(number(averaged(", {avg_fn = swa.get_swa_avg_fn()}") + result), 3.0, 1e-6);
  EXPECT_NEAR(number(averaged(", {multi_avg_fn = swa.get_swa_multi_avg_fn()}") + result), 3.0,
              1e-6);
  EXPECT_NEAR(number(averaged(", {avg_fn = function(a, b, n) return a + b end}") + result), 9.0,
              1e-6);
}

TEST_F(AveragingLibrary, IsAModuleThatCallsItsCopy) {
  EXPECT_NEAR(number(averaged("") + "return a(ohm.ones(1, 1)):item()"), 3.0, 1e-6);
  EXPECT_EQ(number(averaged("") + "return #a:parameters()"), 1);
  EXPECT_NE(number(averaged("") + "return a.module.weight:is_same(m.weight) and 1 or 0"), 1);
}

TEST_F(AveragingLibrary, RefusesTwoFunctionsAndDecaysThatAreNone) {
  EXPECT_THAT(error_of("local swa = ohm.optim.swa_utils\n"
                       "swa.AveragedModel(ohm.nn.Linear(1, 1), {avg_fn = swa.get_ema_avg_fn(),\n"
                       "  multi_avg_fn = swa.get_ema_multi_avg_fn()})"),
              HasSubstr("Only one of avg_fn and multi_avg_fn"));
  EXPECT_THAT(error_of("ohm.optim.swa_utils.get_ema_avg_fn(1.5)"),
              HasSubstr("Invalid decay value 1.5"));
}

TEST_F(AveragingLibrary, BuffersAreThoseOfTheModel) {
  EXPECT_NEAR(number("local m = ohm.nn.BatchNorm1d(1)\n"
                     "local a = ohm.optim.swa_utils.AveragedModel(m)\n"
                     "m.running_mean:fill_(2) a:update_parameters(m)\n"
                     "return a.module.running_mean:item()"),
              2.0, 1e-6);
}

TEST_F(AveragingLibrary, RatesGoToTheAveragesRate) {
  EXPECT_NEAR(number("local p = ohm.nn.Parameter(ohm.ones(1))\n"
                     "local o = ohm.optim.SGD({p}, {lr = 0.1})\n"
                     "local s = ohm.optim.swa_utils.SWALR(o, 0.5,\n"
                     "  {anneal_epochs = 2, anneal_strategy = 'linear'})\n"
                     "s:step() return o.lr"),
              0.3, 1e-9);
}

}  // namespace
}  // namespace ohm::test
