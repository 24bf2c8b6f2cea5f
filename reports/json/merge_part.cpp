#include "reports/json/merge_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "reports/text/json_text.h"

namespace ohm::reports {

using Json = nlohmann::json;

void refuse(const ShardPart& part, std::string_view why) {
  throw std::invalid_argument(fmt::format("{}: {}", part.name, why));
}

void require_equal(const Json& sum, const Json& more, std::string_view field,
                   const ShardPart& part) {
  if (sum.at(field) == more.at(field)) return;
  refuse(part, fmt::format("of other work: its {} is {}, not {}", field, json_line(more.at(field)),
                           json_line(sum.at(field))));
}

std::int64_t as_count(const Json& value, std::string_view field, const ShardPart& part) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 53U;  // sums of two do not overflow
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > kMost) {
    refuse(part, fmt::format("a field is wrong: {} is {}, not a count", field, json_line(value)));
  }
  return value.get<std::int64_t>();
}

const Json& list_of(const Json& object, std::string_view field, const ShardPart& part) {
  const Json& list = object.at(field);
  if (!list.is_array()) refuse(part, fmt::format("a field is wrong: {} is not a list", field));
  return list;
}

const Json& object_of(const Json& object, std::string_view field, const ShardPart& part) {
  const Json& member = object.at(field);
  if (!member.is_object())
    refuse(part, fmt::format("a field is wrong: {} is not an object", field));
  return member;
}

ExitReason exit_reason_of(const ShardPart& part) {
  const Json& name = part.json.at("exit_reason");
  const auto* const known = std::find_if(
      kExitCodes.begin(), kExitCodes.end(),
      [&](const ExitCode& code) { return name.is_string() && name == std::string(code.reason); });
  if (known == kExitCodes.end()) {
    refuse(part, fmt::format("exit_reason {} is unknown", json_line(name)));
  }
  return static_cast<ExitReason>(known - kExitCodes.begin());
}

void merge_exit_reason(ShardPart& sum, const ShardPart& more) {
  const ExitReason reason = worse_of(exit_reason_of(sum), exit_reason_of(more));
  sum.json.at("exit_reason") = exit_code(reason).reason;
}

void refuse_other_work(const ShardPart& first, const ShardPart& part, std::string_view field,
                       const Json& found, const Json& expected) {
  refuse(part, fmt::format("of other work than {}: its {} is {}, not {}", first.name, field,
                           json_line(found), json_line(expected)));
}

namespace {

/// Where a report says what its work depends on: what is so of all shards, or of a shard alone.
const Json& work_of(const ShardPart& part) {
  const auto work = part.json.find("work");
  return work != part.json.end() ? *work : part.json.at("shard");
}

/// Throws for a shard of a version that did not say it.
void require_work(const ShardPart& part) {
  const Json& work = work_of(part);
  if (work.contains("settings") && work.contains("inputs")) return;
  refuse(part,
         "its shard does not say of which settings and files it is, as an older ohm wrote it: make "
         "it again");
}

void require_same_settings(const ShardPart& first, const ShardPart& part) {
  const Json& expected = object_of(work_of(first), "settings", first);
  const Json& found = object_of(work_of(part), "settings", part);
  for (const auto& [name, value] : expected.items()) {
    const Json other = found.value(name, Json());
    if (other != value) refuse_other_work(first, part, name, other, value);
  }
  if (found.size() != expected.size()) {
    refuse(part, fmt::format("of other work than {}: another ohm wrote it", first.name));
  }
}

void require_same_inputs(const ShardPart& first, const ShardPart& part) {
  const Json& expected = list_of(work_of(first), "inputs", first);
  const Json& found = list_of(work_of(part), "inputs", part);
  for (std::size_t i = 0; i < std::min(found.size(), expected.size()); ++i) {
    const Json& file = found[i].at("file");
    if (file != expected[i].at("file")) {
      refuse_other_work(first, part, fmt::format("file {}", i + 1), file, expected[i].at("file"));
    }
    if (found[i].at("hash") == expected[i].at("hash")) continue;
    refuse(part, fmt::format("of other work than {}: {} was edited in between", first.name,
                             json_line(file)));
  }
  if (found.size() != expected.size()) {
    refuse_other_work(first, part, "number of files", found.size(), expected.size());
  }
}

}  // namespace

void require_same_work(const ShardPart& first, const ShardPart& part) {
  for (const ShardPart* const one : {&first, &part}) require_work(*one);
  require_same_settings(first, part);
  require_same_inputs(first, part);
}

}  // namespace ohm::reports
