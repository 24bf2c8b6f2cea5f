#include "runtime/ops/matmul/cublas_workspace.h"

#include "allocator_shim/base/bytes.h"
#include "runtime/tensor/allocation.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

using Library = LibraryHandles::Library;

constexpr std::size_t kLtBytes = 1_MiB;

bool are_modelled(Device device) {
  return device.is_cuda() && Context::current().slot(device).cublas_workspace_bytes != 0;
}

IntrusivePtr<Storage> fresh_workspace(Device device, std::size_t bytes) {
  const WorkspaceGuard guard;
  return allocate_storage(bytes, device);
}

// That of the running thread and stream, made at its first use.
const IntrusivePtr<Storage>& kept_workspace(Device device, Library library, std::size_t bytes) {
  Context& context = Context::current();
  const ExecutionState& state = context.state;
  IntrusivePtr<Storage>& workspace = context.slot(device).library_handles.workspace(
      state.thread, state.streams.of(device), library);
  if (!workspace) workspace = fresh_workspace(device, bytes);
  return workspace;
}

}  // namespace

IntrusivePtr<Storage> cublas_workspace(Device device) {
  if (!are_modelled(device)) return {};
  const std::size_t bytes = Context::current().slot(device).cublas_workspace_bytes;
  if (Context::current().rules.workspaces == WorkspaceLife::call) {
    return fresh_workspace(device, bytes);
  }
  return kept_workspace(device, Library::cublas, bytes);
}

void use_cublas_workspace(Device device, std::int64_t calls) {
  for (std::int64_t call = 0; call < calls; ++call) cublas_workspace(device);
}

FusedWorkspaces fused_workspaces(Device device) {
  if (!are_modelled(device)) return {};
  FusedWorkspaces both;
  switch (Context::current().rules.workspaces) {
    case WorkspaceLife::handle:
      both.cublaslt = fresh_workspace(device, kLtBytes);
      both.cublas = cublas_workspace(device);
      break;
    case WorkspaceLife::both_handles:
      Context::current().slot(device).assumptions.add(Assumption::kept_lt_workspace);
      // The handle, whose workspace is asked for, is fetched first.
      both.cublas = cublas_workspace(device);
      both.cublaslt = kept_workspace(device, Library::cublaslt, kLtBytes);
      break;
    case WorkspaceLife::shared_handle:
      both.cublas = cublas_workspace(device);
      both.cublaslt = both.cublas;
      break;
    case WorkspaceLife::call:
      both.cublaslt = fresh_workspace(device, kLtBytes);
      break;
  }
  return both;
}

}  // namespace ohm::ops
