#include "reports/json/result_reader.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <system_error>

#include "allocator_shim/base/whole_file.h"
#include "reports/history/history_json.h"
#include "reports/json/json_report.h"

namespace ohm::reports {

namespace {

using Json = nlohmann::json;

/// Reads members and remembers where it is, for messages.
class Reader {
 public:
  RunResult result(const Json& json) {
    RunResult result;
    check_schema(json);
    result.exit_reason = word<ExitReason>(json, "exit_reason", exit_reason_names());
    result.shard = object<ShardResult>(json, "shard", &Reader::shard);
    result.scenarios = list<ScenarioResult>(json, "scenarios", &Reader::scenario);
    return result;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw ResultError(fmt::format("{}: {}", place_, what));
  }

  void check_schema(const Json& json) const {
    constexpr std::string_view kFamily = "ohm.result/";
    if (!json.is_object() || !json.contains("schema") || !json["schema"].is_string()) {
      refuse("no result of ohm run: it has no \"schema\"");
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

  static std::vector<std::string_view> exit_reason_names() {
    std::vector<std::string_view> names;
    for (const ExitCode& code : kExitCodes) names.push_back(code.reason);
    return names;
  }
  static std::vector<std::string_view> role_names() {
    std::vector<std::string_view> names;
    for (const RoleName& role : kRoleNames) names.push_back(role.name);
    return names;
  }

  // ---- members ----------------------------------------------------------------------------------

  const Json& member(const Json& json, const char* key) const {
    if (!json.is_object()) refuse("is no object");
    const auto found = json.find(key);
    if (found == json.end()) refuse(fmt::format("has no \"{}\"", key));
    return *found;
  }

  template <class T>
  T get(const Json& json, const char* key) const {
    const Json& value = member(json, key);
    try {
      return value.get<T>();
    } catch (const Json::exception&) {
      refuse(fmt::format("\"{}\" is not what it should be: {}", key, shown(value)));
    }
  }

  static std::string shown(const Json& value) {
    const std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    return text.size() <= 60 ? text : text.substr(0, 57) + "...";
  }

  std::int64_t integer(const Json& json, const char* key) const {
    if (!member(json, key).is_number_integer()) {
      refuse(fmt::format("\"{}\" is no integer: {}", key, shown(json[key])));
    }
    return get<std::int64_t>(json, key);
  }
  int line(const Json& json, const char* key) const {
    const std::int64_t value = integer(json, key);
    if (value < 0 || value > std::numeric_limits<int>::max()) {
      refuse(fmt::format("\"{}\" is no line number: {}", key, value));
    }
    return static_cast<int>(value);
  }
  std::string text(const Json& json, const char* key) const { return get<std::string>(json, key); }
  std::string text_or_empty(const Json& json, const char* key) const {
    return json.contains(key) ? text(json, key) : std::string();
  }

  template <class Enum, class Names>
  Enum word(const Json& json, const char* key, const Names& names) const {
    const std::string value = text(json, key);
    for (std::size_t i = 0; i < std::size(names); ++i) {
      if (names[i] == value) return static_cast<Enum>(i);
    }
    refuse(fmt::format("\"{}\" is \"{}\", which is none of its words", key, value));
  }

  std::optional<double> figure(const Json& json, const char* key) const {
    const Json& value = member(json, key);
    if (value.is_null()) return std::nullopt;
    if (value.is_number()) return value.get<double>();
    if (value == "inf") return std::numeric_limits<double>::infinity();
    if (value == "-inf") return -std::numeric_limits<double>::infinity();
    if (value == "nan") return std::numeric_limits<double>::quiet_NaN();
    refuse(fmt::format("\"{}\" is no figure: {}", key, shown(value)));
  }

  template <class T>
  std::vector<T> list(const Json& json, const char* key, T (Reader::*read)(const Json&)) {
    const Json& array = member(json, key);
    if (!array.is_array()) refuse(fmt::format("\"{}\" is no list", key));
    std::vector<T> items;
    const std::string place = place_;
    for (std::size_t i = 0; i < array.size(); ++i) {
      place_ = fmt::format("{}.{}[{}]", place, key, i);
      items.push_back((this->*read)(array[i]));
    }
    place_ = place;
    return items;
  }

  template <class T>
  std::optional<T> object(const Json& json, const char* key, T (Reader::*read)(const Json&)) {
    if (!json.contains(key)) return std::nullopt;
    const std::string place = place_;
    place_ = fmt::format("{}.{}", place, key);
    T value = (this->*read)(json[key]);
    place_ = place;
    return value;
  }

  CategoryBytes categories(const Json& json, const char* key) const {
    const Json& object = member(json, key);
    CategoryBytes bytes = {};
    for (std::size_t i = 0; i < kCategoryCount; ++i) {
      bytes[i] = integer(object, std::string(kCategoryNames[i]).c_str());
    }
    return bytes;
  }

  // ---- structs ----------------------------------------------------------------------------------

  HolderResult holder(const Json& json) {
    HolderResult holder;
    holder.bytes = integer(json, "bytes");
    holder.count = integer(json, "count");
    holder.category = word<Category>(json, "category", kCategoryNames);
    holder.op = text(json, "op");
    holder.file = text(json, "file");
    holder.line = line(json, "line");
    holder.text = text_or_empty(json, "text");
    return holder;
  }

  PeakResult peak(const Json& json) {
    return {integer(json, "event"), integer(json, "step"),
            list<HolderResult>(json, "holders", &Reader::holder)};
  }

  DeviceResult device(const Json& json) {
    DeviceResult device;
    device.device = text(json, "device");
    device.profile = text(json, "profile");
    device.card = text_or_empty(json, "card");
    device.capacity_bytes = integer(json, "capacity_bytes");
    device.values = get<bool>(json, "values");
    device.rules = text_or_empty(json, "rules");
    device.alloc_conf = text_or_empty(json, "alloc_conf");
    device.peak_allocated_bytes = integer(json, "peak_allocated_bytes");
    device.peak_reserved_bytes = integer(json, "peak_reserved_bytes");
    device.allocated_at_end_bytes = integer(json, "allocated_at_end_bytes");
    device.num_ooms = integer(json, "num_ooms");
    device.num_alloc_retries = integer(json, "num_alloc_retries");
    device.num_device_alloc = integer(json, "num_device_alloc");
    device.peak_by_category = categories(json, "peak_by_category");
    device.peak = object<PeakResult>(json, "peak", &Reader::peak);
    if (json.contains("modelled")) {
      device.modelled = get<std::vector<std::string>>(json, "modelled");
    }
    return device;
  }

  HostResult host(const Json& json) {
    return {integer(json, "peak_allocated_bytes"), integer(json, "allocated_at_end_bytes"),
            integer(json, "pinned_bytes"), integer(json, "num_ooms")};
  }

  LimitResult limit(const Json& json) {
    LimitResult limit;
    limit.limit = text(json, "limit");
    limit.unit = word<Unit>(json, "unit", kUnitNames);
    limit.measured = figure(json, "measured");
    limit.bound = figure(json, "bound");
    if (!member(json, "holds").is_null()) limit.holds = get<bool>(json, "holds");
    limit.note = text_or_empty(json, "note");
    return limit;
  }

  OomResult oom(const Json& json) {
    OomResult oom;
    oom.step = integer(json, "step");
    oom.device = text(json, "device");
    oom.requested_bytes = integer(json, "requested_bytes");
    oom.segment_bytes = integer(json, "segment_bytes");
    oom.category = word<Category>(json, "category", kCategoryNames);
    oom.op = text(json, "op");
    oom.file = text(json, "file");
    oom.line = line(json, "line");
    oom.message = text(json, "message");
    oom.injected = get<bool>(json, "injected");
    oom.policy = text(json, "policy");
    oom.alive_by_category = categories(json, "alive_by_category");
    oom.holders = list<HolderResult>(json, "holders", &Reader::holder);
    oom.other_holders = integer(json, "other_holders");
    return oom;
  }

  ErrorResult error(const Json& json) {
    return {text(json, "message"), text(json, "file"), line(json, "line"), text(json, "traceback"),
            text(json, "hint")};
  }

  RetainedResult retained(const Json& json) {
    RetainedResult entry;
    entry.variable = text(json, "variable");
    entry.function = text(json, "function");
    entry.line = line(json, "line");
    entry.bytes = integer(json, "bytes");
    entry.own_bytes = integer(json, "own_bytes");
    entry.blocks = integer(json, "blocks");
    entry.path = get<std::vector<std::string>>(json, "path");
    return entry;
  }

  RetentionResult retention(const Json& json) {
    return {text(json, "device"), integer(json, "bytes"), integer(json, "other_bytes"),
            list<RetainedResult>(json, "entries", &Reader::retained)};
  }

  FindingEvidence evidence(const Json& json) {
    return {integer(json, "event"), integer(json, "bytes"), integer(json, "count"),
            text(json, "op"),       text(json, "file"),     line(json, "line")};
  }

  FindingResult finding(const Json& json) {
    return {text(json, "pitfall"), text(json, "scenario"), text(json, "device"), text(json, "what"),
            list<FindingEvidence>(json, "evidence", &Reader::evidence)};
  }

  MemoryHistory history(const Json& json) {
    try {
      return history_of(json);
    } catch (const std::invalid_argument& error) {
      refuse(error.what());
    }
  }

  VariantResult variant(const Json& json) {
    VariantResult variant;
    variant.name = text(json, "name");
    variant.role = word<Role>(json, "role", role_names());
    variant.line = line(json, "line");
    variant.of = text_or_empty(json, "of");
    variant.trades = text_or_empty(json, "trades");
    variant.verdict = word<Verdict>(json, "verdict", kVerdictNames);
    variant.failure_type = text(json, "failure_type");
    variant.outcome = word<Outcome>(json, "outcome", kOutcomeNames);
    variant.reason = text(json, "reason");
    variant.steps = integer(json, "steps");
    variant.equivalence = word<Equivalence>(json, "equivalence", kEquivalenceNames);
    variant.reference = text_or_empty(json, "reference");
    variant.difference = text_or_empty(json, "difference");
    if (json.contains("recovered_share")) variant.recovered_share = figure(json, "recovered_share");
    variant.devices = list<DeviceResult>(json, "devices", &Reader::device);
    variant.limits = list<LimitResult>(json, "limits", &Reader::limit);
    variant.host = object<HostResult>(json, "host", &Reader::host);
    variant.oom = object<OomResult>(json, "oom", &Reader::oom);
    variant.error = object<ErrorResult>(json, "error", &Reader::error);
    variant.history = object<MemoryHistory>(json, "history", &Reader::history);
    variant.retention = object<RetentionResult>(json, "retention", &Reader::retention);
    if (json.contains("unused_faults")) {
      variant.unused_faults = get<std::vector<std::string>>(json, "unused_faults");
    }
    if (json.contains("findings")) {
      variant.findings = list<FindingResult>(json, "findings", &Reader::finding);
    }
    variant.output = text_or_empty(json, "output");
    variant.rerun = text(json, "rerun");
    if (json.contains("seconds")) variant.seconds = figure(json, "seconds");
    return variant;
  }

  ShardInput input(const Json& json) { return {text(json, "file"), text(json, "hash")}; }

  ShardResult shard(const Json& json) {
    ShardResult shard;
    shard.number = integer(json, "number");
    shard.count = integer(json, "count");
    if (json.contains("files")) shard.files = get<std::vector<std::int64_t>>(json, "files");
    // Results of older versions have neither.
    if (json.contains("settings")) {
      shard.settings = get<std::map<std::string, std::string>>(json, "settings");
    }
    if (json.contains("inputs")) shard.inputs = list<ShardInput>(json, "inputs", &Reader::input);
    return shard;
  }

  ScenarioResult scenario(const Json& json) {
    ScenarioResult scenario;
    scenario.name = text(json, "name");
    scenario.summary = text(json, "summary");
    scenario.file = text(json, "file");
    scenario.verdict = word<Verdict>(json, "verdict", kVerdictNames);
    scenario.error = object<ErrorResult>(json, "error", &Reader::error);
    scenario.variants = list<VariantResult>(json, "variants", &Reader::variant);
    scenario.references = list<VariantResult>(json, "references", &Reader::variant);
    if (json.contains("source")) {
      scenario.source = get<std::vector<std::string>>(json, "source");
    }
    return scenario;
  }

  std::string place_ = "$";
};

}  // namespace

RunResult read_result(std::string_view text) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error& error) {
    // The library's message begins with its own name and number.
    const std::string_view message = error.what();
    const std::size_t words = message.find("] ");
    throw ResultError(fmt::format("no JSON, or cut off: {}", words == std::string_view::npos
                                                                 ? message
                                                                 : message.substr(words + 2)));
  }
  return result_of(json);
}

RunResult result_of(const Json& json) { return Reader().result(json); }

RunResult read_result_file(const std::string& path) {
  try {
    return read_result(read_whole_file(path));
  } catch (const std::system_error& error) {
    throw ResultError(fmt::format("cannot read {}: {}", path, error.code().message()));
  } catch (const ResultError& error) {
    throw ResultError(fmt::format("{}: {}", path, error.what()));
  }
}

}  // namespace ohm::reports
