#include "reports/json/result_reader.h"

#include <fmt/format.h>

#include <charconv>
#include <concepts>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

#include "reports/history/history_check.h"
#include "reports/json/json_report.h"
#include "reports/json/sweep_json.h"
#include "reports/json/verification_json.h"
#include "reports/model/fields.h"
#include "reports/text/json_text.h"

namespace ohm::reports {

namespace {

using Json = nlohmann::json;

/// Reads structs by their fields and remembers where it is, for messages.
class Reader {
 public:
  RunResult result(const Json& json) {
    check_schema(json);
    RunResult result;
    read(json, result);
    return result;
  }

  SweepResult sweep(const Json& json) {
    if (!json.is_object() || !json.contains("schema") || json["schema"] != kSweepSchema) {
      refuse(fmt::format("not a report of ohm sweep ({})", kSweepSchema));
    }
    SweepResult result;
    read(json, result);
    // What is written of an error is less than what was known, and has no member of its own.
    for (std::size_t i = 0; i < result.scenarios.size(); ++i) {
      SweptScenario& scenario = result.scenarios[i];
      const Json& from = json["scenarios"][i];
      scenario.error = error_of(from);
      for (std::size_t v = 0; v < scenario.variants.size(); ++v) {
        scenario.variants[v].error = error_of(from["variants"][v]);
      }
    }
    return result;
  }

  VerificationResult verification(const Json& json) {
    if (!json.is_object() || !json.contains("schema") || json["schema"] != kVerificationSchema) {
      refuse(fmt::format("not a report of ohm verify-device ({})", kVerificationSchema));
    }
    VerificationResult result;
    read(json, result);
    return result;
  }

 private:
  std::optional<ErrorResult> error_of(const Json& json) {
    std::optional<BriefError> brief;
    if (json.contains("error")) read(json["error"], "error", brief, PlainShape());
    if (!brief) return std::nullopt;
    return ErrorResult{brief->message, brief->file, brief->line, {}, brief->hint};
  }

  /// A member or an element, and its place from there on.
  class Step {
   public:
    Step(Reader& reader, const std::string& step) : reader_(reader), before_(reader.place_.size()) {
      reader.place_ += step;
    }
    ~Step() { reader_.place_.resize(before_); }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;

   private:
    Reader& reader_;
    std::size_t before_;
  };

  [[noreturn]] void refuse(const std::string& what) const {
    throw ResultError(fmt::format("{}: {}", place_, what));
  }
  [[noreturn]] void refuse(std::string_view name, std::string_view kind, const Json& value) const {
    const std::string text = json_line(value);
    refuse(fmt::format("\"{}\" is not {}: {}", name, kind,
                       text.size() <= 60 ? text : text.substr(0, 57) + "..."));
  }

  void check_schema(const Json& json) const {
    constexpr std::string_view kFamily = "ohm.result/";
    if (!json.is_object() || !json.contains("schema") || !json["schema"].is_string()) {
      refuse("not a result of ohm run: it has no \"schema\"");
    }
    const std::string schema = json["schema"];
    if (schema == kResultSchema) return;
    if (schema.starts_with(kFamily)) {
      refuse(
          fmt::format("its schema is {}, this program reads {}: use the ohm that wrote it, or a "
                      "newer one",
                      schema, kResultSchema));
    }
    refuse(fmt::format("its schema is \"{}\", not {}", schema, kResultSchema));
  }

  // ---- structs ----------------------------------------------------------------------------------

  template <HasFields Struct>
  void read(const Json& json, Struct& value) {
    if (!json.is_object()) refuse("is not an object");
    each_field<Struct>([&](const auto& field) {
      using FieldRow = std::remove_cvref_t<decltype(field)>;
      using Shape = typename FieldRow::Shape;
      if constexpr (std::is_same_v<Shape, OwnColumnsShape>) {
        read_columns(json, value.*field.member);
      } else if constexpr (FieldRow::kIsStored && !std::is_same_v<Shape, UnwrittenShape>) {
        const auto found = json.find(field.name);
        if (found != json.end()) {
          read(*found, field.name, value.*field.member, Shape());
        } else if (field.presence == Presence::always) {
          refuse(fmt::format("has no \"{}\"", field.name));
        }
      }
    });
    if constexpr (std::is_same_v<Struct, MemoryHistory>) check(value);
  }

