// The matrix library's handles of one GPU, and the workspaces that they keep.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "allocator_shim/device/stream_events.h"
#include "runtime/base/intrusive_ptr.h"
#include "runtime/tensor/storage.h"

namespace ohm {

/// A thread that PyTorch would run an op on: the program's own; backward's, of which each GPU has
/// one; those that DataParallel starts for one forward pass, by numbers from `first_worker` on.
enum class ExecutionThread : std::uint32_t { caller, engine, first_worker };

/// A thread takes a handle when it first needs one: the one that was given back last, or a new one.
/// It keeps the handle until it ends. A handle has one workspace for each stream it was used on.
class LibraryHandles {
 public:
  enum class Library : std::uint8_t { cublas, cublaslt };

  /// Where the workspace of this thread and stream is kept; null until it is put there.
  IntrusivePtr<Storage>& workspace(ExecutionThread thread, StreamId stream, Library library);

  /// The thread has ended: its handle is free for another one, with the workspaces it has.
  void give_back(ExecutionThread thread);

  /// All workspaces go, the handles stay.
  void release_workspaces();

 private:
  using Workspaces = std::map<std::pair<Library, StreamId>, IntrusivePtr<Storage>>;

  std::vector<Workspaces> handles_;
  std::vector<std::size_t> free_handles_;
  std::unordered_map<ExecutionThread, std::size_t> taken_;
};

}  // namespace ohm
