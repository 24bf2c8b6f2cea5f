#include "harness/cli/verify_device_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "allocator_shim/base/format_bytes.h"
#include "harness/cli/cuda_options.h"
#include "harness/cli/option_values.h"
#include "harness/cli/output_paths.h"
#include "harness/cli/run_options.h"
#include "harness/cli/terminal.h"
#include "harness/machine/cuda_devices.h"
#include "harness/run/input_files.h"
#include "harness/verify/device_verification.h"
#include "harness/verify/gpu_profile_file.h"
#include "reports/text/report_file.h"
#include "reports/text/text_layout.h"

namespace ohm::cli {

namespace {

struct VerifyArguments {
  engine::RunOptions run;
  std::string profile_path;
};

std::string text_of(const engine::VariantVerification& variant) {
  const std::string name = reports::printable(variant.variant);
  if (!variant.error.empty()) {
    return fmt::format("error    {}: {}\n", name, reports::printable(variant.error));
  }
  if (variant.agrees()) {
    return fmt::format("same     {}: {} events, peak {}\n", name, variant.cuda_events,
                       human_bytes(static_cast<std::size_t>(variant.cuda_peak_bytes)));
  }
  std::string text;
  if (!variant.value_difference.empty()) {
    text += fmt::format("differs  {}: values: {}\n", name,
                        reports::printable(variant.value_difference));
  }
  if (variant.has_same_events()) return text;
  text += fmt::format(
      "differs  {}: {} events and a peak of {} bytes on the virtual GPU, "
      "{} and {} on the card\n",
      name, variant.virtual_events, variant.virtual_peak_bytes, variant.cuda_events,
      variant.cuda_peak_bytes);
  for (const engine::EventDifference& difference : variant.differences) {
    text += fmt::format("         only on the {}, event {}: {}\n",
                        difference.is_on_cuda ? "card" : "virtual GPU", difference.ordinal,
                        reports::printable(difference.event));
  }
  if (variant.other_differences > 0) {
    text += fmt::format("         and {} more\n", variant.other_differences);
  }
  return text;
}

std::string summary_of(const std::vector<engine::VariantVerification>& variants) {
  const auto same = std::count_if(variants.begin(), variants.end(),
                                  [](const auto& variant) { return variant.agrees(); });
  return fmt::format("{} of {} variants have the same events and values on both\n", same,
                     variants.size());
}

/// What the host was needed for, the most often first.
std::string text_of_traffic(const std::vector<engine::VariantVerification>& variants) {
  std::map<std::string, MovedValues> by_op;
  MovedValues all;
  for (const engine::VariantVerification& variant : variants) {
    for (const auto& [op, moved] : variant.to_host) {
      for (MovedValues* sum : {&by_op[op], &all}) {
        sum->times += moved.times;
        sum->bytes += moved.bytes;
      }
    }
  }
  std::vector<std::pair<std::string, MovedValues>> rows(by_op.begin(), by_op.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second.times > b.second.times; });
  const auto amount = [](const MovedValues& moved) {
    return fmt::format("{} times, {}", moved.times,
                       human_bytes(static_cast<std::size_t>(moved.bytes)));
  };
  std::string text = fmt::format("values copied from the card to the host: {}\n", amount(all));
  for (const auto& [op, moved] : rows) {
    text += fmt::format("         {}: {}\n", op.empty() ? "the program itself" : op, amount(moved));
  }
  return text;
}

std::string text_of(const engine::LibraryWorkspace& workspace) {
  return fmt::format("library  {}: workspaces of up to {} ({} bytes) on the card, {} calls\n",
                     reports::printable(workspace.op),
                     human_bytes(static_cast<std::size_t>(workspace.largest_bytes)),
                     workspace.largest_bytes, workspace.calls);
}

std::string text_of(const cuda::LibraryState& library) {
  if (library.missing.empty())
    return fmt::format("library  {} {}\n", library.name, library.version);
  return fmt::format("library  {}: the host computes instead: {}\n", library.name,
                     reports::printable(library.missing));
}

/// Where the profile goes, opened before the work: a path that cannot be written is found at once.
std::optional<reports::ReportFile> profile_file(const std::string& path) {
  if (path.empty()) return std::nullopt;
  try {
    return reports::ReportFile(path);
  } catch (const std::runtime_error& error) {
    throw UsageError(error.what());
  }
}

/// What was not compared: the host computed instead of it.
struct Missing {
  std::string text;
  bool is_any = false;
};

Missing what_is_missing(const engine::CudaLibraries& places,
                        const engine::FoundCudaDevices& found) {
  Missing missing;
  for (const cuda::LibraryState& library : engine::find_libraries(places)) {
    missing.text += text_of(library);
    missing.is_any = missing.is_any || !library.missing.empty();
  }
  if (found.kernels_missing.empty()) return missing;
  missing.is_any = true;
  missing.text += fmt::format("kernels: the host computes instead: {}\n",
                              reports::printable(found.kernels_missing));
  return missing;
}

/// What differs outweighs what was not compared.
ExitReason reason_of(const std::vector<engine::VariantVerification>& variants,
                     const Missing& missing) {
  if (variants.empty()) return ExitReason::nothing_selected;
  const bool all_agree = std::all_of(variants.begin(), variants.end(),
                                     [](const auto& variant) { return variant.agrees(); });
  if (!all_agree) return ExitReason::failed;
  return missing.is_any ? ExitReason::unavailable : ExitReason::passed;
}

int verify(VerifyArguments arguments, const Environment& environment) {
  engine::RunOptions& run = arguments.run;
  run.gpu_text = "cuda";
  require_files(run);
  check_cuda_options(run);
  check_run_options(run);
  check_parameters_declared(run, environment);
  OutputPaths(engine::input_files(run)).add("--write-profile", arguments.profile_path);
  std::optional<reports::ReportFile> profile = profile_file(arguments.profile_path);
  const std::vector<engine::VariantVerification> variants =
      engine::verify_device(run, environment.loader);
  const std::vector<engine::LibraryWorkspace> workspaces = engine::all_workspaces(variants);
  const engine::FoundCudaDevices found = engine::find_cuda_devices(*run.cuda);
  const Missing missing = what_is_missing(*run.cuda, found);
  std::string text;
  for (const engine::VariantVerification& variant : variants) text += text_of(variant);
  for (const engine::LibraryWorkspace& workspace : workspaces) text += text_of(workspace);
  print_text(text + missing.text + summary_of(variants) + text_of_traffic(variants));
  if (profile) profile->commit(engine::gpu_profile_json(found, workspaces));
  return exit_code(reason_of(variants, missing)).code;
}

}  // namespace

std::function<int()> setup_verify_device(CLI::App& app, const Environment& environment) {
  const auto arguments = std::make_shared<VerifyArguments>();
  add_selection_options(app, arguments->run);
  add_run_options(app, arguments->run, engine::RunCommand::verify_device);
  add_jobs_option(app, arguments->run.jobs);
  add_cuda_footer(app);
  app.add_option("--write-profile", arguments->profile_path,
                 "Write a profile of the card as JSON, for a virtual GPU like it")
      ->type_name("PATH")
      ->check(not_empty());
  return [arguments, &environment] { return verify(*arguments, environment); };
}

}  // namespace ohm::cli
