#include "reports/text/user_files.h"

#include <utility>

#include "reports/text/library_file.h"

namespace ohm::reports {

namespace {

/// Of the recorder itself, wherever ohm is installed: harness/record.
bool is_of_recorder(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view name = path.substr(slash + 1);
  const std::string_view folder = path.substr(0, slash);
  return folder.ends_with("/record") && (name.starts_with("ohm_") || name == "sitecustomize.py");
}

/// Cells of a notebook, and what is typed in: their files are temporary or none.
bool is_typed_in(std::string_view path) {
  return path.starts_with("<ipython-input") || path == "<stdin>" ||
         path.find("/ipykernel_") != std::string_view::npos;
}

/// From a user's folder: what was installed into an environment within it.
bool is_installed_within(std::string_view path) {
  return path.find("site-packages/") != std::string_view::npos ||
         path.find("dist-packages/") != std::string_view::npos ||
         path.find("lib/python") != std::string_view::npos;
}

}  // namespace

UserFiles::UserFiles(std::vector<std::string> folders) : folders_(std::move(folders)) {
  for (std::string& folder : folders_) {
    if (!folder.ends_with('/')) folder += '/';
  }
}

Ownership UserFiles::ownership(std::string_view path) const {
  if (is_of_recorder(path)) return Ownership::library;
  if (is_typed_in(path)) return Ownership::own;
  for (const std::string& folder : folders_) {
    if (!path.starts_with(folder)) continue;
    const bool is_installed = is_installed_within(path.substr(folder.size()));
    return is_installed ? Ownership::library : Ownership::own;
  }
  if (is_library_file(path)) return Ownership::library;
  const bool is_absolute = path.starts_with('/');
  return are_known() && is_absolute ? Ownership::elsewhere : Ownership::own;
}

bool is_users_file(std::string_view reported) {
  if (reported.empty()) return false;
  const bool is_absolute = reported.front() == '/' || reported.front() == '<';
  if (is_absolute) return UserFiles().ownership(reported) == Ownership::own;
  return !is_installed_within(reported) &&
         !(reported.find('/') == std::string_view::npos && is_library_file(reported));
}

}  // namespace ohm::reports
