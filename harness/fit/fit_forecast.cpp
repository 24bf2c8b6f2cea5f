#include "harness/fit/fit_forecast.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "allocator_shim/caching/settings.h"
#include "allocator_shim/caching/trace_file.h"
#include "allocator_shim/replay/what_if.h"
#include "harness/process/ipc_serialization.h"

namespace ohm::engine {

namespace {

TraceOperation empty_cache() {
  TraceOperation operation;
  operation.kind = TraceOperation::Kind::empty_cache;
  return operation;
}

}  // namespace

RequestList request_list(const EventRecord& events) {
  RequestList list;
  std::unordered_map<std::uint64_t, std::uint32_t> block_at;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const MemoryEvent& event = events[i];
    if (event.device < 0) continue;
    if (event.action == EventAction::alloc) {
      const auto block = static_cast<std::uint32_t>(list.bytes.size());
      block_at[event.address] = block;
      list.bytes.push_back(static_cast<std::int64_t>(event.bytes));
      list.requests.push_back({event.device, false, block, event.stream});
    } else if (event.action == EventAction::free_requested) {
      const auto known = block_at.find(event.address);
      if (known == block_at.end()) continue;
      list.requests.push_back({event.device, true, known->second, event.stream});
    } else if (event.action == EventAction::segment_free ||
               event.action == EventAction::segment_unmap) {
      const auto before = static_cast<std::uint32_t>(list.requests.size());
      if (list.releases.empty() || list.releases.back() != before) list.releases.push_back(before);
    }
  }
  return list;
}

void RequestForecast::Shape::add(std::int64_t value, RequestList other) {
  const std::int64_t distance = values.empty() ? 0 : std::abs(value - values.back());
  if (is_from_here && distance > reach) {
    slopes.resize(other.bytes.size());
    for (std::size_t block = 0; block < slopes.size(); ++block) {
      slopes[block] = static_cast<double>(other.bytes[block] - run.bytes[block]) /
                      static_cast<double>(value - values.back());
    }
    reach = distance;
  }
  run = std::move(other);
  values.push_back(value);
  is_from_here = true;
}

std::int64_t RequestForecast::Shape::bytes_at(std::int64_t value, std::size_t block) const {
  if (slopes.empty()) return run.bytes[block];  // asked of the value that was run
  const double change = slopes[block] * static_cast<double>(value - values.back());
  return std::max<std::int64_t>(1, run.bytes[block] + std::llround(change));
}

void RequestForecast::learn(std::int64_t value, RequestList run, bool was_scarce) {
  // A search asks for dozens of values: with more requests than these it is quicker to run a few.
  constexpr std::size_t kMostRequests = 200'000;
  if (run.requests.size() > kMostRequests) return;
  const auto same = std::find_if(shapes_.begin(), shapes_.end(), [&](const Shape& shape) {
    return shape.run.requests == run.requests;
  });
  if (same != shapes_.end()) {
    if (was_scarce) run.releases = same->run.releases;
    same->add(value, std::move(run));
    return;
  }
  // Another kind of GPU, on which the program asks for other blocks: nothing holds here.
  std::erase_if(shapes_, [](const Shape& shape) { return !shape.is_from_here; });
  if (!was_scarce) shapes_.emplace_back().add(value, std::move(run));
}

const RequestForecast::Shape* RequestForecast::shape_at(std::int64_t value) const {
  const Shape* nearest = nullptr;
  std::int64_t distance = std::numeric_limits<std::int64_t>::max();
  for (const Shape& shape : shapes_) {
    for (const std::int64_t known : shape.values) {
      if (std::abs(known - value) >= distance) continue;
      distance = std::abs(known - value);
      nearest = &shape;
    }
  }
  return nearest;
}

std::optional<bool> RequestForecast::fits(std::int64_t value, const ForecastGpu& gpu) const {
  const Shape* const shape = shape_at(value);
  if (shape == nullptr) return std::nullopt;
  if (shape->slopes.empty() && shape->values.back() != value) return std::nullopt;
  const RequestList& run = shape->run;
  std::vector<Trace> traces;  // one for each GPU
  auto release = run.releases.begin();
  for (std::size_t i = 0; i < run.requests.size(); ++i) {
    for (; release != run.releases.end() && *release == i; ++release) {
      for (Trace& trace : traces) trace.operations.push_back(empty_cache());
    }
    const RequestList::Request& request = run.requests[i];
    const auto device = static_cast<std::size_t>(request.device);
    while (traces.size() <= device) traces.emplace_back().address_order = AddressOrder::lowest_gap;
    TraceOperation& operation = traces[device].operations.emplace_back();
    operation.id = request.block;
    operation.stream = request.stream;
    if (request.is_free) {
      operation.kind = TraceOperation::Kind::free;
    } else {
      operation.bytes = static_cast<std::size_t>(shape->bytes_at(value, request.block));
    }
  }
  WhatIf what_if;
  what_if.capacity_bytes = gpu.available_bytes;
  what_if.rules = gpu.rules;
  what_if.settings = parse_settings(gpu.alloc_conf, gpu.rules);
  return std::all_of(traces.begin(), traces.end(),
                     [&](const Trace& trace) { return run_elsewhere(trace, what_if).fits(); });
}

// ---- on the way to other processes --------------------------------------------------------------

template <class Archive, class T>
requires std::is_same_v<std::remove_const_t<T>, RequestList::Request>
void fields(Archive& archive, T& request) {
  archive(request.device, request.is_free, request.block, request.stream);
}

template <class Archive, class T>
void fields(Archive& archive, T& shape) {
  archive(shape.run.requests, shape.run.bytes, shape.run.releases, shape.values, shape.slopes,
          shape.reach);
}

std::string RequestForecast::encoded() const {
  MessageWriter writer;
  writer(shapes_);
  return writer.take();
}

RequestForecast RequestForecast::decoded(std::string_view bytes) {
  RequestForecast forecast;
  MessageReader reader(bytes);
  reader(forecast.shapes_);
  return forecast;
}

}  // namespace ohm::engine
