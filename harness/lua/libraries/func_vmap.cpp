#include "harness/lua/libraries/func_vmap.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/tensor_handle.h"
#include "harness/lua/bind/tensor_tree.h"
#include "harness/lua/libraries/transformed_function.h"
#include "harness/lua/vm/interpreter.h"
#include "runtime/func/vmap_call.h"
#include "runtime/ops/concat.h"
#include "runtime/ops/slice.h"

namespace ohm::lua {
namespace {

using Dims = std::vector<std::optional<int>>;

// The dimension of each tensor of a tree: false stands for Python's None.
Dims dims_of(lua_State* L, const TensorTree& tree, int dims, const char* name) {
  Dims found(tree.tensors().size(), 0);
  tree.zip(L, dims, [&](std::size_t i, int index) {
    if (lua_isnil(L, index)) return;
    if (lua_type(L, index) == LUA_TBOOLEAN && lua_toboolean(L, index) == 0) {
      found[i].reset();
    } else {
      found[i] = static_cast<int>(integer_argument(L, index, {"vmap", name}));
    }
  });
  return found;
}

/// The arguments of a call: trees of tensors, and the dimension of the samples in each.
class MappedArguments {
 public:
  /// Those on the stack, and nothing else.
  explicit MappedArguments(lua_State* L) : state_(L) {
    const int arguments = lua_gettop(L);
    const int in_dims = push_transform_option(L, "in_dims");
    for (int i = 1; i <= arguments; ++i) {
      trees_.emplace_back(L, i);
      if (lua_type(L, in_dims) == LUA_TTABLE) {
        lua_rawgeti(L, in_dims, i);
      } else {
        lua_pushvalue(L, in_dims);
      }
      dims_.push_back(dims_of(L, trees_.back(), lua_gettop(L), "in_dims"));
      lua_pop(L, 1);
      for (std::size_t k = 0; k < dims_.back().size(); ++k) {
        if (dims_.back()[k]) note_samples(trees_.back().tensors()[k], *dims_.back()[k]);
      }
    }
    lua_pop(L, 1);
    if (samples_ < 0)
      throw std::invalid_argument("[vmap] expected at least one tensor to map over");
  }

  std::int64_t samples() const { return samples_; }
  int count() const { return static_cast<int>(trees_.size()); }

  /// Pushes them for the samples from `first` on.
  void push(const func::VmapCall& call, std::int64_t first, std::int64_t count) const {
    for (std::size_t i = 0; i < trees_.size(); ++i) {
      std::vector<Tensor> tensors = trees_[i].tensors();
      for (std::size_t k = 0; k < tensors.size(); ++k) {
        if (!dims_[i][k]) continue;
        const int dim = *dims_[i][k];
        const bool is_all = count == samples_;
        tensors[k] =
            call.sample(is_all ? tensors[k] : ops::narrow(tensors[k], dim, first, count), dim);
      }
      trees_[i].push(state_, tensors);
    }
  }

 private:
  void note_samples(const Tensor& tensor, int& dim) {
    if (tensor.dims() == 0) {
      throw std::invalid_argument(
          "[vmap] an input without dimensions has none to map over: give it the in_dim false");
    }
    dim = wrap_dim(dim, tensor.dims(), "vmap");
    const std::int64_t size = tensor.shape()[dim];
    if (samples_ < 0) samples_ = size;
    if (samples_ == size) return;
    throw std::invalid_argument(fmt::format(
        "[vmap] expected all tensors to have the same size in the mapped dimension, got "
        "{} and {}",
        samples_, size));
  }

