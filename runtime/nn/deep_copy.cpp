#include "runtime/nn/deep_copy.h"

#include <stdexcept>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/nn/module_walk.h"
#include "runtime/tensor/context.h"

namespace ohm::nn {
namespace {

/// With tensors of its own and the original's children.
ModulePtr copied_with(const Module& module, DeepCopies& copies) {
  const CategoryGuard guard(Category::parameter);
  ModulePtr copy = module.shallow_copy();
  for (std::size_t i = 0; i < copy->own_parameters().size(); ++i) {
    copy->set_own_parameter(i, copies.parameter(module.own_parameters()[i].tensor));
  }
  for (std::size_t i = 0; i < copy->own_buffers().size(); ++i) {
    copy->set_own_buffer(i, copies.tensor(module.own_buffers()[i].tensor));
  }
  return copy;
}

}  // namespace

Tensor DeepCopies::parameter(const Tensor& tensor) {
  if (!tensor.defined()) return tensor;
  Tensor& copy = tensors_[tensor.impl()];
  if (!copy.defined()) {
    copy = copy_of(tensor);
    copy.set_requires_grad(tensor.requires_grad());
  }
  return copy;
}

Tensor DeepCopies::tensor(const Tensor& tensor) {
  if (!tensor.defined()) return tensor;
  if (const auto known = tensors_.find(tensor.impl()); known != tensors_.end()) {
    return known->second;
  }
  if (!tensor.is_leaf()) {
    throw std::invalid_argument(
        "[deepcopy] only tensors created explicitly by the user support the deepcopy protocol");
  }
  Tensor copy = copy_with_storage(tensor);
  copy.set_requires_grad(tensor.requires_grad());
  if (tensor.grad().defined()) copy.set_grad(this->tensor(tensor.grad()));
  tensors_.emplace(tensor.impl(), copy);
  return copy;
}

Tensor DeepCopies::copy_with_storage(const Tensor& tensor) {
  Tensor& whole = storages_[&tensor.storage()];
  if (!whole.defined()) whole = copy_of_storage(tensor);
  // PyTorch makes a tensor of one element and gives it the storage.
  const Tensor shell = empty({}, options_of(tensor));
  Tensor copy = make_view(whole, tensor.shape(), tensor.strides(), tensor.impl()->offset);
  copy.impl()->is_view = false;
  return copy;
}

ModulePtr deep_copy(const Module& original) {
  DeepCopies tensors;
  std::unordered_map<const Module*, ModulePtr> copies;
  walk_modules(
      original,
      [&](const Module& module, const std::string& /*prefix*/) {
        copies[&module] = copied_with(module, tensors);
      },
      [&](const Module& module) {
        Module& copy = *copies.at(&module);
        for (std::size_t i = 0; i < copy.children().size(); ++i) {
          copy.set_child(i, copies.at(module.children()[i].module.get()));
        }
      });
  return copies.at(&original);
}

}  // namespace ohm::nn
