#include "allocator_shim/interpose/collective.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "allocator_shim/interpose/copies.h"
#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/known_values.h"
#include "allocator_shim/interpose/reduction.h"

namespace ohm::interpose {
namespace {

constexpr std::size_t kLargestPart = kLargestDeviceCopy;

std::size_t part_bytes(const Collective& collective) {
  return collective.count * element_bytes(collective.data_type);
}

const void* part_of(const void* buffer, int rank, std::size_t bytes) {
  return static_cast<const std::byte*>(buffer) + static_cast<std::size_t>(rank) * bytes;
}

void* part_of(void* buffer, int rank, std::size_t bytes) {
  return static_cast<std::byte*>(buffer) + static_cast<std::size_t>(rank) * bytes;
}

/// What goes in front of a part.
struct Message {
  std::uint64_t bytes;
  double scale;
  std::uint32_t is_known;
  std::uint32_t has_bytes;  ///< 0: the part itself does not follow
};

Message message_of(const Collective& collective, const void* part) {
  const std::size_t bytes = part_bytes(collective);
  const bool has_values = is_known(part, bytes);
  const bool has_bytes = has_values || bytes <= kLargestPart;
  return {bytes, collective.scale.value, has_values && collective.scale.is_known ? 1U : 0U,
          has_bytes ? 1U : 0U};
}

NcclStatus sent(const Collective& collective, int to, const void* part) {
  const std::size_t bytes = part_bytes(collective);
  if (gpus().place_of(part, bytes) == Place::nowhere) return NcclStatus::unhandled_cuda_error;
  RankChannel& channel = *collective.communicator->channel;
  const Message message = message_of(collective, part);
  const bool is_sent = channel.send(to, &message, sizeof(message)) &&
                       (message.has_bytes == 0 || channel.send(to, part, bytes));
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

/// A rank's part, read from its beginning to its end: this one's own, or what another rank has
/// sent.
class Incoming {
 public:
  /// `own` is the part of this rank, and of those that are not there.
  Incoming(const Collective& collective, int rank, const void* own)
      : channel_(collective.communicator->channel.get()), rank_(rank) {
    if (channel_ == nullptr || is_own(collective)) {
      own_ = static_cast<const std::byte*>(own);
      message_ = message_of(collective, own);
    } else if (!channel_->receive(rank, &message_, sizeof(message_))) {
      status_ = NcclStatus::remote_error;
    }
  }

  NcclStatus status() const { return status_; }
  bool is_known() const { return message_.is_known != 0; }
  bool has_bytes() const { return message_.has_bytes != 0; }
  double scale() const { return message_.scale; }
  std::size_t bytes() const { return message_.bytes; }

  NcclStatus read(void* to, std::size_t bytes) {
    read_ += bytes;
    if (own_ != nullptr) {
      std::memmove(to, own_ + read_ - bytes, bytes);
      return NcclStatus::success;
    }
    return channel_->receive(rank_, to, bytes) ? NcclStatus::success : NcclStatus::remote_error;
  }

  /// What was not read.
  NcclStatus skip() {
    if (own_ != nullptr || !has_bytes()) return NcclStatus::success;
    const bool is_there = channel_->skip(rank_, message_.bytes - read_);
    return is_there ? NcclStatus::success : NcclStatus::remote_error;
  }

 private:
  /// What a rank sends to itself goes through its queue.
  bool is_own(const Collective& collective) const {
    return rank_ == collective.communicator->rank && collective.kind != CollectiveKind::receive;
  }

  RankChannel* channel_;
  int rank_;
  const std::byte* own_ = nullptr;
  std::size_t read_ = 0;
  Message message_ = {};
  NcclStatus status_ = NcclStatus::success;
};

/// A part that is as long as the receiver takes it to be can be known.
NcclStatus placed(const Collective& collective, int rank, void* to, const void* own) {
  const std::size_t bytes = part_bytes(collective);
  if (gpus().place_of(to, bytes) == Place::nowhere) return NcclStatus::unhandled_cuda_error;
  Incoming part(collective, rank, own);
  if (part.status() != NcclStatus::success) return part.status();
  const std::size_t read = part.has_bytes() ? std::min(bytes, part.bytes()) : 0;
  NcclStatus status = part.read(to, read);
  if (status == NcclStatus::success) status = part.skip();
  mark_written(to, bytes, part.is_known() && read == bytes && status == NcclStatus::success);
  return status;
}

/// What would come from a rank that is not there stays what it was, and nobody knows what it is.
NcclStatus received(const Collective& collective) {
  if (collective.communicator->channel != nullptr) {
    return placed(collective, collective.peer, collective.to, nullptr);
  }
  mark_written(collective.to, part_bytes(collective), false);
  return NcclStatus::success;
}

NcclStatus reduce_piece(std::vector<Incoming>& parts, Reduction& reduction, std::size_t bytes,
                        std::vector<std::byte>& piece) {
  piece.resize(bytes);
  for (Incoming& part : parts) {
    const NcclStatus status = part.read(piece.data(), bytes);
    if (status != NcclStatus::success) return status;
    reduction.add(piece.data(), part.scale());
  }
  return NcclStatus::success;
}

/// Parts of all ranks, in their order, so that every rank has the same result.
NcclStatus reduced_to(const Collective& collective, std::vector<Incoming>& parts) {
  Reduction reduction(collective.data_type, collective.operation);
  const std::size_t element = element_bytes(collective.data_type);
  std::vector<std::byte> piece;
  auto* to = static_cast<std::byte*>(collective.to);
  for (std::size_t done = 0; done < collective.count;) {
    const std::size_t count = std::min(Reduction::kMostElements, collective.count - done);
    reduction.begin(count);
    const NcclStatus status = reduce_piece(parts, reduction, count * element, piece);
    if (status != NcclStatus::success) return status;
    reduction.finish(to, collective.communicator->ranks);
    to += count * element;
    done += count;
  }
  return NcclStatus::success;
}

/// Where a part is missing, or the type cannot be reduced, this rank's own part stands for the sum.
NcclStatus left_out(const Collective& collective, std::vector<Incoming>& parts, const void* own) {
  for (Incoming& part : parts) {
    const NcclStatus status = part.skip();
    if (status != NcclStatus::success) return status;
  }
  if (collective.to == own) return NcclStatus::success;
  const Status status = copy(collective.to, own, part_bytes(collective), Direction::unified);
  return status == Status::success ? NcclStatus::success : NcclStatus::unhandled_cuda_error;
}

NcclStatus reduced(const Collective& collective, const void* own) {
  const std::size_t bytes = part_bytes(collective);
  if (gpus().place_of(collective.to, bytes) == Place::nowhere) {
    return NcclStatus::unhandled_cuda_error;
  }
  std::vector<Incoming> parts;
  for (int rank = 0; rank < collective.communicator->ranks; ++rank) {
    parts.emplace_back(collective, rank, own);
    if (parts.back().status() != NcclStatus::success) return parts.back().status();
  }
  const auto of_all = [&](const auto& rule) {
    return std::all_of(parts.begin(), parts.end(), rule);
  };
  const bool can_reduce =
      Reduction::can_reduce(collective.data_type) &&
      of_all([&](const Incoming& part) { return part.has_bytes() && part.bytes() == bytes; });
  const NcclStatus status =
      can_reduce ? reduced_to(collective, parts) : left_out(collective, parts, own);
  mark_written(collective.to, bytes,
               can_reduce && status == NcclStatus::success &&
                   of_all([](const Incoming& part) { return part.is_known(); }));
  return status;
}

/// A part of each rank, one after the other.
template <typename Own>
NcclStatus received_from_all(const Collective& collective, const Own& own) {
  for (int rank = 0; rank < collective.communicator->ranks; ++rank) {
    void* const to = part_of(collective.to, rank, part_bytes(collective));
    const NcclStatus status = placed(collective, rank, to, own(rank));
    if (status != NcclStatus::success) return status;
  }
  return NcclStatus::success;
}

}  // namespace

NcclStatus post(const Collective& collective) {
  if (element_bytes(collective.data_type) == 0) return NcclStatus::invalid_argument;
  if (collective.communicator->channel == nullptr) return NcclStatus::success;
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
      return placed(collective, collective.peer, collective.to,
                    is_root ? collective.from : collective.to);
    case CollectiveKind::receive:
      return received(collective);
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
