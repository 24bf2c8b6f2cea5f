// CUDA graphs: what is allocated while one is captured, and how long that stays.
//
// Note [Captures]
// The ops of a capture run once, when they are captured, as far as memory goes; a replay allocates
// nothing. What is allocated on the stream that is captured, and on streams that wait for it
// meanwhile, comes from a private pool, so that replays find it at its addresses: the graph holds
// the pool, which is given back, once cached, after its last graph is let go. Values are not
// recorded: only size-only runs capture.
//
// A graph that draws random numbers has the generator's seed and offset on the device, 8 bytes
// each.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "allocator_shim/device/private_pools.h"
#include "runtime/base/device.h"
#include "runtime/base/philox.h"
#include "runtime/tensor/storage.h"

namespace ohm {

/// The generator's seed and offset on the device, in the order in which they go.
class GeneratorNumbers {
 public:
  using Numbers = std::array<IntrusivePtr<Storage>, 2>;
  explicit GeneratorNumbers(Numbers numbers) : numbers_(std::move(numbers)) {}
  ~GeneratorNumbers();
  GeneratorNumbers(const GeneratorNumbers&) = delete;
  GeneratorNumbers& operator=(const GeneratorNumbers&) = delete;

 private:
  Numbers numbers_;
};

class CudaGraph {
 public:
  CudaGraph() = default;
  /// Lets go as reset() does.
  ~CudaGraph();
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;

  /// What the current GPU's current stream is given from now on is captured, with memory of `pool`,
  /// nullopt: of a new one. Throws std::invalid_argument on the default stream, where values are
  /// kept, for a graph that has been captured, and beside another capture.
  void capture_begin(std::optional<PoolId> pool);
  /// Throws std::invalid_argument where no capture of this graph is going on.
  void capture_end();
  /// Throws std::invalid_argument for a graph that has not been captured.
  void replay() const;
  /// The graph goes, and can be captured again.
  void reset();
  /// Throws std::invalid_argument for a graph that has not been captured.
  PoolId pool() const;

  bool is_capturing() const { return state_ == State::capturing; }
  /// The capture draws from the generator.
  void note_draw();
  /// `stream` has come to wait for the capture.
  void join(StreamId stream);

 private:
  enum class State : std::uint8_t { empty, capturing, captured };

  State state_ = State::empty;
  Device device_;
  PrivatePools* pools_ = nullptr;
  PoolId pool_ = kNormalPool;
  std::shared_ptr<GeneratorNumbers> numbers_;
  bool owns_numbers_ = false;  ///< no other graph has them
};

/// torch.cuda.MemPool: a private pool that a program sends its requests to, of the current GPU.
class MemoryPool {
 public:
  MemoryPool();
  /// What is cached in the pool is given back.
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  PoolId id() const { return id_; }
  Device device() const { return device_; }
  void begin_use() { pools_.begin_use(id_); }
  void end_use() { pools_.end_use(id_); }

 private:
  Device device_;
  PrivatePools& pools_;
  PoolId id_;
};

/// The generator of `device`, to draw from.
PhiloxGenerator& generator_to_draw(Device device);

/// Throws std::invalid_argument in a capture on `device`: what the host has to wait for, it would
/// not come to.
void refuse_in_capture(Device device);

}  // namespace ohm
