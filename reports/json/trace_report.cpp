#include "reports/json/trace_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "reports/text/json_text.h"

namespace ohm::reports {

namespace {

using Json = nlohmann::json;

constexpr int kStepThread = 1;

/// One event a line: the file can be read, and compared with diff.
class TraceWriter {
 public:
  void add(const Json& event) {
    out_ += out_.empty() ? "" : ",\n";
    out_ += json_line(event);
  }

  std::string finish() && {
    return "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"clock\":\"1 us is one event of the "
           "allocator\",\"producer\":\"ohm\"},\"traceEvents\":[\n" +
           out_ + "\n]}\n";
  }

 private:
  std::string out_;
};

class VariantTrace {
 public:
  VariantTrace(TraceWriter& writer, const VariantResult& variant, int process)
      : writer_(writer), history_(*variant.history), process_(process) {}

  void write(const std::string& name, const VariantResult& variant) {
    write_name("process_name", 0, name);
    write_name("thread_name", kStepThread, "steps");
    write_steps();
    for (std::size_t i = 0; i < history_.devices.size(); ++i) {
      const DeviceMemoryHistory& device = history_.devices[i];
      const int thread = kStepThread + 1 + static_cast<int>(i);
      write_name("thread_name", thread, device.device + " ops");
      write_counters(device);
      write_ops(device, thread);
    }
    write_oom(variant);
  }

 private:
  Json event(const char* phase, std::string_view name, std::uint32_t time) const {
    return {{"ph", phase}, {"pid", process_}, {"name", name}, {"ts", time}};
  }

  void write_name(const char* what, int thread, const std::string& name) {
    Json one = {{"ph", "M"}, {"pid", process_}, {"name", what}, {"args", {{"name", name}}}};
    if (thread != 0) one["tid"] = thread;
    writer_.add(one);
  }

  void write_slice(std::string_view name, int thread, std::uint32_t begin, std::uint32_t end,
                   Json arguments) {
    Json one = event("X", name, begin);
    one["tid"] = thread;
    one["dur"] = end - begin;
    if (!arguments.empty()) one["args"] = std::move(arguments);
    writer_.add(one);
  }

  void write_steps() {
    std::uint32_t begin = 0;
    std::size_t number = 1;
    for (const std::uint32_t last : history_.steps) {
      write_slice(fmt::format("step {}", number++), kStepThread, begin, last + 1, {});
      begin = last + 1;
    }
    if (begin < history_.events) {
      const char* const rest = history_.steps.empty() ? "all" : "after the last step";
      write_slice(rest, kStepThread, begin, history_.events, {});
    }
  }

  void write_counters(const DeviceMemoryHistory& device) {
    const auto allocated_at = [&](std::size_t bucket) {
      Json bytes = Json::object();
      for (std::size_t i = 0; i < kCategoryCount; ++i) {
        const std::vector<std::int64_t>& curve = device.by_category[i];
        if (!curve.empty()) bytes[std::string(kCategoryNames[i])] = curve[bucket];
      }
      return bytes;
    };
    write_counter(device.device + " allocated bytes", device.allocated_high.size(), allocated_at);
    write_counter(device.device + " reserved bytes", device.reserved_high.size(),
                  [&](std::size_t bucket) {
                    return Json{{"reserved", device.reserved_high[bucket]}};
                  });
  }

  /// A point wherever it changes.
  template <class ArgumentsAt>
  void write_counter(const std::string& name, std::size_t buckets, ArgumentsAt&& arguments_at) {
    Json last;
    for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
      Json now = arguments_at(bucket);
      if (now == last) continue;
      Json counter =
          event("C", name, static_cast<std::uint32_t>(bucket) * history_.events_per_bucket);
      counter["args"] = now;
      writer_.add(counter);
      last = std::move(now);
    }
  }

  /// Blocks that follow each other from one line and op are one slice.
  void write_ops(const DeviceMemoryHistory& device, int thread) {
    const std::vector<HistoryBlock>& blocks = device.blocks;
    for (std::size_t i = 0; i < blocks.size();) {
      const HistoryBlock& first = blocks[i];
      std::size_t next = i;
      std::uint64_t bytes = 0;
      while (next < blocks.size() && blocks[next].site == first.site) bytes += blocks[next++].bytes;
      const HistoryBlock& last = blocks[next - 1];
      const HistorySite& site = history_.sites[first.site];
      std::uint32_t end = last.begin + 1;
      // What was there before the record began is many blocks at one moment.
      if (next < blocks.size()) end = std::min(end, blocks[next].begin);
      if (end > first.begin) {
        write_slice(site.op.empty() ? "allocation" : std::string_view(site.op), thread, first.begin,
                    end,
                    {{"bytes", bytes},
                     {"blocks", next - i},
                     {"line", fmt::format("{}:{}", site.file, site.line)}});
      }
      i = next;
    }
  }

  void write_oom(const VariantResult& variant) {
    if (!history_.oom_event) return;
    Json one = event("i", "out of memory", *history_.oom_event);
    one["s"] = "p";
    one["tid"] = kStepThread;
    if (variant.oom) one["args"] = {{"message", variant.oom->message}};
    writer_.add(one);
  }

  TraceWriter& writer_;
  const MemoryHistory& history_;
  int process_;
};

}  // namespace

std::string trace_report(const RunResult& result, const ReportStyle& /*style*/) {
  TraceWriter writer;
  int process = 0;
  for (const ScenarioResult& scenario : result.scenarios) {
    for (const VariantResult& variant : scenario.variants) {
      if (!variant.history) continue;
      const std::string name =
          fmt::format("{}.{} ({})", scenario.name, variant.name, name_of(variant.role));
      VariantTrace(writer, variant, ++process).write(name, variant);
    }
  }
  return std::move(writer).finish();
}

}  // namespace ohm::reports
