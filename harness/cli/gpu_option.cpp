#include "harness/cli/gpu_option.h"

#include "harness/cli/option_values.h"
#include "harness/verify/gpu_profile_file.h"

namespace ohm::cli {

GpuSelection gpu_selection(const std::string& text) {
  return parsed("--gpu", [&] {
    const std::string name = text.substr(0, text.find(','));
    const bool is_path = name.find('/') != std::string::npos || name.ends_with(".json");
    if (!is_path) return parse_gpu_selection(text);
    GpuSelection selection = parse_gpu_selection(text, engine::read_gpu_profile(name));
    selection.file = name;
    return selection;
  });
}

std::vector<GpuSelection> gpu_selections(const std::string& text) {
  if (text != "all") return {gpu_selection(text)};
  std::vector<GpuSelection> all;
  for (const GpuProfile& profile : gpu_profiles()) all.push_back({profile, std::nullopt, {}});
  return all;
}

}  // namespace ohm::cli
