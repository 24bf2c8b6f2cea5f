// NCCL between the cards of this process: collectives that no byte of goes through the host.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/cuda/library.h"
#include "runtime/cuda/nccl_functions.h"

namespace ohm::cuda {

/// One piece of memory on each card of a group, in the group's order.
using Pieces = std::vector<Pointer>;

/// What a collective moves.
struct CollectiveItems {
  int type = kNcclFloat32;  ///< ncclDataType_t
  std::size_t count = 0;    ///< on each card; of the smaller side where one has all cards' pieces
};

/// Queues on the cards' default streams. Throws LibraryError; DriverError where a card broke.
class Nccl {
 public:
  static constexpr const char* kName = "NCCL";

  /// Of cards that differ, at least two. Throws GpuUnavailable that says what is missing,
  /// LibraryError where it does not start.
  Nccl(std::vector<std::shared_ptr<const Card>> cards, const LibraryNames& names);
  ~Nccl();
  Nccl(const Nccl&) = delete;
  Nccl& operator=(const Nccl&) = delete;

  /// "2.28.9".
  std::string version() const;

  /// Every output is the sum of all inputs; in place where they are the same.
  void all_reduce_sum(const Pieces& inputs, const Pieces& outputs,
                      const CollectiveItems& items) const;
  /// Every output is the input of card `root`.
  void broadcast(const Pieces& inputs, const Pieces& outputs, const CollectiveItems& items,
                 int root) const;
  /// `output`, on card `root`, is the sum of all inputs.
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
  void for_each_card(const char* call, Queue&& queue) const;

  std::vector<std::shared_ptr<const Card>> cards_;
  std::unique_ptr<SharedLibrary> library_;
  NcclFunctions functions_;
  std::vector<NcclComm> comms_;
};

}  // namespace ohm::cuda
