#include "tests/harness/sensitivity/mutations.h"

#include <fmt/format.h>

#include <stdexcept>

#include "harness/judge/scenario_validation.h"
#include "harness/run/variant_machine.h"
#include "harness/run/variant_process.h"
#include "harness/scenario/source_file.h"

namespace ohm::test {

using engine::MachineOptions;
using engine::MeasuredVariant;
using engine::ScenarioDescription;
using engine::VariantDescription;

namespace {

constexpr const char* kNotReproduced = "NotReproduced";

std::string machine_text(const MachineOptions& machine) {
  const engine::GpuSpec& gpu = machine.gpu;
  return fmt::format("{}|{}|{}|{}|{}|{}|{}", gpu.profile, gpu.capacity_bytes.value_or(0), gpu.count,
                     gpu.values, gpu.alloc_conf.value_or(""), gpu.rules,
                     fmt::join(machine.fault_plans, "&"));
}

/// The names of the variants of this role that belong to a problem.
std::vector<std::string> others(const ScenarioDescription& scenario, Role role,
                                const std::string& problem) {
  std::vector<std::string> names;
  for (const VariantDescription& variant : scenario.variants) {
    if (variant.role == role && variant.of == problem) names.push_back(variant.name);
  }
  return names;
}

/// Whether a mitigation computes what this variant has to compute.
bool computes_the_same(const VariantDescription& mitigation, const VariantDescription& variant) {
  return mitigation.trades.empty() && mitigation.compare_as == variant.compare_as;
}

/// The problems that a variant is to be distinguished from: all, where it does not say which.
std::vector<std::string> problems_of(const ScenarioDescription& scenario,
                                     const VariantDescription& variant) {
  if (!variant.of.empty()) return {variant.of};
  std::vector<std::string> names;
  for (const VariantDescription& other : scenario.variants) {
    if (other.role == Role::problem) names.push_back(other.name);
  }
  return names;
}

class MutationList {
 public:
  explicit MutationList(const ScenarioDescription& scenario) : scenario_(scenario) {}

  std::vector<Mutation> take() {
    for (const VariantDescription& variant : scenario_.variants) add(variant);
    return std::move(mutations_);
  }

 private:
  void add(const VariantDescription& variant) {
    switch (variant.role) {
      case Role::problem:
        add_all(variant, Role::mitigation, variant.name, kNotReproduced);
        add_all(variant, Role::control, variant.name, kNotReproduced);
        break;
      case Role::mitigation:
      case Role::control:
        add_problems(variant);
        break;
      case Role::partial:
        add_problems(variant);
        add_all(variant, Role::mitigation, variant.of, "");
        break;
      case Role::non_fix:
        add_all(variant, Role::mitigation, variant.of, kNotReproduced);
        break;
      case Role::check:
        mutations_.push_back({variant.name, "", ""});
        break;
      case Role::reference:
        break;
    }
  }
  void add_problems(const VariantDescription& variant) {
    for (const std::string& problem : problems_of(scenario_, variant)) {
      mutations_.push_back({variant.name, problem, ""});
    }
  }
  void add_all(const VariantDescription& variant, Role role, const std::string& problem,
               const char* failure_type) {
    for (const std::string& other : others(scenario_, role, problem)) {
      const bool means_something =
          variant.role != Role::non_fix ||
          computes_the_same(*engine::find_variant(scenario_, other), variant);
      if (means_something) mutations_.push_back({variant.name, other, failure_type});
    }
  }

