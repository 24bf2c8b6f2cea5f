#include "harness/lua/libraries/generator_library.h"

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "harness/lua/bind/methods.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/object_handle.h"
#include "harness/lua/bind/tensor_handle.h"
#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/ops/random/sampling.h"
#include "runtime/tensor/context.h"

namespace ohm::lua {
namespace {

using data::GeneratorPtr;
using data::Indices;

int make_generator(lua_State* L) {
  push_handle<GeneratorPtr>(L, std::make_shared<PhiloxGenerator>());
  return 1;
}

// The same values as after every other call with this seed.
int generator_manual_seed(lua_State* L) {
  const auto seed = integer_argument(L, 2, {"manual_seed", "seed"});
  object_argument<PhiloxGenerator>(L, 1, {"manual_seed", "self"}) = {
      static_cast<std::uint64_t>(seed), 0};
  lua_settop(L, 1);
  return 1;
}

int initial_seed(lua_State* L) {
  const auto& generator = object_argument<PhiloxGenerator>(L, 1, {"initial_seed", "self"});
  lua_pushinteger(L, static_cast<lua_Integer>(generator.seed));
  return 1;
}

constexpr luaL_Reg kGeneratorMethods[] = {
    {"initial_seed", native<initial_seed, Entry::access>},
    {"manual_seed", native<generator_manual_seed>},
};

int index_generator(lua_State* L) { return push_method(L, kGeneratorMethods, "Generator"); }

constexpr luaL_Reg kGeneratorMetamethods[] = {{"__index", native<index_generator, Entry::access>}};

// randperm(n [, {generator, device}]): int64.
int randperm(lua_State* L) {
  const NamedArguments named(L, "randperm");
  constexpr std::string_view kNames[] = {"device", "generator"};
  named.check_names(kNames);
  const std::int64_t count = integer_argument(L, 1, {"randperm", "n"});
  if (count < 0)
    throw std::invalid_argument(fmt::format("[randperm] n must be >= 0, got {}", count));
  const Device device = named.device("device", Device::cpu());
  const GeneratorPtr own = generator_argument(L, named);
  PhiloxGenerator& generator = own ? *own : Context::current().slot(device).generator;
  const Tensor out = ohm::empty({count}, {DType::int64, device});  // refuses what does not fit
  ops::take_permutation_scratch(count, device);
  if (out.has_values()) {
    const Indices indices = data::random_permutation(count, generator);
    copy_into(
        out, from_values({indices.begin(), indices.end()}, {count}, {DType::int64, Device::cpu()}));
  }
  push_tensor(L, out);
  return 1;
}

constexpr luaL_Reg kGeneratorFunctions[] = {
    {"Generator", native<make_generator>},
    {"randperm", native<randperm>},
};

}  // namespace

const HandleClass HandleOf<GeneratorPtr>::kClass = {"Generator", kGeneratorMetamethods};

GeneratorPtr generator_argument(lua_State* L, const NamedArguments& named) {
  if (!named.push("generator")) return nullptr;
  object_argument<PhiloxGenerator>(L, -1, {named.function(), "generator"});
  GeneratorPtr generator = *test_handle<GeneratorPtr>(L, -1);
  lua_pop(L, 1);
  return generator;
}

std::span<const luaL_Reg> generator_functions() { return kGeneratorFunctions; }

}  // namespace ohm::lua
