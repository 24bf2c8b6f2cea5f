#include "runtime/tensor/cuda_graph.h"

#include <stdexcept>
#include <utility>

#include "runtime/base/refusal.h"
#include "runtime/tensor/allocation.h"
#include "runtime/tensor/context.h"

namespace ohm {
namespace {

constexpr std::size_t kNumberBytes = 8;

bool has_later_rules() { return Context::current().rules.has_later_private_pools; }

// Seed and offset, allocated on `stream`. The later versions let the offset go first.
std::shared_ptr<GeneratorNumbers> make_numbers(Device device, StreamId stream) {
  const StreamGuard guard(device, stream);
  GeneratorNumbers::Numbers numbers;
  for (IntrusivePtr<Storage>& number : numbers) number = allocate_storage(kNumberBytes, device);
  if (has_later_rules()) std::swap(numbers[0], numbers[1]);
  return std::make_shared<GeneratorNumbers>(std::move(numbers));
}

}  // namespace

GeneratorNumbers::~GeneratorNumbers() {
  for (IntrusivePtr<Storage>& number : numbers_) number.reset();
}

// ---- graphs -------------------------------------------------------------------------------------

CudaGraph::~CudaGraph() {
  if (is_capturing()) capture_end();
  numbers_.reset();
  reset();
}

void CudaGraph::capture_begin(std::optional<PoolId> pool) {
  Context& context = Context::current();
  const Device device = context.state.current_gpu;
  DeviceSlot& slot = context.slot(device);
  const StreamId stream = context.state.streams.of(device);
  if (context.keeps_values) {
    refuse("graphs do not record values: capture where none are kept (gpu = {values = false})");
  }
  if (state_ != State::empty) {
    refuse(
        "This CUDAGraph instance already owns a captured graph. To capture a new graph, create a "
        "new "
        "instance.");
  }
  if (stream == kDefaultStream) {
    refuse(
        "CUDA graphs must be captured on a non-default stream. (However, after capture, it's ok to "
        "replay them on the default stream.)");
  }
  if (slot.capturing != nullptr) refuse("another graph is being captured");
  // Of all graphs there are one seed and one offset.
  if (!has_later_rules() && numbers_ == nullptr) {
    numbers_ = slot.generator_numbers.lock();
    if (numbers_ == nullptr) numbers_ = make_numbers(device, stream);
    slot.generator_numbers = numbers_;
  }
  const PoolId id =
      pool.value_or(kNormalPool) == kNormalPool ? slot.pools->next_graph_pool_id() : *pool;
  slot.pools->retain_pool(id);
  slot.pools->begin_capture(id, stream);
  device_ = device;
  owns_numbers_ = has_later_rules();
  pools_ = slot.pools;
  pool_ = id;
  slot.capturing = this;
  state_ = State::capturing;
}

void CudaGraph::capture_end() {
  if (!is_capturing()) refuse("no capture of this graph is going on");
  pools_->end_capture(pool_);
  DeviceSlot& slot = Context::current().slot(device_);
  if (slot.capturing == this) slot.capturing = nullptr;
  state_ = State::captured;
}

void CudaGraph::replay() const {
  if (state_ != State::captured) {
    refuse("Called CUDAGraph::replay without a preceding successful capture.");
  }
}

void CudaGraph::reset() {
  if (is_capturing()) refuse("the graph is being captured");
  if (state_ == State::empty) return;
  if (owns_numbers_) numbers_.reset();
  pools_->release_pool(pool_);
  state_ = State::empty;
}

PoolId CudaGraph::pool() const {
  if (state_ != State::captured) {
    refuse("Called CUDAGraph::pool() without a preceding successful capture.");
  }
  return pool_;
}

void CudaGraph::note_draw() {
  if (numbers_ == nullptr) numbers_ = make_numbers(device_, kDefaultStream);
}

void CudaGraph::join(StreamId stream) { pools_->join_capture(pool_, stream); }

// ---- pools --------------------------------------------------------------------------------------

MemoryPool::MemoryPool()
    : device_(Context::current().state.current_gpu),
      pools_(*Context::current().slot(device_).pools),
      id_(pools_.next_memory_pool_id()) {
  pools_.retain_pool(id_);
}

MemoryPool::~MemoryPool() {
  pools_.release_pool(id_);
  pools_.empty_pool(id_);
}

// ---- captures -----------------------------------------------------------------------------------

PhiloxGenerator& generator_to_draw(Device device) {
  DeviceSlot& slot = Context::current().slot(device);
  if (slot.capturing != nullptr) slot.capturing->note_draw();
  return slot.generator;
}

void refuse_in_capture(Device device) {
  if (device.is_cpu() || Context::current().slot(device).capturing == nullptr) return;
  refuse("CUDA error: operation not permitted when stream is capturing");
}

}  // namespace ohm
