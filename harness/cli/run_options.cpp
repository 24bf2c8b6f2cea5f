#include "harness/cli/run_options.h"

#include "allocator_shim/base/format_bytes.h"
#include "harness/cli/gpu_option.h"
#include "harness/cli/option_values.h"

namespace ohm::cli {

void check_run_options(engine::RunOptions& run, const RunTexts& texts) {
  if (run.files.empty()) throw UsageError("name the scenarios, as in scenarios/*.lua");
  if (!run.gpu_text.empty() && !run.cuda) {
    run.gpu = gpu_selection(run.gpu_text);
  }
  check_allocator_options(run);
  run.parameters = parameter_values(texts.settings);
  run.caps.memory_bytes =
      parsed("--script-memory", [&] { return parse_bytes(texts.script_memory); });
  if (run.jobs < 1) throw UsageError("--jobs is at least 1");
  if (!(run.timeout_seconds >= 0)) throw UsageError("--timeout is a number of seconds, 0 for none");
}

void add_selection_options(CLI::App& app, engine::RunOptions& run) {
  app.add_option("FILES", run.files, "Scenario files")->type_name("");
  app.add_option("--case", run.selection.cases,
                 "Only this variant, or all of this role; repeatable")
      ->type_name("NAME|ROLE")
      ->allow_extra_args(false);
  app.add_option("--filter", run.selection.filter,
                 "Only scenario.variant that match, as GoogleTest's filters ('*leak*:-*.item')")
      ->type_name("PATTERN");
}

void add_machine_options(CLI::App& app, engine::RunOptions& run, RunTexts& texts) {
  run.jobs = usable_cores();
  app.add_option("--gpu", run.gpu_text, "Run on these GPUs instead (ohm gpus lists them)")
      ->type_name(kGpuOptionText);
  app.add_option("--alloc-conf", run.alloc_conf,
                 "Allocator settings instead, as PYTORCH_CUDA_ALLOC_CONF spells them")
      ->type_name("KEY:VALUE,...");
  app.add_option("--rules", run.rules, "Which PyTorch's allocator instead (pytorch-2.6)")
      ->type_name("NAME");
  app.add_flag("--size-only", run.size_only,
               "Keep sizes, not values: the same bytes in a fraction of the time");
  add_settings_option(app, texts.settings);
  app.add_option("--seed", run.seed, "Of everything random; 0 unless given")
      ->type_name("N")
      ->check(not_negative());
  app.add_option("-j,--jobs", run.jobs, "Variants at once; as many as cores unless given")
      ->type_name("N");
  app.add_option("--timeout", run.timeout_seconds, "For each variant, 0 for none; 60 unless given")
      ->type_name("SECONDS");
  app.add_option("--instructions", run.caps.instructions,
                 "Instructions a script may execute; 1000000000 unless given")
      ->type_name("N")
      ->check(not_negative());
  app.add_option("--script-memory", texts.script_memory,
                 "Memory of a script's own objects; 1GiB unless given")
      ->type_name("SIZE");
}

}  // namespace ohm::cli
