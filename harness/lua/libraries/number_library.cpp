#include "harness/lua/libraries/number_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numbers>
#include <string>
#include <string_view>
#include <utility>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/vm/push_text.h"

namespace ohm::lua {
namespace {

// ---- names of devices ---------------------------------------------------------------------------

// device(type [, index]): what `device = …` takes, a name
int device(lua_State* L) {
  const ArgumentName name{"device", "type"};
  std::string text{string_argument(L, 1, name)};
  if (!lua_isnoneornil(L, 2)) {
    text += fmt::format(":{}", integer_argument(L, 2, {"device", "index"}));
  }
  push_text(L, text);
  device_argument(L, -1, name);
  return 1;
}

constexpr luaL_Reg kNumberFunctions[] = {
    {"device", native<device>},
};

// ---- constants ----------------------------------------------------------------------------------

constexpr std::pair<std::string_view, double> kNumbers[] = {
    {"e", std::numbers::e},
    {"inf", std::numeric_limits<double>::infinity()},
    {"nan", std::numeric_limits<double>::quiet_NaN()},
    {"pi", std::numbers::pi},
};
constexpr std::string_view kDTypeAliases[] = {"double", "float", "half", "int", "long", "short"};

}  // namespace

std::span<const luaL_Reg> number_functions() { return kNumberFunctions; }

bool push_constant(lua_State* L, std::string_view name) {
  for (const auto& [known, value] : kNumbers) {
    if (known == name) return lua_pushnumber(L, value), true;
  }
  if (std::find(std::begin(kDTypeAliases), std::end(kDTypeAliases), name) ==
      std::end(kDTypeAliases)) {
    return false;
  }
  push_text(L, name_of(parse_dtype(name)));
  return true;
}

std::vector<std::string> constant_names() {
  std::vector<std::string> names(std::begin(kDTypeAliases), std::end(kDTypeAliases));
  for (const auto& [name, value] : kNumbers) names.emplace_back(name);
  return names;
}

}  // namespace ohm::lua
