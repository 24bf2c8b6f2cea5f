#include "runtime/ops/cublas_workspace.h"

#include "allocator_shim/base/bytes.h"
#include "runtime/tensor/allocation.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

// That of the running thread and stream, made at its first use.
const IntrusivePtr<Storage>& kept_workspace(DeviceSlot& slot, Device device,
                                            LibraryHandles::Library library, std::size_t bytes) {
  const ExecutionState& state = Context::current().state;
  IntrusivePtr<Storage>& workspace =
      slot.library_handles.workspace(state.thread, state.streams.of(device), library);
  if (workspace) return workspace;
  const WorkspaceGuard guard;
  workspace = allocate_storage(bytes, device);
  return workspace;
}

}  // namespace

const Storage* ensure_cublas_workspace(Device device) {
  if (device.is_cpu()) return nullptr;
  DeviceSlot& slot = Context::current().slot(device);
  if (slot.cublas_workspace_bytes == 0) return nullptr;
  return kept_workspace(slot, device, LibraryHandles::Library::cublas, slot.cublas_workspace_bytes)
      .get();
}

IntrusivePtr<Storage> cublaslt_workspace(Device device) {
  if (device.is_cpu()) return {};
  DeviceSlot& slot = Context::current().slot(device);
  if (slot.cublas_workspace_bytes == 0) return {};
  if (slot.keeps_lt_workspaces) {
    slot.assumptions.add(Assumption::kept_lt_workspace);
    // The handle, whose workspace is asked for, is fetched first.
    ensure_cublas_workspace(device);
    return kept_workspace(slot, device, LibraryHandles::Library::cublaslt, 1_MiB);
  }
  const WorkspaceGuard guard;
  return allocate_storage(1_MiB, device);
}

}  // namespace ohm::ops
