#include "runtime/tensor/library_handles.h"

#include <algorithm>

namespace ohm {

IntrusivePtr<Storage>& LibraryHandles::workspace(ExecutionThread thread, StreamId stream,
                                                 Library library) {
  auto taken = taken_.find(thread);
  if (taken == taken_.end()) {
    if (free_handles_.empty()) {
      free_handles_.push_back(handles_.size());
      handles_.emplace_back();
    }
    taken = taken_.emplace(thread, free_handles_.back()).first;
    free_handles_.pop_back();
  }
  return handles_[taken->second][{library, stream}];
}

void LibraryHandles::give_back(ExecutionThread thread) {
  const auto taken = taken_.find(thread);
  if (taken == taken_.end()) return;
  free_handles_.push_back(taken->second);
  taken_.erase(taken);
}

void LibraryHandles::release_workspaces() {
  std::for_each(handles_.rbegin(), handles_.rend(), [](auto& handle) {
    for (auto& [key, workspace] : handle) workspace.reset();
  });
}

}  // namespace ohm
