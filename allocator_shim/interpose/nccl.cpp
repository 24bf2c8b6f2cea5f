// NCCL: communicators, and the calls that ask for collectives.
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "allocator_shim/interpose/collective.h"
#include "allocator_shim/interpose/communicator.h"
#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/known_values.h"
#include "allocator_shim/interpose/objects.h"
#include "allocator_shim/interpose/rank_channel.h"
#include "allocator_shim/interpose/reduction.h"
#include "allocator_shim/interpose/toolkit_version.h"
#include "allocator_shim/interpose/work_in_flight.h"

using namespace ohm::interpose;

namespace {

/// Passed by value; begins with a meeting.
struct UniqueId {
  std::array<char, 128> bytes;
};

/// Between ncclGroupStart and ncclGroupEnd whatever waits for other ranks is only noted.
struct Group {
  int depth = 0;
  std::vector<Communicator**> joined;
  std::vector<Split> splits;
  std::vector<Collective> collectives;
};
thread_local Group group;

NcclStatus join(Communicator** communicator, const UniqueId& id, int ranks, int rank) {
  if (communicator == nullptr || rank < 0 || rank >= ranks) return NcclStatus::invalid_argument;
  *communicator = nullptr;
  Meeting meeting = {};
  std::memcpy(&meeting, id.bytes.data(), sizeof(meeting));
  const NcclStatus opened =
      open_communicator(communicator, &meeting, ranks, rank, gpus().current());
  if (opened != NcclStatus::success) return opened;
  if (group.depth == 0) return wait_for_ranks(communicator);
  group.joined.push_back(communicator);
  return NcclStatus::success;
}

bool is_operation(const Collective& collective) {
  constexpr int kOperations = 5;  // that NCCL names
  return (collective.operation >= 0 && collective.operation < kOperations) ||
         collective.communicator->scales.count(collective.operation) != 0;
}

/// What NCCL itself looks at before it asks anybody.
bool is_possible(const Collective& collective) {
  const Communicator* const communicator = collective.communicator;
  if (communicator == nullptr || !is_operation(collective)) return false;
  if (collective.peer < 0 || collective.peer >= communicator->ranks) return false;
  if (element_bytes(collective.data_type) == 0) return false;
  const bool is_root = collective.peer == communicator->rank;
  const CollectiveKind kind = collective.kind;
  const bool reads =
      kind != CollectiveKind::receive && (kind != CollectiveKind::broadcast || is_root);
  const bool gathers = kind == CollectiveKind::reduce || kind == CollectiveKind::gather;
  const bool writes = kind != CollectiveKind::send && (!gathers || is_root);
  if (collective.count == 0) return true;
  return (!reads || collective.from != nullptr) && (!writes || collective.to != nullptr);
}

NcclStatus tell(const Communicator* communicator, int Communicator::*what, int* answer) {
  if (communicator == nullptr || answer == nullptr) return NcclStatus::invalid_argument;
  *answer = communicator->*what;
  return NcclStatus::success;
}

NcclStatus ask(Collective collective, const Stream* stream) {
  if (!is_possible(collective)) return NcclStatus::invalid_argument;
  note_work(stream);
  const auto& scales = collective.communicator->scales;
  if (const auto found = scales.find(collective.operation); found != scales.end()) {
    collective.scale = found->second;
  }
  if (group.depth == 0) return run({collective});
  group.collectives.push_back(collective);
  return NcclStatus::success;
}

}  // namespace

OHM_EXPORTED int ncclGetVersion(int* version) {
  *version = toolkit_of_process().nccl;
  return kLibrarySuccess;
}

OHM_EXPORTED const char* ncclGetErrorString(int status) {
  switch (static_cast<NcclStatus>(status)) {
    case NcclStatus::success:
      return "no error";
    case NcclStatus::unhandled_cuda_error:
      return "unhandled cuda error (run with NCCL_DEBUG=INFO for details)";
    case NcclStatus::system_error:
      return "unhandled system error (run with NCCL_DEBUG=INFO for details)";
    case NcclStatus::invalid_argument:
      return "invalid argument (run with NCCL_DEBUG=WARN for details)";
    case NcclStatus::invalid_usage:
      return "invalid usage (run with NCCL_DEBUG=WARN for details)";
    case NcclStatus::remote_error:
      return "remote process exited or there was a network error";
  }
  return "unknown result code";
}

OHM_EXPORTED const char* ncclGetLastError(const Communicator* /*communicator*/) {
  return last_nccl_warning();
}

OHM_EXPORTED int ncclGetUniqueId(UniqueId* id) {
  OHM_LIBRARY_CALL(int);
  const Meeting meeting = RankChannel::arrange();
  *id = {};
  std::memcpy(id->bytes.data(), &meeting, sizeof(meeting));
  return kLibrarySuccess;
}

