// Results of any origin, made safe to print: scripts, recordings and files of others wrote their
// texts, and a terminal must not obey them. Every text of a struct is reached through its fields(),
// so that none can be forgotten.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "reports/model/fields.h"
#include "reports/text/text_layout.h"

namespace ohm::reports {

inline void make_printable(std::string& text) { text = printable(text); }

// All of them are known before any: each calls the others.
template <class Value>
void make_printable(Value& value);
template <class Value>
void make_printable(std::optional<Value>& value);
template <class Value>
void make_printable(std::vector<Value>& values);
template <class Value, std::size_t Size>
void make_printable(std::array<Value, Size>& values);
template <class Key, class Value>
void make_printable(std::map<Key, Value>& values);

template <class Value>
void make_printable(std::optional<Value>& value) {
  if (value) make_printable(*value);
}

template <class Value>
void make_printable(std::vector<Value>& values) {
  if constexpr (!std::is_arithmetic_v<Value> && !std::is_enum_v<Value>) {
    for (Value& value : values) make_printable(value);
  }
}

template <class Value, std::size_t Size>
void make_printable(std::array<Value, Size>& values) {
  for (Value& value : values) make_printable(value);
}

template <class Key, class Value>
void make_printable(std::map<Key, Value>& values) {
  std::map<Key, Value> printed;
  for (auto& [key, value] : values) {
    Key name = key;
    make_printable(name);
    make_printable(value);
    printed.emplace(std::move(name), std::move(value));
  }
  values = std::move(printed);
}

/// Of a struct all of its fields; of a number, or a word of a closed set, nothing.
template <class Value>
void make_printable(Value& value) {
  if constexpr (HasFields<Value>) {
    each_field<Value>([&](const auto& field) {
      if constexpr (std::remove_cvref_t<decltype(field)>::kIsStored) {
        make_printable(field.of(value));
      }
    });
  }
}

template <class Result>
Result printable_copy(Result result) {
  make_printable(result);
  return result;
}

}  // namespace ohm::reports
