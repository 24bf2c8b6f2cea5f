// NCCL between the devices of this process: collectives that no byte of goes through the host.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/cuda/library.h"
#include "runtime/cuda/nccl_functions.h"

namespace ohm::cuda {

/// One piece of memory on each device of a group, in the group's order.
using Pieces = std::vector<Pointer>;

/// What a collective moves.
struct CollectiveItems {
  int type = kNcclFloat32;  ///< ncclDataType_t
  std::size_t count = 0;  ///< on each device; of the smaller side where one has all devices' pieces
};

/// Queues on the devices' default streams. Throws LibraryError; DriverError where a CUDA device
/// broke.
class Nccl {
 public:
  static constexpr const char* kName = "NCCL";

  /// Of devices that differ, at least two. Throws GpuUnavailable that says what is missing,
  /// LibraryError where it does not start.
  Nccl(std::vector<std::shared_ptr<const CudaDevice>> devices, const LibraryNames& names);
  ~Nccl();
  Nccl(const Nccl&) = delete;
  Nccl& operator=(const Nccl&) = delete;

  /// "2.28.9".
  std::string version() const;

  /// Every output is the sum of all inputs; in place where they are the same.
  void all_reduce_sum(const Pieces& inputs, const Pieces& outputs,
                      const CollectiveItems& items) const;
  /// Every output is the input of device `root`.
  void broadcast(const Pieces& inputs, const Pieces& outputs, const CollectiveItems& items,
                 int root) const;
  /// `output`, on device `root`, is the sum of all inputs.
  void reduce_sum(const Pieces& inputs, Pointer output, const CollectiveItems& items,
                  int root) const;
  /// Every output has all inputs, one behind the other.
  void all_gather(const Pieces& inputs, const Pieces& outputs, const CollectiveItems& items) const;
  /// Output i is piece i of the sum of all inputs.
  void reduce_scatter_sum(const Pieces& inputs, const Pieces& outputs,
                          const CollectiveItems& items) const;

 private:
  void check(NcclResult result, const char* call) const;
  template <class Queue>
  void for_each_device(const char* call, Queue&& queue) const;

  std::vector<std::shared_ptr<const CudaDevice>> devices_;
  std::unique_ptr<SharedLibrary> library_;
  NcclFunctions functions_;
  std::vector<NcclComm> comms_;
};

}  // namespace ohm::cuda
