#include "harness/lua/bind/packed_sequence_handle.h"

#include <fmt/format.h>

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "allocator_shim/base/nearest_name.h"
#include "harness/lua/bind/module_handle.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/object_handle.h"
#include "harness/lua/bind/tensor_handle.h"

namespace ohm::lua {
namespace {

using nn::PackedSequence;
using nn::Value;

struct PackedField {
  std::string_view name;
  Tensor PackedSequence::*tensor;
};

constexpr std::array<PackedField, 4> kPackedFields = {{
    {"batch_sizes", &PackedSequence::batch_sizes},
    {"data", &PackedSequence::data},
    {"sorted_indices", &PackedSequence::sorted_indices},
    {"unsorted_indices", &PackedSequence::unsorted_indices},
}};

int index_packed_sequence(lua_State* L) {
  const auto& sequence = object_argument<const PackedSequence>(L, 1, {"PackedSequence", "self"});
  const std::string_view name = string_argument(L, 2, {"PackedSequence", "name"});
  std::vector<std::string> known;
  for (const PackedField& field : kPackedFields) {
    if (field.name == name) {
      push_tensor(L, sequence.*field.tensor);
      return 1;
    }
    known.emplace_back(field.name);
  }
  throw std::invalid_argument(
      fmt::format("a PackedSequence has no '{}'{}", name, did_you_mean(name, known)));
}

constexpr luaL_Reg kPackedSequenceMetamethods[] = {
    {"__index", native<index_packed_sequence, Entry::access>},
};

std::vector<Value> packed_inputs(lua_State* L, const PackedSequence& sequence,
                                 std::string_view module) {
  std::vector<Tensor> parts{sequence.data};
  if (sequence.sorted_indices.defined()) {
    parts.push_back(sequence.sorted_indices);
    parts.push_back(sequence.unsorted_indices);
  }
  std::vector<Value> inputs{std::move(parts),
                            std::vector<double>(sequence.sizes.begin(), sequence.sizes.end())};
  for (int index = 3; index <= lua_gettop(L); ++index) {
    if (!lua_isnil(L, index)) inputs.push_back(call_argument(L, index, {module, "input"}));
  }
  return inputs;
}

}  // namespace

const HandleClass HandleOf<PackedSequencePtr>::kClass = {"PackedSequence",
                                                         kPackedSequenceMetamethods};

void push_packed_sequence(lua_State* L, PackedSequence sequence) {
  push_handle<PackedSequencePtr>(L, std::make_shared<const PackedSequence>(std::move(sequence)));
}

std::optional<int> call_with_packed_sequence(lua_State* L, nn::Module& module) {
  const PackedSequencePtr* const given = test_object<const PackedSequence>(L, 2);
  if (given == nullptr) return std::nullopt;
  const Value result = module.call(packed_inputs(L, **given, module.type_name()));
  const auto* const results = std::get_if<std::vector<Tensor>>(&result);
  if (results == nullptr || results->empty()) {
    throw std::invalid_argument(fmt::format("[{}] takes no packed sequence", module.type_name()));
  }
  // As of any list the last handle is the oldest.
  lua_createtable(L, static_cast<int>(results->size()), 0);
  for (std::size_t i = results->size(); i > 1; --i) {
    push_tensor(L, (*results)[i - 1]);
    lua_rawseti(L, -2, static_cast<lua_Integer>(i));
  }
  PackedSequence output = **given;
  output.data = results->front();
  push_packed_sequence(L, std::move(output));
  lua_rawseti(L, -2, 1);
  return 1;
}

}  // namespace ohm::lua
