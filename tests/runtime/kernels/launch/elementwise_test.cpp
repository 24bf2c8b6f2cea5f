#include "runtime/kernels/launch/elementwise.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/base/strided.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

constexpr std::int64_t kRows = 37;
constexpr std::int64_t kColumns = 41;  // 1,517 elements: chunks end within rows

template <class T>
double stored_at(const Tensor& tensor, std::int64_t offset) {
  return convert_element<double>(tensor.data<const T>()[offset]);
}

double stored_at(const Tensor& tensor, std::int64_t offset) {
  return visit_dtype(tensor.dtype(),
                     [&]<class T>(TypeTag<T>) { return stored_at<T>(tensor, offset); });
}

double rounded(double value, DType dtype) {
  return visit_dtype(dtype, [&]<class T>(TypeTag<T>) {
    return convert_element<double>(convert_element<T>(value));
  });
}

/// As a kernel on a GPU would: element by element.
std::vector<double> values_of(const Tensor& tensor, const Shape& shape) {
  std::vector<double> values;
  for_each_offset(shape, broadcast_strides(tensor.shape(), tensor.strides(), shape),
                  [&](std::int64_t offset) { values.push_back(stored_at(tensor, offset)); });
  return values;
}

/// A value and its rounding differ in most dtypes; some are negative or no integers.
Tensor filled(const Shape& shape, DType dtype) {
  const std::int64_t count = shape.numel();
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i) {
    values.push_back(is_floating(dtype) ? static_cast<double>(i % 97) * 1.37 - 20.3
                                        : static_cast<double>(i % 61));
  }
  return from_values(values, shape, {dtype, Device::cpu()});
}

struct Layout {
  std::string name;
  Tensor (*make)(DType dtype);
};

Tensor row_major_matrix(DType dtype) { return filled({kRows, kColumns}, dtype); }
Tensor transposed_matrix(DType dtype) {
  return make_view(filled({kColumns, kRows}, dtype), {kRows, kColumns}, {1, kRows}, 0);
}
Tensor every_third(DType dtype) {
  return make_view(filled({kRows, kColumns, 3}, dtype), {kRows, kColumns}, {kColumns * 3, 3}, 2);
}
Tensor one_row(DType dtype) { return filled({kColumns}, dtype); }
Tensor one_column(DType dtype) { return filled({kRows, 1}, dtype); }
Tensor one_element(DType dtype) { return filled({1}, dtype); }

const std::array<Layout, 6> kLayouts = {{{"row-major", row_major_matrix},
                                         {"transposed", transposed_matrix},
                                         {"every third", every_third},
                                         {"a row", one_row},
                                         {"a column", one_column},
                                         {"one element", one_element}}};

std::vector<DType> dtypes() {
  std::vector<DType> all;
  for (std::size_t i = 0; i < kDTypes.size(); ++i) all.push_back(static_cast<DType>(i));
  return all;
}

struct Plus {
  template <class T>
  T operator()(T x, T y) const {
    return x + y;
  }
};

/// What out[i] = a[i] + b[i] stores, read as `dtype`, which is out's.
std::vector<double> expected_sum(const Tensor& a, const Tensor& b, DType dtype) {
  std::vector<double> sums = values_of(a, {kRows, kColumns});
  const std::vector<double> other = values_of(b, {kRows, kColumns});
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const double x = rounded(sums[i], dtype);
    const double y = rounded(other[i], dtype);
    const double sum = dtype == DType::float64 || !is_floating(dtype)
                           ? x + y
                           : static_cast<float>(x) + static_cast<float>(y);
    sums[i] = rounded(sum, dtype);
  }
  return sums;
}

TEST(Elementwise, ReadsEveryDtypeInEveryLayout) {
  const TestMachine machine{{.values = ValueMode::keeps_values}};
  for (const DType read_as : dtypes()) {
    for (const DType stored : dtypes()) {
      for (const Layout& layout : kLayouts) {
        SCOPED_TRACE(layout.name + " " + std::string(name_of(stored)) + " as " +
                     std::string(name_of(read_as)));
        const Tensor a = layout.make(stored);
        const Tensor b = row_major_matrix(read_as);
        Tensor out = empty({kRows, kColumns}, {read_as, Device::cpu()});
        map_elements(out, read_as, Plus(), a, b);
        EXPECT_EQ(expected_sum(a, b, read_as), values_of(out, out.shape()));
      }
    }
  }
}

TEST(Elementwise, WritesEveryDtypeInEveryLayout) {
  const TestMachine machine{{.values = ValueMode::keeps_values}};
  for (const DType dtype : dtypes()) {
    for (const Layout& layout : {kLayouts[0], kLayouts[1], kLayouts[2]}) {
      SCOPED_TRACE(layout.name + " " + std::string(name_of(dtype)));
      const Tensor a = row_major_matrix(dtype);
      const Tensor b = one_column(dtype);
      const Tensor out = layout.make(dtype);
      map_elements(out, dtype, Plus(), a, b);
      EXPECT_EQ(expected_sum(a, b, dtype), values_of(out, out.shape()));
    }
  }
}

TEST(Elementwise, ComputesInPlace) {
  const TestMachine machine{{.values = ValueMode::keeps_values}};
  for (const DType dtype : dtypes()) {
    const Tensor target = transposed_matrix(dtype);
    const Tensor other = one_row(dtype);
    const std::vector<double> expected = expected_sum(target, other, dtype);
    map_elements(target, dtype, Plus(), target, other);
    EXPECT_EQ(expected, values_of(target, target.shape())) << name_of(dtype);
  }
}

TEST(Elementwise, TakesANumberAsItIsInTheComputeType) {
  const TestMachine machine{{.values = ValueMode::keeps_values}};
  const Tensor half = full({600}, 1.0, {DType::float16, Device::cpu()});
  // 2049 has no float16: rounded to it first, 2049 + 1 would be 2049.
  map_floating(half, DType::float16, Plus(), half, 2049.0);
  EXPECT_EQ(std::vector<double>(600, 2050.0), values_of(half, half.shape()));
}

TEST(Elementwise, ComparesIntoBool) {
  const TestMachine machine{{.values = ValueMode::keeps_values}};
  const Tensor a = row_major_matrix(DType::float32);
  const Tensor out = empty({kRows, kColumns}, {DType::boolean, Device::cpu()});
  map_elements(
      out, DType::float32, [](auto x, auto y) { return x < y; }, a, 0.5);
  std::vector<double> expected = values_of(a, a.shape());
  for (double& value : expected) value = value < 0.5 ? 1.0 : 0.0;
  EXPECT_EQ(expected, values_of(out, out.shape()));
}

TEST(Elementwise, DoesNothingWithoutElements) {
  const TestMachine machine{{.values = ValueMode::keeps_values}};
  const Tensor nothing = empty({0, 3}, {DType::float32, Device::cpu()});
  map_floating(nothing, DType::float32, Plus(), nothing, 1.0);
  EXPECT_EQ(0, nothing.numel());
}

}  // namespace
}  // namespace ohm::test
