// A walk over a module and all below it, depth first: without recursion, so that modules may be
// nested as deep as memory allows.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_set>
#include <vector>

namespace ohm::nn {

/// Calls enter(module, prefix) before a module's children are looked at and leave(module) after
/// them, each module once. The prefix is what names get in front that are the module's own:
/// "layers.0."; of the first module it is empty. ModuleType: Module, or const Module; it is not
/// named here, for modules themselves walk.
template <class ModuleType, class Enter, class Leave>
void walk_modules(ModuleType& first, Enter&& enter, Leave&& leave) {
  struct Entered {
    ModuleType* module;
    std::size_t next_child;
    std::size_t prefix_bytes;
  };
  std::string prefix;
  std::unordered_set<const void*> seen = {&first};
  std::vector<Entered> entered = {{&first, 0, 0}};
  enter(first, prefix);
  while (!entered.empty()) {
    Entered& last = entered.back();
    if (last.next_child == last.module->children().size()) {
      leave(*last.module);
      entered.pop_back();
      continue;
    }
    const auto& child = last.module->children()[last.next_child++];
    if (!seen.insert(child.module.get()).second) continue;
    prefix.resize(last.prefix_bytes);
    prefix.append(child.name).append(1, '.');
    entered.push_back({child.module.get(), 0, prefix.size()});
    enter(*child.module, prefix);
  }
}

template <class ModuleType, class Enter>
void walk_modules(ModuleType& first, Enter&& enter) {
  walk_modules(first, enter, [](const ModuleType& /*module*/) {});
}

}  // namespace ohm::nn
