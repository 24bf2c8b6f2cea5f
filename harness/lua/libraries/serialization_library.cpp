#include "harness/lua/libraries/serialization_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "allocator_shim/base/format_bytes.h"
#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/handle.h"
#include "harness/lua/bind/module_handle.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/parameter_handle.h"
#include "harness/lua/bind/table_order.h"
#include "harness/lua/bind/tensor_handle.h"
#include "harness/lua/libraries/saved_file.h"
#include "harness/lua/vm/table_key.h"
#include "harness/scenario/scenario_program.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/tensor/context.h"

namespace ohm::lua {

namespace {

struct SavedFiles {
  std::map<std::string, SavedFile, std::less<>> by_name;
  std::size_t bytes = 0;
};
using SavedFilesPtr = std::shared_ptr<SavedFiles>;

}  // namespace

template <>
struct HandleOf<SavedFilesPtr> {
  static const HandleClass kClass;
};

namespace {

constexpr int kDeepest = 200;  ///< of tables in tables: each takes some of the stack

/// The files of the state.
SavedFiles& saved_files(lua_State* L) {
  static constexpr char kKey = 0;
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &kKey) == LUA_TNIL) {
    lua_pop(L, 1);
    push_handle<SavedFilesPtr>(L, std::make_shared<SavedFiles>());
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &kKey);
    Interpreter::of(L).lifetimes().note_unknown_write();
  }
  SavedFiles& files = **test_handle<SavedFilesPtr>(L, -1);
  lua_pop(L, 1);
  return files;
}

// ---- saving -------------------------------------------------------------------------------------

class Saver {
 public:
  explicit Saver(lua_State* L) : state_(L) {}

  SavedFile saved(int index) {
    file_.root = value(index, 0);
    number_by_age();
    std::vector<std::pair<Tensor, bool>> tensors;
    for (const Found& one : found_) tensors.emplace_back(one.tensor, one.is_parameter);
    save_tensors(file_, tensors);
    if (!Context::current().rules.saving_drops_storages) keep_storages();
    return std::move(file_);
  }

 private:
  struct Found {
    std::uint64_t age;
    std::size_t number;  ///< in the order in which they were found
    Tensor tensor;
    bool is_parameter;
  };

  SavedValue value(int index, int depth) {
    switch (lua_type(state_, index)) {
      case LUA_TBOOLEAN:
        return lua_toboolean(state_, index) != 0;
      case LUA_TNUMBER:
        if (lua_isinteger(state_, index) != 0) return std::int64_t{lua_tointeger(state_, index)};
        return lua_tonumber(state_, index);
      case LUA_TSTRING: {
        std::size_t length = 0;
        const char* const text = lua_tolstring(state_, index, &length);
        return std::string(text, length);
      }
      case LUA_TTABLE:
        return table(lua_absindex(state_, index), depth);
      default:
        return tensor(index);
    }
  }

  SavedTensorNumber tensor(int index) {
    const Tensor* const tensor = test_handle<Tensor>(state_, index);
    if (tensor == nullptr) refuse(index);
    const auto [place, is_new] = tensors_.emplace(tensor->impl(), found_.size());
    if (is_new) {
      const auto* const handle = static_cast<const HandleHead*>(lua_touserdata(state_, index));
      found_.push_back({handle->age, place->second, *tensor, is_parameter(state_, index)});
    }
    return {place->second};
  }

  SavedTableNumber table(int index, int depth) {
    const auto [place, is_new] = tables_.emplace(lua_topointer(state_, index), tables_.size());
    const std::size_t number = place->second;
    if (!is_new) return {number};
    check_table(index, depth);
    file_.tables.emplace_back();
    for (const TableKey& key : ordered_keys(state_, index)) {
      key.push(state_);
      SavedValue name = value(-1, depth + 1);
      lua_rawget(state_, index);
      SavedValue element = value(-1, depth + 1);
      lua_pop(state_, 1);
      file_.tables[number].emplace_back(std::move(name), std::move(element));
    }
    return {number};
  }

  void check_table(int index, int depth) {
    if (depth == kDeepest) {
      throw std::invalid_argument(
          fmt::format("[save] tables are nested more than {} deep", kDeepest));
    }
    luaL_checkstack(state_, 4, "tables nested too deep to be saved");
    if (lua_getmetatable(state_, index) != 0) refuse("a table with a metatable");
    if (const auto refused = refused_key_type(state_, index, &has_order)) {
      refuse(fmt::format("a {} that is a key", *refused));
    }
  }

