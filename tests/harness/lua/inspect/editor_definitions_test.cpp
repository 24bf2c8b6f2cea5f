// What editors are told is what scripts find.
#include "harness/lua/inspect/editor_definitions.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "harness/lua/bind/optimizer_handle.h"
#include "harness/lua/bind/tensor_metatable.h"
#include "tests/harness/lua/script_test.h"

namespace ohm::test {
namespace {

/// What stands behind `start`, up to one of `ends`, in each line of a class that starts so.
std::set<std::string> names_in_class(const std::string& class_name, const std::string& start) {
  std::istringstream lines(lua::editor_definitions());
  std::set<std::string> names;
  bool is_inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("---@class ")) is_inside = line == "---@class " + class_name;
    if (!is_inside || !line.starts_with(start)) continue;
    names.insert(line.substr(start.size(), line.find_first_of(" (", start.size()) - start.size()));
  }
  return names;
}

TEST(EditorDefinitions, HaveEveryPropertyOfATensor) {
  std::set<std::string> properties;
  for (const lua::TensorProperty& property : lua::tensor_properties()) {
    properties.emplace(property.name);
  }
  EXPECT_EQ(properties.size(), 16U);
  EXPECT_EQ(names_in_class("ohm.Tensor", "---@field "), properties);
}

TEST(EditorDefinitions, HaveEveryMethodOfATensor) {
  const std::set<std::string> defined = names_in_class("ohm.Tensor", "function Tensor:");
  for (const luaL_Reg& method : tensor_methods()) {
    EXPECT_THAT(defined, testing::Contains(method.name));
  }
}

TEST(EditorDefinitions, HaveEveryArithmeticOperatorOfATensor) {
  EXPECT_THAT(
      names_in_class("ohm.Tensor", "---@operator "),
      testing::UnorderedElementsAre("add", "sub", "mul", "div", "idiv", "mod", "pow", "unm:"));
}

TEST(EditorDefinitions, HaveEveryMethodOfAnOptimizer) {
  const std::set<std::string> defined = names_in_class("ohm.Optimizer", "function Optimizer:");
  for (const luaL_Reg& method : lua::optimizer_methods()) {
    EXPECT_THAT(defined, testing::Contains(method.name));
  }
}

class TensorProperties : public ScriptTest {};

// The language server's types, as Lua names what a script reads.
TEST_F(TensorProperties, HaveTheTypeThatEditorsAreTold) {
  const std::string script =
      "local x = ohm.ones(2, 2, {requires_grad = true})\n"
      "local y = (x * 2) x.grad = ohm.ones(2, 2)\n";
  for (const lua::TensorProperty& property : lua::tensor_properties()) {
    const std::string name(property.name);
    const std::string object = name == "grad_fn" ? "y" : "x";
    std::string type = text(
        fmt::format("{}local v = {}.{} return math.type(v) or type(v) == 'userdata' and "
                    "'ohm.Tensor' or type(v) == 'table' and math.type(v[1]) .. '[]' or type(v)",
                    script, object, name));
    if (property.type.ends_with('?')) type += '?';
    EXPECT_EQ(property.type, type) << name;
  }
}

}  // namespace
}  // namespace ohm::test