OHM_EXPORTED int ncclCommGetUniqueId(Communicator* /*communicator*/, UniqueId* id) {
  OHM_LIBRARY_CALL(int);
  return ncclGetUniqueId(id);
}

/// All of them are this process.
OHM_EXPORTED NcclStatus ncclCommInitAll(Communicator** communicators, int count,
                                        const int* devices) {
  OHM_LIBRARY_CALL(NcclStatus);
  if (communicators == nullptr || count <= 0) return NcclStatus::invalid_argument;
  return open_all_communicators(communicators, count, devices);
}

OHM_EXPORTED NcclStatus ncclCommInitRank(Communicator** communicator, int ranks, UniqueId id,
                                         int rank) {
  OHM_LIBRARY_CALL(NcclStatus);
  return join(communicator, id, ranks, rank);
}

OHM_EXPORTED NcclStatus ncclCommInitRankConfig(Communicator** communicator, int ranks, UniqueId id,
                                               int rank, void* /*configuration*/) {
  OHM_LIBRARY_CALL(NcclStatus);
  return join(communicator, id, ranks, rank);
}

OHM_EXPORTED NcclStatus ncclCommInitRankScalable(Communicator** communicator, int ranks, int rank,
                                                 int /*count*/, const UniqueId* ids,
                                                 void* /*configuration*/) {
  OHM_LIBRARY_CALL(NcclStatus);
  return join(communicator, *ids, ranks, rank);
}

OHM_EXPORTED NcclStatus ncclCommSplit(Communicator* communicator, int color, int key,
                                      Communicator** part, void* /*configuration*/) {
  OHM_LIBRARY_CALL(NcclStatus);
  if (communicator == nullptr || part == nullptr) return NcclStatus::invalid_argument;
  if (communicator->channel == nullptr) {
    return open_communicator(part, nullptr, communicator->ranks, communicator->rank,
                             communicator->device);
  }
  if (group.depth == 0) return split({{communicator, color, key, part}});
  group.splits.push_back({communicator, color, key, part});
  return NcclStatus::success;
}

OHM_EXPORTED int ncclCommDestroy(Communicator* communicator) {
  OHM_LIBRARY_CALL(int);
  const std::unique_ptr<Communicator> owned(communicator);
  return kLibrarySuccess;
}

/// Another thread may wait in it, and leaves it now: it is not destroyed.
OHM_EXPORTED int ncclCommAbort(Communicator* communicator) {
  OHM_LIBRARY_CALL(int);
  if (communicator == nullptr || communicator->channel == nullptr) {
    return ncclCommDestroy(communicator);
  }
  communicator->channel->abort();
  return kLibrarySuccess;
}

OHM_EXPORTED NcclStatus ncclCommCount(const Communicator* communicator, int* ranks) {
  OHM_LIBRARY_CALL(NcclStatus);
  return tell(communicator, &Communicator::ranks, ranks);
}

OHM_EXPORTED NcclStatus ncclCommUserRank(const Communicator* communicator, int* rank) {
  OHM_LIBRARY_CALL(NcclStatus);
  return tell(communicator, &Communicator::rank, rank);
}

OHM_EXPORTED NcclStatus ncclCommCuDevice(const Communicator* communicator, int* device) {
  OHM_LIBRARY_CALL(NcclStatus);
  return tell(communicator, &Communicator::device, device);
}

OHM_EXPORTED int ncclCommGetAsyncError(const Communicator* /*communicator*/, int* error) {
  *error = injected_nccl_error();
  return kLibrarySuccess;
}

OHM_EXPORTED int ncclGroupStart() {
  OHM_LIBRARY_CALL(int);
  ++group.depth;
  return kLibrarySuccess;
}

OHM_EXPORTED NcclStatus ncclGroupEnd() {
  OHM_LIBRARY_CALL(NcclStatus);
  if (group.depth == 0) return NcclStatus::invalid_usage;
  if (--group.depth > 0) return NcclStatus::success;
  const Group ended = std::exchange(group, {});
  for (Communicator** const communicator : ended.joined) {
    const NcclStatus status = wait_for_ranks(communicator);
    if (status != NcclStatus::success) return status;
  }
  const NcclStatus status = split(ended.splits);
  return status == NcclStatus::success ? run(ended.collectives) : status;
}

OHM_EXPORTED NcclStatus ncclAllReduce(const void* from, void* to, std::size_t count, int data_type,
                                      int operation, Communicator* communicator, Stream* stream) {
  OHM_LIBRARY_CALL(NcclStatus);
  return ask({CollectiveKind::all_reduce, from, to, count, data_type, operation, 0, communicator},
             stream);
}

OHM_EXPORTED NcclStatus ncclReduce(const void* from, void* to, std::size_t count, int data_type,
                                   int operation, int root, Communicator* communicator,
                                   Stream* stream) {
  OHM_LIBRARY_CALL(NcclStatus);
  return ask({CollectiveKind::reduce, from, to, count, data_type, operation, root, communicator},
             stream);
}

