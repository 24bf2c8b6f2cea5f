// C++ functions called by name: parameters with kinds and defaults, taken from the signature.
#pragma once

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/ops/value.h"

namespace ohm::ops {

struct Param {
  std::string_view name;
  ParamKind kind = ParamKind::tensor;
  bool is_optional = false;  ///< may be left out: then `fallback` is passed
  Value fallback;
  bool is_constant = false;  ///< a floating tensor that the op has no gradient for
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

/// The parameters of a function with these argument types; one name for each.
template <class... Args>
std::vector<Param> params_of(std::vector<ParamName> names) {
  const std::vector<std::pair<ParamKind, bool>> kinds = {
      {ParamTraits<std::decay_t<Args>>::kKind, ParamTraits<std::decay_t<Args>>::kIsOptional}...};
  std::vector<Param> params;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const bool has_default = !std::holds_alternative<std::monostate>(names[i].fallback);
    params.push_back({names[i].name, kinds[i].first, kinds[i].second || has_default,
                      std::move(names[i].fallback), names[i].is_constant});
  }
  return params;
}

/// fn(values[0], values[1], …). Pre-condition: one Value for each parameter, of its kind.
template <class R, class... Args>
R invoke(R (*fn)(Args...), std::span<const Value> values) {
  const auto call = [&]<std::size_t... I>(std::index_sequence<I...>) {
    return fn(ParamTraits<std::decay_t<Args>>::get(values[I])...);
  };
  return call(std::index_sequence_for<Args...>());
}

}  // namespace ohm::ops
