// Complex tensors: views of their parts, lazy conjugates, promotion, and ops that have no kernel
// for them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/engine.h"
#include "runtime/ops/arithmetic.h"
#include "runtime/ops/complex_numbers.h"
#include "runtime/ops/complex_views.h"
#include "runtime/ops/convert.h"
#include "runtime/ops/inplace_binary.h"
#include "runtime/ops/op_list.h"
#include "runtime/ops/view.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Complex : public testing::Test {
 protected:
  static Tensor pairs(const std::vector<double>& parts, const Shape& shape) {
    return from_values(parts, shape, {DType::complex64, Device::cuda(0)});
  }
  static Tensor floats(const std::vector<double>& values, const Shape& shape) {
    return from_values(values, shape, {DType::float32, Device::cuda(0)});
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

TEST_F(Complex, IsAViewOfPairsWithHalvedStridesAndOffset) {
  const Tensor numbers = floats({1, 2, 3, 4, 5, 6, 7, 8}, {2, 2, 2});
  const Tensor turned = ops::transpose(numbers, 0, 1);
  const Tensor complex = ops::view_as_complex(turned);
  EXPECT_EQ(&complex.storage(), &numbers.storage());
  EXPECT_EQ(complex.strides(), (Shape{1, 2}));
  EXPECT_THAT(to_doubles(complex), ElementsAre(1, 2, 5, 6, 3, 4, 7, 8));
  EXPECT_EQ(ops::view_as_real(complex).strides(), (Shape{2, 4, 1}));
  const Tensor imaginary = ops::imag(complex);
  EXPECT_EQ(imaginary.strides(), (Shape{2, 4}));
  EXPECT_EQ(imaginary.impl()->offset, 1);
  EXPECT_THAT(to_doubles(imaginary), ElementsAre(2, 6, 4, 8));
}

TEST_F(Complex, IsWrittenThroughItsParts) {
  const Tensor x = pairs({1, 2, 3, 4}, {2});
  ops::mul_(ops::real(x), 10.0);
  EXPECT_THAT(to_doubles(x), ElementsAre(10, 2, 30, 4));
}

TEST_F(Complex, NeedsPairsThatLieTogether) {
  EXPECT_THAT(error_of([] {
                ops::view_as_complex(floats({1, 2, 3}, {1, 3}));
              }),
              HasSubstr("last dimension of size 2"));
  EXPECT_THAT(error_of([] {
                ops::view_as_complex(ops::transpose(floats({1, 2, 3, 4}, {2, 2}), 0, 1));
              }),
              HasSubstr("last dimension with stride 1"));
  EXPECT_THAT(error_of([] { ops::imag(floats({1}, {1})); }),
              HasSubstr("only supported for complex tensors"));
}

TEST_F(Complex, ConjugatesLazily) {
  const Tensor x = pairs({1, 2, 3, -4}, {2});
  const Tensor conjugate = ops::conj(x);
  EXPECT_EQ(&conjugate.storage(), &x.storage());
  EXPECT_THAT(to_doubles(conjugate), ElementsAre(1, -2, 3, 4));
  EXPECT_THAT(to_doubles(ops::mul(x, conjugate)), ElementsAre(5, 0, 25, 0));
  EXPECT_THAT(to_doubles(ops::add_(ops::conj(x), 1.0)), ElementsAre(2, -2, 4, 4));
  EXPECT_THAT(to_doubles(x), ElementsAre(2, 2, 4, -4));
  EXPECT_THAT(error_of([&] { ops::view_as_real(conjugate); }), HasSubstr("resolve_conj()"));
}

TEST_F(Complex, IsWiderThanAnyRealNumber) {
  const Tensor x = pairs({1, 2}, {1});
  EXPECT_EQ(ops::mul(floats({2}, {1}), x).dtype(), DType::complex64);
  EXPECT_EQ(ops::add(x, 2.5).dtype(), DType::complex64);
  EXPECT_EQ(promote_types(DType::float64, DType::complex64), DType::complex128);
  EXPECT_EQ(promote_types(DType::int64, DType::complex64), DType::complex64);
}

TEST_F(Complex, GivesRealInputsRealGradients) {
  const Tensor weight = floats({2, 3}, {2});
  weight.set_requires_grad(true);
  const Tensor product = ops::mul(weight, pairs({1, 2, 3, 4}, {2}));
  backward({product}, {pairs({1, 1, 1, -1}, {2})}, GraphRetention::release);
  EXPECT_EQ(weight.grad().dtype(), DType::float32);
  EXPECT_THAT(to_doubles(weight.grad()), ElementsAre(3, -1));
}

TEST_F(Complex, AddsUpConjugatedGradients) {
  const Tensor x = pairs({1, 2}, {1});
  x.set_requires_grad(true);
  for (int i = 0; i < 2; ++i)
    backward({ops::conj(x)}, {pairs({3, 5}, {1})}, GraphRetention::release);
  EXPECT_THAT(to_doubles(x.grad()), ElementsAre(6, -10));
}

TEST_F(Complex, IsRefusedByOpsWithoutAKernelForIt) {
  const ops::OpDef& sort = *ops::find_op("sort");
  const ops::Sample arguments{pairs({1, 2}, {1}), std::int64_t{-1}, false};
  EXPECT_EQ(error_of([&] { sort.call(arguments); }), "[sort] not implemented for 'ComplexFloat'");
}

TEST_F(Complex, LosesItsImaginaryPartWhereItBecomesReal) {
  EXPECT_THAT(to_doubles(ops::to_dtype(pairs({1, 2, 3, 4}, {2}), DType::float32)),
              ElementsAre(1, 3));
}

}  // namespace
}  // namespace ohm::test
