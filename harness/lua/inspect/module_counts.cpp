#include "harness/lua/inspect/module_counts.h"

#include <memory>
#include <unordered_set>
#include <vector>

#include "harness/lua/bind/module_handle.h"
#include "harness/lua/bind/script_hooks.h"

namespace ohm::lua {
namespace {

class Count {
 public:
  /// A module and all below it, as far as they are not counted yet.
  void add(const nn::Module& first) {
    std::vector<const nn::Module*> waiting = {&first};
    while (!waiting.empty()) {
      const nn::Module& module = *waiting.back();
      waiting.pop_back();
      if (!seen_.insert(&module).second) continue;
      add_own(module);
      for (const nn::NamedModule& child : module.children()) waiting.push_back(child.module.get());
    }
  }

  const engine::ModuleCounts& counts() const { return counts_; }

 private:
  void add_own(const nn::Module& module) {
    if (!module.is_training()) ++counts_.evaluating;
    if (const auto hooks = std::dynamic_pointer_cast<ScriptHooks>(module.hooks())) {
      counts_.hooks += static_cast<std::int64_t>(hooks->size());
    }
    for (const nn::NamedTensor& entry : module.own_parameters()) {
      if (!entry.tensor.defined() || !seen_.insert(entry.tensor.impl()).second) continue;
      if (!entry.tensor.requires_grad()) ++counts_.frozen_parameters;
    }
  }

  std::unordered_set<const void*> seen_;
  engine::ModuleCounts counts_;
};

}  // namespace

engine::ModuleCounts module_counts_of(lua_State* L) {
  Count count;
  for (const nn::ModulePtr& module : modules_with_handles(L)) count.add(*module);
  return count.counts();
}

}  // namespace ohm::lua
