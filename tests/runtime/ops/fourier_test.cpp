// Transforms: what they refuse, and how their results lie in memory.
#include "runtime/ops/fourier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "runtime/arithmetic/factories.h"
#include "runtime/ops/fourier_order.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Fourier : public testing::Test {
 protected:
  static Tensor signal(const Shape& shape, DType dtype = DType::float32) {
    return randn(shape, {dtype, Device::cuda(0)});
  }
  template <class F>
  static std::string error_of(F&& fn) {
    try {
      fn();
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "no error";
  }

 private:
  TestMachine machine_{{.values = ValueMode::keeps_values}};
};

TEST_F(Fourier, LeavesTheTransformedDimensionInnermost) {
  EXPECT_EQ(ops::fft(signal({3, 4, 5}), std::nullopt, 1, std::nullopt).strides(),
            (Shape{20, 1, 4}));
  EXPECT_EQ(ops::rfft(signal({3, 4, 5}), std::nullopt, 0, std::nullopt).strides(),
            (Shape{1, 10, 2}));
}

TEST_F(Fourier, NamesWhatItCannotTransform) {
  EXPECT_THAT(error_of([] { ops::fft(signal({4}), 0, -1, std::nullopt); }),
              HasSubstr("[fft_fft] Invalid number of data points (0) specified"));
  EXPECT_THAT(error_of([] { ops::fft(signal({4}), std::nullopt, -1, "both"); }),
              HasSubstr("Invalid normalization mode: \"both\""));
  EXPECT_THAT(
      error_of([] { ops::rfft(signal({4}, DType::complex64), std::nullopt, -1, std::nullopt); }),
      HasSubstr("expects a real input tensor"));
  EXPECT_THAT(error_of([] {
                ops::fftn(signal({4, 4}), std::nullopt, Shape{0, 0}, std::nullopt);
              }),
              HasSubstr("FFT dims must be unique"));
  EXPECT_THAT(
      error_of([] { ops::fft(signal({4}, DType::bfloat16), std::nullopt, -1, std::nullopt); }),
      HasSubstr("Unsupported dtype bfloat16"));
}

TEST_F(Fourier, NumbersFrequenciesAsTransformsHaveThem) {
  EXPECT_THAT(to_doubles(ops::fftfreq(4, 0.25, std::nullopt, std::nullopt)),
              ElementsAre(0, 1, -2, -1));
  EXPECT_THAT(to_doubles(ops::rfftfreq(4, 0.25, std::nullopt, std::nullopt)), ElementsAre(0, 1, 2));
}

}  // namespace
}  // namespace ohm::test
