// An argument or a result of an op that is called by name: what a script can pass.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// A number of a program. One with a fraction part, be it 0, makes a floating tensor of a tensor of
/// integers; an integer does not.
struct Number {
  double value = 0.0;
  bool is_integer = false;

  template <std::floating_point T>
  constexpr Number(T number) : value(number) {}  // NOLINT(google-explicit-constructor)
  template <std::integral T>
  constexpr Number(T number)  // NOLINT(google-explicit-constructor)
      : value(static_cast<double>(number)), is_integer(true) {}
};

/// A tensor, or a number that stands for a tensor of the other operand's dtype and device.
using TensorOrNumber = std::variant<Tensor, Number>;

/// Sizes, or a word that says how they are found: the padding of a convolution.
using SizesOrWord = std::variant<Shape, std::string>;

/// What a Value can hold; monostate: not given.
using AnyValue = std::variant<std::monostate, bool, std::int64_t, double, std::string, DType,
                              Device, Shape, std::vector<double>, Tensor, std::vector<Tensor>>;

/// An AnyValue whose copies and ends are compiled once: the lists of ops and modules make
/// thousands.
class Value : public AnyValue {
 public:
  using AnyValue::AnyValue;
  Value();
  Value(const Value& other);
  Value(Value&& other) noexcept;
  Value& operator=(const Value& other);
  Value& operator=(Value&& other) noexcept;
  ~Value();
};

/// What a parameter accepts. The script side converts to the alternative of Value in brackets.
enum class ParamKind : std::uint8_t {
  tensor,            ///< [Tensor]
  tensor_or_number,  ///< [Tensor, double or int64]
  tensor_list,       ///< [vector<Tensor>]
  number,            ///< [double]
  integer,           ///< [int64]
  boolean,           ///< [bool]
  size_list,         ///< [Shape]; a script may pass one integer for a list of one
  sizes_or_word,     ///< [Shape or string]
  number_list,       ///< [vector<double>]; a script may pass one number for a list of one
  string,            ///< [string]
  dtype,             ///< [DType]
  device,            ///< [Device]
};

/// How the C++ type of a parameter is taken out of a Value. An std::optional parameter accepts
/// "not given".
template <class T>
struct ParamTraits;

template <class T, ParamKind K>
struct PlainParam {
  static constexpr ParamKind kKind = K;
  static constexpr bool kIsOptional = false;
  static const T& get(const Value& value) { return std::get<T>(value); }
};
template <>
struct ParamTraits<Tensor> : PlainParam<Tensor, ParamKind::tensor> {};
template <>
struct ParamTraits<std::vector<Tensor>> : PlainParam<std::vector<Tensor>, ParamKind::tensor_list> {
};
template <>
struct ParamTraits<double> : PlainParam<double, ParamKind::number> {};
template <>
struct ParamTraits<std::int64_t> : PlainParam<std::int64_t, ParamKind::integer> {};
template <>
struct ParamTraits<bool> : PlainParam<bool, ParamKind::boolean> {};
template <>
struct ParamTraits<Shape> : PlainParam<Shape, ParamKind::size_list> {};
template <>
struct ParamTraits<std::vector<double>> : PlainParam<std::vector<double>, ParamKind::number_list> {
};
template <>
struct ParamTraits<std::string> : PlainParam<std::string, ParamKind::string> {};
template <>
struct ParamTraits<DType> : PlainParam<DType, ParamKind::dtype> {};
template <>
struct ParamTraits<Device> : PlainParam<Device, ParamKind::device> {};
template <>
struct ParamTraits<TensorOrNumber> {
  static constexpr ParamKind kKind = ParamKind::tensor_or_number;
  static constexpr bool kIsOptional = false;
  static TensorOrNumber get(const Value& value) {
    if (const Tensor* tensor = std::get_if<Tensor>(&value)) return *tensor;
    if (const std::int64_t* integer = std::get_if<std::int64_t>(&value)) return Number(*integer);
    return Number(std::get<double>(value));
  }
};
template <>
struct ParamTraits<SizesOrWord> {
  static constexpr ParamKind kKind = ParamKind::sizes_or_word;
  static constexpr bool kIsOptional = false;
  static SizesOrWord get(const Value& value) {
    if (const Shape* sizes = std::get_if<Shape>(&value)) return *sizes;
    return std::get<std::string>(value);
  }
};
template <class T>
struct ParamTraits<std::optional<T>> {
  static constexpr ParamKind kKind = ParamTraits<T>::kKind;
  static constexpr bool kIsOptional = true;
  static std::optional<T> get(const Value& value) {
    if (std::holds_alternative<std::monostate>(value)) return std::nullopt;
    return ParamTraits<T>::get(value);
  }
};

}  // namespace ohm::ops
