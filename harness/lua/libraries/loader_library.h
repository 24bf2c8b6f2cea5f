// ohm.utils.data.DataLoader: `for x, y in loader do`.
//
// Note [Loops over a loader]
// What an item has several of (its values, or the tensors of a TensorDataset), the batch has too:
// one loop variable each. The loop is an object that lives while its loop variables do, so that
// `break` lets go of what was fetched ahead, and two loops over one loader do not meet.
//
// A batch lives until the next one is there, as what the variables of a Python loop hold does.
// Workers are virtual: num_workers × prefetch_factor batches are made ahead, when PyTorch would ask
// for them, and each is there by the time it is needed.
#pragma once

#include <lua.hpp>
#include <span>

namespace ohm::lua {

std::span<const luaL_Reg> loader_functions();

}  // namespace ohm::lua
