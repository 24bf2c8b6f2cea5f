// Scenarios whose variants do not do what they say: what a scenario has to notice.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/judge/judge.h"
#include "harness/machine/machine.h"
#include "harness/run/runner.h"
#include "harness/scenario/scenario_program.h"

namespace ohm::test {

/// A variant that runs what another one does.
struct Mutation {
  std::string variant;
  std::string body;  ///< whose function; empty: a function that does nothing
  /// The judge's failure type that it has to bring; empty: any.
  std::string failure_type;
};

/// Every mutation that means something, in the order of the variants:
///
///   a problem            that does what a mitigation or a control of it does: NotReproduced
///   a mitigation         that does what its problem does
///   a control            that does what its problem does
///   a partial            that does what its problem does, or a mitigation
///   a non-fix            that does what a mitigation does which trades nothing, neither precision:
///                        NotReproduced
///   a check              that does nothing
std::vector<Mutation> mutations_of(const engine::ScenarioDescription& scenario);

/// A scenario in this process: its variants run once, and are judged under other names.
class MutatedScenario {
 public:
  /// Throws engine::ScriptError for a file that cannot be loaded.
  MutatedScenario(const engine::ScenarioLoader& loader, const std::string& path);

  const engine::ScenarioDescription& description() const { return measured_.description; }

  /// Why this mutation goes unnoticed; nullopt when the scenario notices it.
  std::optional<std::string> unnoticed(const Mutation& mutation);

 private:
  engine::MeasuredVariant run(const std::string& body, const engine::MachineOptions& machine);
  const engine::VariantDescription& variant(const std::string& name) const;
  engine::MachineOptions machine_of(const std::string& name) const;
  engine::MeasuredVariant measured_as(const Mutation& mutation,
                                      const engine::MachineOptions& machine);
  std::optional<std::string> unnoticed_on(const Mutation& mutation,
                                          const engine::MachineOptions& machine);

  const engine::ScenarioLoader& loader_;
  engine::LoadRequest request_;
  engine::RunOptions options_;
  engine::MeasuredScenario measured_;
  std::map<std::string, engine::MeasuredVariant> runs_;  ///< by body and machine
};

}  // namespace ohm::test
