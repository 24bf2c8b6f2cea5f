#include "harness/judge/limit.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <stdexcept>

namespace ohm::engine {
namespace {

struct Reading {
  const char* text;
  const char* measurement;
  std::optional<int> gpu;
  Comparator comparator;
  std::vector<std::pair<double, std::string>> bound;
};

class LimitGrammar : public testing::TestWithParam<Reading> {};

TEST_P(LimitGrammar, ReadsEveryForm) {
  const Reading& expected = GetParam();
  const Limit limit = parse_limit(expected.text);
  EXPECT_EQ(expected.text, limit.text);
  EXPECT_EQ(expected.measurement, limit.measurement->name);
  EXPECT_EQ(expected.gpu, limit.gpu);
  EXPECT_EQ(expected.comparator, limit.comparator);
  std::vector<std::pair<double, std::string>> bound;
  for (const BoundTerm& term : limit.bound) bound.emplace_back(term.factor, term.variant);
  EXPECT_EQ(expected.bound, bound);
}

INSTANTIATE_TEST_SUITE_P(
    All, LimitGrammar,
    testing::Values(Reading{"growth_bytes_per_step == 0",
                            "growth_bytes_per_step",
                            {},
                            Comparator::equal,
                            {{0, ""}}},
                    Reading{"peak_allocated_bytes[cuda:1] < 24 MiB",
                            "peak_allocated_bytes",
                            1,
                            Comparator::less,
                            {{25'165'824, ""}}},
                    Reading{"peak_reserved_bytes<=1.5GiB",
                            "peak_reserved_bytes",
                            {},
                            Comparator::less_equal,
                            {{1'610'612'736, ""}}},
                    Reading{"peak_reserved_bytes <= 2KB",
                            "peak_reserved_bytes",
                            {},
                            Comparator::less_equal,
                            {{2000, ""}}},
                    Reading{
                        "imbalance <= 1.10", "imbalance", {}, Comparator::less_equal, {{1.10, ""}}},
                    Reading{"num_ooms > 0", "num_ooms", {}, Comparator::greater, {{0, ""}}},
                    Reading{"steps >= 1e3", "steps", {}, Comparator::greater_equal, {{1000, ""}}},
                    Reading{"num_device_alloc != problem",
                            "num_device_alloc",
                            {},
                            Comparator::not_equal,
                            {{1, "problem"}}},
                    Reading{"peak_allocated_bytes <= 0.6 * problem",
                            "peak_allocated_bytes",
                            {},
                            Comparator::less_equal,
                            {{0.6, "problem"}}},
                    Reading{"peak_allocated_bytes <= problem * 2 - 3 * 512 B + fp32_run",
                            "peak_allocated_bytes",
                            {},
                            Comparator::less_equal,
                            {{2, "problem"}, {-1536, ""}, {1, "fp32_run"}}}));

TEST(LimitGrammarErrors, SayWhatIsWrongAndQuoteTheLimit) {
  const std::map<std::string, std::string> expected = {
      {"", "it must begin with a measurement"},
      {"< 5", "it must begin with a measurement"},
      {"peak_alocated_bytes < 5",
       "unknown measurement \"peak_alocated_bytes\" (did you mean \"peak_allocated_bytes\"?)"},
      {"steps", "a comparison is missing (<, <=, ==, !=, >=, >)"},
      {"steps = 5", R"("= 5" is not a comparison (<, <=, ==, !=, >=, >))"},
      {"steps <", "a number or a variant is missing"},
      {"steps < 5 5", R"("5" is not understood)"},
      {"steps < 5 *", "a number or a variant is missing"},
      {"steps < -5", R"("-5" is neither a number nor a variant)"},
      {"steps[cuda:0] < 5", "steps has no device"},
      {"imbalance <= 1.10 MiB", "the measurement is not in bytes: MiB"},
      {"peak_allocated_bytes[1] < 5", "a device is written [cuda:0]"},
      {"peak_allocated_bytes[cuda:] < 5", "a device is written [cuda:0]"},
      {"peak_allocated_bytes[cuda:1 < 5", "a device is written [cuda:0]"},
      {"peak_allocated_bytes < 5 mb",
       "\"mb\" is not a unit (B, KB, MB, GB, TB, KiB, MiB, GiB, TiB); a multiple of a variant is "
       "written 0.6 * mb"},
      {"peak_allocated_bytes < problem * problem", "a product of two variants has no meaning"},
  };
  for (const auto& [text, why] : expected) {
    try {
      parse_limit(text);
      FAIL() << text;
    } catch (const std::invalid_argument& error) {
      EXPECT_EQ(fmt::format("limit \"{}\": {}", text, why), error.what());
    }
  }
}

DeviceResult device(std::int64_t peak_allocated_bytes) {
  DeviceResult result;
  result.peak_allocated_bytes = peak_allocated_bytes;
  result.peak_reserved_bytes = 2 * peak_allocated_bytes;
  result.num_ooms = 1;
  return result;
}

MeasuredVariant two_gpus() {
  MeasuredVariant variant;
  variant.outcome = Outcome::completed;
  variant.devices = {device(3000), device(2000)};
  variant.steps = 5;
  // The jump to the second mark is warm-up; after that it grows by 8, 0 and 24, then shrinks.
  variant.allocated_at_marks = {{0, 1000, 1008, 1008, 1032}, {0, 500, 500, 500, 100}};
  variant.values = {{"loss", {"float32", {2}, {1.5, 0.5}, {}, true, {}}}};
  return variant;
}

std::optional<double> measured(const std::string& name, const MeasuredVariant& variant,
                               std::optional<int> gpu = std::nullopt,
                               const MeasuredVariant* reference = nullptr) {
  return find_measurement(name).measure({&variant, reference}, gpu).value;
}

TEST(Measurement, BytesWithoutAnIndexAreThoseOfTheFullestGpu) {
  EXPECT_EQ(3000, measured("peak_allocated_bytes", two_gpus()));
  EXPECT_EQ(2000, measured("peak_allocated_bytes", two_gpus(), 1));
  EXPECT_EQ(6000, measured("peak_reserved_bytes", two_gpus()));
  EXPECT_EQ(std::nullopt, measured("peak_allocated_bytes", two_gpus(), 2));
}

TEST(Measurement, CategoriesAreThoseAtThePeakOfTheFullestGpu) {
  MeasuredVariant variant;
  variant.devices.resize(2);
  variant.devices[0].peak_by_category[static_cast<std::size_t>(Category::gradient)] = 300;
  variant.devices[1].peak_by_category[static_cast<std::size_t>(Category::gradient)] = 500;
  const auto gradient = [&](std::optional<int> gpu) {
    return find_measurement("peak_gradient_bytes").measure({&variant, nullptr}, gpu).value;
  };
  EXPECT_EQ(500, gradient(std::nullopt));
  EXPECT_EQ(300, gradient(0));
  EXPECT_EQ(std::nullopt, gradient(2));
}

TEST(Measurement, CountsWithoutAnIndexAreSums) {
  EXPECT_EQ(2, measured("num_ooms", two_gpus()));
  EXPECT_EQ(1, measured("num_ooms", two_gpus(), 0));
  EXPECT_EQ(5, measured("steps", two_gpus()));
}

TEST(Measurement, GrowthIsTheLargestAfterTheSecondMark) {
  EXPECT_EQ(24, measured("growth_bytes_per_step", two_gpus()));
  EXPECT_EQ(0, measured("growth_bytes_per_step", two_gpus(), 1));
}

TEST(Measurement, GrowthCanBeNegative) {
  MeasuredVariant variant = two_gpus();
  variant.allocated_at_marks = {{900, 800, 700, 500}, {30, 20, 10, 2}};
  EXPECT_EQ(-8, measured("growth_bytes_per_step", variant));
}

TEST(Measurement, GrowthNeedsThreeMarks) {
  MeasuredVariant variant = two_gpus();
  variant.allocated_at_marks = {{0, 1000}, {0, 500}};
  variant.steps = 2;
  const Measured growth =
      find_measurement("growth_bytes_per_step").measure({&variant, nullptr}, {});
  EXPECT_EQ(std::nullopt, growth.value);
  EXPECT_FALSE(growth.needs_values);
  EXPECT_EQ("growth needs at least 3 marks of ohm.step(), there were 2", growth.why_not);
}

TEST(Measurement, ImbalanceLeavesOutGpusThatWereNotUsed) {
  MeasuredVariant variant = two_gpus();
  EXPECT_EQ(1.5, measured("imbalance", variant));
  variant.devices.push_back(device(0));
  EXPECT_EQ(1.5, measured("imbalance", variant));
  variant.devices.clear();
  EXPECT_EQ(std::nullopt, measured("imbalance", variant));
}

TEST(Measurement, NonFiniteCountsElementsOfReturnedValues) {
  MeasuredVariant variant = two_gpus();
  EXPECT_EQ(0, measured("non_finite", variant));
  variant.values[0].second.values = {HUGE_VAL, NAN};
  EXPECT_EQ(2, measured("non_finite", variant));
  variant.values[0].second.has_values = false;
  const Measured unknown = find_measurement("non_finite").measure({&variant, nullptr}, {});
  EXPECT_EQ(std::nullopt, unknown.value);
  EXPECT_TRUE(unknown.needs_values);
}

TEST(Measurement, ErrorIsRelativeToTheLargestMagnitudeOfTheReference) {
  MeasuredVariant reference = two_gpus();
  reference.values[0].second.values = {2.0, 0.25};
  EXPECT_EQ(0.25, measured("error_vs_reference", two_gpus(), {}, &reference));
  EXPECT_EQ(std::nullopt, measured("error_vs_reference", two_gpus()));
}

EvaluatedLimit evaluated(const std::string& text, const MeasuredVariant& variant,
                         const std::map<std::string, MeasuredVariant>& others = {}) {
  return evaluate(parse_limit(text), {&variant, nullptr}, [&](const std::string& name) {
    const auto found = others.find(name);
    return found == others.end() ? MeasurementSource{} : MeasurementSource{&found->second, nullptr};
  });
}

TEST(Limit, ABoundBeyondAnyMeasurementIsRefused) {
  for (const char* const text : {"peak_allocated_bytes < 9999999999999999999999 GiB",
                                 "peak_allocated_bytes < 8589934592 GiB", "num_ooms < 1e19",
                                 "peak_reserved_bytes < 1 GiB + 1e30"}) {
    EXPECT_THROW(parse_limit(text), std::invalid_argument) << text;
  }
  EXPECT_NO_THROW(parse_limit("peak_allocated_bytes < 8589934591 GiB"));
}

TEST(LimitEvaluation, ComparesWithNumbersAndVariants) {
  const MeasuredVariant variant = two_gpus();
  MeasuredVariant half = two_gpus();
  half.devices[0].peak_allocated_bytes = 2400;
  const std::map<std::string, bool> expected = {
      {"peak_allocated_bytes < 3000", false},        {"peak_allocated_bytes <= 3000", true},
      {"peak_allocated_bytes == 3000", true},        {"peak_allocated_bytes != 3000", false},
      {"peak_allocated_bytes >= 3000", true},        {"peak_allocated_bytes > 3000", false},
      {"peak_allocated_bytes <= 1.25 * half", true}, {"peak_allocated_bytes < half + 600 B", false},
      {"peak_allocated_bytes[cuda:1] <= half", true}};
  for (const auto& [text, holds] : expected) {
    EXPECT_EQ(holds, evaluated(text, variant, {{"half", half}}).result.holds) << text;
  }
}

TEST(LimitEvaluation, SaysWhyItCannotTell) {
  const EvaluatedLimit unmeasured = evaluated("peak_allocated_bytes < problem", two_gpus());
  EXPECT_EQ(std::nullopt, unmeasured.result.holds);
  EXPECT_EQ("problem was not measured", unmeasured.result.note);
  const EvaluatedLimit no_gpu = evaluated("peak_allocated_bytes[cuda:7] < 1", two_gpus());
  EXPECT_EQ("there is no cuda:7, the scenario runs on 2 GPUs", no_gpu.result.note);
}

}  // namespace
}  // namespace ohm::engine