  lua_State* state_;
  std::vector<TensorTree> trees_;
  std::vector<Dims> dims_;
  std::int64_t samples_ = -1;
};

/// What the function returned for some samples.
struct MappedResults {
  std::vector<TensorTree> trees;
  std::vector<std::vector<Tensor>> tensors;  ///< of each tree
  std::vector<Dims> dims;
};

// The samples of a result take the place that `out_dims`, at that index, has for it.
void add_result(lua_State* L, int index, int out_dims, const func::VmapCall& call,
                MappedResults& results) {
  results.trees.emplace_back(L, index);
  TensorTree& tree = results.trees.back();
  results.dims.push_back(dims_of(L, tree, out_dims, "out_dims"));
  std::vector<Tensor>& tensors = results.tensors.emplace_back(tree.take_tensors());
  for (std::size_t k = 0; k < tensors.size(); ++k) {
    if (results.dims.back()[k]) {
      tensors[k] = call.all(tensors[k], *results.dims.back()[k]);
    } else if (call.is_one_of_many(tensors[k])) {
      throw std::invalid_argument(
          "[vmap] a result that differs between samples needs a dimension in out_dims");
    }
  }
}

func::Draws draws_option(lua_State* L) {
  const int index = push_transform_option(L, "randomness");
  const std::string randomness =
      lua_isnil(L, index) ? "error"
                          : std::string(string_argument(L, index, {"vmap", "randomness"}));
  lua_pop(L, 1);
  if (randomness == "error") return func::Draws::forbidden;
  if (randomness == "same") return func::Draws::same_for_all;
  throw std::invalid_argument(
      randomness == "different"
          ? "[vmap] randomness='different' is not supported"
          : fmt::format("[vmap] randomness is 'error', 'different' or 'same', not '{}'",
                        randomness));
}

// Calls the function for the samples from `first` on; its results are taken off the stack.
MappedResults results_for(lua_State* L, const MappedArguments& arguments, std::int64_t first,
                          std::int64_t count) {
  const func::VmapCall call(count, draws_option(L));
  luaL_checkstack(L, arguments.count() + LUA_MINSTACK, nullptr);
  const int base = lua_gettop(L);
  push_transformed(L);
  arguments.push(call, first, count);
  call_transformed(L, arguments.count(), LUA_MULTRET);
  const int returned = lua_gettop(L) - base;
  const int out_dims = push_transform_option(L, "out_dims");
  MappedResults results;
  for (int i = 1; i <= returned; ++i) {
    if (returned > 1 && lua_type(L, out_dims) == LUA_TTABLE) {
      lua_rawgeti(L, out_dims, i);
    } else {
      lua_pushvalue(L, out_dims);
    }
    add_result(L, base + i, lua_gettop(L), call, results);
    lua_pop(L, 1);
  }
  lua_settop(L, base);
  Interpreter::of(L).collect(L);
  return results;
}

// The results of chunk after chunk, joined; each is let go as soon as it is part of the whole.
MappedResults joined(std::vector<MappedResults> chunks) {
  MappedResults whole = chunks.front();
  for (std::size_t i = 0; i < whole.tensors.size(); ++i) {
    for (std::size_t k = 0; k < whole.tensors[i].size(); ++k) {
      std::vector<Tensor> parts;
      for (MappedResults& chunk : chunks) {
        parts.push_back(std::exchange(chunk.tensors[i][k], Tensor()));
      }
      whole.tensors[i][k] = Tensor();
      whole.tensors[i][k] = ops::cat(parts, whole.dims[i][k].value_or(0));
    }
  }
  return whole;
}

MappedResults results_in_chunks(lua_State* L, const MappedArguments& arguments,
                                std::int64_t chunk_size) {
  std::vector<MappedResults> chunks;
  for (std::int64_t first = 0; first < arguments.samples(); first += chunk_size) {
    const std::int64_t count = std::min(chunk_size, arguments.samples() - first);
    chunks.push_back(results_for(L, arguments, first, count));
  }
  return joined(std::move(chunks));
}

int call_vmap(lua_State* L) {
  const MappedArguments arguments(L);
  const int index = push_transform_option(L, "chunk_size");
  std::int64_t chunk_size = arguments.samples();
  if (!lua_isnil(L, index)) chunk_size = integer_argument(L, index, {"vmap", "chunk_size"});
  lua_pop(L, 1);
  if (chunk_size < 1) {
    throw std::invalid_argument("[vmap] chunk_size should be nil or greater than 0");
  }
  const MappedResults results = chunk_size < arguments.samples()
                                    ? results_in_chunks(L, arguments, chunk_size)
                                    : results_for(L, arguments, 0, arguments.samples());
  for (std::size_t i = 0; i < results.trees.size(); ++i) {
    results.trees[i].push(L, results.tensors[i]);
  }
  return static_cast<int>(results.trees.size());
}

constexpr std::string_view kVmapOptions[] = {"in_dims", "out_dims", "randomness", "chunk_size"};

// vmap(f [, in_dims, out_dims, randomness, chunk_size]): a function that calls f once for all
// samples. `false` in lists of dimensions stands for Python's None.
int vmap(lua_State* L) { return transform_function(L, "vmap", kVmapOptions, native<call_vmap>); }

constexpr luaL_Reg kVmapFunctions[] = {{"vmap", native<vmap>}};

}  // namespace

std::span<const luaL_Reg> vmap_functions() { return kVmapFunctions; }

}  // namespace ohm::lua