  [[noreturn]] void refuse(int index) {
    if (test_handle<nn::ModulePtr>(state_, index) != nullptr) {
      throw std::invalid_argument("[save] a module cannot be saved: save its state_dict()");
    }
    refuse(fmt::format("a {}", type_of(state_, index)));
  }

  [[noreturn]] static void refuse(const std::string& what) {
    throw std::invalid_argument(fmt::format(
        "[save] {} cannot be saved: tables, tensors, numbers, strings and booleans can", what));
  }

  // The oldest handle first: a table does not tell the order in which it got its entries.
  void number_by_age() {
    std::sort(found_.begin(), found_.end(),
              [](const Found& a, const Found& b) { return a.age < b.age; });
    std::vector<std::size_t> numbers(found_.size());
    for (std::size_t i = 0; i < found_.size(); ++i) numbers[found_[i].number] = i;
    const auto renumber = [&](SavedValue& value) {
      if (auto* const tensor = std::get_if<SavedTensorNumber>(&value)) {
        tensor->number = numbers[tensor->number];
      }
    };
    renumber(file_.root);
    for (SavedTable& table : file_.tables) {
      for (auto& [key, element] : table) renumber(element);
    }
  }

  // PyTorch's pickler is a class that a function defines: it is in a cycle with all storages.
  void keep_storages() {
    std::vector<IntrusivePtr<Storage>> storages;
    for (const Found& one : found_) storages.push_back(one.tensor.impl()->storage);
    Interpreter::of(state_).in_cycles.push_back(
        std::make_shared<std::vector<IntrusivePtr<Storage>>>(std::move(storages)));
  }

  lua_State* state_;
  SavedFile file_;
  std::vector<Found> found_;
  std::map<const TensorImpl*, std::size_t> tensors_;  ///< their numbers
  std::map<const void*, std::size_t> tables_;
};

std::string_view file_argument(lua_State* L, int index, std::string_view function) {
  const std::string_view name = string_argument(L, index, {function, "f"});
  if (name.empty()) throw std::invalid_argument(fmt::format("[{}] f is empty", function));
  return name;
}

// The files of a run lie in this computer's memory: a script that saves without end is told so.
void keep(SavedFiles& files, std::string_view name, SavedFile file, std::size_t most) {
  const auto old = files.by_name.find(name);
  const std::size_t others = files.bytes - (old == files.by_name.end() ? 0 : bytes_of(old->second));
  const std::size_t bytes = bytes_of(file);
  if (bytes > most || others > most - bytes) {
    throw std::invalid_argument(fmt::format(
        "[save] the files of a run may take {} of this computer's memory: {} are taken, and {} "
        "more are needed",
        human_bytes(most), human_bytes(others), human_bytes(bytes)));
  }
  files.by_name.insert_or_assign(std::string(name), std::move(file));
  files.bytes = others + bytes;
}

// save(obj, f): a file of this name, or over one.
int save(lua_State* L) {
  if (lua_isnoneornil(L, 1)) refuse_argument(L, 1, {"save", "obj"}, "a value");
  const std::string_view name = file_argument(L, 2, "save");
  const NoGradGuard no_graph;
  SavedFile file = Saver(L).saved(1);
  keep(saved_files(L), name, std::move(file), Interpreter::of(L).caps().value_bytes);
  return 0;
}

// ---- loading ------------------------------------------------------------------------------------

// Where storages that were saved on a device come to.
class Destination {
 public:
  explicit Destination(std::optional<Device> map_location) : map_location_(map_location) {
    if (!map_location_ || exists(*map_location_)) return;
    throw std::invalid_argument(fmt::format("[load] map_location is {} but device_count() is {}",
                                            map_location_->str(), device_count()));
  }

  Device operator()(Device saved) const {
    if (map_location_) return *map_location_;
    if (exists(saved)) return saved;
    throw std::invalid_argument(
        fmt::format("[load] a tensor was saved on {} but device_count() is {}: use map_location to "
                    "map it to a device that is there",
                    saved.str(), device_count()));
  }

 private:
  static std::size_t device_count() { return Context::current().gpus.size(); }
  static bool exists(Device device) {
    return device.is_cpu() || static_cast<std::size_t>(device.index) < device_count();
  }

