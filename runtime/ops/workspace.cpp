#include "runtime/ops/workspace.h"

#include "allocator_shim/observe/bytes.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {

void ensure_cublas_workspace(Device device) {
  if (device.is_cpu()) return;
  Context& context = Context::current();
  DeviceSlot& slot = context.slot(device);
  if (slot.cublas_workspace_bytes == 0) return;
  auto& workspace =
      slot.library_handles.workspace(context.state.thread, context.state.streams.of(device));
  if (workspace) return;
  const CategoryGuard category(Category::workspace);
  workspace = Storage::allocate(slot.cublas_workspace_bytes, device);
}

IntrusivePtr<Storage> cublaslt_workspace(Device device) {
  if (device.is_cpu() || Context::current().slot(device).cublas_workspace_bytes == 0) return {};
  const CategoryGuard category(Category::workspace);
  return Storage::allocate(1_MiB, device);
}

}  // namespace ohm::ops
