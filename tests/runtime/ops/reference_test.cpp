// Every op against values and gradients recorded from PyTorch (tests/reference/generate.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "runtime/autograd/engine.h"
#include "runtime/tensor/factories.h"
#include "tests/support/op_samples.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const Device kDevice = Device::cuda(0);

std::vector<std::string> family_names() {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(fs::path(OHM_GOLDEN_DIR) / "reference")) {
    names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<json> cases_of(const std::string& family) {
  std::ifstream file(fs::path(OHM_GOLDEN_DIR) / "reference" / (family + ".json"));
  return json::parse(file)["cases"].get<std::vector<json>>();
}

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

Tensor tensor_of(const json& encoded) {
  return from_values(numbers_of(encoded["values"]), shape_of(encoded["shape"]),
                     {parse_dtype(encoded["dtype"].get<std::string>()), kDevice});
}

ops::Value argument_of(const json& encoded, const ops::Param& param) {
  using ops::ParamKind;
  if (encoded.is_null()) return {};
  switch (param.kind) {
    case ParamKind::tensor:
      return tensor_of(encoded);
    case ParamKind::tensor_or_number:
      return encoded.is_object() ? ops::Value(tensor_of(encoded))
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

ops::Sample arguments_of(const json& recorded, const ops::OpDef& op) {
  ops::Sample arguments;
  for (std::size_t i = 0; i < recorded["arguments"].size(); ++i) {
    arguments.push_back(argument_of(recorded["arguments"][i], op.params[i]));
  }
  return arguments;
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

// The leaves that PyTorch gave gradients for: floating tensors but the constants, in order.
std::vector<Tensor> leaves_of(const ops::OpDef& op, const ops::Sample& arguments) {
  std::vector<Tensor> leaves;
  for (const std::size_t position : differentiable(op, arguments)) {
    for (const Tensor& leaf : tensors_in(arguments[position])) leaves.push_back(leaf);
  }
  return leaves;
}

void check_case(const json& recorded) {
  const ops::OpDef* op = ops::find_op(recorded["op"].get<std::string>());
  ASSERT_NE(op, nullptr);
  const ops::Sample arguments = arguments_of(recorded, *op);
  const bool has_gradients = recorded.contains("gradients");
  if (has_gradients) require_gradients(*op, arguments);
  const std::vector<Tensor> results = tensors_in(call_op(*op, arguments));
  ASSERT_EQ(results.size(), recorded["results"].size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    expect_equal(results[i], recorded["results"][i], "result " + std::to_string(i));
  }
  if (!has_gradients) return;
  std::vector<Tensor> grads;
  for (const json& grad : recorded["result_gradients"]) grads.push_back(tensor_of(grad));
  std::vector<Tensor> outputs;
  for (const Tensor& result : results) {
    if (result.requires_grad()) outputs.push_back(result);
  }
  ASSERT_EQ(outputs.size(), grads.size());
  backward(outputs, grads, GraphRetention::release);
  const std::vector<Tensor> leaves = leaves_of(*op, arguments);
  ASSERT_EQ(leaves.size(), recorded["gradients"].size());
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    expect_equal(leaves[i].grad(), recorded["gradients"][i], "gradient " + std::to_string(i));
  }
}

class Reference : public testing::TestWithParam<std::string> {};

TEST_P(Reference, ValuesAndGradientsEqualPyTorchs) {
  TestMachine machine({.values = ValueMode::keeps_values});
  const std::vector<json> cases = cases_of(GetParam());
  ASSERT_FALSE(cases.empty());
  for (const json& recorded : cases) {
    SCOPED_TRACE(recorded["name"].get<std::string>());
    check_case(recorded);
  }
}

INSTANTIATE_TEST_SUITE_P(Families, Reference, testing::ValuesIn(family_names()),
                         [](const auto& instance) { return instance.param; });

// Ops whose values PyTorch cannot be asked for in the same way.
const std::set<std::string_view> kRandom = {"dropout", "dropout2d"};
const std::set<std::string_view> kCopies = {"clone", "contiguous"};

TEST(ReferenceCoverage, EveryOpWithAGradientIsRecorded) {
  std::set<std::string> recorded;
  for (const std::string& family : family_names()) {
    for (const json& each : cases_of(family)) recorded.insert(each["op"]);
  }
  for (const ops::OpDef& op : ops::all_ops()) {
    if (!op.samples || kRandom.contains(op.info.name) || kCopies.contains(op.info.name)) continue;
    EXPECT_TRUE(recorded.contains(std::string(op.info.name))) << op.info.name;
  }
}

}  // namespace
}  // namespace ohm::test
