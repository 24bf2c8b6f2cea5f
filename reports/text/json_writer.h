// A result's structs as JSON, by their fields. Keys are sorted, bytes are integers.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "reports/model/fields.h"
#include "reports/text/text_layout.h"

namespace ohm::reports {

/// Whether strings are made printable, or stay bytes that dump() has to replace.
enum class JsonText : std::uint8_t { as_it_is, printable };

class JsonWriter {
 public:
  using Json = nlohmann::json;
  /// A double that is not exact.
  using Number = Json (*)(double);

  JsonWriter(JsonText text, Number number) : text_(text), number_(number) {}

  template <HasFields Struct>
  Json object(const Struct& value) const {
    Json json = Json::object();
    each_field<Struct>([&](const auto& field) { write(json, field, value); });
    return json;
  }

 private:
  // ---- members ----------------------------------------------------------------------------------

  template <class FieldRow, class Struct>
  void write(Json& json, const FieldRow& field, const Struct& owner) const {
    using Shape = typename FieldRow::Shape;
    if constexpr (std::is_same_v<Shape, OwnColumnsShape>) {
      write_columns(json, field.of(owner));
    } else if constexpr (!std::is_same_v<Shape, UnwrittenShape>) {
      const auto& value = field.of(owner);
      if (field.presence == Presence::optional && is_as_new(field, value)) return;
      json[field.name] = shaped(value, Shape());
    }
  }

  template <class FieldRow, class Value>
  static bool is_as_new(const FieldRow& field, const Value& value) {
    if constexpr (requires { value.has_value(); }) {
      return !value.has_value();
    } else if constexpr (requires { value.empty(); }) {
      return value.empty();
    } else if constexpr (FieldRow::kIsStored && std::is_arithmetic_v<Value>) {
      return value == new_value(field);
    } else {
      return false;
    }
  }
  template <class Struct, class Value, class Shape>
  static Value new_value(const Field<Value Struct::*, Shape>& field) {
    static const Struct kNew{};
    return kNew.*field.member;
  }

  // ---- values -----------------------------------------------------------------------------------

  template <class Value>
  Json shaped(const Value& value, PlainShape /*shape*/) const {
    return plain(value);
  }
  template <class Value>
  Json shaped(const Value& value, ExactShape /*shape*/) const {
    return Json(*value);
  }
  template <class Value, class Enum>
  Json shaped(const Value& values, KeyedShape<Enum> /*shape*/) const {
    Json json = Json::object();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::string key(name_of(static_cast<Enum>(i)));
      if constexpr (std::is_arithmetic_v<typename Value::value_type>) {
        json[key] = values[i];
      } else if (!values[i].empty()) {
        json[key] = column(values[i], [](const auto& one) { return one; });
      }
    }
    return json;
  }
  template <class Row>
  Json shaped(const std::vector<Row>& rows, ColumnsShape /*shape*/) const {
    if constexpr (HasFields<Row>) {
      Json json = Json::object();
      write_columns(json, rows);
      return json;
    } else {
      return column(rows, [](const Row& row) { return row; });
    }
  }

  Json plain(const std::string& text) const {
    return text_ == JsonText::printable ? printable(text) : text;
  }
  Json plain(double value) const { return number_(value); }
  template <class Value>
  Json plain(const std::optional<Value>& value) const {
    return value ? plain(*value) : Json(nullptr);
  }
  template <class Value>
  Json plain(const std::vector<Value>& values) const {
    Json array = Json::array();
    for (const Value& value : values) array.push_back(plain(value));
    return array;
  }
  Json plain(const std::map<std::string, std::string>& values) const {
    Json json = Json::object();
    for (const auto& [key, value] : values) json[key] = plain(value);
    return json;
  }
  template <class Value>
  Json plain(const Value& value) const {
    if constexpr (HasFields<Value>) {
      return object(value);
    } else if constexpr (std::is_enum_v<Value>) {
      return std::string(name_of(value));
    } else {
      static_assert(std::is_integral_v<Value>);
      return value;
    }
  }

  // ---- columns ----------------------------------------------------------------------------------

  template <class Row>
  static void write_columns(Json& json, const std::vector<Row>& rows) {
    each_field<Row>([&](const auto& field) {
      json[field.name] = column(rows, [&field](const Row& row) { return row.*field.member; });
    });
  }

  template <class Rows, class Get>
  static std::string column(const Rows& rows, Get&& get) {
    std::string text;
    for (const auto& row : rows) {
      if (!text.empty()) text += ' ';
      const auto value = get(row);
      if constexpr (std::is_enum_v<decltype(value)>) {
        text += fmt::format_int(static_cast<unsigned>(value)).c_str();
      } else {
        text += fmt::format_int(value).c_str();
      }
    }
    return text;
  }

  JsonText text_;
  Number number_;
};

}  // namespace ohm::reports
