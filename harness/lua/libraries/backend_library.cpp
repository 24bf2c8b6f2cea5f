#include "harness/lua/libraries/backend_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

#include "allocator_shim/base/nearest_name.h"
#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/mode.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/vm/interpreter.h"
#include "harness/lua/vm/push_text.h"
#include "harness/machine/machine.h"
#include "runtime/tensor/context.h"

namespace ohm::lua {
namespace {

// ---- cuDNN --------------------------------------------------------------------------------------

void push_cudnn_enabled(lua_State* L) { lua_pushboolean(L, Context::current().cudnn_enabled); }

void set_cudnn_enabled(lua_State* L, int index) {
  Context::current().cudnn_enabled = boolean_argument(L, index, {"cudnn", "enabled"});
}

void push_cudnn_benchmark(lua_State* L) {
  lua_pushboolean(L, Context::current().state.convolution_plans.is_benchmark);
}

void set_cudnn_benchmark(lua_State* L, int index) {
  Context::current().state.convolution_plans.is_benchmark =
      boolean_argument(L, index, {"cudnn", "benchmark"});
}

void push_cudnn_deterministic(lua_State* L) {
  lua_pushboolean(L, Context::current().state.convolution_plans.is_deterministic);
}

void set_cudnn_deterministic(lua_State* L, int index) {
  Context::current().state.convolution_plans.is_deterministic =
      boolean_argument(L, index, {"cudnn", "deterministic"});
}

// ---- TF32 ---------------------------------------------------------------------------------------

// Fields of the registry: what products are computed in is said, and moves neither bytes nor
// values.
constexpr const char* kPrecision = "ohm.float32_matmul_precision";
constexpr const char* kCudnnRounds = "ohm.backends.cudnn.allow_tf32";
constexpr std::string_view kPrecisions[] = {"highest", "high", "medium"};

void push_precision(lua_State* L) {
  if (lua_getfield(L, LUA_REGISTRYINDEX, kPrecision) != LUA_TNIL) return;
  lua_pop(L, 1);
  push_text(L, kPrecisions[0]);
}

void set_precision(lua_State* L, std::string_view precision) {
  Interpreter::of(L).lifetimes().note_unknown_write();
  push_text(L, precision);
  lua_setfield(L, LUA_REGISTRYINDEX, kPrecision);
}

int get_float32_matmul_precision(lua_State* L) {
  push_precision(L);
  return 1;
}

int set_float32_matmul_precision(lua_State* L) {
  const ArgumentName name{"set_float32_matmul_precision", "precision"};
  const std::string_view precision = string_argument(L, 1, name);
  if (std::find(std::begin(kPrecisions), std::end(kPrecisions), precision) ==
      std::end(kPrecisions)) {
    refuse_argument(L, 1, name, "\"highest\", \"high\" or \"medium\"");
  }
  set_precision(L, precision);
  return 0;
}

void push_products_round(lua_State* L) {
  push_precision(L);
  const bool rounds = std::string_view(lua_tostring(L, -1)) != kPrecisions[0];
  lua_pop(L, 1);
  lua_pushboolean(L, rounds);
}

void set_products_round(lua_State* L, int index) {
  set_precision(L, kPrecisions[boolean_argument(L, index, {"matmul", "allow_tf32"}) ? 1 : 0]);
}

void push_cudnn_rounds(lua_State* L) {
  const bool is_set = lua_getfield(L, LUA_REGISTRYINDEX, kCudnnRounds) != LUA_TNIL;
  const bool rounds = !is_set || lua_toboolean(L, -1) != 0;
  lua_pop(L, 1);
  lua_pushboolean(L, rounds);
}

void set_cudnn_rounds(lua_State* L, int index) {
  const bool rounds = boolean_argument(L, index, {"cudnn", "allow_tf32"});
  Interpreter::of(L).lifetimes().note_unknown_write();
  lua_pushboolean(L, rounds);
  lua_setfield(L, LUA_REGISTRYINDEX, kCudnnRounds);
}

constexpr Property kMatmulProperties[] = {
    {"allow_tf32", push_products_round, set_products_round},
};

constexpr luaL_Reg kPrecisionFunctions[] = {
    {"get_float32_matmul_precision", native<get_float32_matmul_precision>},
    {"set_float32_matmul_precision", native<set_float32_matmul_precision>},
};

constexpr Property kCudnnProperties[] = {
    {"allow_tf32", push_cudnn_rounds, set_cudnn_rounds},
    {"benchmark", push_cudnn_benchmark, set_cudnn_benchmark},
    {"deterministic", push_cudnn_deterministic, set_cudnn_deterministic},
    {"enabled", push_cudnn_enabled, set_cudnn_enabled},
};

// ---- matrix products ----------------------------------------------------------------------------

void push_workspaces(lua_State* L) {
  const std::vector<DeviceSlot>& gpus = Context::current().gpus;
  lua_pushboolean(L, std::any_of(gpus.begin(), gpus.end(), [](const DeviceSlot& gpu) {
                    return gpu.cublas_workspace_bytes != 0;
                  }));
}

void set_workspaces(lua_State* L, int index) {
  const bool are_taken = boolean_argument(L, index, {"cuda", "workspaces"});
  engine::RunContext* run = Interpreter::of(L).run;
  if (run == nullptr) {
    throw std::invalid_argument("[cuda] workspaces can be set while a variant runs, not before");
  }
  std::vector<DeviceSlot>& gpus = Context::current().gpus;
  for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu) {
    const GpuProfile& profile = run->machine().profile(static_cast<int>(gpu));
    gpus[gpu].cublas_workspace_bytes = are_taken ? profile.cublas_workspace_bytes : 0;
    if (!are_taken) gpus[gpu].library_handles.release_workspaces();
  }
}

void push_workspace_cache(lua_State* L) {
  lua_pushboolean(L, Context::current().rules.workspaces != WorkspaceLife::call);
}

// TORCH_CUBLAS_WORKSPACE_CACHE.
void set_workspace_cache(lua_State* L, int index) {
  const bool is_kept = boolean_argument(L, index, {"cuda", "workspace_cache"});
  Context& context = Context::current();
  if (!context.rules.has_workspace_switch) {
    if (is_kept) return;
    throw std::invalid_argument(fmt::format(
        "[cuda] {} keeps cuBLAS's workspaces: workspace_cache = false is of pytorch-2.15 (--rules)",
        context.rules.name));
  }
  context.rules.workspaces = is_kept ? WorkspaceLife::shared_handle : WorkspaceLife::call;
  if (is_kept) return;
  for (DeviceSlot& gpu : context.gpus) gpu.library_handles.release_workspaces();
}

constexpr Property kCudaProperties[] = {
    {"workspaces", push_workspaces, set_workspaces},
    {"workspace_cache", push_workspace_cache, set_workspace_cache},
};

// ---- attention ----------------------------------------------------------------------------------

struct AttentionBackend {
  std::string_view name;
  bool AttentionKernels::*is_allowed;
};

constexpr AttentionBackend kAttentionBackends[] = {
    {"CUDNN_ATTENTION", &AttentionKernels::cudnn},
    {"EFFICIENT_ATTENTION", &AttentionKernels::efficient},
    {"FLASH_ATTENTION", &AttentionKernels::flash},
    {"MATH", &AttentionKernels::math},
};

const AttentionBackend* find_backend(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kAttentionBackends), std::end(kAttentionBackends),
                   [&](const AttentionBackend& known) { return known.name == name; });
  return found == std::end(kAttentionBackends) ? nullptr : found;
}

