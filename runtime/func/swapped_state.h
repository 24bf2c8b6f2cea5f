// torch.func.functional_call: a module that is called with other parameters and buffers than its
// own.
#pragma once

#include <string>
#include <vector>

#include "runtime/nn/module.h"

namespace ohm::func {

/// `state` stands in the places of the module's tensors of those names, "0.weight", while the scope
/// lives. A tensor that stands in several places is replaced in all of them.
class SwappedState {
 public:
  /// Throws std::invalid_argument for a name that the module does not have, and for another shape.
  SwappedState(nn::ModulePtr module, const std::vector<nn::NamedTensor>& state);
  ~SwappedState();
  SwappedState(const SwappedState&) = delete;
  SwappedState& operator=(const SwappedState&) = delete;

 private:
  struct Place {
    nn::ModulePtr module;
    std::size_t index;
    bool is_buffer;
    Tensor own;
  };
  void replace(const Tensor& own, const Tensor& other);
  void put_back();

  nn::ModulePtr module_;
  std::vector<Place> places_;
};

}  // namespace ohm::func
