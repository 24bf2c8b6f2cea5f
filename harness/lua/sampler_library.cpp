#include "harness/lua/sampler_library.h"

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "harness/lua/arguments.h"
#include "harness/lua/dataset_library.h"
#include "harness/lua/native.h"
#include "harness/lua/object_handle.h"
#include "harness/lua/tensor_handle.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/tensor/context.h"

namespace ohm::lua {
namespace {

using data::BatchSampler;
using data::DistributedSampler;
using data::GeneratorPtr;
using data::Indices;
using data::SamplerPtr;

// ---- generators ---------------------------------------------------------------------------------

int make_generator(lua_State* L) {
  push_handle<GeneratorPtr>(L, std::make_shared<PhiloxGenerator>());
  return 1;
}

// The same values as after every other call with this seed.
int manual_seed(lua_State* L) {
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
    {"manual_seed", native<manual_seed>},
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
  const Tensor out = empty({count}, {DType::int64, device});  // refuses what does not fit
  if (out.has_values()) {
    const Indices indices = data::random_permutation(count, generator);
    ops::store_values(out, {indices.begin(), indices.end()});
  }
  push_tensor(L, out);
  return 1;
}

constexpr luaL_Reg kGeneratorFunctions[] = {
    {"Generator", native<make_generator>},
    {"randperm", native<randperm>},
};

// ---- samplers -----------------------------------------------------------------------------------

int push_sampler(lua_State* L, SamplerPtr sampler) {
  push_handle<SamplerPtr>(L, std::move(sampler));
  return 1;
}

/// Arguments of a sampler's constructor: the table of options stands behind the first `count`,
/// which may be tables themselves.
NamedArguments options_behind(lua_State* L, int count, std::string_view function) {
  const int last = lua_gettop(L);
  return {L, function, last > count && is_named_table(L, last) ? last : 0};
}

int sequential_sampler(lua_State* L) {
  return push_sampler(L, std::make_shared<data::SequentialSampler>(dataset_size(L, 1)));
}

int random_sampler(lua_State* L) {
  const NamedArguments named = options_behind(L, 1, "RandomSampler");
  constexpr std::string_view kNames[] = {"generator", "num_samples", "replacement"};
  named.check_names(kNames);
  data::RandomSamplerOptions options;
  options.replaces = named.boolean("replacement", false);
  options.num_samples = named.integer("num_samples", 0);
  options.generator = generator_argument(L, named);
  return push_sampler(
      L, std::make_shared<data::RandomSampler>(dataset_size(L, 1), std::move(options)));
}

int subset_random_sampler(lua_State* L) {
  const NamedArguments named = options_behind(L, 1, "SubsetRandomSampler");
  constexpr std::string_view kNames[] = {"generator"};
  named.check_names(kNames);
  return push_sampler(L, std::make_shared<data::SubsetRandomSampler>(
                             indices_argument(L, 1, {"SubsetRandomSampler", "indices"}),
                             generator_argument(L, named)));
}

int weighted_random_sampler(lua_State* L) {
  const NamedArguments named = options_behind(L, 1, "WeightedRandomSampler");
  constexpr std::string_view kNames[] = {"generator", "num_samples", "replacement"};
  named.check_names(kNames);
  const ArgumentName weights{"WeightedRandomSampler", "weights"};
  data::RandomSamplerOptions options;
  options.replaces = named.boolean("replacement", true);
  options.num_samples =
      lua_isinteger(L, 2) != 0 ? lua_tointeger(L, 2) : named.integer("num_samples", 0);
  options.generator = generator_argument(L, named);
  const ops::Value values = value_argument(L, 1, ops::ParamKind::number_list, weights);
  return push_sampler(L, std::make_shared<data::WeightedRandomSampler>(
                             std::get<std::vector<double>>(values), std::move(options)));
}

int distributed_sampler(lua_State* L) {
  const NamedArguments named = options_behind(L, 1, "DistributedSampler");
  constexpr std::string_view kNames[] = {"drop_last", "num_replicas", "rank", "seed", "shuffle"};
  named.check_names(kNames);
  data::DistributedSamplerOptions options;
  options.num_replicas = named.integer("num_replicas", 1);
  options.rank = named.integer("rank", 0);
  options.shuffles = named.boolean("shuffle", true);
  options.seed = static_cast<std::uint64_t>(named.integer("seed", 0));
  options.drops_last = named.boolean("drop_last", false);
  return push_sampler(L, std::make_shared<DistributedSampler>(dataset_size(L, 1), options));
}

int set_epoch(lua_State* L) {
  auto* sampler = dynamic_cast<DistributedSampler*>(
      &object_argument<data::Sampler>(L, 1, {"set_epoch", "self"}));
  if (sampler == nullptr) {
    throw std::invalid_argument("[set_epoch] only a DistributedSampler counts epochs");
  }
  sampler->set_epoch(integer_argument(L, 2, {"set_epoch", "epoch"}));
  return 0;
}

constexpr luaL_Reg kSamplerMethods[] = {{"set_epoch", native<set_epoch>}};

int index_sampler(lua_State* L) { return push_method(L, kSamplerMethods, "sampler"); }

int sampler_length(lua_State* L) {
  lua_pushinteger(L, object_argument<data::Sampler>(L, 1, {"sampler", "self"}).size());
  return 1;
}

constexpr luaL_Reg kSamplerMetamethods[] = {
    {"__index", native<index_sampler, Entry::access>},
    {"__len", native<sampler_length, Entry::access>},
};

// BatchSampler(sampler, batch_size [, drop_last])
int batch_sampler(lua_State* L) {
  const auto batch_size = integer_argument(L, 2, {"BatchSampler", "batch_size"});
  if (batch_size < 1) refuse_argument(L, 2, {"BatchSampler", "batch_size"}, "at least 1");
  object_argument<data::Sampler>(L, 1, {"BatchSampler", "sampler"});
  const bool drops_last =
      !lua_isnoneornil(L, 3) && boolean_argument(L, 3, {"BatchSampler", "drop_last"});
  push_handle<BatchSamplerPtr>(L, std::make_shared<BatchSampler>(BatchSampler{
                                      *test_handle<SamplerPtr>(L, 1), batch_size, drops_last}));
  return 1;
}

int batch_sampler_length(lua_State* L) {
  lua_pushinteger(L, object_argument<BatchSampler>(L, 1, {"BatchSampler", "self"}).size());
  return 1;
}

constexpr luaL_Reg kBatchSamplerMetamethods[] = {
    {"__len", native<batch_sampler_length, Entry::access>},
};

constexpr luaL_Reg kSamplerFunctions[] = {
    {"BatchSampler", native<batch_sampler>},
    {"DistributedSampler", native<distributed_sampler>},
    {"RandomSampler", native<random_sampler>},
    {"SequentialSampler", native<sequential_sampler>},
    {"SubsetRandomSampler", native<subset_random_sampler>},
    {"WeightedRandomSampler", native<weighted_random_sampler>},
};

}  // namespace

const HandleClass HandleOf<GeneratorPtr>::kClass = {"Generator", kGeneratorMetamethods};
const HandleClass HandleOf<SamplerPtr>::kClass = {"sampler", kSamplerMetamethods};
const HandleClass HandleOf<BatchSamplerPtr>::kClass = {"BatchSampler", kBatchSamplerMetamethods};

GeneratorPtr generator_argument(lua_State* L, const NamedArguments& named) {
  if (!named.push("generator")) return nullptr;
  object_argument<PhiloxGenerator>(L, -1, {named.function(), "generator"});
  GeneratorPtr generator = *test_handle<GeneratorPtr>(L, -1);
  lua_pop(L, 1);
  return generator;
}

Indices indices_argument(lua_State* L, int index, const ArgumentName& name) {
  if (const Tensor* tensor = test_handle<Tensor>(L, index)) {
    if (!tensor->has_values()) {
      refuse_argument(L, index, name, "indices (a size-only tensor has no values)");
    }
    const std::vector<double> values = to_doubles(*tensor);
    return {values.begin(), values.end()};
  }
  if (lua_type(L, index) != LUA_TTABLE) refuse_argument(L, index, name, "a list of indices");
  const int list = lua_absindex(L, index);
  Indices indices;
  const auto count = static_cast<lua_Integer>(lua_rawlen(L, list));
  for (lua_Integer i = 1; i <= count; ++i) {
    lua_rawgeti(L, list, i);
    const std::string element = fmt::format("{}[{}]", name.argument, i);
    indices.push_back(integer_argument(L, -1, {name.function, element}));
    lua_pop(L, 1);
  }
  return indices;
}

std::span<const luaL_Reg> generator_functions() { return kGeneratorFunctions; }
std::span<const luaL_Reg> sampler_functions() { return kSamplerFunctions; }

}  // namespace ohm::lua
