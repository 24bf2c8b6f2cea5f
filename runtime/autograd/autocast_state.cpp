#include "runtime/autograd/autocast_state.h"

#include <fmt/core.h>

#include <stdexcept>

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

AutocastSettings autocast_settings() {
  const AutocastState* state = Context::current().state.autocast.get();
  return state == nullptr ? AutocastSettings() : static_cast<const AutocastSettings&>(*state);
}

AutocastGuard::AutocastGuard(bool enabled, DType dtype, bool caches_casts)
    : AutocastGuard(AutocastSettings{enabled, caches_casts, dtype}) {}

AutocastGuard::AutocastGuard(const AutocastSettings& settings) {
  if (settings.dtype != DType::float16 && settings.dtype != DType::bfloat16) {
    throw std::invalid_argument(fmt::format("[autocast] dtype must be float16 or bfloat16, not {}",
                                            name_of(settings.dtype)));
  }
  auto& slot = Context::current().state.autocast;
  if (!slot) slot = std::make_shared<AutocastState>();
  state_ = slot;
  previous_ = std::exchange(static_cast<AutocastSettings&>(*state_), settings);
  ++state_->depth;
}

AutocastGuard::~AutocastGuard() {
  if (--state_->depth == 0) state_->cache.clear();
  static_cast<AutocastSettings&>(*state_) = previous_;
}

}  // namespace ohm
