// C++ functions called by name: parameters with kinds and defaults, taken from the signature.
#pragma once

#include <array>
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

/// A parameter's name, and its default where it has one. The list of ops makes hundreds of them:
/// what makes, copies and destroys one stands in one place.
struct ParamName {
  std::string_view name;
  Value fallback = std::monostate{};
  bool is_constant = false;
  ParamName(const char* text);  // NOLINT: rows read as lists of names
  ParamName(const char* text, Value value);
  ParamName(const ParamName& other);
  ParamName& operator=(const ParamName& other);
  ~ParamName();
  /// A tensor that no gradient goes to: class weights, running statistics.
  static ParamName constant(const char* text);
};

/// What the type of a parameter says about it.
struct ParamType {
  ParamKind kind;
  bool is_optional;
};

/// The parameters of these types. Pre-condition: one name for each.
std::vector<Param> params_of(std::span<const ParamType> types, std::vector<ParamName> names);

/// The parameters of a function with these argument types; one name for each.
template <class... Args>
std::vector<Param> params_of(std::vector<ParamName> names) {
  static constexpr std::array<ParamType, sizeof...(Args)> kTypes = {ParamType{
      ParamTraits<std::decay_t<Args>>::kKind, ParamTraits<std::decay_t<Args>>::kIsOptional}...};
  return params_of(kTypes, std::move(names));
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
