// The ops by name: one row for each, next to its code.
//
// A row says what the op is called, what it takes, how autocast treats it and with which inputs
// its gradient is checked. Lua bindings, listings, the gradient check and the byte accounting are
// made from the rows. To add an op: write it in its family and add its row there.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/ops/autocast.h"
#include "runtime/ops/value.h"

namespace ohm::ops {

struct Param {
  std::string_view name;
  ParamKind kind = ParamKind::tensor;
  bool is_optional = false;  ///< may be left out: then `fallback` is passed
  Value fallback;
  bool is_constant = false;  ///< a floating tensor that the op has no gradient for
};

/// Arguments to call an op with; its tensors are made for the current context.
using Sample = std::vector<Value>;

/// Where a script finds the op, as PyTorch has it: `ohm.relu(x)`, `x:relu()`,
/// `ohm.nn.functional.relu(x)`. Bits.
enum Exposure : unsigned { kFunction = 1U, kMethod = 2U, kFunctional = 4U };

struct OpDef {
  OpInfo info;
  unsigned exposure = kFunction;
  std::vector<Param> params;
  std::function<Value(std::span<const Value>)> call;
  /// Float64 CPU inputs, away from kinks, for the finite-difference check: every floating tensor
  /// among them but the constants is checked. Null for ops without a gradient.
  std::function<std::vector<Sample>()> samples;
};

/// A parameter's name, and its default where it has one.
struct ParamName {
  std::string_view name;
  Value fallback = std::monostate{};
  bool is_constant = false;
  ParamName(const char* text) : name(text) {}  // NOLINT: rows read as lists of names
  ParamName(const char* text, Value value) : name(text), fallback(std::move(value)) {}
  /// A tensor that no gradient goes to: class weights, running statistics.
  static ParamName constant(const char* text) {
    ParamName param(text);
    param.is_constant = true;
    return param;
  }
};

/// A row for the C++ function `fn`: kinds of parameters come from its signature. Tensor
/// parameters, then the rest, in the order of the signature.
template <class R, class... Args>
OpDef define(const OpInfo& info, unsigned exposure, R (*fn)(Args...), std::vector<ParamName> names,
             std::function<std::vector<Sample>()> samples = {}) {
  OpDef def{info, exposure, {}, {}, std::move(samples)};
  const std::vector<std::pair<ParamKind, bool>> kinds = {
      {ParamTraits<std::decay_t<Args>>::kKind, ParamTraits<std::decay_t<Args>>::kIsOptional}...};
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const bool has_default = !std::holds_alternative<std::monostate>(names[i].fallback);
    def.params.push_back({names[i].name, kinds[i].first, kinds[i].second || has_default,
                          std::move(names[i].fallback), names[i].is_constant});
  }
  def.call = [fn](std::span<const Value> values) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      if constexpr (std::is_void_v<R>) {
        fn(ParamTraits<std::decay_t<Args>>::get(values[I])...);
        return Value();
      } else {
        return Value(fn(ParamTraits<std::decay_t<Args>>::get(values[I])...));
      }
    }
    (std::index_sequence_for<Args...>());
  };
  return def;
}

/// All ops, family by family. Made at the first call.
const std::vector<OpDef>& all_ops();

/// nullptr when there is no such op.
const OpDef* find_op(std::string_view name);

}  // namespace ohm::ops
