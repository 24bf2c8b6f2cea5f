#include "harness/lua/libraries/sampler_library.h"

#include <stdexcept>
#include <string_view>
#include <utility>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/methods.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/object_handle.h"
#include "harness/lua/bind/op_arguments.h"
#include "harness/lua/libraries/dataset_library.h"
#include "harness/lua/libraries/generator_library.h"

namespace ohm::lua {
namespace {

using data::BatchSampler;
using data::DistributedSampler;
using data::SamplerPtr;

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

const HandleClass HandleOf<SamplerPtr>::kClass = {"sampler", kSamplerMetamethods};
const HandleClass HandleOf<BatchSamplerPtr>::kClass = {"BatchSampler", kBatchSamplerMetamethods};

std::span<const luaL_Reg> sampler_functions() { return kSamplerFunctions; }

}  // namespace ohm::lua
