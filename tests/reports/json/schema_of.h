// The JSON schema that a result's fields say, as it is published in reports/json.
#pragma once

#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "reports/model/fields.h"

namespace ohm::test {

/// What a document writes for a double that is not finite.
enum class NotFinite { word, null };

class SchemaOf {
 public:
  using Json = nlohmann::ordered_json;  // as the fields stand

  explicit SchemaOf(NotFinite not_finite) : not_finite_(not_finite) {}

  template <class Result>
  std::string text(const std::string& id, const std::string& command) {
    Json members = object_of<Result>();
    Json document = {
        {"$schema", "https://json-schema.org/draft/2020-12/schema"},
        {"$id", id},
        {"title", "The result of " + command + ". Fields may be added, never removed."},
        {"type", "object"}};
    document["required"] = Json::array({"schema"});
    for (const Json& name : members["required"]) document["required"].push_back(name);
    document["properties"]["schema"] = {{"enum", Json::array({id})}};
    for (const auto& [name, property] : members["properties"].items()) {
      document["properties"][name] = property;
    }
    for (const auto& [name, definition] : definitions_.items()) {
      document["$defs"][name] = definition;
      if (nullable_.contains(name)) document["$defs"][name]["type"] = {"object", "null"};
    }
    return printed(document, "", true) + "\n";
  }

 private:
  template <class Struct>
  Json object_of() {
    Json json = Json::object();
    if constexpr (requires { Struct::kSchemaDescription; }) {
      json["description"] = Struct::kSchemaDescription;
    }
    json["type"] = "object";
    json["required"] = Json::array();
    json["properties"] = Json::object();
    each_field<Struct>([&](const auto& field) { add_property(json, field, Struct()); });
    return json;
  }

  template <class FieldRow, class Struct>
  void add_property(Json& object, const FieldRow& field, const Struct& owner) {
    using Shape = typename FieldRow::Shape;
    using Value = std::remove_cvref_t<decltype(field.of(owner))>;
    if constexpr (std::is_same_v<Shape, OwnColumnsShape>) {
      const Json columns = columns_of<typename Value::value_type>();
      for (const auto& [name, column] : columns["properties"].items()) {
        object["properties"][name] = column;
        object["required"].push_back(name);
      }
    } else if constexpr (!std::is_same_v<Shape, UnwrittenShape>) {
      Json property = Json::object();
      if (*field.description != '\0') property["description"] = field.description;
      property.update(value_of<Value>(Shape(), field.presence == Presence::always));
      object["properties"][field.name] = property;
      if (field.presence != Presence::optional) object["required"].push_back(field.name);
    }
  }

  // ---- values -----------------------------------------------------------------------------------

  template <class Value, class Shape>
  Json value_of(Shape shape, bool may_be_null) {
    if constexpr (
        requires { typename Value::value_type; } && requires { Value().has_value(); }) {
      using Inner = typename Value::value_type;
      Json json = value_of<Inner>(shape, false);
      if (may_be_null) add_null<Inner>(json);
      return json;
    } else if constexpr (std::is_same_v<Shape, ColumnsShape>) {
      return columns_value<typename Value::value_type>();
    } else if constexpr (std::is_same_v<Shape, ExactShape>) {
      return {{"type", "number"}};
    } else if constexpr (std::is_same_v<Shape, PlainShape>) {
      return plain<Value>();
    } else {
      return keyed<typename Value::value_type>(shape);
    }
  }

  template <class Inner>
  void add_null(Json& json) {
    if constexpr (HasFields<Inner>) {
      nullable_.insert(Inner::kSchemaName);
    } else {
      Json types = json["type"].is_array() ? json["type"] : Json::array({json["type"]});
      if (types.back() != "null") types.push_back("null");
      json["type"] = types;
    }
  }

  template <class Value>
  Json plain() {
    if constexpr (HasFields<Value>) {
      return reference<Value>(object_of<Value>());
    } else if constexpr (HasWords<Value>) {
      Json words = Json::array();
      for (std::size_t i = 0; i < word_count(Value()); ++i) {
        words.push_back(std::string(name_of(static_cast<Value>(i))));
      }
      return {{"enum", words}};
    } else if constexpr (std::is_same_v<Value, bool>) {
      return {{"type", "boolean"}};
    } else if constexpr (std::is_same_v<Value, double>) {
      const char* other = not_finite_ == NotFinite::word ? "string" : "null";
      return {{"type", {"integer", "number", other}}};
    } else if constexpr (std::is_integral_v<Value>) {
      return {{"type", "integer"}};
    } else if constexpr (std::is_same_v<Value, std::string>) {
      return {{"type", "string"}};
    } else if constexpr (std::is_same_v<Value, std::map<std::string, std::string>>) {
      return {{"type", "object"}, {"additionalProperties", {{"type", "string"}}}};
    } else {
      return {{"type", "array"}, {"items", plain<typename Value::value_type>()}};
    }
  }

  template <class Value, class Enum>
  static Json keyed(KeyedShape<Enum> /*shape*/) {
    Json properties = Json::object();
    Json required = Json::array();
    for (std::size_t i = 0; i < word_count(Enum()); ++i) {
      const std::string name(name_of(static_cast<Enum>(i)));
      properties[name] = std::is_arithmetic_v<Value> ? Json{{"type", "integer"}} : column();
      if (std::is_arithmetic_v<Value>) required.push_back(name);
    }
    return {{"type", "object"}, {"required", required}, {"properties", properties}};
  }

  template <class Row>
  Json columns_value() {
    if constexpr (HasFields<Row>) {
      return reference<Row>(columns_of<Row>());
    } else {
      return column();
    }
  }
  template <class Row>
  static Json columns_of() {
    Json json = {{"type", "object"}, {"required", Json::array()}, {"properties", Json::object()}};
    each_field<Row>([&](const auto& field) {
      Json property = Json::object();
      if (*field.description != '\0') property["description"] = field.description;
      property.update(column());
      json["properties"][field.name] = property;
      json["required"].push_back(field.name);
    });
    return json;
  }
  /// Integers with blanks between.
  static Json column() { return {{"type", "string"}, {"pattern", "^[0-9 ]*$"}}; }

  template <class Struct>
  Json reference(Json definition) {
    definitions_[Struct::kSchemaName] = std::move(definition);
    return {{"$ref", std::string("#/$defs/") + Struct::kSchemaName}};
  }

  // ---- text -------------------------------------------------------------------------------------

  /// Structs and what they have get a line for each member, all else is on one line.
  static std::string printed(const Json& json, const std::string& indent, bool is_open) {
    if (!json.is_object() || !is_open) return inline_text(json);
    std::string out;
    for (const auto& [name, value] : json.items()) {
      const bool is_map = name == "properties" || name == "$defs";
      const bool is_struct = value.is_object() && value.contains("properties");
      out += (out.empty() ? "\n" : ",\n") + indent + "  " + Json(name).dump() + ": " +
             printed(value, indent + "  ", is_map || is_struct);
    }
    return "{" + out + "\n" + indent + "}";
  }
  static std::string inline_text(const Json& json) {
    if (!json.is_structured()) return json.dump();
    std::string out;
    for (const auto& [name, value] : json.items()) {
      out += out.empty() ? "" : ", ";
      if (json.is_object()) out += Json(name).dump() + ": ";
      out += inline_text(value);
    }
    return json.is_object() ? "{" + out + "}" : "[" + out + "]";
  }

  NotFinite not_finite_;
  Json definitions_ = Json::object();
  std::set<std::string> nullable_;
};

}  // namespace ohm::test
