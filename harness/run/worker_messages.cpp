#include "harness/run/worker_messages.h"

#include "harness/process/ipc_serialization.h"
#include "harness/run/returned_value_message.h"
#include "reports/model/fields.h"

namespace ohm::engine {

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
          variant.must_break, variant.must_differ, variant.compare_as, variant.reference,
          variant.raises, variant.returns, variant.limits, variant.fault, variant.gpu,
          variant.waivers);
}

template <class Archive, Is<ScenarioDescription> T>
void fields(Archive& archive, T& scenario) {
  archive(scenario.name, scenario.summary, scenario.file, scenario.line, scenario.gpu,
          scenario.parameters, scenario.limits, scenario.reference, scenario.variants,
          scenario.variants_by_name);
}

template <class Archive, Is<LoadedScenario> T>
void fields(Archive& archive, T& loaded) {
  archive(loaded.error, loaded.description, loaded.modules);
}

// Output and wall time are the parent's to know.
template <class Archive, Is<MeasuredVariant> T>
void fields(Archive& archive, T& variant) {
  archive(variant.outcome, variant.steps, variant.devices, variant.host, variant.allocated_at_marks,
          variant.history, variant.retention, variant.oom, variant.error, variant.values,
          variant.unused_faults, variant.snapshot_error);
}

void add_modules(const LoadedScenario& loaded, ScriptSources& sources) {
  sources.modules.insert(loaded.modules.begin(), loaded.modules.end());
}

std::string encoded(const LoadedScenario& scenario) { return encoded_message(scenario); }
std::string encoded(const MeasuredVariant& variant) { return encoded_message(variant); }

LoadedScenario decoded_scenario(std::string_view bytes) {
  return decoded_message<LoadedScenario>(bytes);
}
MeasuredVariant decoded_variant(std::string_view bytes) {
  return decoded_message<MeasuredVariant>(bytes);
}

}  // namespace ohm::engine
