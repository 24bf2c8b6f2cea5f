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

}  // namespace ohm::cli
