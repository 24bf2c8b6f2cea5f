#include "harness/lua/libraries/libraries.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "harness/lua/bind/op_functions.h"
#include "harness/lua/bind/tensor_comparison.h"
#include "harness/lua/bind/tensor_methods.h"
#include "harness/lua/libraries/amp_library.h"
#include "harness/lua/libraries/average_functions.h"
#include "harness/lua/libraries/averaging_library.h"
#include "harness/lua/libraries/backend_library.h"
#include "harness/lua/libraries/checkpoint_library.h"
#include "harness/lua/libraries/collective_library.h"
#include "harness/lua/libraries/cuda_graph_library.h"
#include "harness/lua/libraries/cuda_library.h"
#include "harness/lua/libraries/cuda_state_library.h"
#include "harness/lua/libraries/dataset_library.h"
#include "harness/lua/libraries/deep_copy_library.h"
#include "harness/lua/libraries/distributed_call.h"
#include "harness/lua/libraries/factory_library.h"
#include "harness/lua/libraries/fault_library.h"
#include "harness/lua/libraries/function_library.h"
#include "harness/lua/libraries/generator_library.h"
#include "harness/lua/libraries/gradient_library.h"
#include "harness/lua/libraries/hook_library.h"
#include "harness/lua/libraries/init_library.h"
#include "harness/lua/libraries/loader_library.h"
#include "harness/lua/libraries/lr_scheduler_library.h"
#include "harness/lua/libraries/memory_history_library.h"
#include "harness/lua/libraries/mode_library.h"
#include "harness/lua/libraries/module_library.h"
#include "harness/lua/libraries/monitor_library.h"
#include "harness/lua/libraries/number_library.h"
#include "harness/lua/libraries/object_library.h"
#include "harness/lua/libraries/optimizer_library.h"
#include "harness/lua/libraries/packed_sequence_library.h"
#include "harness/lua/libraries/parallel_library.h"
#include "harness/lua/libraries/process_group_library.h"
#include "harness/lua/libraries/reparametrization_library.h"
#include "harness/lua/libraries/runtime_library.h"
#include "harness/lua/libraries/scenario_library.h"
#include "harness/lua/libraries/serialization_library.h"
#include "harness/lua/libraries/sharded_optimizer_library.h"
#include "harness/lua/libraries/stream_library.h"
#include "harness/lua/vm/push_text.h"
#include "runtime/arithmetic/memory_format.h"
#include "runtime/base/dtype.h"

namespace ohm::lua {
namespace {

template <ops::Exposure E>
bool push_op(lua_State* L, std::string_view name) {
  return push_op_function(L, name, E);
}

template <ops::Exposure E>
std::vector<std::string> names_of_ops() {
  return op_names(E);
}

// ohm.float16 is "float16": dtypes are compared and printed by name.
bool push_dtype(lua_State* L, std::string_view name) {
  const auto* dtype = std::find_if(kDTypes.begin(), kDTypes.end(),
                                   [&](const DTypeInfo& known) { return known.name == name; });
  if (dtype == kDTypes.end()) return false;
  push_text(L, name);
  return true;
}

// ohm.channels_last is "channels_last".
bool push_memory_format(lua_State* L, std::string_view name) {
  if (std::find(kMemoryFormats.begin(), kMemoryFormats.end(), name) == kMemoryFormats.end()) {
    return false;
  }
  push_text(L, name);
  return true;
}

bool push_op_or_constant(lua_State* L, std::string_view name) {
  return push_dtype(L, name) || push_memory_format(L, name) || push_constant(L, name) ||
         push_op<ops::kFunction>(L, name);
}

std::vector<std::string> names_of_ops_and_constants() {
  std::vector<std::string> names = op_names(ops::kFunction);
  for (const DTypeInfo& dtype : kDTypes) names.emplace_back(dtype.name);
  names.insert(names.end(), kMemoryFormats.begin(), kMemoryFormats.end());
  const std::vector<std::string> constants = constant_names();
  names.insert(names.end(), constants.begin(), constants.end());
  return names;
}

}  // namespace

std::span<const Library> libraries() {
  static const std::array kLibraries = {
      Library{"ohm",
              {runtime_functions(), tensor_comparisons(), factory_functions(),
               generator_functions(), mode_functions(), object_functions(), scenario_functions(),
               monitor_functions(), serialization_functions(), number_functions(),
               tensor_functions(), precision_functions()},
              push_op_or_constant,
              names_of_ops_and_constants},
      Library{"ohm.cuda",
              {cuda_device_functions(), cuda_memory_functions(), cuda_memory_tables(),
               cuda_state_functions(), stream_functions(), cuda_graph_functions()}},
      Library{"ohm.cuda.memory",
              {cuda_memory_functions(), cuda_memory_tables(), memory_history_functions()}},
      Library{"ohm.fault", {fault_functions()}, push_fault_policy, fault_policy_names},
      Library{"ohm.gc", {gc_functions()}},
      Library{"ohm.copy", {copy_functions()}},
      Library{"ohm.amp", {amp_functions(), autocast_functions()}},
      Library{"ohm.cuda.amp", {amp_functions(), autocast_functions()}},
      Library{"ohm.distributed",
              {distributed_functions(), collective_functions(), process_group_functions(),
               point_to_point_functions()}},
      Library{"ohm.distributed.ReduceOp", {}, push_reduction, reduction_names},
      Library{"ohm.distributed.group", {}, nullptr, nullptr, group_properties()},
      Library{"ohm.distributed.optim", {sharded_optimizer_functions()}},
      Library{"ohm.nn",
              {module_functions(), data_parallel_functions()},
              push_module_constructor,
              module_constructor_names},
      Library{"ohm.nn.attention", {attention_functions()}},
      Library{"ohm.nn.init", {init_functions()}},
      Library{"ohm.nn.attention.SDPBackend", {}, push_attention_backend, attention_backend_names},
      Library{"ohm.nn.functional", {}, push_op<ops::kFunctional>, names_of_ops<ops::kFunctional>},
      Library{"ohm.nn.utils",
              {reparametrization_functions()},
              push_op<ops::kUtility>,
              names_of_ops<ops::kUtility>},
      Library{"ohm.nn.utils.parametrizations", {parametrization_functions()}},
      Library{"ohm.nn.utils.rnn", {packed_sequence_functions()}},
      Library{"ohm.nn.parallel", {data_parallel_functions(), distributed_module_functions()}},
      Library{"ohm.optim", {}, push_optimizer_constructor, optimizer_names},
      Library{"ohm.optim.swa_utils",
              {averaging_functions(), average_functions()},
              push_averaging_scheduler,
              averaging_scheduler_names},
      Library{"ohm.optim.lr_scheduler",
              {lr_scheduler_functions()},
              push_lr_scheduler_constructor,
              lr_scheduler_names},
      Library{"ohm.backends", {}},
      Library{"ohm.backends.cuda", {attention_switches()}, nullptr, nullptr, cuda_properties()},
      Library{"ohm.backends.cuda.matmul", {}, nullptr, nullptr, matmul_properties()},
      Library{"ohm.backends.cudnn", {}, nullptr, nullptr, cudnn_properties()},
      Library{"ohm.autograd", {gradient_functions(), function_functions()}},
      Library{"ohm.autograd.graph", {graph_functions()}},
      Library{"ohm.utils", {}},
      Library{"ohm.utils.checkpoint", {checkpoint_functions()}},
      Library{"ohm.utils.data",
              {dataset_functions(), loader_functions()},
              push_dataset_class,
              dataset_class_names},
  };
  return kLibraries;
}

}  // namespace ohm::lua
