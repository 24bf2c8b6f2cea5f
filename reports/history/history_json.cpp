#include "reports/history/history_json.h"

#include <fmt/format.h>

#include <charconv>
#include <concepts>
#include <stdexcept>
#include <string_view>

namespace ohm::reports {

namespace {

using Json = nlohmann::json;

// ---- writing ------------------------------------------------------------------------------------

template <class Range, class Get>
std::string column(const Range& rows, Get&& get) {
  std::string text;
  for (const auto& row : rows) {
    if (!text.empty()) text += ' ';
    text += fmt::format_int(get(row)).c_str();
  }
  return text;
}

template <class T>
std::string column(const std::vector<T>& values) {
  return column(values, [](const T& value) { return value; });
}

template <class Row>
std::string position_of(const std::vector<Row>& rows) {
  return column(rows, [](const Row& row) { return row.position; });
}

template <class Row>
std::string bytes_of(const std::vector<Row>& rows) {
  return column(rows, [](const Row& row) { return row.bytes; });
}

template <class Row>
std::string begin_of(const std::vector<Row>& rows) {
  return column(rows, [](const Row& row) { return row.begin; });
}

template <class Row>
std::string end_of(const std::vector<Row>& rows) {
  return column(rows, [](const Row& row) { return row.end; });
}

Json frame_json(const HistoryFrame& frame) {
  return {{"event", frame.event},
          {"position", position_of(frame.others)},
          {"bytes", bytes_of(frame.others)}};
}

Json device_json(const DeviceMemoryHistory& device) {
  Json categories = Json::object();
  for (std::size_t i = 0; i < kCategoryCount; ++i) {
    if (device.by_category[i].empty()) continue;
    categories[std::string(kCategoryNames[i])] = column(device.by_category[i]);
  }
  Json frames = Json::array();
  for (const HistoryFrame& frame : device.frames) frames.push_back(frame_json(frame));
  const auto& blocks = device.blocks;
  return {
      {"device", device.device},
      {"allocated_high", column(device.allocated_high)},
      {"allocated_low", column(device.allocated_low)},
      {"reserved_high", column(device.reserved_high)},
      {"by_category", categories},
      {"peak_event", device.peak_event},
      {"ranges",
       {{"position", position_of(device.ranges)},
        {"address", column(device.ranges, [](const HistoryRange& range) { return range.address; })},
        {"bytes", bytes_of(device.ranges)}}},
      {"segments",
       {{"begin", begin_of(device.segments)},
        {"end", end_of(device.segments)},
        {"position", position_of(device.segments)},
        {"bytes", bytes_of(device.segments)}}},
      {"segments_left_out", device.segments_left_out},
      {"blocks",
       {{"begin", begin_of(blocks)},
        {"end", end_of(blocks)},
        {"position", position_of(blocks)},
        {"bytes", bytes_of(blocks)},
        {"site", column(blocks, [](const HistoryBlock& block) { return block.site; })},
        {"category",
         column(blocks,
                [](const HistoryBlock& block) { return static_cast<unsigned>(block.category); })}}},
      {"blocks_left_out", device.blocks_left_out},
      {"frames", frames}};
}

// ---- reading ------------------------------------------------------------------------------------

[[noreturn]] void refuse(std::string_view what) {
  throw std::invalid_argument(fmt::format("a memory history whose {}", what));
}

template <std::integral T>
std::vector<T> column_of(const Json& json, const char* key) {
  const std::string& text = json.at(key).get_ref<const std::string&>();
  std::vector<T> values;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    T value = 0;
    const auto [after, error] = std::from_chars(at, end, value);
    if (error != std::errc() || (after != end && *after != ' ') || value < 0) {
      refuse(fmt::format("\"{}\" is no list of numbers", key));
    }
    values.push_back(value);
    at = after == end ? after : after + 1;
  }
  return values;
}

/// Sets one member of each row from a column as long as the others.
template <class Row, std::integral T>
void read_column(std::vector<Row>& rows, const Json& json, const char* key, T Row::*member) {
  const std::vector<T> values = column_of<T>(json, key);
  if (rows.empty()) rows.resize(values.size());
  if (values.size() != rows.size()) refuse(fmt::format("column \"{}\" has another length", key));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].*member = values[i];
}