  void check(const MemoryHistory& history) const {
    try {
      check_history(history);
    } catch (const std::invalid_argument& error) {
      refuse(error.what());
    }
  }

  // ---- values -----------------------------------------------------------------------------------

  template <class Value>
  void read(const Json& json, const char* name, Value& value, ExactShape /*shape*/) {
    read(json, name, value, PlainShape());
  }

  void read(const Json& json, const char* name, bool& value, PlainShape /*shape*/) const {
    if (!json.is_boolean()) refuse(name, "true or false", json);
    value = json.get<bool>();
  }

  template <std::integral Value>
  void read(const Json& json, const char* name, Value& value, PlainShape /*shape*/) const {
    if (!json.is_number_integer()) refuse(name, "an integer", json);
    // The narrower ones are lines and events.
    if constexpr (sizeof(Value) < sizeof(std::int64_t)) {
      const auto wide = json.get<std::int64_t>();
      if (wide < 0 || wide > static_cast<std::int64_t>(std::numeric_limits<Value>::max())) {
        refuse(name, "a line or an event", json);
      }
    }
    value = json.get<Value>();
  }

  void read(const Json& json, const char* name, std::string& value, PlainShape /*shape*/) const {
    if (!json.is_string()) refuse(name, "a text", json);
    value = json.get<std::string>();
  }

  void read(const Json& json, const char* name, double& value, PlainShape /*shape*/) const {
    if (json.is_number()) {
      value = json.get<double>();
    } else if (json == "inf") {
      value = std::numeric_limits<double>::infinity();
    } else if (json == "-inf") {
      value = -std::numeric_limits<double>::infinity();
    } else if (json == "nan") {
      value = std::numeric_limits<double>::quiet_NaN();
    } else {
      refuse(name, "a number", json);
    }
  }

  template <HasWords Enum>
  void read(const Json& json, const char* name, Enum& value, PlainShape /*shape*/) const {
    std::string word;
    read(json, name, word, PlainShape());
    for (std::size_t i = 0; i < word_count(Enum()); ++i) {
      value = static_cast<Enum>(i);
      if (name_of(value) == word) return;
    }
    refuse(fmt::format("\"{}\" is \"{}\", which is none of its words", name, word));
  }

  template <class Value>
  void read(const Json& json, const char* name, std::optional<Value>& value, PlainShape shape) {
    value.reset();
    if (!json.is_null()) read(json, name, value.emplace(), shape);
  }

  template <class Value>
  void read(const Json& json, const char* name, std::vector<Value>& values, PlainShape shape) {
    if (!json.is_array()) refuse(name, "a list", json);
    values.resize(json.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      if constexpr (HasFields<Value>) {
        const Step step(*this, fmt::format(".{}[{}]", name, i));
        read(json[i], values[i]);
      } else {
        read(json[i], name, values[i], shape);
      }
    }
  }

  void read(const Json& json, const char* name, std::map<std::string, std::string>& values,
            PlainShape shape) {
    if (!json.is_object()) refuse(name, "an object", json);
    for (const auto& [key, value] : json.items()) read(value, name, values[key], shape);
  }

  template <HasFields Struct>
  void read(const Json& json, const char* name, Struct& value, PlainShape /*shape*/) {
    const Step step(*this, fmt::format(".{}", name));
    read(json, value);
  }

  /// Of figures every word has one; of columns those that are there.
  template <class Values, class Enum>
  void read(const Json& json, const char* name, Values& values, KeyedShape<Enum> /*shape*/) {
    const Step step(*this, fmt::format(".{}", name));
    if (!json.is_object()) refuse("is not an object");
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::string key(name_of(static_cast<Enum>(i)));
      const auto found = json.find(key);
      if constexpr (std::is_arithmetic_v<typename Values::value_type>) {
        if (found == json.end()) refuse(fmt::format("has no \"{}\"", key));
        read(*found, key.c_str(), values[i], PlainShape());
      } else if (found != json.end()) {
        read(*found, key.c_str(), values[i], ColumnsShape());
      }
    }
  }

  // ---- columns ----------------------------------------------------------------------------------

