#include "tests/support/op_samples.h"

#include <algorithm>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"

namespace ohm::test {
namespace {

Tensor moved(const Tensor& tensor, DType dtype, Device device) {
  const DType target = is_floating(tensor.dtype()) ? dtype : tensor.dtype();
  Tensor copy = empty(tensor.shape(), {target, device});
  copy_into(copy, tensor);
  return copy;
}

}  // namespace

ops::Value call_op(const ops::OpDef& op, const ops::Sample& given) {
  ops::Sample values = given;
  for (std::size_t i = values.size(); i < op.params.size(); ++i) {
    values.push_back(op.params[i].fallback);
  }
  return op.call(values);
}

ops::Sample converted(const ops::Sample& sample, DType dtype, Device device) {
  ops::Sample result = sample;
  for (ops::Value& value : result) {
    if (Tensor* tensor = std::get_if<Tensor>(&value)) *tensor = moved(*tensor, dtype, device);
    if (auto* list = std::get_if<std::vector<Tensor>>(&value)) {
      for (Tensor& tensor : *list) tensor = moved(tensor, dtype, device);
    }
  }
  return result;
}

std::vector<Tensor> tensors_in(const ops::Value& value) {
  if (const Tensor* tensor = std::get_if<Tensor>(&value)) return {*tensor};
  if (const auto* list = std::get_if<std::vector<Tensor>>(&value)) return *list;
  return {};
}

std::vector<std::size_t> differentiable(const ops::OpDef& op, const ops::Sample& sample) {
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const std::vector<Tensor> tensors = tensors_in(sample[i]);
    const bool has_gradients =
        !tensors.empty() && std::all_of(tensors.begin(), tensors.end(), [](const Tensor& tensor) {
          return is_differentiable(tensor.dtype());
        });
    if (has_gradients && !op.params[i].is_constant) positions.push_back(i);
  }
  return positions;
}

void require_gradients(const ops::OpDef& op, const ops::Sample& sample) {
  for (const std::size_t position : differentiable(op, sample)) {
    for (const Tensor& tensor : tensors_in(sample[position])) tensor.set_requires_grad(true);
  }
}

}  // namespace ohm::test
