#include "runtime/autograd/forward_environment.h"

#include "runtime/autograd/autocast_guard.h"
#include "runtime/tensor/context.h"

#include <algorithm>

namespace ohm {
namespace {

using SavedGenerators = std::vector<std::pair<Device, PhiloxGenerator>>;

void restore(const SavedGenerators& generators) {
  for (const auto& [device, generator] : generators) {
    Context::current().slot(device).generator = generator;
  }
}

SavedGenerators current(SavedGenerators generators) {
  for (auto& [device, generator] : generators) {
    generator = Context::current().slot(device).generator;
  }
  return generators;
}

}  // namespace

ForwardEnvironment::ForwardEnvironment(const std::vector<Tensor>& inputs, bool keeps_random_state)
    : autocast_(autocast_settings()) {
  if (!keeps_random_state) return;
  const auto keep = [this](Device device) {
    const bool is_kept = std::any_of(generators_.begin(), generators_.end(),
                                     [&](const auto& kept) { return kept.first == device; });
    if (!is_kept) generators_.emplace_back(device, Context::current().slot(device).generator);
  };
  keep(Device::cpu());
  for (const Tensor& input : inputs) keep(input.device());
}

ForwardEnvironment::Scope::Scope(const ForwardEnvironment& environment)
    : surrounding_(current(environment.generators_)),
      grad_mode_(true),
      category_(Category::activation),
      autocast_(environment.autocast_) {
  restore(environment.generators_);
}

ForwardEnvironment::Scope::~Scope() { restore(surrounding_); }

}  // namespace ohm
