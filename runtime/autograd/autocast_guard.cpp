#include "runtime/autograd/autocast_guard.h"

#include <fmt/core.h>

#include <stdexcept>
#include <utility>

#include "runtime/autograd/autograd_state.h"

namespace ohm {

AutocastSettings autocast_settings() {
  const AutocastState* state = find_autocast_state();
  return state == nullptr ? AutocastSettings() : static_cast<const AutocastSettings&>(*state);
}

AutocastGuard::AutocastGuard(bool enabled, DType dtype, bool caches_casts)
    : AutocastGuard(AutocastSettings{enabled, caches_casts, dtype}) {}

AutocastGuard::AutocastGuard(const AutocastSettings& settings) {
  if (settings.dtype != DType::float16 && settings.dtype != DType::bfloat16) {
    throw std::invalid_argument(fmt::format("[autocast] dtype must be float16 or bfloat16, not {}",
                                            name_of(settings.dtype)));
  }
  auto& slot = autograd_state().autocast;
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
