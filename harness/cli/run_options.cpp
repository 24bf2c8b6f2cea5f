#include "harness/cli/run_options.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <utility>

#include "allocator_shim/base/format_bytes.h"
#include "harness/cli/gpu_option.h"
#include "harness/cli/option_values.h"
#include "harness/cli/scenario_option.h"
#include "harness/cli/why_command.h"

namespace ohm::cli {

namespace {

/// NAME=VALUE. Throws std::invalid_argument.
std::pair<std::string, double> parse_setting(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  const std::string number = equals == std::string::npos ? "" : text.substr(equals + 1);
  double value = 0;
  const char* const end = number.data() + number.size();
  const auto [rest, wrong] = std::from_chars(number.data(), end, value);
  if (name.empty() || number.empty() || wrong != std::errc() || rest != end ||
      !std::isfinite(value)) {
    throw std::invalid_argument(fmt::format("\"{}\" is not NAME=NUMBER, as in batch=64", text));
  }
  return {name, value};
}

/// Declares the option of a row: how it is read follows from the type of its value.
class RowOption {
 public:
  RowOption(const OptionParser& parser, engine::RunOptions& run, const engine::RunOptionRow& row)
      : parser_(parser), run_(run), flag_(row.flag), help_(row.help) {}

  Option operator()(bool engine::RunOptions::*member) {
    return parser_.add_flag(flag_, run_.*member, help_);
  }
  Option operator()(std::uint64_t engine::RunOptions::*member) {
    return parser_.add_option(flag_, run_.*member, help_).check(not_negative());
  }
  Option operator()(engine::ByteSize engine::RunOptions::*member) {
    return parser_.add_option_function(flag_, read_bytes(run_.*member), help_);
  }
  Option operator()(std::optional<engine::ByteSize> engine::RunOptions::*member) {
    return parser_.add_option_function(flag_, read_bytes(run_.*member), help_);
  }
  Option operator()(engine::ParameterValues engine::RunOptions::*member) {
    const auto read = [flag = flag_, &values = run_.*member](const std::vector<std::string>& all) {
      for (const std::string& text : all) {
        const auto [name, value] = parsed(flag, [&] { return parse_setting(text); });
        values[name] = value;
      }
    };
    return parser_.add_option_function(flag_, read, help_).one_value_each();
  }
  template <class Value>
  Option operator()(Value engine::RunOptions::*member) {
    return parser_.add_option(flag_, run_.*member, help_);
  }

 private:
  template <class Size>
  std::function<void(const std::string&)> read_bytes(Size& size) const {
    return [flag = flag_, &size](const std::string& text) {
      size = engine::ByteSize{parsed(flag, [&] { return parse_bytes(text); })};
    };
  }

  const OptionParser& parser_;
  engine::RunOptions& run_;
  std::string flag_;
  std::string help_;
};

}  // namespace

void add_run_options(const OptionParser& parser, engine::RunOptions& run,
                     engine::RunCommand command) {
  for (const engine::RunOptionRow& row : engine::kRunOptionRows) {
    if (!row.commands.has(command)) continue;
    Option option = std::visit(RowOption(parser, run, row), row.member);
    if (!row.value_name.empty()) option.type_name(std::string(row.value_name));
    if (!row.may_be_empty) option.check(not_empty());
    if (row.value_name == engine::kGpuValueName) option.completes(Completion::gpus);
  }
}

void add_jobs_option(const OptionParser& parser, int& jobs) {
  jobs = usable_cores();
  parser.add_option("-j,--jobs", jobs, "Worker processes at once (default: one per core)")
      .type_name("N");
}

void require_files(const engine::RunOptions& run) {
  if (run.files.empty())
    throw UsageError("name the scenarios, as in leaked_loss_graph or scenarios/*.lua");
  for (const std::string& file : run.files) {
    const std::string hint = why_hint(file);
    if (!hint.empty()) throw UsageError(fmt::format("{} is not a scenario{}", file, hint));
  }
}

void check_run_values(const engine::RunOptions& run) {
  if (run.jobs < 1) throw UsageError("--jobs must be at least 1");
  for (const engine::RunOptionRow& row : engine::kRunOptionRows) {
    if (row.check != nullptr) parsed(std::string(row.flag), [&] { row.check(run); });
  }
}

void check_run_options(engine::RunOptions& run) {
  if (!run.gpu_text.empty() && !run.cuda) run.gpu = gpu_selection(run.gpu_text);
  check_allocator_options(run);
  check_run_values(run);
}

void add_case_option(const OptionParser& parser, engine::RunOptions& run) {
  parser
      .add_option("--case", run.selection.cases,
                  "Only this variant, or all of this role; repeatable")
      .type_name("NAME|ROLE")
      .one_value_each();
}

void add_selection_options(const OptionParser& parser, engine::RunOptions& run) {
  add_scenario_files(parser, run.files, "Scenarios, by name or file");
  add_case_option(parser, run);
  parser
      .add_option("--filter", run.selection.filter,
                  "Only scenario.variant names that match, as in GoogleTest ('*leak*:-*.item')")
      .type_name("PATTERN");
}

}  // namespace ohm::cli
