#include "reports/ci/failed_place.h"

#include <algorithm>
#include <filesystem>

#include "reports/text/user_files.h"

namespace ohm::reports {

FailedPlace failed_place(const ScenarioResult& scenario, const VariantResult& variant) {
  if (variant.error && is_users_file(variant.error->file)) {
    return {variant.error->file, variant.error->line};
  }
  if (variant.oom && is_users_file(variant.oom->file) && variant.role != Role::problem &&
      variant.outcome == Outcome::oom) {
    return {variant.oom->file, variant.oom->line};
  }
  if (variant.cause) {
    const auto& lines = variant.cause->lines;
    const auto largest = std::find_if(lines.begin(), lines.end(),
                                      [](const CauseLine& one) { return is_users_file(one.file); });
    if (largest != lines.end()) return {largest->file, largest->line};
  }
  if (variant.oom && is_users_file(variant.oom->file) && variant.role != Role::problem) {
    return {variant.oom->file, variant.oom->line};
  }
  return is_users_file(scenario.file) ? FailedPlace{scenario.file, variant.line} : FailedPlace();
}

FailedPlace place_of_load_error(const ScenarioResult& scenario) {
  const ErrorResult& error = *scenario.error;
  return {error.file.empty() ? scenario.file : error.file, error.line};
}

std::string repository_path(const ScenarioResult& scenario, const std::string& file) {
  if (scenario.folder.empty() || file.empty() || file.front() == '/') return file;
  return (std::filesystem::path(scenario.folder) / file).lexically_normal().string();
}

}  // namespace ohm::reports
