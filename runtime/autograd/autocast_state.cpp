#include "runtime/autograd/autocast_state.h"

#include "runtime/tensor/context.h"

namespace ohm {

Tensor CastCache::find(const Tensor& original) const {
  const auto found = places_.find(original.impl());
  return found == places_.end() ? Tensor() : entries_[found->second].cast;
}

void CastCache::add(const Tensor& original, const Tensor& cast) {
  places_[original.impl()] = entries_.size();
  entries_.push_back({original, cast});
}

void CastCache::clear() {
  places_.clear();
  for (Entry& entry : entries_) entry = Entry();
  entries_.clear();
}

}  // namespace ohm