  template <class Row>
  void read(const Json& json, const char* name, std::vector<Row>& rows, ColumnsShape /*shape*/) {
    if constexpr (HasFields<Row>) {
      const Step step(*this, fmt::format(".{}", name));
      read_columns(json, rows);
    } else {
      rows = column<Row>(json, name);
    }
  }

  /// Sets each member of the rows from a column as long as the others.
  template <class Row>
  void read_columns(const Json& json, std::vector<Row>& rows) const {
    if (!json.is_object()) refuse("is not an object");
    bool is_first = true;
    each_field<Row>([&](const auto& field) {
      const auto found = json.find(field.name);
      if (found == json.end()) refuse(fmt::format("has no \"{}\"", field.name));
      using Value = std::remove_cvref_t<decltype(Row().*field.member)>;
      const std::vector<Value> values = column<Value>(*found, field.name);
      if (std::exchange(is_first, false)) rows.resize(values.size());
      if (values.size() != rows.size()) {
        refuse(fmt::format("column \"{}\" has another length", field.name));
      }
      for (std::size_t i = 0; i < rows.size(); ++i) rows[i].*field.member = values[i];
    });
  }

  template <class Value>
  std::vector<Value> column(const Json& json, const char* name) const {
    if (!json.is_string()) refuse(name, "a column", json);
    const std::string& text = json.get_ref<const std::string&>();
    std::vector<Value> values;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at != end) {
      using Number =
          typename std::conditional_t<std::is_enum_v<Value>, std::type_identity<unsigned>,
                                      std::type_identity<Value>>::type;
      Number number = 0;
      const auto [after, error] = std::from_chars(at, end, number);
      if (error != std::errc() || (after != end && *after != ' ') || number < 0) {
        refuse(fmt::format("\"{}\" is not a list of numbers", name));
      }
      if constexpr (std::is_enum_v<Value>) {
        if (number >= word_count(Value())) refuse(fmt::format("\"{}\" has an unknown word", name));
      }
      values.push_back(static_cast<Value>(number));
      at = after == end ? after : after + 1;
    }
    return values;
  }

  std::string place_ = "$";
};

Json parsed(std::string_view text) {
  try {
    return parse_json(text);
  } catch (const Json::exception& error) {
    // Also of a number that no computer can hold. The library's message begins with its own name
    // and number.
    const std::string_view message = error.what();
    const std::size_t words = message.find("] ");
    throw ResultError(fmt::format("not JSON, or cut off: {}", words == std::string_view::npos
                                                                  ? message
                                                                  : message.substr(words + 2)));
  }
}

}  // namespace

RunResult read_result(std::string_view text) { return result_of(parsed(text)); }

SweepResult read_whole_sweep(std::string_view text) { return Reader().sweep(parsed(text)); }

VerificationResult read_verification(std::string_view text) {
  return verification_of(parsed(text));
}

VerificationResult verification_of(const Json& json) { return Reader().verification(json); }

RunResult result_of(const Json& json) { return Reader().result(json); }

RunResult read_result_file(const std::string& path) {
  try {
    InputFile file(path);
    return read_result_file(file, path);
  } catch (const std::system_error& error) {
    throw ResultError(fmt::format("cannot read {}: {}", path, error.code().message()));
  }
}

namespace {

/// What `read` makes of the text that the file has; errors begin with the path.
template <class Read>
auto read_file(InputFile& file, const std::string& path, Read&& read) {
  try {
    return read(file.rest());
  } catch (const std::system_error& error) {
    throw ResultError(fmt::format("cannot read {}: {}", path, error.code().message()));
  } catch (const ResultError& error) {
    throw ResultError(fmt::format("{}: {}", path, error.what()));
  }
}

bool is_verification(const Json& json) {
  if (!json.is_object()) return false;
  const auto schema = json.find("schema");
  return schema != json.end() && *schema == kVerificationSchema;
}

}  // namespace

RunResult read_result_file(InputFile& file, const std::string& path) {
  return read_file(file, path, [](const std::string& text) { return read_result(text); });
}

std::variant<RunResult, VerificationResult> read_run_or_verification(InputFile& file,
                                                                     const std::string& path) {
  using Either = std::variant<RunResult, VerificationResult>;
  return read_file(file, path, [](const std::string& text) {
    const Json json = parsed(text);
    return is_verification(json) ? Either(verification_of(json)) : Either(result_of(json));
  });
}

}  // namespace ohm::reports