void allow_backend(lua_State* L, int index, AttentionKernels& kernels) {
  const std::string_view name = string_argument(L, index, {"sdpa_kernel", "backends"});
  const AttentionBackend* backend = find_backend(name);
  if (backend == nullptr) {
    throw std::invalid_argument(fmt::format("[sdpa_kernel] unknown backend '{}'{}", name,
                                            did_you_mean(name, attention_backend_names())));
  }
  kernels.*(backend->is_allowed) = true;
}

class AttentionKernelsGuard {
 public:
  explicit AttentionKernelsGuard(AttentionKernels allowed)
      : context_(Context::current()),
        previous_(std::exchange(context_.state.attention_kernels, allowed)) {}
  ~AttentionKernelsGuard() { context_.state.attention_kernels = previous_; }
  AttentionKernelsGuard(const AttentionKernelsGuard&) = delete;
  AttentionKernelsGuard& operator=(const AttentionKernelsGuard&) = delete;

 private:
  Context& context_;
  AttentionKernels previous_;
};

int sdpa_kernel(lua_State* L) {
  AttentionKernels allowed{false, false, false, false};
  if (lua_istable(L, 1)) {
    const auto count = static_cast<lua_Integer>(lua_rawlen(L, 1));
    for (lua_Integer i = 1; i <= count; ++i) {
      lua_rawgeti(L, 1, i);
      allow_backend(L, lua_gettop(L), allowed);
      lua_pop(L, 1);
    }
  } else {
    allow_backend(L, 1, allowed);
  }
  return enter_mode(L, 2, {"sdpa_kernel", "fn"}, std::make_shared<AttentionKernelsGuard>(allowed));
}

template <bool AttentionKernels::*Kernel>
int enable(lua_State* L) {
  Context::current().state.attention_kernels.*Kernel =
      boolean_argument(L, 1, {"enable_sdp", "enabled"});
  return 0;
}

template <bool AttentionKernels::*Kernel>
int is_enabled(lua_State* L) {
  lua_pushboolean(L, Context::current().state.attention_kernels.*Kernel);
  return 1;
}

constexpr luaL_Reg kAttentionFunctions[] = {{"sdpa_kernel", native<sdpa_kernel>}};

constexpr luaL_Reg kAttentionSwitches[] = {
    {"cudnn_sdp_enabled", native<is_enabled<&AttentionKernels::cudnn>>},
    {"enable_cudnn_sdp", native<enable<&AttentionKernels::cudnn>>},
    {"enable_flash_sdp", native<enable<&AttentionKernels::flash>>},
    {"enable_math_sdp", native<enable<&AttentionKernels::math>>},
    {"enable_mem_efficient_sdp", native<enable<&AttentionKernels::efficient>>},
    {"flash_sdp_enabled", native<is_enabled<&AttentionKernels::flash>>},
    {"math_sdp_enabled", native<is_enabled<&AttentionKernels::math>>},
    {"mem_efficient_sdp_enabled", native<is_enabled<&AttentionKernels::efficient>>},
};

}  // namespace

std::span<const Property> cudnn_properties() { return kCudnnProperties; }
std::span<const Property> cuda_properties() { return kCudaProperties; }
std::span<const Property> matmul_properties() { return kMatmulProperties; }
std::span<const luaL_Reg> precision_functions() { return kPrecisionFunctions; }
std::span<const luaL_Reg> attention_switches() { return kAttentionSwitches; }
std::span<const luaL_Reg> attention_functions() { return kAttentionFunctions; }

bool push_attention_backend(lua_State* L, std::string_view name) {
  if (find_backend(name) == nullptr) return false;
  push_text(L, name);
  return true;
}

std::vector<std::string> attention_backend_names() {
  std::vector<std::string> names;
  for (const AttentionBackend& backend : kAttentionBackends) names.emplace_back(backend.name);
  return names;
}

}  // namespace ohm::lua
