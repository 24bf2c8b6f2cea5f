// The engine's users of nearest_name(): it lives with the shim, whose own tables suggest names too.
#pragma once

#include "allocator_shim/observe/nearest_name.h"
