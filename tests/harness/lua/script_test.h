// Scripts run in an interpreter on a machine of virtual GPUs.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/lua/bind/returned_values.h"
#include "harness/lua/bind/tensor_handle.h"
#include "harness/lua/libraries/script_bindings.h"
#include "harness/lua/vm/interpreter.h"
#include "tests/support/test_machine.h"

namespace ohm::test {

/// Those that are not ops, of all libraries.
inline const std::vector<luaL_Reg>& tensor_methods() {
  return lua::script_bindings().find_class(lua::HandleOf<Tensor>::kClass)->methods;
}

class ScriptTest : public testing::Test {
 protected:
  static constexpr const char* kPath = "scenarios/test.lua";

  explicit ScriptTest(const MachineOptions& options = {.values = ValueMode::keeps_values},
                      const engine::ScriptCaps& caps = {})
      : machine_(options),
        interpreter_(std::make_unique<lua::Interpreter>(kPath, caps, 7, lua::script_bindings())) {}

  /// Runs a chunk; returns what it returned.
  engine::ReturnedValues run(std::string_view source) {
    interpreter_->load(source, kPath);
    interpreter_->call(0, 1);
    engine::ReturnedValues values = lua::copy_returned_values(interpreter_->state(), -1);
    lua_pop(interpreter_->state(), 1);
    return values;
  }

  /// The number (or boolean) that a chunk returns.
  double number(std::string_view source) { return run(source).at(0).second.values.at(0); }
  /// The string that a chunk returns.
  std::string text(std::string_view source) { return run(source).at(0).second.text; }

  /// The message of the error that ends a chunk; empty when none does.
  std::string error_of(std::string_view source) {
    try {
      run(source);
    } catch (const engine::ScriptError& error) {
      return error.what();
    }
    return "";
  }

  TestMachine machine_;
  std::unique_ptr<lua::Interpreter> interpreter_;
};

}  // namespace ohm::test
