#include "harness/lua/libraries/loader_batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

#include "harness/lua/bind/object_handle.h"
#include "harness/lua/bind/tensor_handle.h"
#include "harness/lua/libraries/collate.h"
#include "harness/lua/libraries/dataset_library.h"
#include "harness/lua/vm/interpreter.h"
#include "runtime/ops/conversion/convert.h"

namespace ohm::lua {
namespace {

using data::Indices;

// ---- which items --------------------------------------------------------------------------------

data::EpochOptions epoch_of(const LoaderOptions& options) {
  return {std::max<std::int64_t>(options.batch_size, 1), options.shuffles, options.drops_last,
          options.generator};
}

std::int64_t items_of(lua_State* L, int loader) {
  lua_getiuservalue(L, loader, kDataset);
  const std::int64_t items = dataset_size(L, lua_gettop(L));
  lua_pop(L, 1);
  return items;
}

// ---- one batch ----------------------------------------------------------------------------------

// A worker is a process forked from one that has used the GPU: PyTorch refuses that.
void check_worker_item(lua_State* L, int values) {
  for (int index = -values; index < 0; ++index) {
    const Tensor* tensor = test_handle<Tensor>(L, index);
    if (tensor == nullptr || !tensor->device().is_cuda()) continue;
    throw std::invalid_argument(fmt::format(
        "[DataLoader] an item of the data set is on {}: a worker process cannot use the GPU; with "
        "num_workers > 0 items have to be on the CPU",
        tensor->device().str()));
  }
}

// Packs the top `values` of the stack: a list with its length as `n`.
void pack(lua_State* L, int values) {
  lua_createtable(L, values, 1);
  lua_insert(L, -values - 1);
  for (lua_Integer i = values; i >= 1; --i) lua_rawseti(L, -static_cast<int>(i) - 1, i);
  lua_pushinteger(L, values);
  lua_setfield(L, -2, "n");
}

// Pushes the list of the items, each a packed one; returns how many values each is.
int push_items(lua_State* L, int dataset, const Indices& indices, bool in_worker) {
  lua_createtable(L, static_cast<int>(indices.size()), 0);
  const int list = lua_gettop(L);
  int values = 0;
  lua_Integer count = 0;
  for (const std::int64_t index : indices) {
    const int own = push_dataset_item(L, dataset, index);
    if (own == 0 || (count > 0 && own != values)) {
      throw std::invalid_argument(
          fmt::format("[DataLoader] item {} is {} values, others are {}", index, own, values));
    }
    values = own;
    if (in_worker) check_worker_item(L, own);
    pack(L, own);
    Interpreter::of(L).lifetimes().before_append(L, list);
    lua_rawseti(L, list, ++count);
  }
  return values;
}

// Replaces the packed items of the list at the top by their value number `number`; or, for 0 and
// several values, leaves them as they are.
void push_column(lua_State* L, int items, lua_Integer count, lua_Integer number) {
  lua_createtable(L, static_cast<int>(count), 0);
  for (lua_Integer i = 1; i <= count; ++i) {
    lua_rawgeti(L, items, i);
    lua_rawgeti(L, -1, number);
    lua_remove(L, -2);
    lua_rawseti(L, -2, i);
  }
}

// collate_fn(items): an item of several values is a list of them.
int call_collate(lua_State* L, int items, lua_Integer count, int values) {
  const int top = lua_gettop(L) - 1;  // the function stands there
  if (values == 1) {
    push_column(L, items, count, 1);
  } else {
    for (lua_Integer i = 1; i <= count; ++i) {
      lua_rawgeti(L, items, i);
      lua_pushnil(L);
      lua_setfield(L, -2, "n");
      lua_pop(L, 1);
    }
    lua_pushvalue(L, items);
  }
  lua_call(L, 1, LUA_MULTRET);
  const int results = lua_gettop(L) - top;
  if (results == 0) throw std::invalid_argument("[DataLoader] collate_fn returned nothing");
  return results;
}

// Pushes the values of a batch; returns how many there are.
int push_batch(lua_State* L, int loader, const LoaderOptions& options, const Indices& indices) {
  const bool in_worker = options.num_workers > 0;
  lua_getiuservalue(L, loader, kDataset);
  const int dataset = lua_gettop(L);
  if (options.batch_size == 0) {
    const int values = push_dataset_item(L, dataset, indices.front());
    if (in_worker) check_worker_item(L, values);
    return values;
  }
  const int values = push_items(L, dataset, indices, in_worker);
  const int items = lua_gettop(L);
  const auto count = static_cast<lua_Integer>(indices.size());
  if (lua_getiuservalue(L, loader, kCollateFunction) == LUA_TFUNCTION) {
    return call_collate(L, items, count, values);
  }
  for (int number = 1; number <= values; ++number) {
    push_column(L, items, count, number);
    push_collated(L, lua_gettop(L), count);
    lua_remove(L, -2);
  }
  return values;
}

}  // namespace

std::vector<data::Indices> draw_batches(lua_State* L, int loader, const LoaderOptions& options) {
  return data::epoch_batches(items_of(L, loader), epoch_of(options));
}

std::int64_t count_batches(lua_State* L, int loader, const LoaderOptions& options) {
  return data::count_epoch_batches(items_of(L, loader), epoch_of(options));
}

void push_packed_batch(lua_State* L, int loader, const LoaderOptions& options,
                       const data::Indices& indices) {
  pack(L, push_batch(L, loader, options, indices));
  if (options.pins_memory) push_with_tensors_replaced(L, -1, &ops::pin_memory);
}

}  // namespace ohm::lua
