#include "harness/lua/libraries/script_bindings.h"

#include <algorithm>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "harness/lua/bind/module_handle.h"
#include "harness/lua/bind/module_metatable.h"
#include "harness/lua/bind/module_methods.h"
#include "harness/lua/bind/module_parts.h"
#include "harness/lua/bind/out_of_memory_value.h"
#include "harness/lua/bind/tensor_comparison.h"
#include "harness/lua/bind/tensor_handle.h"
#include "harness/lua/bind/tensor_metatable.h"
#include "harness/lua/bind/tensor_methods.h"
#include "harness/lua/libraries/factory_library.h"
#include "harness/lua/libraries/hook_library.h"
#include "harness/lua/libraries/object_library.h"
#include "harness/lua/libraries/sandbox.h"
#include "harness/lua/libraries/stream_library.h"

namespace ohm::lua {
namespace {

std::vector<luaL_Reg> merged(std::initializer_list<std::span<const luaL_Reg>> lists) {
  std::vector<luaL_Reg> methods;
  for (const auto list : lists) methods.insert(methods.end(), list.begin(), list.end());
  std::sort(methods.begin(), methods.end(), [](const luaL_Reg& a, const luaL_Reg& b) {
    return std::string_view(a.name) < std::string_view(b.name);
  });
  return methods;
}

}  // namespace

const Bindings& script_bindings() {
  static const Bindings kBindings = {
      .open_globals = open_sandbox,
      .push_out_of_memory = push_out_of_memory,
      .test_out_of_memory = test_out_of_memory,
      .settle_dying_objects = settle_dying_objects,
      .classes = {{&HandleOf<Tensor>::kClass, tensor_metamethods(),
                   merged({tensor_methods(), tensor_comparisons(), tensor_factory_methods(),
                           tensor_hook_methods(), tensor_stream_methods()})},
                  {&HandleOf<nn::ModulePtr>::kClass, module_metamethods(),
                   merged({module_methods(), module_part_methods(), module_hook_methods()})}},
  };
  return kBindings;
}

}  // namespace ohm::lua
