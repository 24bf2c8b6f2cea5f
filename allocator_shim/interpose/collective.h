// Collectives of NCCL: what a rank sends, and what it makes of what it receives.
//
// Parts whose values are known are moved between ranks and reduced, and so are all of up to 1 MiB,
// as small copies are done: they are what programs look at. Of a larger one a rank is told that it
// is unknown. What is made of parts is known if all of them are. Ranks that are not there are taken
// to hold what this one holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "allocator_shim/interpose/rank_channel.h"

namespace ohm::interpose {

/// ncclResult_t.
enum class NcclStatus : int {
  success = 0,
  unhandled_cuda_error = 1,
  system_error = 2,
  invalid_argument = 4,
  invalid_usage = 5,
  remote_error = 6,
};

/// What parts are multiplied with before they are added up.
struct Scale {
  double value = 1;
  bool is_known = true;
};

struct Communicator {
  int ranks = 1;
  int rank = 0;
  int device = 0;
  std::map<int, Scale> scales;           ///< of operations that the program has made
  std::shared_ptr<RankChannel> channel;  ///< nullptr: the other ranks are not there
};

enum class CollectiveKind : std::uint8_t {
  all_reduce,
  reduce,
  reduce_scatter,
  broadcast,
  all_gather,
  gather,
  all_to_all,
  send,
  receive,
};

struct Collective {
  CollectiveKind kind;
  const void* from;
  void* to;
  std::size_t count;  ///< elements of a rank's part
  int data_type;
  int operation;  ///< ncclRedOp_t, of those that reduce
  int peer;       ///< the root, or the other end
  const Communicator* communicator;
  Scale scale = {};
};

/// In a group all are posted before one is completed: a thread may be several ranks, and ranks may
/// send to each other. Neither waits for a rank to post; completing waits for what was not posted
/// yet.
NcclStatus post(const Collective& collective);
NcclStatus complete(const Collective& collective);

}  // namespace ohm::interpose
