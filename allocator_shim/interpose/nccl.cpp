// NCCL: communicators, and collectives as seen by one rank whose peers all hold what it holds.
// Sums of equal parts are not computed: values mean nothing where kernels compute nothing.
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>

#include "allocator_shim/interpose/copies.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/objects.h"
#include "allocator_shim/interpose/toolkit_version.h"

using namespace ohm::interpose;

namespace {

constexpr int kUnhandledCudaError = 1;
constexpr int kInvalidNcclArgument = 4;

struct Communicator {
  int ranks;
  int rank;
};

/// Passed by value.
struct UniqueId {
  std::array<char, 128> bytes;
};

/// Bytes of an element: int8, uint8, int32, uint32, int64, uint64, float16, float32, float64,
/// bfloat16, fp8 (e4m3, e5m2). 0: it is none of them.
std::size_t element_bytes(int data_type) {
  constexpr std::array<std::size_t, 12> kBytes = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  const auto index = static_cast<std::size_t>(data_type);
  return index < kBytes.size() ? kBytes[index] : 0;
}

int join(Communicator** communicator, int ranks, int rank) {
  *communicator = std::make_unique<Communicator>(Communicator{ranks, rank}).release();
  return kLibrarySuccess;
}

int copy_elements(void* to, const void* from, std::size_t count, int data_type) {
  if (element_bytes(data_type) == 0) return kInvalidNcclArgument;
  if (to == from) return kLibrarySuccess;
  const Status status = copy(to, from, count * element_bytes(data_type));
  return status == Status::success ? kLibrarySuccess : kUnhandledCudaError;
}

}  // namespace

OHM_EXPORTED int ncclGetVersion(int* version) {
  *version = toolkit_of_process().nccl;
  return kLibrarySuccess;
}

OHM_EXPORTED int ncclGetUniqueId(UniqueId* id) {
  *id = {};
  id->bytes[0] = 1;
  return kLibrarySuccess;
}

OHM_EXPORTED int ncclCommGetUniqueId(Communicator* /*communicator*/, UniqueId* id) {
  return ncclGetUniqueId(id);
}

OHM_EXPORTED int ncclCommInitAll(Communicator** communicators, int count, const int* /*devices*/) {
  for (int rank = 0; rank < count; ++rank) join(&communicators[rank], count, rank);
  return kLibrarySuccess;
}

OHM_EXPORTED int ncclCommInitRank(Communicator** communicator, int ranks, UniqueId /*id*/,
                                  int rank) {
  return join(communicator, ranks, rank);
}

OHM_EXPORTED int ncclCommInitRankConfig(Communicator** communicator, int ranks, UniqueId /*id*/,
                                        int rank, void* /*configuration*/) {
  return join(communicator, ranks, rank);
}

OHM_EXPORTED int ncclCommInitRankScalable(Communicator** communicator, int ranks, int rank,
                                          int /*ids*/, const UniqueId* /*id*/,
                                          void* /*configuration*/) {
  return join(communicator, ranks, rank);
}

OHM_EXPORTED int ncclCommSplit(Communicator* communicator, int /*color*/, int /*key*/,
                               Communicator** part, void* /*configuration*/) {
  return join(part, communicator->ranks, communicator->rank);
}

OHM_EXPORTED int ncclCommDestroy(Communicator* communicator) {
  const std::unique_ptr<Communicator> owned(communicator);
  return kLibrarySuccess;
}

OHM_EXPORTED int ncclCommAbort(Communicator* communicator) { return ncclCommDestroy(communicator); }

OHM_EXPORTED int ncclCommCount(const Communicator* communicator, int* ranks) {
  *ranks = communicator->ranks;
  return kLibrarySuccess;
}

OHM_EXPORTED int ncclCommUserRank(const Communicator* communicator, int* rank) {
  *rank = communicator->rank;
  return kLibrarySuccess;
}

OHM_EXPORTED int ncclCommGetAsyncError(const Communicator* /*communicator*/, int* error) {
  *error = kLibrarySuccess;
  return kLibrarySuccess;
}

OHM_EXPORTED int ncclAllReduce(const void* from, void* to, std::size_t count, int data_type,
                               int /*operation*/, Communicator* /*communicator*/,
                               void* /*stream*/) {
  return copy_elements(to, from, count, data_type);
}

OHM_EXPORTED int ncclReduce(const void* from, void* to, std::size_t count, int data_type,
                            int /*operation*/, int root, Communicator* communicator,
                            void* /*stream*/) {
  if (communicator->rank != root) return kLibrarySuccess;
  return copy_elements(to, from, count, data_type);
}

OHM_EXPORTED int ncclBroadcast(const void* from, void* to, std::size_t count, int data_type,
                               int root, Communicator* communicator, void* /*stream*/) {
  if (communicator->rank != root) return kLibrarySuccess;
  return copy_elements(to, from, count, data_type);
}

OHM_EXPORTED int ncclAllGather(const void* from, void* to, std::size_t count, int data_type,
                               Communicator* communicator, void* /*stream*/) {
  const std::size_t bytes = count * element_bytes(data_type);
  int status = kLibrarySuccess;
  for (int rank = 0; rank < communicator->ranks && status == kLibrarySuccess; ++rank) {
    std::byte* part = static_cast<std::byte*>(to) + static_cast<std::size_t>(rank) * bytes;
    status = copy_elements(part, from, count, data_type);
  }
  return status;
}

OHM_EXPORTED int ncclReduceScatter(const void* from, void* to, std::size_t count, int data_type,
                                   int /*operation*/, Communicator* communicator,
                                   void* /*stream*/) {
  const std::size_t bytes = count * element_bytes(data_type);
  const auto rank = static_cast<std::size_t>(communicator->rank);
  return copy_elements(to, static_cast<const std::byte*>(from) + rank * bytes, count, data_type);
}

OHM_EXPORTED int ncclMemAlloc(void** pointer, std::size_t bytes) {
  ohm::DeviceAddress address = 0;
  const Status status = gpus().allocate(gpus().current(), bytes, address);
  *pointer = reinterpret_cast<void*>(address);
  return status == Status::success ? kLibrarySuccess : kUnhandledCudaError;
}

OHM_EXPORTED int ncclMemFree(void* pointer) {
  const auto address = reinterpret_cast<ohm::DeviceAddress>(pointer);
  return gpus().free(address) == Status::success ? kLibrarySuccess : kUnhandledCudaError;
}
