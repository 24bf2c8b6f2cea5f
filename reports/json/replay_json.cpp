#include "reports/json/replay_json.h"

#include <nlohmann/json.hpp>

#include "reports/text/text_layout.h"

namespace ohm::reports {
namespace {

using Json = nlohmann::json;  // objects are sorted by key

template <typename Value>
Json optional_json(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

template <typename Range, typename ToJson>
Json array_json(const Range& range, ToJson to_json) {
  Json array = Json::array();
  for (const auto& item : range) array.push_back(to_json(item));
  return array;
}

Json figure_json(const ReplayedFigure& figure) {
  return {{"recorded", figure.recorded}, {"replayed", figure.replayed}};
}

/// What comes out of files may be no UTF-8.
Json text_json(const std::string& text) { return printable(text); }

Json mismatch_json(const ReplayMismatch& mismatch) {
  return {{"event", optional_json(mismatch.event)},
          {"summary", text_json(mismatch.summary)},
          {"details", array_json(mismatch.details, text_json)}};
}

Json start_json(const ReplayStart& start) {
  return {{"segments", start.segments},
          {"blocks", start.blocks},
          {"reserved_bytes", start.reserved_bytes},
          {"open_blocks", start.open_blocks},
          {"known_blocks", start.known_blocks},
          {"narrowed_blocks", start.narrowed_blocks},
          {"skipped_events", start.skipped_events}};
}

Json device_json(const ReplayedDevice& device) {
  return {{"device", device.device},
          {"events", device.events},
          {"is_replayed", device.is_replayed},
          {"agrees", !device.mismatch},
          {"start", start_json(device.start)},
          {"allocations", device.allocations},
          {"allocations_at_recorded_address", device.allocations_at_recorded_address},
          {"segments", device.segments},
          {"segments_as_recorded", device.segments_as_recorded},
          {"frees", device.frees},
          {"ooms", device.ooms},
          {"flushes", device.flushes},
          {"retries", device.retries},
          {"given_releases", device.given_releases},
          {"peak_reserved_bytes", figure_json(device.peak_reserved_bytes)},
          {"peak_requested_bytes", figure_json(device.peak_requested_bytes)},
          {"mismatch", device.mismatch ? mismatch_json(*device.mismatch) : Json(nullptr)},
          {"notes", array_json(device.notes, text_json)}};
}

Json trace_json(const ReplayedTrace& trace) {
  return {{"operations", trace.operations},
          {"allocations", trace.allocations},
          {"ooms", trace.ooms},
          {"capacity_bytes", trace.capacity_bytes},
          {"retries", trace.retries},
          {"peak_allocated_bytes", trace.peak_allocated_bytes},
          {"peak_reserved_bytes", trace.peak_reserved_bytes},
          {"device_allocations", trace.device_allocations},
          {"device_frees", trace.device_frees}};
}

Json failure_json(const WhatIfRow& row) {
  if (row.fits) return nullptr;
  return {{"request", optional_json(row.failed_request)},
          {"bytes", row.failed_bytes},
          {"message", text_json(row.message)}};
}

Json what_if_json(const WhatIfRow& row) {
  return {{"device", optional_json(row.device)},
          {"settings", text_json(row.settings)},
          {"capacity_bytes", optional_json(row.capacity_bytes)},
          {"fits", row.fits},
          {"failure", failure_json(row)},
          {"retries", row.retries},
          {"peak_reserved_bytes", row.peak_reserved_bytes},
          {"peak_allocated_bytes", row.peak_allocated_bytes},
          {"stranded_bytes", row.stranded_bytes},
          {"rescued", row.rescued}};
}

Json min_capacity_json(const MinCapacityRow& row) {
  return {{"device", optional_json(row.device)},
          {"settings", text_json(row.settings)},
          {"without_retry_bytes", optional_json(row.without_retry_bytes)},
          {"with_retries_bytes", optional_json(row.with_retries_bytes)},
          {"every_from_bytes", optional_json(row.every_from_bytes)},
          {"is_certified", row.is_certified},
          {"checked_down_to_bytes", row.checked_down_to_bytes},
          {"runs", row.runs}};
}

}  // namespace

std::string replay_json(const ReplayResult& result) {
  const Json json = {{"schema", "ohm.replay/1"},
                     {"exit_reason", std::string(exit_code(result.exit_reason).reason)},
                     {"file", text_json(result.file)},
                     {"rules", result.rules},
                     {"settings", text_json(result.settings)},
                     {"devices", array_json(result.devices, device_json)},
                     {"trace", result.trace ? trace_json(*result.trace) : Json(nullptr)},
                     {"what_ifs", array_json(result.what_ifs, what_if_json)},
                     {"min_capacities", array_json(result.min_capacities, min_capacity_json)}};
  return json.dump(2) + "\n";
}

}  // namespace ohm::reports
