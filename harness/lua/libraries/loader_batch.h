// Batches of a DataLoader: which items belong together, and the values made of them.
#pragma once

#include <cstdint>
#include <lua.hpp>
#include <string_view>
#include <vector>

#include "runtime/data/item_order.h"

namespace ohm::lua {

constexpr std::string_view kDataLoader = "DataLoader";

/// What a loader holds of the script: user values of its handle.
enum LoaderValue : int {
  kDataset = 1,
  kCollateFunction,
  kLastLoaderValue = kCollateFunction,
};

struct LoaderOptions {
  std::int64_t batch_size = 1;  ///< 0: items come one by one, as they are
  bool shuffles = false;
  bool drops_last = false;
  bool pins_memory = false;
  std::int64_t num_workers = 0;
  std::int64_t prefetch_factor = 2;
  data::GeneratorPtr generator;
};

/// The items of each batch of one pass over the data set of the loader at `loader`.
std::vector<data::Indices> draw_batches(lua_State* L, int loader, const LoaderOptions& options);
std::int64_t count_batches(lua_State* L, int loader, const LoaderOptions& options);

/// Pushes the values of the batch of these items: a list with its length as `n`.
void push_packed_batch(lua_State* L, int loader, const LoaderOptions& options,
                       const data::Indices& indices);

}  // namespace ohm::lua
