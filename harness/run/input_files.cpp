#include "harness/run/input_files.h"

#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include "harness/gate/baseline.h"
#include "harness/scenario/required_modules.h"

namespace ohm::engine {

std::vector<std::string> input_files(const RunOptions& run) {
  std::vector<std::string> inputs = run.files;
  for (const std::string& file : run.files) {
    std::vector<std::string> modules = required_modules(file);
    std::move(modules.begin(), modules.end(), std::back_inserter(inputs));
    std::error_code unknown;
    std::string baseline = baseline_path(file);
    if (std::filesystem::exists(baseline, unknown)) inputs.push_back(std::move(baseline));
  }
  if (run.gpu && !run.gpu->file.empty()) inputs.push_back(run.gpu->file);
  return inputs;
}

}  // namespace ohm::engine
