// The state of the runtime, in one struct: the devices, and what the running code has switched on.
//
// A program runs against the context installed on its thread. Everything that a rank of a
// distributed program has for itself is in ExecutionState, so that a switch of ranks is a swap.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "allocator_shim/base/assumption.h"
#include "allocator_shim/base/rule_set.h"
#include "allocator_shim/device/pinned_host_allocator.h"
#include "allocator_shim/device/private_pools.h"
#include "allocator_shim/device/request_allocator.h"
#include "runtime/base/device.h"
#include "runtime/base/intrusive_ptr.h"
#include "runtime/base/philox.h"
#include "runtime/tensor/autograd_slot.h"
#include "runtime/tensor/convolution_plans.h"
#include "runtime/tensor/cuda_backend.h"
#include "runtime/tensor/current_streams.h"
#include "runtime/tensor/library_handles.h"
#include "runtime/tensor/optimizer_observer.h"
#include "runtime/tensor/storage.h"

namespace ohm {

namespace nn {
struct RunningModule;
}
class CudaGraph;
class GeneratorNumbers;

/// What cuDNN draws dropout between recurrent layers with: made at its first use, and kept.
struct CudnnDropout {
  IntrusivePtr<Storage> state;
  PhiloxGenerator generator;
  bool is_stale = true;  ///< a program has seeded the device since
};

/// One device as the runtime sees it. The figures are those of the GPU's profile.
struct DeviceSlot {
  RequestAllocator* allocator = nullptr;   ///< not owned; outlives the context
  DeviceStreams* streams = nullptr;        ///< the same; null for the host
  PrivatePools* pools = nullptr;           ///< the same
  const CudaBackend* backend = nullptr;    ///< the same; null on virtual GPUs and for the host
  std::size_t cublas_workspace_bytes = 0;  ///< of one handle; 0: no workspaces are modelled
  std::size_t cudnn_workspace_bytes = 0;   ///< that a convolution on a card may take
  /// cuDNN's attention and the dropout of recurrent networks take what was measured on such a card.
  bool has_measured_cudnn = false;
  bool has_recurrent_reserve = false;  ///< recurrent networks keep memory for backward
  /// What convolutions took on a card, as it was measured; not owned; null: nothing is known.
  const std::map<std::string, std::size_t>* convolution_workspaces = nullptr;
  CudnnDropout cudnn_dropout;
  int multiprocessors = 108;
  int threads_per_multiprocessor = 2048;
  std::array<int, 2> compute_capability = {8, 0};  ///< major, minor
  PhiloxGenerator generator;
  LibraryHandles library_handles;
  CudaGraph* capturing = nullptr;  ///< the graph that is being captured: see cuda_graph.h
  std::weak_ptr<GeneratorNumbers> generator_numbers;  ///< of all graphs, while there is one
  std::optional<StreamId> capture_stream;             ///< that graphs are captured on by default
  StreamId streams_made = 0;                          ///< by the program
  AssumptionSet assumptions;                          ///< that its bytes rest on so far

  void seed(std::uint64_t seed) {
    generator = {seed, 0};
    cudnn_dropout.is_stale = true;
  }
};

/// The ways to compute attention that a program allows: see ops/attention/attention.h.
struct AttentionKernels {
  bool flash = true;
  bool efficient = true;
  bool math = true;   ///< step by step
  bool cudnn = true;  ///< cuDNN's, where the version of PyTorch and the device prefer it
};

/// What one rank has for itself.
struct ExecutionState {
  bool grad_enabled = true;
  bool inference_mode = false;
  ExecutionThread thread = ExecutionThread::caller;
  Category category = Category::activation;         ///< of what is allocated now
  RequestPurpose purpose = RequestPurpose::tensor;  ///< of the same
  std::string_view file;  ///< of the program's current line; outlives the state
  int line = 0;
  std::string_view op;  ///< the op that is running; empty outside any
  Device current_gpu = Device::cuda(0);
  CurrentStreams streams;                                ///< that allocations are made on
  std::array<std::uint64_t, 3> next_sequence_numbers{};  ///< of graph nodes, by kind of thread
  std::uint64_t backward_pass = 0;                       ///< number of the running one; 0: none
  std::uint64_t next_backward_pass = 1;
  bool stops_recomputation_early = true;  ///< of checkpoints
  AttentionKernels attention_kernels;
  ConvolutionPlans convolution_plans;
  /// The innermost call of a module that is going on; null: none. See nn/running_module.h.
  const nn::RunningModule* running_module = nullptr;
  AutogradSlot autograd;  ///< what autograd keeps for the rank: see autograd/autograd_state.h
  /// Called when the running backward pass has ended, in order.
  std::vector<std::function<void()>> after_backward;
};

class Context {
 public:
  DeviceSlot host;
  PinnedHostAllocator* pinned = nullptr;  ///< pinned memory of the host; not owned; null: none
  std::vector<DeviceSlot> gpus;
  SiteTable* sites = nullptr;          ///< not owned; may be null: then every site is unknown
  RuleSet rules = default_rule_set();  ///< the version of PyTorch that all devices behave as
  bool keeps_values = true;            ///< false: size-only, no arithmetic is done
  /// torch.backends.cudnn.enabled. False: PyTorch's own kernels run, with buffers of their own.
  bool cudnn_enabled = true;
  OptimizerObserver* optimizer_observer = nullptr;  ///< not owned; null: steps are not observed
  ExecutionState state;