std::vector<HistoryBlock> blocks_of(const Json& json, std::size_t sites) {
  std::vector<HistoryBlock> blocks;
  read_column(blocks, json, "begin", &HistoryBlock::begin);
  read_column(blocks, json, "end", &HistoryBlock::end);
  read_column(blocks, json, "position", &HistoryBlock::position);
  read_column(blocks, json, "bytes", &HistoryBlock::bytes);
  read_column(blocks, json, "site", &HistoryBlock::site);
  const auto categories = column_of<unsigned>(json, "category");
  if (categories.size() != blocks.size()) refuse("column \"category\" has another length");
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (categories[i] >= kCategoryCount) refuse("blocks have a category that is not known");
    if (blocks[i].site >= sites) refuse("blocks have a site that is not in its table");
    blocks[i].category = static_cast<Category>(categories[i]);
  }
  return blocks;
}

HistoryFrame frame_of(const Json& json) {
  HistoryFrame frame;
  frame.event = json.at("event").get<std::uint32_t>();
  read_column(frame.others, json, "position", &HistoryRun::position);
  read_column(frame.others, json, "bytes", &HistoryRun::bytes);
  return frame;
}

DeviceMemoryHistory device_of(const Json& json, std::size_t sites, std::size_t buckets) {
  DeviceMemoryHistory device;
  device.device = json.at("device").get<std::string>();
  device.allocated_high = column_of<std::int64_t>(json, "allocated_high");
  device.allocated_low = column_of<std::int64_t>(json, "allocated_low");
  device.reserved_high = column_of<std::int64_t>(json, "reserved_high");
  for (std::size_t i = 0; i < kCategoryCount; ++i) {
    const Json& categories = json.at("by_category");
    const std::string name(kCategoryNames[i]);
    if (!categories.contains(name)) continue;
    device.by_category[i] = column_of<std::int64_t>(categories, name.c_str());
    if (device.by_category[i].size() != buckets) refuse("curves have another length");
  }
  for (const auto* curve : {&device.allocated_high, &device.allocated_low, &device.reserved_high}) {
    if (curve->size() != buckets) refuse("curves have another length");
  }
  device.peak_event = json.at("peak_event").get<std::uint32_t>();
  const Json& ranges = json.at("ranges");
  read_column(device.ranges, ranges, "position", &HistoryRange::position);
  read_column(device.ranges, ranges, "address", &HistoryRange::address);
  read_column(device.ranges, ranges, "bytes", &HistoryRange::bytes);
  const Json& segments = json.at("segments");
  read_column(device.segments, segments, "begin", &HistorySegment::begin);
  read_column(device.segments, segments, "end", &HistorySegment::end);
  read_column(device.segments, segments, "position", &HistorySegment::position);
  read_column(device.segments, segments, "bytes", &HistorySegment::bytes);
  device.segments_left_out = json.at("segments_left_out").get<std::int64_t>();
  device.blocks = blocks_of(json.at("blocks"), sites);
  device.blocks_left_out = json.at("blocks_left_out").get<std::int64_t>();
  for (const Json& frame : json.at("frames")) device.frames.push_back(frame_of(frame));
  return device;
}

}  // namespace

Json history_json(const MemoryHistory& history) {
  Json sites = Json::array();
  for (const HistorySite& site : history.sites) {
    sites.push_back({{"file", site.file}, {"line", site.line}, {"op", site.op}});
  }
  Json devices = Json::array();
  for (const DeviceMemoryHistory& device : history.devices) devices.push_back(device_json(device));
  Json json = {{"events", history.events},
               {"events_per_bucket", history.events_per_bucket},
               {"steps", column(history.steps)},
               {"sites", sites},
               {"devices", devices}};
  if (history.oom_event) json["oom_event"] = *history.oom_event;
  if (history.steps_every != 1) json["steps_every"] = history.steps_every;
  return json;
}

MemoryHistory history_of(const Json& json) {
  MemoryHistory history;
  try {
    history.events = json.at("events").get<std::uint32_t>();
    history.events_per_bucket = json.at("events_per_bucket").get<std::uint32_t>();
    if (history.events_per_bucket == 0) refuse("buckets have no events");
    history.steps = column_of<std::uint32_t>(json, "steps");
    if (json.contains("steps_every")) {
      history.steps_every = json["steps_every"].get<std::uint32_t>();
    }
    if (json.contains("oom_event")) history.oom_event = json["oom_event"].get<std::uint32_t>();
    for (const Json& site : json.at("sites")) {
      history.sites.push_back({site.at("file").get<std::string>(), site.at("line").get<int>(),
                               site.at("op").get<std::string>()});
    }
    const std::size_t buckets =
        (std::size_t{history.events} + history.events_per_bucket - 1) / history.events_per_bucket;
    for (const Json& device : json.at("devices")) {
      history.devices.push_back(device_of(device, history.sites.size(), buckets));
    }
  } catch (const Json::exception& error) {
    refuse(fmt::format("members are not what they should be: {}", error.what()));
  }
  return history;
}

}  // namespace ohm::reports