OHM_EXPORTED NcclStatus ncclReduceScatter(const void* from, void* to, std::size_t count,
                                          int data_type, int operation, Communicator* communicator,
                                          Stream* stream) {
  OHM_LIBRARY_CALL(NcclStatus);
  return ask(
      {CollectiveKind::reduce_scatter, from, to, count, data_type, operation, 0, communicator},
      stream);
}

OHM_EXPORTED NcclStatus ncclBroadcast(const void* from, void* to, std::size_t count, int data_type,
                                      int root, Communicator* communicator, Stream* stream) {
  OHM_LIBRARY_CALL(NcclStatus);
  return ask({CollectiveKind::broadcast, from, to, count, data_type, 0, root, communicator},
             stream);
}

OHM_EXPORTED NcclStatus ncclBcast(void* buffer, std::size_t count, int data_type, int root,
                                  Communicator* communicator, Stream* stream) {
  OHM_LIBRARY_CALL(NcclStatus);
  return ncclBroadcast(buffer, buffer, count, data_type, root, communicator, stream);
}

OHM_EXPORTED NcclStatus ncclAllGather(const void* from, void* to, std::size_t count, int data_type,
                                      Communicator* communicator, Stream* stream) {
  OHM_LIBRARY_CALL(NcclStatus);
  return ask({CollectiveKind::all_gather, from, to, count, data_type, 0, 0, communicator}, stream);
}

OHM_EXPORTED NcclStatus ncclGather(const void* from, void* to, std::size_t count, int data_type,
                                   int root, Communicator* communicator, Stream* stream) {
  OHM_LIBRARY_CALL(NcclStatus);
  return ask({CollectiveKind::gather, from, to, count, data_type, 0, root, communicator}, stream);
}

OHM_EXPORTED NcclStatus ncclAlltoAll(const void* from, void* to, std::size_t count, int data_type,
                                     Communicator* communicator, Stream* stream) {
  OHM_LIBRARY_CALL(NcclStatus);
  return ask({CollectiveKind::all_to_all, from, to, count, data_type, 0, 0, communicator}, stream);
}

OHM_EXPORTED NcclStatus ncclSend(const void* from, std::size_t count, int data_type, int peer,
                                 Communicator* communicator, Stream* stream) {
  OHM_LIBRARY_CALL(NcclStatus);
  return ask({CollectiveKind::send, from, nullptr, count, data_type, 0, peer, communicator},
             stream);
}

OHM_EXPORTED NcclStatus ncclRecv(void* to, std::size_t count, int data_type, int peer,
                                 Communicator* communicator, Stream* stream) {
  OHM_LIBRARY_CALL(NcclStatus);
  return ask({CollectiveKind::receive, to, to, count, data_type, 0, peer, communicator}, stream);
}

/// A sum of parts that are each multiplied by a number first.
OHM_EXPORTED NcclStatus ncclRedOpCreatePreMulSum(int* operation, const void* scalar, int data_type,
                                                 int residence, Communicator* communicator) {
  OHM_LIBRARY_CALL(NcclStatus);
  constexpr int kFirst = 5;  // behind those that NCCL names
  constexpr int kOnHost = 1;
  if (element_bytes(data_type) == 0 || !Reduction::can_reduce(data_type)) {
    return NcclStatus::invalid_argument;
  }
  auto& scales = communicator->scales;
  *operation = scales.empty() ? kFirst : scales.rbegin()->first + 1;
  scales[*operation] = {number_at(scalar, data_type),
                        residence == kOnHost || is_known(scalar, element_bytes(data_type))};
  return NcclStatus::success;
}

OHM_EXPORTED NcclStatus ncclRedOpDestroy(int operation, Communicator* communicator) {
  OHM_LIBRARY_CALL(NcclStatus);
  communicator->scales.erase(operation);
  return NcclStatus::success;
}

OHM_EXPORTED NcclStatus ncclMemAlloc(void** pointer, std::size_t bytes) {
  OHM_LIBRARY_CALL(NcclStatus);
  ohm::DeviceAddress address = 0;
  const Status status = gpus().allocate(gpus().current(), bytes, current_context(), address);
  *pointer = reinterpret_cast<void*>(address);
  if (status == Status::success) mark_new_block(*pointer, bytes);
  return status == Status::success ? NcclStatus::success : NcclStatus::unhandled_cuda_error;
}

OHM_EXPORTED NcclStatus ncclMemFree(void* pointer) {
  OHM_LIBRARY_CALL(NcclStatus);
  const auto address = reinterpret_cast<ohm::DeviceAddress>(pointer);
  return gpus().free(address) == Status::success ? NcclStatus::success
                                                 : NcclStatus::unhandled_cuda_error;
}
