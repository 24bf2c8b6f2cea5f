#include "harness/lua/libraries/packed_sequence_library.h"

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/lua/bind/native.h"
#include "harness/lua/bind/object_handle.h"
#include "harness/lua/bind/op_arguments.h"
#include "harness/lua/bind/packed_sequence_handle.h"
#include "harness/lua/bind/tensor_handle.h"
#include "harness/lua/vm/interpreter.h"
#include "runtime/arithmetic/factories.h"

namespace ohm::lua {
namespace {

using nn::PackedSequence;
using ops::ParamKind;
using ops::Value;

ops::Param flag(std::string_view name, bool otherwise) {
  return {name, ParamKind::boolean, /*is_optional=*/true, otherwise, false};
}

// A list of numbers, or a tensor whose values are known.
std::vector<std::int64_t> lengths_at(lua_State* L, int index, const ArgumentName& name) {
  if (const Tensor* tensor = test_handle<Tensor>(L, index)) {
    if (!tensor->defined() || !tensor->device().is_cpu() || tensor->dims() != 1 ||
        tensor->dtype() != DType::int64) {
      throw std::invalid_argument(
          fmt::format("[{}] 'lengths' should be a 1D CPU int64 tensor, or a list", name.function));
    }
    if (tensor->has_values()) return to_integers(*tensor);
    throw std::invalid_argument(
        fmt::format("[{}] lengths in a tensor without values are not known: give them in a list",
                    name.function));
  }
  if (!lua_istable(L, index)) refuse_argument(L, index, name, "a list or a tensor");
  const lua_Integer count = list_length(L, index, name);
  std::vector<std::int64_t> lengths;
  for (lua_Integer i = 1; i <= count; ++i) {
    lua_rawgeti(L, index, i);
    lengths.push_back(integer_argument(L, -1, name));
    lua_pop(L, 1);
  }
  return lengths;
}

int pack_padded_sequence(lua_State* L) {
  constexpr std::string_view kName = "pack_padded_sequence";
  const std::vector<std::int64_t> lengths = lengths_at(L, 2, {kName, "lengths"});
  lua_remove(L, 2);
  const std::vector<ops::Param> params = {{"input", ParamKind::tensor, false, {}, false},
                                          flag("batch_first", false),
                                          flag("enforce_sorted", true)};
  std::vector<Value> values = read_parameters(L, kName, params);
  Tensor input = std::move(std::get<Tensor>(values[0]));
  // A temporary is the function's alone, as in PyTorch, where it is written in Python.
  lua_settop(L, 0);
  Interpreter::of(L).collect(L);
  push_packed_sequence(
      L, nn::pack_padded_sequence(std::move(input), lengths, std::get<bool>(values[1]),
                                  std::get<bool>(values[2])));
  return 1;
}

int pad_packed_sequence(lua_State* L) {
  constexpr std::string_view kName = "pad_packed_sequence";
  const PackedSequence sequence = object_argument<const PackedSequence>(L, 1, {kName, "sequence"});
  lua_remove(L, 1);
  const std::vector<ops::Param> params = {
      flag("batch_first", false),
      {"padding_value", ParamKind::number, /*is_optional=*/true, 0.0, false},
      {"total_length", ParamKind::integer, /*is_optional=*/true, {}, false}};
  const std::vector<Value> values = read_parameters(L, kName, params);
  std::optional<std::int64_t> total_length;
  if (const auto* const length = std::get_if<std::int64_t>(&values[2])) total_length = *length;
  const nn::PaddedSequences padded = nn::pad_packed_sequence(
      sequence, std::get<bool>(values[0]), std::get<double>(values[1]), total_length);
  push_tensor(L, padded.data);
  push_tensor(L, padded.lengths);
  return 2;
}

// {sequences} [, batch_first [, padding_value [, padding_side]]]
Tensor padded(const std::vector<Value>& values) {
  const std::string& side = std::get<std::string>(values[3]);
  if (side != "left" && side != "right") {
    throw std::invalid_argument(
        "[pad_sequence] padding_side should be either 'right' or 'left', got '" + side + "'");
  }
  return nn::pad_sequence(std::get<std::vector<Tensor>>(values[0]), std::get<bool>(values[1]),
                          std::get<double>(values[2]), side == "left");
}

int pad_sequence(lua_State* L) {
  const std::vector<ops::Param> params = {
      {"sequences", ParamKind::tensor_list, false, {}, false},
      flag("batch_first", false),
      {"padding_value", ParamKind::number, /*is_optional=*/true, 0.0, false},
      {"padding_side", ParamKind::string, /*is_optional=*/true, std::string("right"), false}};
  push_tensor(L, padded(read_parameters(L, "pad_sequence", params)));
  return 1;
}

int pack_sequence(lua_State* L) {
  const std::vector<ops::Param> params = {{"sequences", ParamKind::tensor_list, false, {}, false},
                                          flag("enforce_sorted", true)};
  const std::vector<Value> values = read_parameters(L, "pack_sequence", params);
  const auto& sequences = std::get<std::vector<Tensor>>(values[0]);
  Tensor padded = nn::pad_sequence(sequences, false, 0.0, false);
  std::vector<std::int64_t> lengths;
  for (const Tensor& sequence : sequences) lengths.push_back(sequence.size(0));
  push_packed_sequence(
      L, nn::pack_padded_sequence(std::move(padded), lengths, false, std::get<bool>(values[1])));
  return 1;
}

// PackedSequence(data, like): other data with the steps of another sequence. PyTorch takes its
// batch sizes and indices, one by one.
int make_packed_sequence(lua_State* L) {
  constexpr std::string_view kName = "PackedSequence";
  const Tensor& data = tensor_argument(L, 1, {kName, "data"});
  PackedSequence sequence = object_argument<const PackedSequence>(L, 2, {kName, "like"});
  if (data.dims() == 0 || data.size(0) != sequence.data.size(0)) {
    throw std::invalid_argument(
        fmt::format("[PackedSequence] {} has not the {} elements of the sequence", describe(data),
                    sequence.data.size(0)));
  }
  sequence.data = data;
  push_packed_sequence(L, std::move(sequence));
  return 1;
}

constexpr luaL_Reg kPackedSequenceFunctions[] = {
    {"PackedSequence", native<make_packed_sequence>},
    {"pack_padded_sequence", native<pack_padded_sequence>},
    {"pack_sequence", native<pack_sequence>},
    {"pad_packed_sequence", native<pad_packed_sequence>},
    {"pad_sequence", native<pad_sequence>},
};

}  // namespace

std::span<const luaL_Reg> packed_sequence_functions() { return kPackedSequenceFunctions; }

}  // namespace ohm::lua
