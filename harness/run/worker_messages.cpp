#include "harness/run/worker_messages.h"

#include "harness/process/ipc_serialization.h"
#include "harness/run/returned_value_message.h"

namespace ohm {

template <class Archive, Is<DeviceResult> T>
void fields(Archive& archive, T& device) {
  archive(device.device, device.profile, device.card, device.capacity_bytes, device.values,
          device.rules, device.alloc_conf, device.peak_allocated_bytes, device.peak_reserved_bytes,
          device.allocated_at_end_bytes, device.num_ooms, device.num_alloc_retries,
          device.num_device_alloc, device.peak_by_category, device.peak, device.modelled);
}

template <class Archive, Is<HistorySite> T>
void fields(Archive& archive, T& site) {
  archive(site.file, site.line, site.op);
}

template <class Archive, Is<HistoryBlock> T>
void fields(Archive& archive, T& block) {
  archive(block.begin, block.end, block.position, block.bytes, block.site, block.category);
}

template <class Archive, Is<HistorySegment> T>
void fields(Archive& archive, T& segment) {
  archive(segment.begin, segment.end, segment.position, segment.bytes);
}

template <class Archive, Is<HistoryRange> T>
void fields(Archive& archive, T& range) {
  archive(range.position, range.address, range.bytes);
}

template <class Archive, Is<HistoryRun> T>
void fields(Archive& archive, T& run) {
  archive(run.position, run.bytes);
}

template <class Archive, Is<HistoryFrame> T>
void fields(Archive& archive, T& frame) {
  archive(frame.event, frame.others);
}

template <class Archive, Is<DeviceMemoryHistory> T>
void fields(Archive& archive, T& device) {
  archive(device.device, device.allocated_high, device.allocated_low, device.reserved_high,
          device.by_category, device.peak_event, device.ranges, device.segments,
          device.segments_left_out, device.blocks, device.blocks_left_out, device.frames);
}

template <class Archive, Is<MemoryHistory> T>
void fields(Archive& archive, T& history) {
  archive(history.events, history.events_per_bucket, history.steps, history.oom_event,
          history.sites, history.devices);
}

template <class Archive, Is<HostResult> T>
void fields(Archive& archive, T& host) {
  archive(host.peak_allocated_bytes, host.allocated_at_end_bytes, host.pinned_bytes, host.num_ooms);
}

template <class Archive, Is<HolderResult> T>
void fields(Archive& archive, T& holder) {
  archive(holder.bytes, holder.count, holder.category, holder.op, holder.file, holder.line);
}

template <class Archive, Is<RetainedResult> T>
void fields(Archive& archive, T& entry) {
  archive(entry.variable, entry.function, entry.line, entry.bytes, entry.own_bytes, entry.blocks,
          entry.path);
}

template <class Archive, Is<RetentionResult> T>
void fields(Archive& archive, T& retention) {
  archive(retention.device, retention.bytes, retention.other_bytes, retention.entries);
}

template <class Archive, Is<PeakResult> T>
void fields(Archive& archive, T& peak) {
  archive(peak.event, peak.step, peak.holders);
}

template <class Archive, Is<OomResult> T>
void fields(Archive& archive, T& oom) {
  archive(oom.step, oom.device, oom.requested_bytes, oom.segment_bytes, oom.category, oom.op,
          oom.file, oom.line, oom.message, oom.injected, oom.policy, oom.alive_by_category,
          oom.holders, oom.other_holders);
}

template <class Archive, Is<ErrorResult> T>
void fields(Archive& archive, T& error) {
  archive(error.message, error.file, error.line, error.traceback, error.hint);
}

namespace engine {

template <class Archive, Is<GpuSpec> T>
void fields(Archive& archive, T& gpu) {
  archive(gpu.profile, gpu.capacity_bytes, gpu.count, gpu.values, gpu.alloc_conf, gpu.rules);
}

template <class Archive, Is<ScenarioParameter> T>
void fields(Archive& archive, T& parameter) {
  archive(parameter.name, parameter.value, parameter.default_value, parameter.is_integer,
          parameter.least, parameter.most, parameter.summary);
}

template <class Archive, Is<Waiver> T>
void fields(Archive& archive, T& waiver) {
  archive(waiver.point, waiver.verdict, waiver.reason);
}

template <class Archive, Is<VariantDescription> T>
void fields(Archive& archive, T& variant) {
  archive(variant.name, variant.role, variant.line, variant.of, variant.trades, variant.must_agree,
          variant.compare_as, variant.reference, variant.raises, variant.returns, variant.limits,
          variant.fault, variant.gpu, variant.waivers);
}

template <class Archive, Is<ScenarioDescription> T>
void fields(Archive& archive, T& scenario) {
  archive(scenario.name, scenario.summary, scenario.file, scenario.line, scenario.gpu,
          scenario.parameters, scenario.limits, scenario.reference, scenario.variants);
}

template <class Archive, Is<LoadedScenario> T>
void fields(Archive& archive, T& loaded) {
  archive(loaded.error, loaded.description);
}

// Output and wall time are the parent's to know.
template <class Archive, Is<MeasuredVariant> T>
void fields(Archive& archive, T& variant) {
  archive(variant.outcome, variant.steps, variant.devices, variant.host, variant.allocated_at_marks,
          variant.history, variant.retention, variant.oom, variant.error, variant.values,
          variant.unused_faults, variant.snapshot_error);
}

std::string encoded(const LoadedScenario& scenario) { return encoded_message(scenario); }
std::string encoded(const MeasuredVariant& variant) { return encoded_message(variant); }

LoadedScenario decoded_scenario(std::string_view bytes) {
  return decoded_message<LoadedScenario>(bytes);
}
MeasuredVariant decoded_variant(std::string_view bytes) {
  return decoded_message<MeasuredVariant>(bytes);
}

}  // namespace engine

}  // namespace ohm
