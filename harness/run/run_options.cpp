#include "harness/run/run_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "allocator_shim/fault/fault_plan.h"

namespace ohm::engine {

namespace {

using Values = std::vector<std::string>;

Values texts_of(const ParameterValues& parameters) {
  Values texts;
  for (const auto& [name, value] : parameters) {
    texts.push_back(fmt::format("{}={:.17g}", name, value));
  }
  return texts;
}

std::string text_of(ByteSize size) { return fmt::format("{}B", size.bytes); }

/// Spells values as the command line does.
struct GivenValues {
  const RunOptions& run;
  RunOptions defaults;

  Values operator()(std::string RunOptions::*member) const {
    return (run.*member).empty() ? Values() : Values{run.*member};
  }
  Values operator()(std::optional<std::string> RunOptions::*member) const {
    return run.*member ? Values{*(run.*member)} : Values();
  }
  Values operator()(bool RunOptions::*member) const { return run.*member ? Values{""} : Values(); }
  Values operator()(ByteSize RunOptions::*member) const {
    return run.*member == defaults.*member ? Values() : Values{text_of(run.*member)};
  }
  Values operator()(std::optional<ByteSize> RunOptions::*member) const {
    return run.*member ? Values{text_of(*(run.*member))} : Values();
  }
  Values operator()(ParameterValues RunOptions::*member) const { return texts_of(run.*member); }
  template <class Number>
  Values operator()(Number RunOptions::*member) const {
    return run.*member == defaults.*member ? Values() : Values{fmt::format("{}", run.*member)};
  }
};

struct SettingText {
  const RunOptions& run;

  std::string operator()(std::string RunOptions::*member) const { return run.*member; }
  std::string operator()(std::optional<std::string> RunOptions::*member) const {
    return (run.*member).value_or("the scenarios' own");
  }
  std::string operator()(ByteSize RunOptions::*member) const {
    return std::to_string((run.*member).bytes);
  }
  std::string operator()(std::optional<ByteSize> RunOptions::*member) const {
    return run.*member ? std::to_string((run.*member)->bytes) : std::string();
  }
  std::string operator()(ParameterValues RunOptions::*member) const {
    return fmt::format("{}", fmt::join(texts_of(run.*member), " "));
  }
  template <class Value>
  std::string operator()(Value RunOptions::*member) const {
    return fmt::format("{}", run.*member);
  }
};

}  // namespace

void check_addresses(const RunOptions& run) {
  if (run.addresses.empty()) return;
  parse_address_order(run.addresses);
  if (run.cuda) throw std::invalid_argument("the driver of a real card chooses its addresses");
}

void check_fault_plan(const RunOptions& run) {
  if (!run.fault.empty()) FaultPlan::parse(run.fault);
}

std::vector<std::string> given_values(const RunOptionRow& row, const RunOptions& run) {
  return std::visit(GivenValues{run, {}}, row.member);
}

std::string setting_text(const RunOptionRow& row, const RunOptions& run) {
  return std::visit(SettingText{run}, row.member);
}

bool changes_machine(const RunOptions& run) {
  return !run.environment_alloc_conf.empty() ||
         std::any_of(kRunOptionRows.begin(), kRunOptionRows.end(), [&](const RunOptionRow& row) {
           return row.changes_machine && !given_values(row, run).empty();
         });
}

LoadRequest load_request(const RunOptions& run, std::string path, ScriptSources sources) {
  return {std::move(path),
          std::move(sources.script),
          {run.instructions, run.script_memory.bytes, run.value_memory.bytes},
          run.seed,
          run.parameters,
          std::move(sources.modules)};
}

}  // namespace ohm::engine