  /// The context of this thread. Aborts when none is installed: that is a bug of the harness.
  static Context& current();

  /// Throws std::invalid_argument for a GPU that does not exist.
  DeviceSlot& slot(Device device);

  /// The interned site of the running line and op.
  SiteId site();

  /// Seeds the generators of all devices.
  void seed(std::uint64_t seed);

  /// Throws what kernels found wrong so far: Note [Errors that are told later].
  void check_deferred_errors();

 private:
  friend class ContextGuard;
  // Interning costs a string; a program has few lines and ops, so a small direct-mapped cache
  // makes a site cost a comparison.
  struct CachedSite {
    const char* file = nullptr;
    const char* op = nullptr;
    int line = -1;
    SiteId id = kUnknownSite;
  };
  std::array<CachedSite, 256> site_cache_{};
};

/// Installs a context on this thread for as long as the guard lives; restores the previous one.
class ContextGuard {
 public:
  explicit ContextGuard(Context& context);
  ~ContextGuard();
  ContextGuard(const ContextGuard&) = delete;
  ContextGuard& operator=(const ContextGuard&) = delete;

 private:
  Context* previous_;
  const std::string_view* previous_op_;
};

/// Allocations are of this category while the guard lives.
class CategoryGuard {
 public:
  explicit CategoryGuard(Category category);
  ~CategoryGuard() { context_.state.category = previous_; }
  CategoryGuard(const CategoryGuard&) = delete;
  CategoryGuard& operator=(const CategoryGuard&) = delete;

 private:
  Context& context_;
  Category previous_;
};

/// Allocations have this purpose while the guard lives.
class PurposeGuard {
 public:
  explicit PurposeGuard(RequestPurpose purpose)
      : context_(Context::current()), previous_(std::exchange(context_.state.purpose, purpose)) {}
  ~PurposeGuard() { context_.state.purpose = previous_; }
  PurposeGuard(const PurposeGuard&) = delete;
  PurposeGuard& operator=(const PurposeGuard&) = delete;

 private:
  Context& context_;
  RequestPurpose previous_;
};

/// Allocations are workspaces of a kernel or a library while the guard lives.
class WorkspaceGuard {
 private:
  CategoryGuard category_{Category::workspace};
  PurposeGuard purpose_{RequestPurpose::workspace};
};

/// Work on `device` is queued, and its memory allocated, on this stream while the guard lives.
class StreamGuard {
 public:
  StreamGuard(Device device, StreamId stream)
      : streams_(Context::current().state.streams),
        device_(device),
        previous_(streams_.exchange(device, stream)) {}
  ~StreamGuard() { streams_.exchange(device_, previous_); }
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;

 private:
  CurrentStreams& streams_;
  Device device_;
  StreamId previous_;
};

/// `gpu` is the current one while the guard lives.
class GpuGuard {
 public:
  explicit GpuGuard(Device gpu)
      : context_(Context::current()), previous_(std::exchange(context_.state.current_gpu, gpu)) {}
  ~GpuGuard() { context_.state.current_gpu = previous_; }
  GpuGuard(const GpuGuard&) = delete;
  GpuGuard& operator=(const GpuGuard&) = delete;

 private:
  Context& context_;
  Device previous_;
};

/// The code runs on a thread of its own while the scope lives: as one of several that do so at the
/// same time, told apart by `number` from 0 on.
class WorkerThreadScope {
 public:
  explicit WorkerThreadScope(std::uint32_t number);
  ~WorkerThreadScope();
  WorkerThreadScope(const WorkerThreadScope&) = delete;
  WorkerThreadScope& operator=(const WorkerThreadScope&) = delete;

 private:
  Context& context_;
  ExecutionThread previous_;
  std::uint64_t previous_number_;  ///< of the next graph node
};

/// Names the op that allocations belong to. Nested ops (a linear inside an attention) show the
/// innermost.
class OpGuard {
 public:
  explicit OpGuard(std::string_view op)
      : context_(Context::current()), previous_(context_.state.op) {
    context_.state.op = op;
  }
  ~OpGuard() { context_.state.op = previous_; }
  OpGuard(const OpGuard&) = delete;
  OpGuard& operator=(const OpGuard&) = delete;

 private:
  Context& context_;
  std::string_view previous_;
};

}  // namespace ohm
