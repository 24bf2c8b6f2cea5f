// ohm.backends and ohm.nn.attention: which of several kernels computes an op.
#pragma once

#include <lua.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/lua/libraries/library.h"

namespace ohm::lua {

/// Of ohm.backends.cudnn: allow_tf32, benchmark, deterministic, enabled.
std::span<const Property> cudnn_properties();

/// Of ohm.backends.cuda: workspaces, whether matrix libraries take any; workspace_cache, whether
/// they keep them.
std::span<const Property> cuda_properties();

/// Of ohm.backends.cuda.matmul: allow_tf32.
std::span<const Property> matmul_properties();
/// Of ohm: set_float32_matmul_precision(precision) and get_float32_matmul_precision(), the same in
/// words.
std::span<const luaL_Reg> precision_functions();

/// Of ohm.backends.cuda: enable_flash_sdp(enabled), flash_sdp_enabled(), …
std::span<const luaL_Reg> attention_switches();

/// Of ohm.nn.attention: sdpa_kernel(backends [, fn, …]), a mode in which these backends alone
/// compute scaled_dot_product_attention.
std::span<const luaL_Reg> attention_functions();

/// ohm.nn.attention.SDPBackend: names that stand for themselves.
bool push_attention_backend(lua_State* L, std::string_view name);
std::vector<std::string> attention_backend_names();

}  // namespace ohm::lua
