#include "runtime/func/swapped_state.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "runtime/nn/module_walk.h"

namespace ohm::func {
namespace {

void put(nn::Module& module, std::size_t index, bool is_buffer, Tensor tensor) {
  if (is_buffer) return module.set_own_buffer(index, std::move(tensor));
  module.set_own_parameter(index, std::move(tensor));
}

std::vector<nn::NamedTensor> state_of(const nn::Module& module) {
  std::vector<nn::NamedTensor> state;
  nn::walk_modules(module, [&](const nn::Module& one, const std::string& prefix) {
    for (const std::vector<nn::NamedTensor>* own : {&one.own_parameters(), &one.own_buffers()}) {
      for (const nn::NamedTensor& entry : *own) {
        if (entry.tensor.defined()) state.push_back({prefix + entry.name, entry.tensor});
      }
    }
  });
  return state;
}

}  // namespace

SwappedState::SwappedState(nn::ModulePtr module, const std::vector<nn::NamedTensor>& state)
    : module_(std::move(module)) {
  const std::vector<nn::NamedTensor> own = state_of(*module_);
  for (const nn::NamedTensor& entry : state) {
    const auto found = std::find_if(own.begin(), own.end(), [&](const nn::NamedTensor& each) {
      return each.name == entry.name;
    });
    if (found == own.end()) {
      put_back();
      throw std::invalid_argument(
          fmt::format("[functional_call] {} has no parameter or buffer '{}'", module_->type_name(),
                      entry.name));
    }
    replace(found->tensor, entry.tensor);
  }
}

SwappedState::~SwappedState() { put_back(); }

void SwappedState::replace(const Tensor& own, const Tensor& other) {
  nn::walk_modules(*module_, [&](nn::Module& one, const std::string& /*prefix*/) {
    for (const bool is_buffer : {false, true}) {
      const auto& entries = is_buffer ? one.own_buffers() : one.own_parameters();
      for (std::size_t i = 0; i < entries.size(); ++i) {
        if (!entries[i].tensor.defined() || !entries[i].tensor.is_same(own)) continue;
        places_.push_back({one.shared_from_this(), i, is_buffer, own});
        put(one, i, is_buffer, other);
      }
    }
  });
}

void SwappedState::put_back() {
  for (Place& place : places_) put(*place.module, place.index, place.is_buffer, place.own);
  places_.clear();
}

}  // namespace ohm::func