  std::optional<Device> map_location_;
};

class Loader {
 public:
  // The handles of the tensors lie in a list at `tensors`, those of the tables above it.
  Loader(lua_State* L, const SavedFile& file, int tensors)
      : state_(L), file_(file), tensors_(tensors), made_(file.tables.size()) {
    lua_newtable(L);
    tables_ = lua_gettop(L);
  }

  void push(const SavedValue& value) {
    std::visit([this](const auto& one) { push_one(one); }, value);
  }

  /// Its lists are not garbage that holds on to what the script lets go.
  void forget() {
    forget(tensors_);
    forget(tables_);
  }

 private:
  void forget(int list) {
    for (auto i = static_cast<lua_Integer>(lua_rawlen(state_, list)); i > 0; --i) {
      lua_pushnil(state_);
      lua_rawseti(state_, list, i);
    }
  }

  void push_one(bool value) { lua_pushboolean(state_, static_cast<int>(value)); }
  void push_one(std::int64_t value) { lua_pushinteger(state_, value); }
  void push_one(double value) { lua_pushnumber(state_, value); }
  void push_one(const std::string& value) { lua_pushlstring(state_, value.data(), value.size()); }
  void push_one(SavedTensorNumber value) {
    lua_rawgeti(state_, tensors_, static_cast<lua_Integer>(value.number) + 1);
  }
  void push_one(SavedTableNumber value) {
    const auto place = static_cast<lua_Integer>(value.number) + 1;
    if (made_[value.number]) {
      lua_rawgeti(state_, tables_, place);
      return;
    }
    made_[value.number] = true;
    luaL_checkstack(state_, 4, "tables nested too deep to be loaded");
    lua_newtable(state_);
    lua_pushvalue(state_, -1);
    lua_rawseti(state_, tables_, place);
    for (const auto& [key, element] : file_.tables[value.number]) {
      push(key);
      push(element);
      lua_rawset(state_, -3);
    }
  }

  lua_State* state_;
  const SavedFile& file_;
  int tensors_;
  int tables_ = 0;
  std::vector<bool> made_;
};

// By position or by name; nil is none.
std::optional<Device> map_location(lua_State* L, const NamedArguments& named) {
  constexpr ArgumentName kName{"load", "map_location"};
  if (named.positional_count() > 2) {
    throw std::invalid_argument(fmt::format("[load] takes at most 2 arguments by position, not {}",
                                            named.positional_count()));
  }
  if (named.positional_count() == 2 && !lua_isnil(L, 2)) return device_argument(L, 2, kName);
  if (!named.push(kName.argument)) return std::nullopt;
  const Device device = device_argument(L, -1, kName);
  lua_pop(L, 1);
  return device;
}

// load(f [, map_location] [, {map_location, weights_only}]): a device, which all tensors come to;
// without it each comes to where it was.
int load(lua_State* L) {
  const NamedArguments named(L, "load");
  constexpr std::string_view kNames[] = {"map_location", "weights_only"};
  named.check_names(kNames);
  named.boolean("weights_only", true);  // what is saved is never more than weights
  const std::string_view name = file_argument(L, 1, "load");
  const Destination destination(map_location(L, named));
  const SavedFiles& files = saved_files(L);
  const auto file = files.by_name.find(name);
  if (file == files.by_name.end()) {
    throw std::invalid_argument(
        fmt::format("[load] No such file: '{}': this run has not saved it", name));
  }
  const NoGradGuard no_graph;
  const std::vector<Tensor> tensors = loaded_tensors(file->second, destination);
  lua_newtable(L);
  const int list = lua_gettop(L);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (file->second.tensors[i].is_parameter) {
      push_parameter(L, tensors[i]);
    } else {
      push_tensor(L, tensors[i]);
    }
    lua_rawseti(L, list, static_cast<lua_Integer>(i) + 1);
  }
  Loader loader(L, file->second, list);
  loader.push(file->second.root);
  loader.forget();
  return 1;
}

constexpr luaL_Reg kSerializationFunctions[] = {{"load", native<load>}, {"save", native<save>}};

}  // namespace

const HandleClass HandleOf<SavedFilesPtr>::kClass = {"files", {}};

std::span<const luaL_Reg> serialization_functions() { return kSerializationFunctions; }

}  // namespace ohm::lua
