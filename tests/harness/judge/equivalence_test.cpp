#include "harness/judge/equivalence.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "harness/judge/tolerance.h"

namespace ohm::engine {
namespace {

ReturnedValue tensor(const std::string& dtype, std::vector<double> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return {dtype, {count}, std::move(values), {}, true, {}};
}
ReturnedValue script(const std::string& dtype, double value) {
  return {dtype, {}, {value}, {}, true, {}};
}
ReturnedValue text(const std::string& value) { return {"string", {}, {}, {}, true, value}; }
ReturnedValue size_only(const std::string& dtype) { return {dtype, {2}, {}, {}, false, {}}; }

Comparison compared(const ReturnedValue& value, const ReturnedValue& reference,
                    const std::string& compare_as = {}) {
  return compare_values({{"x", value}}, {{"x", reference}}, compare_as);
}
Equivalence state(const ReturnedValue& value, const ReturnedValue& reference,
                  const std::string& compare_as = {}) {
  return compared(value, reference, compare_as).state;
}

TEST(Equivalence, ToleratesRoundingOfTheDtypeAndNotOfACoarserOne) {
  struct Row {
    const char* dtype;
    double agrees;
    double rounds;
    double differs;
  };
  for (const Row& row : {Row{"float64", 1e-10, 1e-15, 1e-7}, Row{"float32", 1e-5, 1e-6, 1e-3},
                         Row{"float16", 1e-3, 1e-3, 0.05}, Row{"bfloat16", 1e-2, 1e-2, 0.2}}) {
    SCOPED_TRACE(row.dtype);
    const ReturnedValue reference = tensor(row.dtype, {10, 0});
    EXPECT_EQ(Equivalence::same, state(tensor(row.dtype, {10 + 10 * row.agrees, 0}), reference));
    EXPECT_EQ(Equivalence::different,
              state(tensor(row.dtype, {10 + 10 * row.differs, 0}), reference));
    // Near zero a few units in the last place of the largest element count.
    EXPECT_EQ(Equivalence::same, state(tensor(row.dtype, {10, 10 * row.rounds}), reference));
    EXPECT_EQ(Equivalence::different, state(tensor(row.dtype, {10, 10 * row.differs}), reference));
  }
}

TEST(Equivalence, ComparesIntegersBooleansAndTextExactly) {
  EXPECT_EQ(Equivalence::different, state(tensor("int64", {1e6}), tensor("int64", {1e6 + 1})));
  EXPECT_EQ(Equivalence::different, state(script("integer", 640), script("integer", 641)));
  EXPECT_EQ(Equivalence::different, state(script("boolean", 1), script("boolean", 0)));
  EXPECT_EQ(Equivalence::same, state(text("cuda:0"), text("cuda:0")));
  EXPECT_EQ("x: \"cpu\" instead of \"cuda:0\"", compared(text("cpu"), text("cuda:0")).difference);
  EXPECT_EQ("x: a string instead of a number", compared(text("1"), script("number", 1)).difference);
  EXPECT_EQ("x: an integer instead of a string",
            compared(script("integer", 1), text("1")).difference);
}

TEST(Equivalence, ElementsAreComparedOneByOne) {
  EXPECT_EQ("x: -0.05 instead of 0.01 (element 1); float32 allows 0.004",
            compared(tensor("float32", {1000, -0.05}), tensor("float32", {1000, 0.01})).difference);
  EXPECT_EQ(Equivalence::different, state(tensor("float32", {1e-7}), tensor("float32", {0})));
  EXPECT_EQ(Equivalence::different, state(tensor("float32", {0}), tensor("float32", {1e-7})));
}

// 0/0 has another sign on other processors.
TEST(Equivalence, NaNIsShownWithoutASign) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ("x: nan instead of 1; float32 allows 0.0001",
            compared(script("number", std::copysign(nan, -1.0)), script("number", 1)).difference);
  EXPECT_EQ("x: nan instead of nan; float32 allows 0",
            compared(script("number", std::copysign(nan, -1.0)), script("number", nan)).difference);
}

TEST(Equivalence, IntegersBeyondThePrecisionOfDoublesAreExact) {
  const std::int64_t large = (1LL << 53) + 1;
  const auto integers = [](const char* dtype, std::int64_t value) {
    ReturnedValue one = script(dtype, static_cast<double>(value));
    one.integers = {value};
    return one;
  };
  for (const char* dtype : {"int64", "integer"}) {
    EXPECT_EQ(Equivalence::same, state(integers(dtype, large), integers(dtype, large)));
    EXPECT_EQ("x: 9007199254740994 instead of 9007199254740993",
              compared(integers(dtype, large + 1), integers(dtype, large)).difference);
  }
  EXPECT_EQ(Equivalence::different, state(script("integer", 0x1p53), integers("integer", large)));
  // Whatever it is compared with.
  EXPECT_EQ(Equivalence::different, state(script("number", 0x1p53), integers("integer", large)));
  EXPECT_EQ(Equivalence::different, state(integers("integer", large), script("integer", 0x1p53)));
  EXPECT_EQ(Equivalence::different, state(script("number", 0x1p63), integers("integer", large)));
}

TEST(Equivalence, DtypeOfTheReferenceDecides) {
  EXPECT_EQ(Equivalence::different, state(tensor("float16", {1.004}), tensor("float32", {1})));
  EXPECT_EQ(Equivalence::same,
            state(tensor("float16", {1.004}), tensor("float32", {1}), "float16"));
  EXPECT_EQ(Equivalence::same, state(tensor("float32", {1}), tensor("float16", {1.004})));
  EXPECT_EQ(Equivalence::different, state(tensor("float32", {1.004}), tensor("float32", {1})));
  EXPECT_EQ(Equivalence::same,
            state(tensor("float32", {1.004}), tensor("float32", {1}), "float16"));
}

TEST(Equivalence, ScriptNumberStandsForATensorOfOneElement) {
  EXPECT_EQ(Equivalence::same, state(script("number", 1.00001), tensor("float32", {1})));
  EXPECT_EQ(Equivalence::same, state(script("number", 1.004), tensor("float16", {1})));
  EXPECT_EQ(Equivalence::different, state(script("number", 1.004), script("number", 1)));
  EXPECT_EQ("x: shape [] instead of [2]",
            compared(script("number", 1), tensor("float32", {1, 1})).difference);
}

TEST(Equivalence, TellsWhichElementDiffersMost) {
  EXPECT_EQ("x: 3 instead of 4 (element 2); float32 allows 0.00042",
            compared(tensor("float32", {1, 2.5, 3}), tensor("float32", {1, 2, 4})).difference);
}

TEST(Equivalence, EqualInfinitiesAgreeAndNanAgreesWithNothing) {
  const double infinity = HUGE_VAL;
  EXPECT_EQ(Equivalence::same,
            state(tensor("float32", {-infinity, 1}), tensor("float32", {-infinity, 1})));
  EXPECT_EQ(Equivalence::different,
            state(tensor("float32", {infinity}), tensor("float32", {-infinity})));
  EXPECT_EQ(Equivalence::different,
            state(tensor("float32", {90000}), tensor("float32", {infinity})));
  EXPECT_EQ(Equivalence::different, state(tensor("float32", {NAN}), tensor("float32", {NAN})));
}

TEST(Equivalence, MissingValueIsADifference) {
  EXPECT_EQ("x: not returned", compare_values({}, {{"x", script("number", 1)}}, "").difference);
  EXPECT_EQ("x: not returned by the reference",
            compare_values({{"x", script("number", 1)}}, {}, "").difference);
}

TEST(Equivalence, SizeOnlyValuesAreNotCheckedButTheRestIs) {
  const ReturnedValues values = {{"count", script("integer", 3)}, {"loss", size_only("float32")}};
  EXPECT_EQ(Equivalence::not_checked, compare_values(values, values, "").state);
  const ReturnedValues others = {{"count", script("integer", 4)}, {"loss", size_only("float32")}};
  EXPECT_EQ(Equivalence::different, compare_values(values, others, "").state);
  EXPECT_EQ(Equivalence::not_checked, compare_values({}, {}, "").state);
}

TEST(Equivalence, UnknownDtypeSuggestsTheNearest) {
  try {
    tolerance_of("flaot16");
    FAIL() << "no error";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ("unknown dtype \"flaot16\" (did you mean \"float16\"?)", error.what());
  }
  EXPECT_THROW(tolerance_of(""), std::invalid_argument);
}

MeasuredVariant returning(ReturnedValues values, std::int64_t steps) {
  MeasuredVariant variant;
  variant.values = std::move(values);
  variant.steps = steps;
  return variant;
}

TEST(Trade, ComparesOnlyWhatMustAgree) {
  const MeasuredVariant reference =
      returning({{"loss", script("number", 1)}, {"samples_seen", script("integer", 640)}}, 10);
  const MeasuredVariant smaller =
      returning({{"loss", script("number", 2)}, {"samples_seen", script("integer", 640)}}, 20);
  EXPECT_EQ(Equivalence::trade,
            compare_trade(smaller, reference, {"samples_seen", "finite"}, "").state);
  EXPECT_EQ("loss: 2 instead of 1; float32 allows 0.0001",
            compare_trade(smaller, reference, {"loss"}, "").difference);
  EXPECT_EQ("20 steps instead of 10", compare_trade(smaller, reference, {"steps"}, "").difference);
  EXPECT_EQ("accuracy: not returned",
            compare_trade(smaller, reference, {"accuracy"}, "").difference);
}

TEST(Trade, FiniteAndShapesNeedNoNameOfTheirOwn) {
  const MeasuredVariant reference = returning({{"w", tensor("float32", {1, 2})}}, 1);
  const MeasuredVariant infinite = returning({{"w", tensor("float32", {1, HUGE_VAL})}}, 1);
  const MeasuredVariant longer = returning({{"w", tensor("float32", {1, 2, 3})}}, 1);
  EXPECT_EQ("w: not finite", compare_trade(infinite, reference, {"finite"}, "").difference);
  EXPECT_EQ("w: shape [3] instead of [2]",
            compare_trade(longer, reference, {"shapes"}, "").difference);
  EXPECT_EQ(Equivalence::trade, compare_trade(infinite, reference, {"shapes"}, "").state);
}

TEST(RelativeError, IsInfiniteWhereOneSideAloneIsFinite) {
  const ReturnedValues reference = {{"x", tensor("float32", {4, 0})}};
  EXPECT_EQ(0.125, largest_relative_error({{"x", tensor("float32", {4, 0.5})}}, reference).value);
  EXPECT_EQ(HUGE_VAL,
            largest_relative_error({{"x", tensor("float32", {4, HUGE_VAL})}}, reference).value);
}

TEST(RelativeError, IsAbsentWhereAValueIsMissing) {
  const ReturnedValues reference = {{"x", tensor("float32", {4, 0})}};
  const auto why_not = [&](const ReturnedValues& values) {
    const RelativeError error = largest_relative_error(values, reference);
    EXPECT_FALSE(error.value);
    return error.why_not;
  };
  EXPECT_EQ("it returns nothing", why_not({}));
  EXPECT_EQ("x: not returned", why_not({{"y", tensor("float32", {4, 0})}}));
  EXPECT_EQ("x: a string instead of a float32", why_not({{"x", text("4")}}));
  EXPECT_EQ("x: shape [1] instead of [2]", why_not({{"x", tensor("float32", {4})}}));
  EXPECT_EQ("", why_not({{"x", size_only("float32")}}));
}

TEST(RelativeError, IsNotThatOfTheOtherValuesWhereOneIsNotComputed) {
  const ReturnedValues values = {{"n", script("integer", 3)}, {"x", size_only("float32")}};
  const RelativeError error = largest_relative_error(values, values);
  EXPECT_FALSE(error.value);
  EXPECT_EQ("", error.why_not);
}

TEST(RelativeError, IsAbsentWhereOnlyStringsAreReturned) {
  EXPECT_EQ("it returns only strings",
            largest_relative_error({{"x", text("a")}}, {{"x", text("b")}}).why_not);
}

}  // namespace
}  // namespace ohm::engine
