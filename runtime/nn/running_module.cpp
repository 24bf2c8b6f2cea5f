#include "runtime/nn/running_module.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace ohm::nn {

namespace {

std::string_view name_of(const RunningModule& call) {
  if (call.caller != nullptr) {
    const std::vector<NamedModule>& children = call.caller->module.children();
    const auto found =
        std::find_if(children.begin(), children.end(),
                     [&](const NamedModule& child) { return child.module.get() == &call.module; });
    if (found != children.end()) return found->name;
  }
  return call.module.type_name();
}

}  // namespace

std::string running_module_path(const RunningModule* innermost) {
  std::vector<const RunningModule*> calls;
  for (const RunningModule* call = innermost; call != nullptr; call = call->caller) {
    calls.push_back(call);
  }
  std::string path;
  for (std::size_t i = calls.size(); i-- > 0;) {
    if (!path.empty()) path += '.';
    path += name_of(*calls[i]);
  }
  return path;
}

}  // namespace ohm::nn
