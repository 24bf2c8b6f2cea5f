#include "runtime/lifetimes/lifetimes.h"

namespace ohm {

thread_local EndedUpdate* EndedUpdate::current = nullptr;

void EndedUpdate::add(Tensor variable) {
  if (current != nullptr) current->variables_.push_back(std::move(variable));
}

void TemporaryList::end_by_error() {
  if (tensors_.size() < size_) {
    for (Tensor& tensor : tensors_) tensor = Tensor();
    return;
  }
  for (std::size_t i = tensors_.size(); i-- > 0;) EndedUpdate::add(std::move(tensors_[i]));
}

}  // namespace ohm
