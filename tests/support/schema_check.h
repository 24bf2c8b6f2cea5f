// JSON against a JSON Schema: the part of it that our schemas use.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

namespace ohm::test {

class SchemaCheck {
 public:
  explicit SchemaCheck(const nlohmann::json& schema) : root_(schema) {}

  /// Where and why `value` breaks the schema; empty when it does not.
  std::string errors(const nlohmann::json& value) const { return errors(value, root_, "$"); }

 private:
  const nlohmann::json& resolved(const nlohmann::json& schema) const {
    if (!schema.contains("$ref")) return schema;
    const std::string reference = schema["$ref"];
    return root_.at(nlohmann::json::json_pointer(reference.substr(1)));
  }

  static bool is_of_type(const nlohmann::json& value, const std::string& type) {
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_boolean();
    if (type == "integer") return value.is_number_integer();
    if (type == "number") return value.is_number();
    return type == "null" && value.is_null();
  }

  static bool is_of_any_type(const nlohmann::json& value, const nlohmann::json& types) {
    if (types.is_string()) return is_of_type(value, types);
    return std::any_of(types.begin(), types.end(),
                       [&](const nlohmann::json& type) { return is_of_type(value, type); });
  }

  std::string errors(const nlohmann::json& value, const nlohmann::json& unresolved,
                     const std::string& at) const {
    const nlohmann::json& schema = resolved(unresolved);
    if (schema.contains("type") && !is_of_any_type(value, schema["type"])) {
      return at + ": " + value.dump() + " is not " + schema["type"].dump() + "\n";
    }
    if (schema.contains("enum")) {
      const nlohmann::json& allowed = schema["enum"];
      const bool is_allowed = std::find(allowed.begin(), allowed.end(), value) != allowed.end();
      if (!is_allowed) return at + ": " + value.dump() + " is not in " + allowed.dump() + "\n";
    }
    std::string all;
    if (value.is_object()) all += object_errors(value, schema, at);
    if (value.is_array() && schema.contains("items")) {
      for (std::size_t i = 0; i < value.size(); ++i) {
        all += errors(value[i], schema["items"], fmt::format("{}[{}]", at, i));
      }
    }
    return all;
  }

  std::string object_errors(const nlohmann::json& value, const nlohmann::json& schema,
                            const std::string& at) const {
    std::string all;
    for (const nlohmann::json& name : schema.value("required", nlohmann::json::array())) {
      if (value.contains(name.get<std::string>())) continue;
      all += fmt::format("{}: no {}\n", at, name.dump());
    }
    const nlohmann::json properties = schema.value("properties", nlohmann::json::object());
    for (const auto& [name, member] : value.items()) {
      if (properties.contains(name)) {
        all += errors(member, properties[name], fmt::format("{}.{}", at, name));
      } else if (schema.contains("additionalProperties")) {
        all += errors(member, schema["additionalProperties"], fmt::format("{}.{}", at, name));
      } else {
        all += fmt::format("{}: \"{}\" is not in the schema\n", at, name);
      }
    }
    return all;
  }

  const nlohmann::json& root_;
};

}  // namespace ohm::test
