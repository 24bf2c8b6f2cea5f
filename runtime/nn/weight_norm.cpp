#include "runtime/nn/weight_norm.h"

#include <fmt/core.h>

#include <memory>
#include <stdexcept>
#include <utility>

#include "runtime/autograd/grad_mode.h"
#include "runtime/autograd/variable.h"
#include "runtime/nn/reparametrization.h"
#include "runtime/ops/normalization/weight_norm.h"
#include "runtime/tensor/context.h"

namespace ohm::nn {
namespace {

class WeightNorm final : public Reparametrization {
 public:
  WeightNorm(std::string parameter, std::int64_t dim)
      : Reparametrization(std::move(parameter)), dim_(dim) {}

  std::string_view type_name() const override { return "weight_norm"; }
  bool is_kept() const override { return true; }
  Tensor compute(Module& module) const override {
    return ops::weight_norm(require_parameter(module, parameter() + "_v"),
                            require_parameter(module, parameter() + "_g"), dim_);
  }

 private:
  std::int64_t dim_;
};

class ParametrizedWeightNorm final : public Reparametrization {
 public:
  ParametrizedWeightNorm(std::string parameter, std::int64_t dim)
      : Reparametrization(std::move(parameter)), dim_(dim) {}

  std::string_view type_name() const override { return "weight_norm"; }
  bool is_kept() const override { return false; }
  Tensor compute(Module& module) const override {
    const Module& list = parametrization_of(module, parameter());
    return ops::weight_norm(require_parameter(list, "original1"),
                            require_parameter(list, "original0"), dim_);
  }

 private:
  std::int64_t dim_;
};

// A leaf of that memory.
Tensor new_parameter(const Tensor& tensor, bool requires_grad) {
  Tensor data = detach(tensor);
  data.storage().set_category(Category::parameter);
  data.set_requires_grad(requires_grad);
  return data;
}

}  // namespace

void weight_norm(Module& module, const std::string& name, std::int64_t dim) {
  if (find_computed(module, name) != nullptr) {
    throw std::invalid_argument(fmt::format(
        "[weight_norm] Cannot register two weight_norm hooks on the same parameter {}", name));
  }
  const auto how = std::make_shared<WeightNorm>(name, dim);
  ModuleEditor editor(module);
  {
    const Tensor weight = require_parameter(module, name);
    Tensor length = new_parameter(ops::norm_except_dim(weight, 2, dim), true);
    editor.take_parameter(name);
    editor.add_parameter(name + "_g", std::move(length));
    editor.add_parameter(name + "_v", new_parameter(weight, true));
    editor.keep(name, how->compute(module));
  }
  editor.compute(how);
}

void remove_weight_norm(Module& module, const std::string& name) {
  const ComputedParameter* const computed = find_computed(module, name);
  const auto how =
      computed == nullptr ? nullptr : std::dynamic_pointer_cast<const WeightNorm>(computed->how);
  if (how == nullptr) {
    throw std::invalid_argument(fmt::format(
        "[remove_weight_norm] weight_norm of '{}' not found in {}", name, module.type_name()));
  }
  ModuleEditor editor(module);
  const Tensor weight = how->compute(module);
  editor.drop_kept(name);
  editor.take_parameter(name + "_g");
  editor.take_parameter(name + "_v");
  editor.add_parameter(name, new_parameter(weight, true));
  editor.stop_computing(*how);
}

void parametrize_weight_norm(Module& module, const std::string& name, std::int64_t dim) {
  if (find_computed(module, name) != nullptr) {
    throw std::invalid_argument(fmt::format("[weight_norm] '{}' is parametrized already", name));
  }
  const Tensor weight = require_parameter(module, name);
  Tensor length;
  {
    const NoGradGuard no_grad;
    length = ops::norm_except_dim(weight, 2, dim);
  }
  ModuleEditor(module).take_parameter(name);
  const ModulePtr list =
      add_parametrization(module, name, std::make_shared<PartsModule>("_WeightNorm"));
  ModuleEditor parts(*list);
  parts.add_parameter("original0", new_parameter(length, weight.requires_grad()));
  parts.add_parameter("original1", new_parameter(weight, weight.requires_grad()));
  ModuleEditor(module).compute(std::make_shared<ParametrizedWeightNorm>(name, dim));
}

}  // namespace ohm::nn
