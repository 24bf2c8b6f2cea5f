// Data sets of ohm.utils.data, and what can be one. Items count from 0, as in PyTorch.
//
//   a table with __len and __getitem   data.Dataset{…}, or an instance of data.Dataset:extend()
//   a list                             its elements
//   a tensor                           its first dimension's entries
//   TensorDataset                      entries of several tensors
#pragma once

#include <cstdint>
#include <lua.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/lua/bind/arguments.h"
#include "runtime/data/item_order.h"

namespace ohm::lua {

/// The number of items of the data set at `index`. Throws std::invalid_argument when there is none.
std::int64_t dataset_size(lua_State* L, int index);

/// Pushes item `item` of the data set at `index`, and returns how many values it is.
int push_dataset_item(lua_State* L, int index, std::int64_t item);

bool push_dataset_class(lua_State* L, std::string_view name);
std::vector<std::string> dataset_class_names();
std::span<const luaL_Reg> dataset_functions();

}  // namespace ohm::lua
