#include "allocator_shim/interpose/collective.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "allocator_shim/interpose/copies.h"
#include "allocator_shim/interpose/gpu_system.h"

namespace ohm::interpose {
namespace {

constexpr std::size_t kLargestPart = kLargestDeviceCopy;

using Bytes = std::vector<std::byte>;

std::size_t part_bytes(const Collective& collective) {
  return collective.count * element_bytes(collective.data_type);
}

const void* part_of(const void* buffer, int rank, std::size_t bytes) {
  return static_cast<const std::byte*>(buffer) + static_cast<std::size_t>(rank) * bytes;
}

void* part_of(void* buffer, int rank, std::size_t bytes) {
  return static_cast<std::byte*>(buffer) + static_cast<std::size_t>(rank) * bytes;
}

/// Whether parts are moved at all.
bool is_moved(const Collective& collective) {
  return collective.communicator->channel != nullptr && part_bytes(collective) <= kLargestPart;
}

NcclStatus sent(const Collective& collective, int to, const void* part) {
  const std::size_t bytes = part_bytes(collective);
  if (gpus().place_of(part, bytes) == Place::nowhere) return NcclStatus::unhandled_cuda_error;
  const bool is_sent = collective.communicator->channel->send(to, part, bytes);
  return is_sent ? NcclStatus::success : NcclStatus::system_error;
}

/// To every other rank, what `part` says.
template <typename Part>
NcclStatus sent_to_all(const Collective& collective, const Part& part) {
  const Communicator& own = *collective.communicator;
  for (int to = 0; to < own.ranks; ++to) {
    if (to == own.rank) continue;
    const NcclStatus status = sent(collective, to, part(to));
    if (status != NcclStatus::success) return status;
  }
  return NcclStatus::success;
}

NcclStatus copied(const Collective& collective, void* to, const void* from) {
  if (to == from) return NcclStatus::success;
  const Status status = copy(to, from, part_bytes(collective));
  return status == Status::success ? NcclStatus::success : NcclStatus::unhandled_cuda_error;
}

/// What a rank sent, or else what this one has.
NcclStatus received(const Collective& collective, int rank, void* to, const void* own) {
  if (!is_moved(collective)) return copied(collective, to, own);
  const std::size_t bytes = part_bytes(collective);
  if (gpus().place_of(to, bytes) == Place::nowhere) return NcclStatus::unhandled_cuda_error;
  const bool is_there = collective.communicator->channel->receive(rank, to, bytes);
  return is_there ? NcclStatus::success : NcclStatus::remote_error;
}

/// A rank's part, which may be this one.
NcclStatus gathered(const Collective& collective, int rank, void* to, const void* own) {
  if (rank == collective.communicator->rank) return copied(collective, to, own);
  return received(collective, rank, to, own);
}

// Numbers of ncclRedOp_t; 0, and whatever a program makes of it, is a sum.
constexpr int kProduct = 1;
constexpr int kMaximum = 2;
constexpr int kMinimum = 3;
constexpr int kAverage = 4;

template <typename Type>
Type combined(Type a, Type b, int operation) {
  switch (operation) {
    case kProduct:
      return static_cast<Type>(a * b);
    case kMaximum:
      return std::max(a, b);
    case kMinimum:
      return std::min(a, b);
    default:
      return static_cast<Type>(a + b);
  }
}

template <typename Type>
void reduce_into(Bytes& total, const Bytes& part, int operation) {
  for (std::size_t at = 0; at < total.size(); at += sizeof(Type)) {
    Type a;
    Type b;
    std::memcpy(&a, &total[at], sizeof(Type));
    std::memcpy(&b, &part[at], sizeof(Type));
    a = combined(a, b, operation);
    std::memcpy(&total[at], &a, sizeof(Type));
  }
}

template <typename Type>
void divide(Bytes& total, int ranks) {
  for (std::size_t at = 0; at < total.size(); at += sizeof(Type)) {
    Type value;
    std::memcpy(&value, &total[at], sizeof(Type));
    value = static_cast<Type>(value / static_cast<Type>(ranks));
    std::memcpy(&total[at], &value, sizeof(Type));
  }
}

struct Arithmetic {
  void (*reduce_into)(Bytes& total, const Bytes& part, int operation);
  void (*divide)(Bytes& total, int ranks);
};

template <typename Type>
constexpr Arithmetic kArithmetic = {&reduce_into<Type>, &divide<Type>};
/// Of half precision and less: what the first rank has stays.
constexpr Arithmetic kNone = {[](Bytes&, const Bytes&, int) {}, [](Bytes&, int) {}};

struct DataType {
  std::size_t bytes;
  const Arithmetic& arithmetic;
};

/// ncclDataType_t: int8, uint8, int32, uint32, int64, uint64, float16, float32, float64, bfloat16,
/// fp8 (e4m3, e5m2).
const std::array<DataType, 12> kDataTypes = {{{1, kArithmetic<std::int8_t>},
                                              {1, kArithmetic<std::uint8_t>},
                                              {4, kArithmetic<std::int32_t>},
                                              {4, kArithmetic<std::uint32_t>},
                                              {8, kArithmetic<std::int64_t>},
                                              {8, kArithmetic<std::uint64_t>},
                                              {2, kNone},
                                              {4, kArithmetic<float>},
                                              {8, kArithmetic<double>},
                                              {2, kNone},
                                              {1, kNone},
                                              {1, kNone}}};

/// Parts of all ranks, in their order, so that every rank has the same result.
NcclStatus reduced(const Collective& collective, const void* own) {
  if (!is_moved(collective)) return copied(collective, collective.to, own);
  const Arithmetic& arithmetic =
      kDataTypes[static_cast<std::size_t>(collective.data_type)].arithmetic;
  Bytes total(part_bytes(collective));
  Bytes part(total.size());
  for (int rank = 0; rank < collective.communicator->ranks; ++rank) {
    const NcclStatus status =
        gathered(collective, rank, rank == 0 ? total.data() : part.data(), own);
    if (status != NcclStatus::success) return status;
    if (rank > 0) arithmetic.reduce_into(total, part, collective.operation);
  }
  if (collective.operation == kAverage) arithmetic.divide(total, collective.communicator->ranks);
  return copied(collective, collective.to, total.data());
}

/// A part of each rank, one after the other.
template <typename Own>
NcclStatus received_from_all(const Collective& collective, const Own& own) {
  for (int rank = 0; rank < collective.communicator->ranks; ++rank) {
    void* const to = part_of(collective.to, rank, part_bytes(collective));
    const NcclStatus status = gathered(collective, rank, to, own(rank));
    if (status != NcclStatus::success) return status;
  }
  return NcclStatus::success;
}

}  // namespace

std::size_t element_bytes(int data_type) {
  const auto index = static_cast<std::size_t>(data_type);
  return index < kDataTypes.size() ? kDataTypes[index].bytes : 0;
}

NcclStatus post(const Collective& collective) {
  if (element_bytes(collective.data_type) == 0) return NcclStatus::invalid_argument;
  if (!is_moved(collective)) return NcclStatus::success;
  const Communicator& own = *collective.communicator;
  const auto whole = [&](int /*to*/) { return collective.from; };
  const auto part = [&](int to) { return part_of(collective.from, to, part_bytes(collective)); };
  switch (collective.kind) {
    case CollectiveKind::all_reduce:
    case CollectiveKind::all_gather:
      return sent_to_all(collective, whole);
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_to_all:
      return sent_to_all(collective, part);
    case CollectiveKind::broadcast:
      return own.rank == collective.peer ? sent_to_all(collective, whole) : NcclStatus::success;
    case CollectiveKind::reduce:
    case CollectiveKind::gather:
      return own.rank == collective.peer ? NcclStatus::success
                                         : sent(collective, collective.peer, collective.from);
    case CollectiveKind::send:
      return sent(collective, collective.peer, collective.from);
    case CollectiveKind::receive:
      break;
  }
  return NcclStatus::success;
}

NcclStatus complete(const Collective& collective) {
  const Communicator& own = *collective.communicator;
  const bool is_root = own.rank == collective.peer;
  const auto whole = [&](int /*rank*/) { return collective.from; };
  switch (collective.kind) {
    case CollectiveKind::all_reduce:
      return reduced(collective, collective.from);
    case CollectiveKind::reduce:
      return is_root ? reduced(collective, collective.from) : NcclStatus::success;
    case CollectiveKind::reduce_scatter:
      return reduced(collective, part_of(collective.from, own.rank, part_bytes(collective)));
    case CollectiveKind::broadcast:
      return gathered(collective, collective.peer, collective.to,
                      is_root ? collective.from : collective.to);
    case CollectiveKind::receive:
      // What would come from a rank that is not there stays what it was.
      return received(collective, collective.peer, collective.to, collective.to);
    case CollectiveKind::all_gather:
      return received_from_all(collective, whole);
    case CollectiveKind::gather:
      return is_root ? received_from_all(collective, whole) : NcclStatus::success;
    case CollectiveKind::all_to_all:
      return received_from_all(collective, [&](int rank) {
        return part_of(collective.from, rank, part_bytes(collective));
      });
    case CollectiveKind::send:
      break;
  }
  return NcclStatus::success;
}

}  // namespace ohm::interpose
