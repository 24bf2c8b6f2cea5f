#include "harness/cli/run_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <string>
#include <variant>

#include "harness/cli/gpu_option.h"
#include "harness/run/rerun_command.h"
#include "harness/run/shard_work.h"
#include "harness/run/variant_machine.h"

namespace ohm::cli {
namespace {

using engine::kRunOptionRows;
using engine::RunCommand;
using engine::RunOptionRow;
using engine::RunOptions;

/// A value other than the default, as the command line spells it.
struct OtherValue {
  std::string operator()(bool RunOptions::* /*member*/) const { return ""; }
  std::string operator()(engine::ByteSize RunOptions::* /*member*/) const { return "7MiB"; }
  std::string operator()(std::optional<engine::ByteSize> RunOptions::* /*member*/) const {
    return "7MiB";
  }
  std::string operator()(engine::ParameterValues RunOptions::* /*member*/) const {
    return "width=7";
  }
  template <class Value>
  std::string operator()(Value RunOptions::* /*member*/) const {
    return "7";
  }
};

RunCommand first_command(const RunOptionRow& row) {
  for (const RunCommand command : {RunCommand::run, RunCommand::sweep, RunCommand::verify_device,
                                   RunCommand::fit, RunCommand::smi}) {
    if (row.commands.has(command)) return command;
  }
  throw std::logic_error("no command has this option");
}

/// What a command line makes of the options that has this one alone.
RunOptions options_with(const RunOptionRow& row) {
  CLI::App app;
  CompletedValues completed;
  RunOptions run;
  add_run_options(OptionParser(app, completed), run, first_command(row));
  const bool has_names = row.flag == "--addresses";
  app.parse(fmt::format("{} {}", row.flag,
                        has_names ? "descending" : std::visit(OtherValue(), row.member)));
  if (!run.gpu_text.empty()) run.gpu = gpu_selection("a100-40g");
  return run;
}

engine::ScenarioDescription scenario() {
  engine::ScenarioDescription scenario;
  scenario.parameters.emplace_back().name = "width";
  scenario.variants.emplace_back().name = "good";
  return scenario;
}

std::string machine_text(const RunOptions& run) {
  const engine::ScenarioDescription described = scenario();
  const engine::MachineOptions machine =
      engine::machine_for(described, described.variants.front(), run);
  const engine::LoadRequest load = engine::load_request(run, "x.lua", {});
  std::string text = fmt::format("{} {} {} {} {} {} {} {} {} {}", machine.gpu.profile,
                                 machine.gpu.count, machine.gpu.capacity_bytes.value_or(0),
                                 machine.gpu.values, machine.gpu.alloc_conf.value_or("none"),
                                 machine.gpu.rules, fmt::join(machine.fault_plans, ";"),
                                 machine.seed, load.seed, static_cast<int>(machine.address_order));
  for (const auto& [name, value] : load.parameters) text += fmt::format(" {}={}", name, value);
  return text;
}

std::map<std::string, std::string> shard_settings(const RunOptions& run) {
  return engine::shard_result({0, 2}, run)->settings;
}

TEST(RunOptionRows, AreOptionsOfTheirCommandsAlone) {
  for (const RunCommand command : {RunCommand::run, RunCommand::sweep, RunCommand::verify_device,
                                   RunCommand::fit, RunCommand::smi}) {
    CLI::App app;
    CompletedValues completed;
    RunOptions run;
    add_run_options(OptionParser(app, completed), run, command);
    for (const RunOptionRow& row : kRunOptionRows) {
      const CLI::Option* option = app.get_option_no_throw(std::string(row.flag));
      EXPECT_EQ(row.commands.has(command), option != nullptr) << row.flag;
      if (option == nullptr) continue;
      EXPECT_EQ(row.help, option->get_description());
    }
  }
}

TEST(RunOptionRows, AreInTheCommandThatRepeatsAVariant) {
  for (const RunOptionRow& row : kRunOptionRows) {
    const RunOptions run = options_with(row);
    const auto command = [&](const RunOptions& options) {
      return engine::rerun_command(options, "x.lua", scenario(), "good", options.fault) + " ";
    };
    const std::string flag = fmt::format(" {} ", row.flag);
    EXPECT_NE(std::string::npos, command(run).find(flag)) << command(run);
    EXPECT_EQ(std::string::npos, command({}).find(flag)) << command({});
  }
}

TEST(RunOptionRows, AreSettingsThatShardsHaveToShare) {
  for (const RunOptionRow& row : kRunOptionRows) {
    EXPECT_NE(shard_settings({}), shard_settings(options_with(row))) << row.flag;
  }
}

TEST(RunOptionRows, KeepBaselinesFromBeingComparedWhereTheyChangeTheMachine) {
  EXPECT_FALSE(engine::changes_machine({}));
  for (const RunOptionRow& row : kRunOptionRows) {
    EXPECT_EQ(row.changes_machine, engine::changes_machine(options_with(row))) << row.flag;
  }
}

TEST(RunOptionRows, ReachTheMachineOrTheScriptThatTheyChange) {
  for (const RunOptionRow& row : kRunOptionRows) {
    const RunOptions run = options_with(row);
    EXPECT_EQ(row.changes_machine, machine_text({}) != machine_text(run)) << row.flag;
  }
}

TEST(RunOptionRows, ChecksSayWhatIsWrong) {
  RunOptions run;
  run.fault = "nht(7)";
  EXPECT_THROW(check_run_options(run), UsageError);
  run.fault.clear();
  run.addresses = "upwards";
  EXPECT_THROW(check_run_options(run), UsageError);
  run.addresses = "descending";
  EXPECT_NO_THROW(check_run_options(run));
  run.cuda.emplace();
  EXPECT_THROW(check_run_options(run), UsageError);
  run = {};
  run.timeout_seconds = -1;
  EXPECT_THROW(check_run_options(run), UsageError);
}

}  // namespace
}  // namespace ohm::cli
