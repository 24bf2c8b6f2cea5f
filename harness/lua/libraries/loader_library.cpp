#include "harness/lua/libraries/loader_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "harness/lua/bind/methods.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/object_handle.h"
#include "harness/lua/bind/tensor_handle.h"
#include "harness/lua/libraries/collate.h"
#include "harness/lua/libraries/dataset_library.h"
#include "harness/lua/libraries/generator_library.h"
#include "harness/lua/libraries/loader_batch.h"
#include "harness/lua/vm/dead_registers.h"
#include "harness/lua/vm/interpreter.h"
#include "runtime/data/item_order.h"
#include "runtime/tensor/context.h"

namespace ohm::lua {
namespace {

using data::Indices;

/// What a loop holds of the script.
enum LoopValue : int {
  kLoader = 1,
  kFetched,  ///< batches by number; each a list with its length as `n`
  kLastLoopValue = kFetched,
};
constexpr lua_Integer kCurrent = 0;  ///< the number of the batch that the loop was given last

struct Loop {
  std::vector<Indices> batches;
  std::size_t fetched = 0;
  std::size_t given = 0;
};

using LoaderPtr = std::shared_ptr<LoaderOptions>;
using LoopPtr = std::shared_ptr<Loop>;

}  // namespace

template <>
struct HandleOf<LoaderPtr> {
  static const HandleClass kClass;
};
template <>
struct HandleOf<LoopPtr> {
  static const HandleClass kClass;
};

namespace {

// ---- loops --------------------------------------------------------------------------------------

int packed_length(lua_State* L, int list) {
  lua_getfield(L, list, "n");
  const auto length = static_cast<int>(lua_tointeger(L, -1));
  lua_pop(L, 1);
  return length;
}

// Pops the value: the element of a table that the script may be watched to hold.
void set_element(lua_State* L, int table, lua_Integer number) {
  lua_pushinteger(L, number);
  lua_insert(L, -2);
  Interpreter::of(L).lifetimes().before_write(L, table, -2);
  lua_rawset(L, table);
}

// Makes the loop's next batch and puts it among the fetched ones.
void fetch(lua_State* L, int loop_index, Loop& loop) {
  const int top = lua_gettop(L);
  const CategoryGuard category(Category::input);
  lua_getiuservalue(L, loop_index, kLoader);
  const int loader = lua_gettop(L);
  const auto& options = object_argument<LoaderOptions>(L, loader, {kDataLoader, "self"});
  push_packed_batch(L, loader, options, loop.batches[loop.fetched]);
  lua_getiuservalue(L, loop_index, kFetched);
  lua_insert(L, -2);
  set_element(L, lua_gettop(L) - 1, static_cast<lua_Integer>(++loop.fetched));
  lua_settop(L, top);
  // The items go before the next batch is made.
  Interpreter::of(L).collect(L);
}

// Pushes a new loop over the loader; with workers it fetches ahead.
void push_loop(lua_State* L, int loader) {
  const auto& options = object_argument<LoaderOptions>(L, loader, {kDataLoader, "self"});
  auto loop = std::make_shared<Loop>();
  loop->batches = draw_batches(L, loader, options);
  Loop& state = *loop;
  push_handle<LoopPtr>(L, std::move(loop), kLastLoopValue);
  const int index = lua_gettop(L);
  lua_pushvalue(L, loader);
  lua_setiuservalue(L, index, kLoader);
  lua_newtable(L);
  lua_setiuservalue(L, index, kFetched);
  const auto ahead = static_cast<std::size_t>(options.num_workers * options.prefetch_factor);
  while (state.fetched < std::min(ahead, state.batches.size())) fetch(L, index, state);
}

// Takes the next batch from the fetched ones; nothing holds the one before any more.
void take_fetched(lua_State* L, int index, Loop& loop) {
  const auto number = static_cast<lua_Integer>(++loop.given);
  lua_getiuservalue(L, index, kFetched);
  const int fetched = lua_gettop(L);
  lua_rawgeti(L, fetched, number);
  set_element(L, fetched, kCurrent);
  lua_pushnil(L);
  set_element(L, fetched, number);
  lua_pop(L, 1);
}

// Pushes the values of the loop's next batch and returns how many there are; 0 at its end.
int advance(lua_State* L, int index) {
  auto& loop = object_argument<Loop>(L, index, {kDataLoader, "loop"});
  if (loop.given == loop.batches.size()) return 0;
  if (loop.fetched == loop.given) fetch(L, index, loop);
  take_fetched(L, index, loop);
  // A worker is asked for the next batch as soon as one of its batches was taken.
  if (loop.fetched < loop.batches.size()) {
    lua_getiuservalue(L, index, kLoader);
    const bool has_workers =
        object_argument<LoaderOptions>(L, -1, {kDataLoader, "self"}).num_workers > 0;
    lua_pop(L, 1);
    if (has_workers) fetch(L, index, loop);
  }
  lua_getiuservalue(L, index, kFetched);
  lua_rawgeti(L, -1, kCurrent);
  lua_remove(L, -2);
  const int current = lua_gettop(L);
  const int values = packed_length(L, current);
  luaL_checkstack(L, values + LUA_MINSTACK, "too many values");
  for (lua_Integer i = 1; i <= values; ++i) lua_rawgeti(L, current, i);
  return values;
}

void refuse_other_use() {
  throw std::invalid_argument("[DataLoader] write: for x, y in loader do");
}

// loader(state, control): the iterator of `for … in loader`, whose state the loop becomes: it goes
// when the statement ends.
int call_loader(lua_State* L) {
  lua_settop(L, 3);
  if (test_handle<LoopPtr>(L, 2) == nullptr) {
    if (!lua_isnil(L, 2) || !lua_isnil(L, 3)) refuse_other_use();
    push_loop(L, 1);
    if (!set_loop_state(L, -1)) refuse_other_use();
    lua_replace(L, 2);
  }
  const int values = advance(L, 2);
  if (values == 0) return lua_pushnil(L), 1;
  if (lua_isnil(L, -values)) throw std::invalid_argument("[DataLoader] a batch is nil");
  return values;
}

// Upvalues: the loop, and the number of the batch.
int next_numbered(lua_State* L) {
  const lua_Integer number = lua_tointeger(L, lua_upvalueindex(2));
  lua_pushvalue(L, lua_upvalueindex(1));
  const int loop = lua_gettop(L);
  lua_pushinteger(L, number);
  const int values = advance(L, loop);
  if (values == 0) return lua_pushnil(L), 1;
  // advance() leaves the packed batch below its values.
  lua_remove(L, -values - 1);
  lua_pushinteger(L, number + 1);
  lua_replace(L, lua_upvalueindex(2));
  return values + 1;
}

// for i, x, y in loader:enumerate() do: i counts from 0.
int enumerate(lua_State* L) {
  object_argument<LoaderOptions>(L, 1, {"enumerate", "self"});
  push_loop(L, 1);
  lua_pushinteger(L, 0);
  lua_pushcclosure(L, native<next_numbered>, 2);
  return 1;
}

// ---- loaders ------------------------------------------------------------------------------------

int loader_length(lua_State* L) {
  lua_pushinteger(L,
                  count_batches(L, 1, object_argument<LoaderOptions>(L, 1, {kDataLoader, "self"})));
  return 1;
}

constexpr luaL_Reg kLoaderMethods[] = {{"enumerate", native<enumerate>}};

int index_loader(lua_State* L) {
  const auto& options = object_argument<LoaderOptions>(L, 1, {kDataLoader, "self"});
  const std::string_view name = string_argument(L, 2, {kDataLoader, "name"});
  if (name == "dataset") return lua_getiuservalue(L, 1, kDataset), 1;
  if (name == "batch_size") return lua_pushinteger(L, options.batch_size), 1;
  if (name == "num_workers") return lua_pushinteger(L, options.num_workers), 1;
  return push_method(L, kLoaderMethods, kDataLoader, {"dataset", "batch_size", "num_workers"});
}

constexpr luaL_Reg kLoaderMetamethods[] = {
    {"__call", native<call_loader>},
    {"__index", native<index_loader, Entry::access>},
    {"__len", native<loader_length, Entry::access>},
};

constexpr std::string_view kLoaderOptionNames[] = {
    "batch_size", "collate_fn",         "drop_last",       "generator", "num_workers",
    "pin_memory", "persistent_workers", "prefetch_factor", "shuffle"};

void refuse(std::string_view what) {
  throw std::invalid_argument(fmt::format("[DataLoader] {}", what));
}

bool is_given(const NamedArguments& named, lua_State* L, std::string_view name) {
  if (!named.push(name)) return false;
  lua_pop(L, 1);
  return true;
}

// PyTorch's None is false here: a table cannot hold nil.
std::int64_t batch_size_argument(const NamedArguments& named, lua_State* L) {
  if (!named.push("batch_size")) return 1;
  const bool is_none = lua_isboolean(L, -1) && lua_toboolean(L, -1) == 0;
  const std::int64_t size = is_none ? 0 : integer_argument(L, -1, {kDataLoader, "batch_size"});
  if (!is_none && size < 1)
    refuse_argument(L, -1, {kDataLoader, "batch_size"}, "at least 1, or false");
  lua_pop(L, 1);
  return size;
}

void check_workers(const NamedArguments& named, lua_State* L, const LoaderOptions& options) {
  constexpr std::int64_t kMost = std::int64_t{1} << 20U;
  if (options.num_workers < 0) refuse("num_workers cannot be negative");
  if (std::max(options.num_workers, options.prefetch_factor) > kMost) {
    refuse(fmt::format("num_workers and prefetch_factor can be at most {}", kMost));
  }
  if (options.num_workers == 0 && is_given(named, L, "prefetch_factor")) {
    refuse("prefetch_factor needs num_workers > 0: without workers nothing is fetched ahead");
  }
  if (options.num_workers == 0 && named.boolean("persistent_workers", false)) {
    refuse("persistent_workers needs num_workers > 0");
  }
  if (options.prefetch_factor < 1) refuse("prefetch_factor must be at least 1");
}

LoaderOptions read_options(const NamedArguments& named, lua_State* L) {
  named.check_names(kLoaderOptionNames);
  LoaderOptions options;
  options.batch_size = batch_size_argument(named, L);
  options.shuffles = named.boolean("shuffle", false);
  options.drops_last = named.boolean("drop_last", false);
  options.num_workers = named.integer("num_workers", options.num_workers);
  options.prefetch_factor = named.integer("prefetch_factor", options.prefetch_factor);
  options.generator = generator_argument(L, named);
  // As in PyTorch: without a GPU there is nothing to pin for.
  options.pins_memory = named.boolean("pin_memory", false) && !Context::current().gpus.empty();
  check_workers(named, L, options);
  if (options.batch_size == 0 && options.drops_last) refuse("drop_last needs a batch_size");
  return options;
}

void set_user_value(lua_State* L, int loader, LoaderValue value, const NamedArguments& named,
                    std::string_view name) {
  if (named.push(name)) lua_setiuservalue(L, loader, value);
}

// DataLoader(dataset [, {batch_size, shuffle, …}])
int data_loader(lua_State* L) {
  const NamedArguments named(L, kDataLoader, lua_type(L, 2) == LUA_TTABLE ? 2 : 0);
  if (lua_gettop(L) > 1 && lua_type(L, 2) != LUA_TTABLE) {
    refuse_argument(L, 2, {kDataLoader, "options"}, "a table: {batch_size = 32, shuffle = true}");
  }
  dataset_size(L, 1);
  const LoaderOptions options = read_options(named, L);
  push_handle<LoaderPtr>(L, std::make_shared<LoaderOptions>(options), kLastLoaderValue);
  const int loader = lua_gettop(L);
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, loader, kDataset);
  set_user_value(L, loader, kCollateFunction, named, "collate_fn");
  return 1;
}

// default_collate(items): what a loader without collate_fn makes of them.
int default_collate(lua_State* L) {
  if (lua_type(L, 1) != LUA_TTABLE || lua_rawlen(L, 1) == 0) {
    refuse_argument(L, 1, {"default_collate", "items"}, "a list");
  }
  push_collated(L, 1, static_cast<lua_Integer>(lua_rawlen(L, 1)));
  return 1;
}

constexpr luaL_Reg kLoaderFunctions[] = {
    {"DataLoader", native<data_loader>},
    {"default_collate", native<default_collate>},
};

}  // namespace

const HandleClass HandleOf<LoaderPtr>::kClass = {"DataLoader", kLoaderMetamethods};
const HandleClass HandleOf<LoopPtr>::kClass = {"loop over a DataLoader", {}};

std::span<const luaL_Reg> loader_functions() { return kLoaderFunctions; }

}  // namespace ohm::lua
