#include "harness/lua/libraries/checkpoint_library.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>
#include <vector>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/mode.h"
#include "harness/lua/bind/module_handle.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/script_function.h"
#include "harness/lua/bind/tensor_handle.h"
#include "runtime/autograd/checkpoint.h"
#include "runtime/nn/sequential.h"

namespace ohm::lua {
namespace {

CheckpointOptions options_argument(const NamedArguments& named) {
  constexpr std::string_view kNames[] = {"determinism_check", "preserve_rng_state",
                                         "use_reentrant"};
  named.check_names(kNames);
  CheckpointOptions options;
  options.variant = named.boolean("use_reentrant", true) ? Checkpointing::reentrant
                                                         : Checkpointing::non_reentrant;
  options.preserves_random_state = named.boolean("preserve_rng_state", true);
  options.checks_determinism = named.boolean("determinism_check", true);
  return options;
}

// checkpoint(function, … [, {use_reentrant, …}]): what the function returns.
int checkpoint_function(lua_State* L) {
  const NamedArguments named(L, "checkpoint");
  const CheckpointOptions options = options_argument(named);
  ScriptFunction function(L, 1, "checkpoint");
  const std::vector<Tensor> inputs = function.bind_arguments(L, 2, named.positional_count());
  const std::vector<Tensor> outputs = checkpoint(function, inputs, options);
  return function.push_first_results(L, outputs);
}

// ---- checkpoint_sequential ----------------------------------------------------------------------

std::vector<ScriptFunction> functions_argument(lua_State* L) {
  constexpr ArgumentName kCheckpointName{"checkpoint_sequential", "functions"};
  std::vector<ScriptFunction> functions;
  if (lua_type(L, 1) == LUA_TTABLE) {
    const auto count = static_cast<lua_Integer>(lua_rawlen(L, 1));
    for (lua_Integer i = 1; i <= count; ++i) {
      lua_rawgeti(L, 1, i);
      functions.emplace_back(L, lua_gettop(L), kCheckpointName.function);
      lua_pop(L, 1);
    }
    return functions;
  }
  const nn::ModulePtr* module = test_handle<nn::ModulePtr>(L, 1);
  if (module == nullptr || dynamic_cast<const nn::Sequential*>(module->get()) == nullptr) {
    refuse_argument(L, 1, kCheckpointName, "a Sequential or a list of functions and modules");
  }
  for (const nn::NamedModule& child : (*module)->children()) {
    push_module(L, child.module);
    functions.emplace_back(L, lua_gettop(L), kCheckpointName.function);
    lua_pop(L, 1);
  }
  return functions;
}

// The functions one after the other, each intermediate result let go as soon as the next is there.
class FunctionChain {
 public:
  FunctionChain(std::vector<ScriptFunction>::const_iterator begin,
                std::vector<ScriptFunction>::const_iterator end)
      : functions_(begin, end) {}

  std::vector<Tensor> operator()(const std::vector<Tensor>& inputs) const {
    Tensor value = inputs.front();
    for (const ScriptFunction& function : functions_) {
      const std::vector<Tensor> results = function({value});
      if (results.size() != 1) {
        throw std::invalid_argument(
            fmt::format("[checkpoint_sequential] every function must return one tensor, not {}",
                        results.size()));
      }
      value = results.front();
    }
    return {value};
  }

 private:
  std::vector<ScriptFunction> functions_;
};

// checkpoint_sequential(functions, segments, input [, {use_reentrant, …}]): the last segment, which
// is also the longest, keeps everything.
int checkpoint_sequential(lua_State* L) {
  const NamedArguments named(L, "checkpoint_sequential");
  const CheckpointOptions options = options_argument(named);
  const std::vector<ScriptFunction> functions = functions_argument(L);
  const auto count = static_cast<std::int64_t>(functions.size());
  const std::int64_t segments = integer_argument(L, 2, {"checkpoint_sequential", "segments"});
  if (segments < 1 || segments > count) {
    throw std::invalid_argument(fmt::format(
        "[checkpoint_sequential] {} functions cannot be split into {} segments", count, segments));
  }
  std::vector<Tensor> value = {tensor_argument(L, 3, {"checkpoint_sequential", "input"})};
  const std::int64_t length = count / segments;
  auto first = functions.begin();
  for (std::int64_t segment = 1; segment < segments; ++segment, first += length) {
    value = checkpoint(FunctionChain(first, first + length), value, options);
  }
  push_tensor(L, FunctionChain(first, functions.end())(value).front());
  return 1;
}

int set_checkpoint_early_stop(lua_State* L) {
  const bool is_enabled = boolean_argument(L, 1, {"set_checkpoint_early_stop", "enable"});
  return enter_mode(L, 2, {"set_checkpoint_early_stop", "fn"},
                    std::make_shared<EarlyStopGuard>(is_enabled));
}

constexpr luaL_Reg kCheckpointFunctions[] = {
    {"checkpoint", native<checkpoint_function>},
    {"checkpoint_sequential", native<checkpoint_sequential>},
    {"set_checkpoint_early_stop", native<set_checkpoint_early_stop>},
};

}  // namespace

std::span<const luaL_Reg> checkpoint_functions() { return kCheckpointFunctions; }

}  // namespace ohm::lua
