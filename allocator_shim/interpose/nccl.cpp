// NCCL: communicators, and the calls that ask for collectives.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "allocator_shim/interpose/collective.h"
#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/gpu_variable.h"
#include "allocator_shim/interpose/known_values.h"
#include "allocator_shim/interpose/objects.h"
#include "allocator_shim/interpose/rank_channel.h"
#include "allocator_shim/interpose/reduction.h"
#include "allocator_shim/interpose/toolkit_version.h"
#include "allocator_shim/interpose/work_in_flight.h"

using namespace ohm::interpose;

namespace {

constexpr int kNoColor = -1;

/// Passed by value; begins with a meeting.
struct UniqueId {
  std::array<char, 128> bytes;
};

bool ranks_are_absent() {
  const char* const value = std::getenv(kAbsentRanksVariable);
  return value != nullptr && *value != '\0';
}

std::unique_ptr<Communicator> made(int ranks, int rank) {
  auto communicator = std::make_unique<Communicator>();
  communicator->ranks = ranks;
  communicator->rank = rank;
  return communicator;
}

/// Between ncclGroupStart and ncclGroupEnd collectives are only noted.
struct Group {
  int depth = 0;
  std::vector<Collective> collectives;
};
thread_local Group group;

NcclStatus join(Communicator** communicator, const Meeting* meeting, int ranks, int rank) {
  auto joined = made(ranks, rank);
  if (meeting != nullptr && (ranks == 1 || !ranks_are_absent())) {
    joined->channel = RankChannel::open(*meeting, ranks, rank);
    if (joined->channel == nullptr) {
      return RankChannel::has_ended(*meeting) ? NcclStatus::remote_error : NcclStatus::system_error;
    }
    if (!joined->channel->wait_for_all()) return NcclStatus::remote_error;
  }
  *communicator = joined.release();
  return NcclStatus::success;
}

NcclStatus join(Communicator** communicator, const UniqueId& id, int ranks, int rank) {
  Meeting meeting = {};
  std::memcpy(&meeting, id.bytes.data(), sizeof(meeting));
  return join(communicator, &meeting, ranks, rank);
}

NcclStatus run(const std::vector<Collective>& collectives) {
  for (const Collective& collective : collectives) {
    const NcclStatus status = post(collective);
    if (status != NcclStatus::success) return status;
  }
  for (const Collective& collective : collectives) {
    const NcclStatus status = complete(collective);
    if (status != NcclStatus::success) return status;
  }
  return NcclStatus::success;
}

NcclStatus ask(Collective collective, const Stream* stream) {
  note_work(stream);
  const auto& scales = collective.communicator->scales;
  if (const auto found = scales.find(collective.operation); found != scales.end()) {
    collective.scale = found->second;
  }
  if (group.depth == 0) return run({collective});
  group.collectives.push_back(collective);
  return NcclStatus::success;
}

/// What a rank says when a communicator is split.
struct Choice {
  int color;
  int key;
  Meeting meeting;
};

/// The ranks of one color, in the order of the new communicator.
std::vector<int> members(const std::vector<Choice>& choices, int color) {
  std::vector<int> ranks;
  for (std::size_t rank = 0; rank < choices.size(); ++rank) {
    if (choices[rank].color == color) ranks.push_back(static_cast<int>(rank));
  }
  std::stable_sort(ranks.begin(), ranks.end(), [&](int a, int b) {
    return choices[static_cast<std::size_t>(a)].key < choices[static_cast<std::size_t>(b)].key;
  });
  return ranks;
}

/// Every rank offers a meeting; that of the first of each color is where they meet.
NcclStatus split(const Communicator& whole, int color, int key, Communicator** part) {
  constexpr int kBytes = 1;
  const Choice own = {color, key, RankChannel::arrange()};
  std::vector<Choice> choices(static_cast<std::size_t>(whole.ranks));
  const NcclStatus status = run(
      {{CollectiveKind::all_gather, &own, choices.data(), sizeof(Choice), kBytes, 0, 0, &whole}});
  const std::vector<int> ranks = members(choices, color);
  if (ranks.empty() || ranks.front() != whole.rank) RankChannel::end(own.meeting);
  *part = nullptr;
  if (status != NcclStatus::success || color == kNoColor) return status;
  const auto rank = std::find(ranks.begin(), ranks.end(), whole.rank) - ranks.begin();
  return join(part, &choices[static_cast<std::size_t>(ranks.front())].meeting,
              static_cast<int>(ranks.size()), static_cast<int>(rank));
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
                                        const int* /*devices*/) {
  OHM_LIBRARY_CALL(NcclStatus);
  const Meeting meeting = RankChannel::arrange();
  NcclStatus status = NcclStatus::success;
  for (int rank = 0; rank < count; ++rank) {
    auto joined = made(count, rank);
    joined->channel = RankChannel::open(meeting, count, rank);
    if (joined->channel == nullptr) status = NcclStatus::system_error;
    communicators[rank] = joined.release();
  }
  RankChannel::end(meeting);
  return status;
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
  if (communicator->channel != nullptr) return split(*communicator, color, key, part);
  return join(part, nullptr, communicator->ranks, communicator->rank);
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

OHM_EXPORTED int ncclCommCount(const Communicator* communicator, int* ranks) {
  OHM_LIBRARY_CALL(int);
  *ranks = communicator->ranks;
  return kLibrarySuccess;
}

OHM_EXPORTED int ncclCommUserRank(const Communicator* communicator, int* rank) {
  OHM_LIBRARY_CALL(int);
  *rank = communicator->rank;
  return kLibrarySuccess;
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
  return run(std::exchange(group.collectives, {}));
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
