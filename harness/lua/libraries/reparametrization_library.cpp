#include "harness/lua/libraries/reparametrization_library.h"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/lua/bind/module_handle.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/op_arguments.h"
#include "harness/lua/vm/interpreter.h"
#include "runtime/nn/spectral_norm.h"
#include "runtime/nn/weight_norm.h"

namespace ohm::lua {
namespace {

using nn::ModulePtr;
using ops::Param;
using ops::ParamKind;
using ops::Value;

/// A function's arguments, the first of which is the module that it changes and gives back.
class ModuleChange {
 public:
  ModuleChange(lua_State* L, std::string_view function, std::vector<Param> further)
      : state_(L), module_(module_argument(L, 1, {function, "module"})) {
    lua_remove(L, 1);
    std::vector<Param> params = {
        {"name", ParamKind::string, /*is_optional=*/true, Value(std::string("weight")), false}};
    params.insert(params.end(), further.begin(), further.end());
    values_ = read_parameters(L, function, params);
  }

  nn::Module& module() const { return *module_; }
  const std::string& name() const { return std::get<std::string>(values_[0]); }
  const Value& value(std::size_t i) const { return values_[i + 1]; }

  /// A parametrized module's class knows the module in PyTorch: it is in a cycle.
  void note_cycle() const {
    std::vector<std::shared_ptr<void>>& known = Interpreter::of(state_).in_cycles;
    if (std::find(known.begin(), known.end(), module_) == known.end()) known.push_back(module_);
  }

  int done() const {
    push_module(state_, module_);
    return 1;
  }

 private:
  lua_State* state_;
  ModulePtr module_;
  std::vector<Value> values_;
};

using WeightNorm = void (*)(nn::Module& module, const std::string& name, std::int64_t dim);

ModuleChange apply_weight_norm(lua_State* L, WeightNorm normalize) {
  ModuleChange call(L, "weight_norm",
                    {{"dim", ParamKind::integer, /*is_optional=*/true, std::int64_t{0}, false}});
  normalize(call.module(), call.name(), std::get<std::int64_t>(call.value(0)));
  return call;
}

int weight_norm(lua_State* L) { return apply_weight_norm(L, nn::weight_norm).done(); }

int parametrize_weight_norm(lua_State* L) {
  const ModuleChange call = apply_weight_norm(L, nn::parametrize_weight_norm);
  call.note_cycle();
  return call.done();
}

using SpectralNorm = void (*)(nn::Module& module, const std::string& name,
                              const nn::SpectralNormOptions& options);

ModuleChange apply_spectral_norm(lua_State* L, SpectralNorm normalize) {
  ModuleChange call(
      L, "spectral_norm",
      {{"n_power_iterations", ParamKind::integer, /*is_optional=*/true, std::int64_t{1}, false},
       {"eps", ParamKind::number, /*is_optional=*/true, 1e-12, false},
       {"dim", ParamKind::integer, /*is_optional=*/true, {}, false}});
  nn::SpectralNormOptions options;
  options.power_iterations = std::get<std::int64_t>(call.value(0));
  options.eps = std::get<double>(call.value(1));
  if (const auto* const dim = std::get_if<std::int64_t>(&call.value(2))) options.dim = *dim;
  normalize(call.module(), call.name(), options);
  return call;
}

int spectral_norm(lua_State* L) { return apply_spectral_norm(L, nn::spectral_norm).done(); }

int parametrize_spectral_norm(lua_State* L) {
  const ModuleChange call = apply_spectral_norm(L, nn::parametrize_spectral_norm);
  call.note_cycle();
  return call.done();
}

int remove_weight_norm(lua_State* L) {
  const ModuleChange call(L, "remove_weight_norm", {});
  nn::remove_weight_norm(call.module(), call.name());
  return call.done();
}

int remove_spectral_norm(lua_State* L) {
  const ModuleChange call(L, "remove_spectral_norm", {});
  nn::remove_spectral_norm(call.module(), call.name());
  return call.done();
}

constexpr luaL_Reg kReparametrizationFunctions[] = {
    {"remove_spectral_norm", native<remove_spectral_norm>},
    {"remove_weight_norm", native<remove_weight_norm>},
    {"spectral_norm", native<spectral_norm>},
    {"weight_norm", native<weight_norm>},
};

constexpr luaL_Reg kParametrizationFunctions[] = {
    {"spectral_norm", native<parametrize_spectral_norm>},
    {"weight_norm", native<parametrize_weight_norm>},
};

}  // namespace

std::span<const luaL_Reg> reparametrization_functions() { return kReparametrizationFunctions; }

std::span<const luaL_Reg> parametrization_functions() { return kParametrizationFunctions; }

}  // namespace ohm::lua
