#include "allocator_shim/interpose/rank_channel.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>

namespace ohm::interpose {

/// The beginning of the file; the queues' bytes lie behind it, each at addresses of its own.
struct RankChannel::Header {
  struct Queue {
    std::atomic<std::uint64_t> written;
  };
  std::atomic<int> joined;
  std::array<std::atomic<pid_t>, kMaxRanks> processes;
  std::array<RankGpu, kMaxRanks> gpus;                         // complete where the rank has joined
  std::array<std::array<Queue, kMaxRanks>, kMaxRanks> queues;  // from, to
};

namespace {

/// No queue holds as much at once; what was received is given back.
constexpr off_t kQueueBytes = off_t{1} << 40U;
constexpr std::size_t kGiveBackBytes = std::size_t{1} << 20U;
constexpr useconds_t kPollMicroseconds = 50;
/// Between two looks whether the other side is still there, and before a line says who waits.
constexpr int kPollsPerLook = 2'000;
constexpr int kLooksBeforeNotice = 300;

/// For a process that is not reachable yet, or that has ended and is not waited for yet.
constexpr int kOpeningTries = 200;
constexpr useconds_t kOpeningMicroseconds = 10'000;

bool is_there(pid_t process) { return kill(process, 0) == 0 || errno != ESRCH; }

/// -1, with errno: it cannot be opened.
int opened(const std::string& path, pid_t process) {
  for (int tries = 1;; ++tries) {
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    const int error = errno;
    if (file >= 0 || tries == kOpeningTries || process <= 0 || !is_there(process)) {
      errno = error;
      return file;
    }
    usleep(kOpeningMicroseconds);
  }
}

off_t place_of_queue(int from, int to) {
  return kQueueBytes * (1 + from * RankChannel::kMaxRanks + to);
}

/// Calls at(place, done, bytes) for each piece of a queue that lies in one place, and that the
/// kernel moves at once; `done` bytes were moved before. False: one of them failed.
template <class At>
bool for_pieces(off_t queue, std::uint64_t begin, std::size_t bytes, const At& at) {
  constexpr auto kRing = static_cast<std::uint64_t>(kQueueBytes);
  constexpr std::uint64_t kMostAtOnce = std::uint64_t{1} << 30U;
  for (std::size_t done = 0; done < bytes;) {
    const std::uint64_t offset = (begin + done) % kRing;
    const auto piece = std::min<std::uint64_t>({bytes - done, kRing - offset, kMostAtOnce});
    if (!at(queue + static_cast<off_t>(offset), done, piece)) return false;
    done += piece;
  }
  return true;
}

}  // namespace

Meeting RankChannel::arrange() {
  const int file = memfd_create("ohm-ranks", MFD_CLOEXEC);
  if (file >= 0 && ftruncate(file, place_of_queue(kMaxRanks, 0)) != 0) {
    close(file);
    return {getpid(), -1};
  }
  return {getpid(), file};
}

void RankChannel::end(const Meeting& meeting) { close(meeting.descriptor); }

std::unique_ptr<RankChannel> RankChannel::open(const Meeting& meeting, int ranks, int rank,
                                               const RankGpu& gpu) {
  const std::string path = fmt::format("/proc/{}/fd/{}", meeting.process, meeting.descriptor);
  const int file = ranks > kMaxRanks ? -1 : opened(path, meeting.process);
  void* const mapped =
      file < 0 ? MAP_FAILED
               : mmap(nullptr, sizeof(Header), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) {
    fmt::print(stderr, "ohm: rank {} of {} cannot reach the others through {}: {}\n", rank, ranks,
               path, std::strerror(errno));
    if (file >= 0) close(file);
    return nullptr;
  }
  return std::unique_ptr<RankChannel>(
      new RankChannel(file, static_cast<Header*>(mapped), meeting.process, ranks, rank, gpu));
}

bool RankChannel::has_ended(const Meeting& meeting) {
  return meeting.process > 0 && !is_there(meeting.process);
}

RankChannel::RankChannel(int file, Header* header, int arranger, int ranks, int rank,
                         const RankGpu& gpu)
    : file_(file),
      header_(header),
      arranger_(arranger),
      ranks_(ranks),
      rank_(rank),
      read_(static_cast<std::size_t>(ranks)) {
  header_->gpus[static_cast<std::size_t>(rank)] = gpu;
  header_->processes[static_cast<std::size_t>(rank)] = getpid();
  ++header_->joined;
}

RankChannel::~RankChannel() {
  munmap(header_, sizeof(Header));
  close(file_);
}

bool RankChannel::wait_for_all() const {
  for (int polls = 1; header_->joined < ranks_; ++polls) {
    const bool looks = polls % kPollsPerLook == 0;
    if (looks && has_lost_a_rank() && header_->joined < ranks_) return false;
    if (polls == kPollsPerLook * kLooksBeforeNotice) {
      fmt::print(stderr, "ohm: rank {} waits for the other {} ranks of its communicator\n", rank_,
                 ranks_ - 1);
    }
    usleep(kPollMicroseconds);
  }
  return true;
}

bool RankChannel::has_lost_a_rank() const {
  const auto* const begin = header_->processes.begin();
  return !is_there(arranger_) || std::any_of(begin, begin + ranks_, [](const auto& process) {
    return process != 0 && !is_there(process);
  });
}

int RankChannel::gpu() const { return header_->gpus[static_cast<std::size_t>(rank_)].number; }

bool RankChannel::are_on_one_gpu(std::size_t one, std::size_t other) const {
  const RankGpu& gpu = header_->gpus[one];
  const RankGpu& other_gpu = header_->gpus[other];
  const bool see_the_same = (gpu.is_shared && other_gpu.is_shared) ||
                            header_->processes[one] == header_->processes[other];
  return see_the_same && gpu.number == other_gpu.number;
}

std::optional<std::pair<int, int>> RankChannel::ranks_on_one_gpu() const {
  // Its own first: each rank that is refused says with which other one.
  const auto own = static_cast<std::size_t>(rank_);
  const auto count = static_cast<std::size_t>(ranks_);
  for (std::size_t other = 0; other < count; ++other) {
    if (other != own && are_on_one_gpu(own, other)) return {{rank_, static_cast<int>(other)}};
  }
  for (std::size_t one = 0; one < count; ++one) {
    for (std::size_t other = one + 1; other < count; ++other) {
      if (are_on_one_gpu(one, other)) return {{static_cast<int>(one), static_cast<int>(other)}};
    }
  }
  return std::nullopt;
}

bool RankChannel::will_send(int from) const {
  return !is_aborted_ && is_there(header_->processes[static_cast<std::size_t>(from)]);
}

bool RankChannel::send(int to, const void* data, std::size_t bytes) {
  auto& written =
      header_->queues[static_cast<std::size_t>(rank_)][static_cast<std::size_t>(to)].written;
  const std::uint64_t begin = written.load();
  const bool is_written =
      for_pieces(place_of_queue(rank_, to), begin, bytes,
                 [&](off_t place, std::size_t done, std::size_t piece) {
                   const auto* const from = static_cast<const std::byte*>(data) + done;
                   return pwrite(file_, from, piece, place) == static_cast<ssize_t>(piece);
                 });
  if (is_written) written.store(begin + bytes);
  return is_written;
}

bool RankChannel::wait_for(int from, std::size_t bytes) const {
  const auto& written =
      header_->queues[static_cast<std::size_t>(from)][static_cast<std::size_t>(rank_)].written;
  const std::uint64_t end = read_[static_cast<std::size_t>(from)] + bytes;
  for (int polls = 1; written.load() < end; ++polls) {
    const bool looks = polls % kPollsPerLook == 0;
    if (looks && !will_send(from) && written.load() < end) return false;
    usleep(kPollMicroseconds);
  }
  return true;
}

bool RankChannel::receive(int from, void* data, std::size_t bytes) {
  if (!wait_for(from, bytes)) return false;
  const bool is_read =
      for_pieces(place_of_queue(from, rank_), read_[static_cast<std::size_t>(from)], bytes,
                 [&](off_t place, std::size_t done, std::size_t piece) {
                   auto* const to = static_cast<std::byte*>(data) + done;
                   return pread(file_, to, piece, place) == static_cast<ssize_t>(piece);
                 });
  if (is_read) take(from, bytes);
  return is_read;
}

bool RankChannel::skip(int from, std::size_t bytes) {
  if (!wait_for(from, bytes)) return false;
  take(from, bytes);
  return true;
}

void RankChannel::take(int from, std::size_t bytes) {
  std::uint64_t& read = read_[static_cast<std::size_t>(from)];
  const std::uint64_t kept = read / kGiveBackBytes * kGiveBackBytes;
  read += bytes;
  const std::uint64_t unused = read / kGiveBackBytes * kGiveBackBytes;
  for_pieces(place_of_queue(from, rank_), kept, unused - kept,
             [&](off_t place, std::size_t /*done*/, std::size_t piece) {
               fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, place,
                         static_cast<off_t>(piece));
               return true;
             });
}

}  // namespace ohm::interpose
