// Modules that a script defines.
#pragma once

#include <lua.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/lua/bind/reference.h"
#include "runtime/nn/module.h"

namespace ohm::lua {

/// What modules of one kind have in common: a table with `forward` and other functions.
struct ScriptClass {
  std::string name;
  ReferencePtr functions;  ///< null: there are none
};

/// Its forward pass is a function of the script, called with the module as `self`. A copy has the
/// functions and attributes of the original, so that DataParallel can replicate it.
class ScriptModule final : public nn::Module {
 public:
  /// The interpreter outlives every call of the module.
  ScriptModule(Interpreter& interpreter, std::shared_ptr<const ScriptClass> kind)
      : interpreter_(interpreter), kind_(std::move(kind)) {}

  std::string_view type_name() const override { return kind_->name; }

  /// For callers in C++; a script's own call passes its values to the function as they are.
  using Module::forward;
  nn::Value forward(const std::vector<nn::Value>& inputs) override;

  nn::ModulePtr shallow_copy() const override { return std::make_shared<ScriptModule>(*this); }

  /// Pushes the class's function of this name and returns true; or pushes nothing.
  bool push_function(lua_State* L, std::string_view name) const;
  /// Pushes `forward`: the module's own, else the class's. Throws std::invalid_argument when there
  /// is neither.
  void push_forward(lua_State* L);

  using Module::add_buffer;
  using Module::add_child;
  using Module::add_parameter;

 private:
  Interpreter& interpreter_;
  std::shared_ptr<const ScriptClass> kind_;
};

}  // namespace ohm::lua
