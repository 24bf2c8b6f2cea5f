#include "runtime/nn/deep_copy.h"

#include <unordered_map>

#include "runtime/arithmetic/copy.h"
#include "runtime/nn/module_walk.h"
#include "runtime/tensor/context.h"

namespace ohm::nn {
namespace {

// The copies that were made: a tensor is copied once.
class TensorCopies {
 public:
  Tensor copy_of(const Tensor& tensor, Category category) {
    if (!tensor.defined()) return tensor;
    Tensor& copy = copies_[tensor.impl()];
    if (!copy.defined()) {
      const CategoryGuard guard(category);
      copy = ohm::copy_of(tensor);
      copy.set_requires_grad(tensor.requires_grad());
    }
    return copy;
  }

 private:
  std::unordered_map<const TensorImpl*, Tensor> copies_;
};

/// With tensors of its own and the original's children.
ModulePtr copied_with(const Module& module, TensorCopies& copies) {
  ModulePtr copy = module.shallow_copy();
  for (std::size_t i = 0; i < copy->own_parameters().size(); ++i) {
    copy->set_own_parameter(i,
                            copies.copy_of(module.own_parameters()[i].tensor, Category::parameter));
  }
  for (std::size_t i = 0; i < copy->own_buffers().size(); ++i) {
    copy->set_own_buffer(i, copies.copy_of(module.own_buffers()[i].tensor, Category::parameter));
  }
  return copy;
}

}  // namespace

ModulePtr deep_copy(const Module& original) {
  TensorCopies tensors;
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
