#include "reports/history/user_frames.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/history/native_frames.h"
#include "reports/text/library_file.h"

namespace ohm::reports {

namespace {

/// As harness/record/ohm_user_files.py writes it.
constexpr std::string_view kUserFolder = "ohm user files in ";

/// Native frames have no rank; a scenario's count as Python of nobody.
int rank_of(std::string_view file, const UserFiles& files) {
  if (!is_source_file(file)) return 0;
  if (!file.ends_with(".py")) return 1;
  return 2 + static_cast<int>(files.ownership(file));
}

}  // namespace

UserFiles user_files_of(const Snapshot& snapshot) {
  std::vector<std::string> folders;
  for (const SnapshotAnnotation& annotation : snapshot.external_annotations) {
    const std::string_view name = snapshot.tables.text(annotation.name);
    if (is_user_folder_note(name)) folders.emplace_back(name.substr(kUserFolder.size()));
  }
  return UserFiles(std::move(folders));
}

bool is_user_folder_note(std::string_view name) { return name.starts_with(kUserFolder); }

std::optional<std::size_t> named_frame(const StackTable& tables, StackId stack,
                                       const UserFiles& files) {
  if (is_native_stack(tables, stack)) return named_native_frame(tables, stack);
  std::optional<std::size_t> named;
  int best = 0;
  std::size_t index = 0;
  for (const FrameId id : tables.stack(stack)) {
    const int rank = rank_of(tables.text(tables.frame(id).filename), files);
    if (rank > best) {
      best = rank;
      named = index;
    }
    ++index;
  }
  return named;
}

std::size_t library_frames(const StackTable& tables, StackId stack, const UserFiles& files) {
  const auto frames = tables.stack(stack);
  const auto named = named_frame(tables, stack, files);
  if (!named) return frames.size();
  const std::string_view file = tables.text(tables.frame(frames[*named]).filename);
  const bool is_users = files.ownership(file) != Ownership::library;
  return is_users ? *named : frames.size();
}

}  // namespace ohm::reports
