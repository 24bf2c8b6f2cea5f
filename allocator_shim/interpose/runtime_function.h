// CUDA's runtime by the names of its functions, for programs that hold a copy of it.
#pragma once

#include <cstddef>

/// nullptr: there is none. `toolkit` is CUDA's major release: one name may mean different
/// functions. May be called before any constructor.
extern "C" void (*ohm_find_runtime_function(const char* name, std::size_t length, int toolkit))();
