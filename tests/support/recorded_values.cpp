#include "tests/support/recorded_values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "runtime/arithmetic/factories.h"

namespace ohm::test {
namespace {

using nlohmann::json;

const Device kDevice = Device::cuda(0);

Shape shape_of(const json& sizes) {
  Shape shape;
  for (const json& size : sizes) shape.push_back(size.get<std::int64_t>());
  return shape;
}

// JSON has no infinities and NaNs: they are strings.
double number_of(const json& value) {
  if (value.is_string()) return std::stod(value.get<std::string>());
  return value.get<double>();
}

std::vector<double> numbers_of(const json& values) {
  std::vector<double> numbers;
  for (const json& value : values) numbers.push_back(number_of(value));
  return numbers;
}

double tolerance_for(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return 1e-11;
    case DType::float32:
      return 4e-6;
    case DType::bfloat16:
      return 1.6e-2;  // two units in the last place: PyTorch rounds more often in between
    default:
      return 0;
  }
}

}  // namespace

Tensor tensor_of(const json& encoded) {
  return from_values(numbers_of(encoded["values"]), shape_of(encoded["shape"]),
                     {parse_dtype(encoded["dtype"].get<std::string>()), kDevice});
}

ops::Value argument_of(const json& encoded, ops::ParamKind kind) {
  using ops::ParamKind;
  if (encoded.is_null()) return {};
  switch (kind) {
    case ParamKind::tensor:
      return tensor_of(encoded);
    case ParamKind::tensor_or_number:
      if (encoded.is_object()) return tensor_of(encoded);
      return encoded.is_number_integer() ? ops::Value(encoded.get<std::int64_t>())
                                         : ops::Value(encoded.get<double>());
    case ParamKind::tensor_list: {
      std::vector<Tensor> tensors;
      for (const json& item : encoded) tensors.push_back(tensor_of(item));
      return tensors;
    }
    case ParamKind::number:
      return number_of(encoded);
    case ParamKind::number_list:
      return numbers_of(encoded);
    case ParamKind::integer:
      return encoded.get<std::int64_t>();
    case ParamKind::boolean:
      return encoded.get<bool>();
    case ParamKind::size_list:
      return shape_of(encoded);
    case ParamKind::sizes_or_word:
      return encoded.is_string() ? ops::Value(encoded.get<std::string>())
                                 : ops::Value(shape_of(encoded));
    case ParamKind::string:
      return encoded.get<std::string>();
    case ParamKind::dtype:
      return parse_dtype(encoded["dtype"].get<std::string>());
    case ParamKind::device:
      break;
  }
  ADD_FAILURE() << "no case passes a device";
  return {};
}

void expect_equal(const Tensor& actual, const json& recorded, const std::string& what) {
  ASSERT_TRUE(actual.defined()) << what;
  ASSERT_EQ(name_of(actual.dtype()), recorded["dtype"].get<std::string>()) << what;
  ASSERT_EQ(actual.shape().str(), shape_of(recorded["shape"]).str()) << what;
  const std::vector<double> expected = numbers_of(recorded["values"]);
  const std::vector<double> values = to_doubles(actual);
  const double tolerance = tolerance_for(actual.dtype());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(expected[i])) {
      EXPECT_EQ(std::isnan(expected[i]), std::isnan(values[i])) << what << ", element " << i;
      EXPECT_TRUE(std::isnan(expected[i]) || expected[i] == values[i]) << what << ", element " << i;
      continue;
    }
    EXPECT_NEAR(values[i], expected[i], tolerance * std::max(1.0, std::abs(expected[i])))
        << what << ", element " << i;
  }
}

}  // namespace ohm::test
