#include "harness/lua/libraries/dataset_library.h"

#include <fmt/format.h>

#include <memory>
#include <stdexcept>
#include <utility>

#include "harness/lua/bind/native.h"
#include "harness/lua/bind/object_handle.h"
#include "harness/lua/bind/op_arguments.h"
#include "harness/lua/bind/tensor_handle.h"
#include "harness/lua/libraries/generator_library.h"
#include "harness/lua/vm/interpreter.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/ops/shape/slice.h"
#include "runtime/ops/shape/view.h"
#include "runtime/tensor/context.h"

namespace ohm::lua {

struct TensorDataset {
  std::vector<Tensor> tensors;
};
using TensorDatasetPtr = std::shared_ptr<TensorDataset>;

template <>
struct HandleOf<TensorDatasetPtr> {
  static const HandleClass kClass;
};

namespace {

constexpr ArgumentName kDatasetArgument{"DataLoader", "dataset"};

[[noreturn]] void refuse_dataset(lua_State* L, int index) {
  refuse_argument(L, index, kDatasetArgument,
                  "a data set: a table with __len and __getitem, a list, a tensor, …");
}

void check_item(std::int64_t item, std::int64_t size) {
  if (item >= 0 && item < size) return;
  throw std::invalid_argument(fmt::format(
      "[Dataset] index {} is out of range: the data set has {} items, counted from 0", item, size));
}

// ---- tables -------------------------------------------------------------------------------------

// Whether the table has this function, which is pushed then.
bool push_function(lua_State* L, int table, const char* name) {
  lua_getfield(L, table, name);
  if (lua_type(L, -1) == LUA_TFUNCTION) return true;
  lua_pop(L, 1);
  return false;
}

std::int64_t size_of_table(lua_State* L, int table) {
  if (!push_function(L, table, "__len")) return static_cast<std::int64_t>(lua_rawlen(L, table));
  lua_pushvalue(L, table);
  lua_call(L, 1, 1);
  constexpr std::int64_t kMostItems = std::int64_t{1} << 40U;  // their order would take terabytes
  const std::int64_t size = integer_argument(L, -1, {"Dataset", "result of __len"});
  if (size < 0 || size > kMostItems) {
    throw std::invalid_argument(
        fmt::format("[Dataset] __len must return the number of items, got {}", size));
  }
  lua_pop(L, 1);
  return size;
}

int push_item_of_table(lua_State* L, int table, std::int64_t item) {
  const int top = lua_gettop(L);
  if (!push_function(L, table, "__getitem")) {
    check_item(item, static_cast<std::int64_t>(lua_rawlen(L, table)));
    lua_rawgeti(L, table, item + 1);
    return 1;
  }
  lua_pushvalue(L, table);
  lua_pushinteger(L, item);
  lua_call(L, 2, LUA_MULTRET);
  return lua_gettop(L) - top;
}

// ---- handles ------------------------------------------------------------------------------------

void push_entry(lua_State* L, const Tensor& tensor, std::int64_t item) {
  if (tensor.dims() == 0)
    refuse_argument(L, 1, kDatasetArgument, "a tensor with at least one dimension");
  push_tensor(L, ops::select(tensor, 0, item));
}

int push_item_of_handle(lua_State* L, int index, std::int64_t item) {
  const int height = lua_gettop(L);
  if (const auto* set = test_object<TensorDataset>(L, index)) {
    for (const Tensor& tensor : (*set)->tensors) push_entry(L, tensor, item);
    return lua_gettop(L) - height;
  }
  push_entry(L, tensor_argument(L, index, kDatasetArgument), item);
  return 1;
}

// ---- constructors -------------------------------------------------------------------------------

// TensorDataset(tensor, …): item i is entry i of each.
int tensor_dataset(lua_State* L) {
  auto set = std::make_shared<TensorDataset>();
  for (int index = 1; index <= lua_gettop(L); ++index) {
    const Tensor& tensor = tensor_argument(L, index, {"TensorDataset", "tensor"});
    if (tensor.dims() == 0 ||
        tensor.size(0) != (set->tensors.empty() ? tensor.size(0) : set->tensors[0].size(0))) {
      throw std::invalid_argument("[TensorDataset] the first dimensions differ: " +
                                  tensor.shape().str());
    }
    set->tensors.push_back(tensor);
  }
  if (set->tensors.empty()) throw std::invalid_argument("[TensorDataset] needs a tensor");
  push_handle<TensorDatasetPtr>(L, std::move(set));
  return 1;
}

int dataset_length(lua_State* L) {
  lua_pushinteger(L, dataset_size(L, 1));
  return 1;
}

int index_dataset(lua_State* L) {
  const std::int64_t item = integer_argument(L, 2, {"Dataset", "index"});
  const std::int64_t size = dataset_size(L, 1);
  check_item(item, size);
  return push_dataset_item(L, 1, item);
}

// `set[i]` is the first value of the item; `set(i)` is all of them.
constexpr luaL_Reg kDatasetMetamethods[] = {
    {"__call", native<index_dataset>},
    {"__index", native<index_dataset>},
    {"__len", native<dataset_length, Entry::access>},
};

constexpr luaL_Reg kDatasetFunctions[] = {
    {"TensorDataset", native<tensor_dataset>},
};

// ---- classes of the script ----------------------------------------------------------------------

// `#instance` works only when the class itself has the function.
void inherit_length(lua_State* L, int class_table) {
  lua_pushstring(L, "__len");
  if (lua_rawget(L, class_table) == LUA_TNIL && push_function(L, class_table, "__len")) {
    Interpreter::of(L).lifetimes().note_unknown_write();
    lua_setfield(L, class_table, "__len");
  }
  lua_pop(L, 1);
}

// Class(…): a new instance, set up by the class's __init.
int construct(lua_State* L) {
  inherit_length(L, 1);
  lua_newtable(L);
  lua_pushvalue(L, 1);
  lua_setmetatable(L, -2);
  const int instance = lua_gettop(L);
  if (push_function(L, 1, "__init")) {
    lua_pushvalue(L, instance);
    for (int index = 2; index < instance; ++index) lua_pushvalue(L, index);
    lua_call(L, instance - 1, 0);
  }
  lua_settop(L, instance);
  return 1;
}

// Dataset:extend(): a class whose functions are looked up in its parent's after its own.
int extend(lua_State* L) {
  if (lua_type(L, 1) != LUA_TTABLE) refuse_argument(L, 1, {"extend", "self"}, "a class");
  lua_newtable(L);
  lua_pushvalue(L, -1);
  lua_setfield(L, -2, "__index");
  lua_createtable(L, 0, 2);
  lua_pushvalue(L, 1);
  lua_setfield(L, -2, "__index");
  lua_pushcfunction(L, native<construct>);
  lua_setfield(L, -2, "__call");
  lua_setmetatable(L, -2);
  return 1;
}

// Dataset{__len = …, __getitem = …, …}: the table itself.
int dataset_of_table(lua_State* L) {
  if (lua_type(L, 2) != LUA_TTABLE || !push_function(L, 2, "__getitem") ||
      !push_function(L, 2, "__len")) {
    refuse_argument(L, 2, {"Dataset", "fields"}, "a table with __len and __getitem");
  }
  lua_createtable(L, 0, 1);
  lua_insert(L, -2);
  lua_setfield(L, -2, "__len");
  Interpreter::of(L).lifetimes().before_metatable(L, 2, -1);
  lua_setmetatable(L, 2);
  lua_settop(L, 2);
  return 1;
}

}  // namespace

const HandleClass HandleOf<TensorDatasetPtr>::kClass = {"TensorDataset", kDatasetMetamethods};

std::int64_t dataset_size(lua_State* L, int index) {
  if (lua_type(L, index) == LUA_TTABLE) return size_of_table(L, lua_absindex(L, index));
  if (const auto* set = test_object<TensorDataset>(L, index)) return (*set)->tensors[0].size(0);
  const Tensor* tensor = test_handle<Tensor>(L, index);
  if (tensor == nullptr || !tensor->defined() || tensor->dims() == 0) refuse_dataset(L, index);
  return tensor->size(0);
}

int push_dataset_item(lua_State* L, int index, std::int64_t item) {
  luaL_checkstack(L, LUA_MINSTACK, "too many values");
  const int set = lua_absindex(L, index);
  if (lua_type(L, set) == LUA_TTABLE) return push_item_of_table(L, set, item);
  check_item(item, dataset_size(L, set));
  return push_item_of_handle(L, set, item);
}

bool push_dataset_class(lua_State* L, std::string_view name) {
  if (name != "Dataset") return false;
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, native<extend>);
  lua_setfield(L, -2, "extend");
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, native<dataset_of_table>);
  lua_setfield(L, -2, "__call");
  lua_setmetatable(L, -2);
  return true;
}

std::vector<std::string> dataset_class_names() { return {"Dataset"}; }

std::span<const luaL_Reg> dataset_functions() { return kDatasetFunctions; }

}  // namespace ohm::lua