  const ScenarioDescription& scenario_;
  std::vector<Mutation> mutations_;
};

/// A function that returns at once.
MeasuredVariant nothing_on(const MachineOptions& machine) {
  MeasuredVariant measured;
  measured.outcome = Outcome::completed;
  measured.devices.resize(static_cast<std::size_t>(machine.gpu.count));
  measured.allocated_at_marks.resize(measured.devices.size());
  return measured;
}

}  // namespace

std::vector<Mutation> mutations_of(const ScenarioDescription& scenario) {
  return MutationList(scenario).take();
}

MutatedScenario::MutatedScenario(const engine::ScenarioLoader& loader, const std::string& path)
    : loader_(loader) {
  request_.path = path;
  request_.source = engine::read_source_file(path);
  const engine::LoadedScenario loaded = engine::load_scenario(loader_, request_);
  if (loaded.error) throw engine::ScriptError(loaded.error->message);
  measured_.description = engine::validated(loaded.description);
  std::vector<std::string> names;
  for (const VariantDescription& variant : description().variants) {
    if (variant.role == Role::reference) {
      measured_.references[variant.name] =
          run(variant.name, large_machine_for(description(), variant, options_));
      continue;
    }
    names.push_back(variant.name);
    measured_.variants[variant.name] = run(variant.name, machine_of(variant.name));
  }
  for (const std::string& name : missing_references(measured_, names)) {
    measured_.references[name] =
        run(name, large_machine_for(description(), variant(name), options_));
  }
}

MeasuredVariant MutatedScenario::run(const std::string& body, const MachineOptions& machine) {
  const std::string key = body + "|" + machine_text(machine);
  const auto known = runs_.find(key);
  if (known != runs_.end()) return known->second;
  engine::VariantFiles no_files;
  no_files.script_writes = false;
  return runs_[key] = engine::run_variant(loader_, request_, body, machine, no_files);
}

const VariantDescription& MutatedScenario::variant(const std::string& name) const {
  return *engine::find_variant(description(), name);
}

MachineOptions MutatedScenario::machine_of(const std::string& name) const {
  return machine_for(description(), variant(name), options_);
}

MeasuredVariant MutatedScenario::measured_as(const Mutation& mutation,
                                             const MachineOptions& machine) {
  return mutation.body.empty() ? nothing_on(machine) : run(mutation.body, machine);
}

std::optional<std::string> MutatedScenario::unnoticed_on(const Mutation& mutation,
                                                         const MachineOptions& machine) {
  engine::MeasuredScenario mutated = measured_;
  mutated.variants[mutation.variant] = measured_as(mutation, machine);
  for (const std::string& name : missing_references(mutated, {mutation.variant})) {
    const std::string& body = name == mutation.variant ? mutation.body : name;
    mutated.references[name] = run(body, large_machine_for(description(), variant(name), options_));
  }
  const VariantResult result = judge(mutated, variant(mutation.variant));
  const bool is_right_type =
      mutation.failure_type.empty() || name_of(result.failure_type) == mutation.failure_type;
  const bool is_noticed = result.verdict == Verdict::failed || result.verdict == Verdict::error;
  if (is_noticed && is_right_type) return std::nullopt;
  return fmt::format("{} that does {} is {}{}: {}", mutation.variant,
                     mutation.body.empty() ? "nothing" : "what " + mutation.body + " does",
                     name_of(result.verdict),
                     result.failure_type == FailureType::none
                         ? ""
                         : fmt::format(" ({})", name_of(result.failure_type)),
                     result.reason);
}

std::optional<std::string> MutatedScenario::unnoticed(const Mutation& mutation) {
  const MachineOptions machine = machine_of(mutation.variant);
  const std::optional<std::string> why = unnoticed_on(mutation, machine);
  if (!why || mutation.body.empty()) return why;
  // Where what helps is a setting of the allocator and not the function, that changes too. A larger
  // or another GPU is not a setting: a variant that needs one proves nothing.
  const MachineOptions other = machine_of(mutation.body);
  if (other.gpu.alloc_conf == machine.gpu.alloc_conf) return why;
  MachineOptions with_its_settings = machine;
  with_its_settings.gpu.alloc_conf = other.gpu.alloc_conf;
  return unnoticed_on(mutation, with_its_settings);
}

}  // namespace ohm::test
