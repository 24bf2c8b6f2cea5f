// Communicators of NCCL: how ranks find each other, and split.
//
// A thread that is several ranks makes its communicators within a group: whoever waits for the
// others there waits at the group's end.
#pragma once

#include <vector>

#include "allocator_shim/interpose/collective.h"
#include "allocator_shim/interpose/rank_channel.h"

namespace ohm::interpose {

/// It does not wait for the other ranks; nullptr: nobody has to be met.
NcclStatus open_communicator(Communicator** communicator, const Meeting* meeting, int ranks,
                             int rank, int device);
/// For all ranks of it. Where they cannot meet, or two of them are on one GPU, it is gone.
NcclStatus wait_for_ranks(Communicator** communicator);

/// As ncclCommInitAll: ranks of this thread on GPUs of this process, all of them first to last
/// where `devices` is nullptr.
NcclStatus open_all_communicators(Communicator** communicators, int count, const int* devices);

/// As ncclCommSplit, of one rank.
struct Split {
  const Communicator* whole = nullptr;
  int color = 0;
  int key = 0;
  Communicator** part = nullptr;
};
/// Those that a thread makes together.
NcclStatus split(const std::vector<Split>& splits);

/// All are posted before one is completed.
NcclStatus run(const std::vector<Collective>& collectives);

/// What the thread's last call had to say; empty: nothing.
const char* last_nccl_warning();

}  // namespace ohm::interpose
