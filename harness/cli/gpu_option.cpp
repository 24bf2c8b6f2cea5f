#include "harness/cli/gpu_option.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "harness/cli/option_values.h"
#include "harness/verify/gpu_profile_file.h"

namespace ohm::cli {

namespace {

bool is_path(std::string_view name) {
  constexpr std::array<std::string_view, 3> kEndings = {".json", ".txt", ".log"};
  if (name.find('/') != std::string_view::npos) return true;
  for (const std::string_view ending : kEndings) {
    if (name.ends_with(ending)) return true;
  }
  return false;
}

/// A part of a card, as NVIDIA's MIG makes it.
bool is_slice(const GpuProfile& profile) { return profile.name.find("-mig-") != std::string::npos; }

}  // namespace

GpuSelection gpu_selection(const std::string& text) {
  return parsed("--gpu", [&] {
    const std::string name = text.substr(0, text.find(','));
    if (!is_path(name)) return parse_gpu_selection(text);
    const GpuSelection read = engine::read_gpu_file(name);
    GpuSelection selection = parse_gpu_selection(text, read.profile);
    if (!selection.count) selection.count = read.count;
    selection.file = read.file;
    return selection;
  });
}

std::string named_gpus(const std::string& text) {
  if (!is_path(text.substr(0, text.find(',')))) return text;
  const GpuSelection selection = gpu_selection(text);
  if (!selection.file.empty()) return text;
  std::string named =
      fmt::format("{},capacity={}", selection.profile.name, selection.profile.capacity_bytes);
  if (selection.count) named += fmt::format(",count={}", *selection.count);
  return named;
}

std::vector<GpuSelection> gpu_selections(const std::string& text) {
  if (text != "all") return {gpu_selection(text)};
  std::vector<GpuSelection> all;
  for (const GpuProfile& profile : gpu_profiles()) {
    if (!is_slice(profile)) all.push_back({profile, std::nullopt, {}});
  }
  return all;
}

}  // namespace ohm::cli
