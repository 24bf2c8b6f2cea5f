#include "allocator_shim/interpose/rank_channel.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

namespace ohm::interpose {

/// The beginning of the file; the queues' bytes lie behind it, each at addresses of its own.
struct RankChannel::Header {
  struct Queue {
    std::atomic<std::uint64_t> written;
  };
  std::atomic<int> joined;
  std::array<std::atomic<pid_t>, kMaxRanks> processes;
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

off_t place_of_queue(int from, int to) {
  return kQueueBytes * (1 + from * RankChannel::kMaxRanks + to);
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

std::unique_ptr<RankChannel> RankChannel::join(const Meeting& meeting, int ranks, int rank) {
  const std::string path = fmt::format("/proc/{}/fd/{}", meeting.process, meeting.descriptor);
  const int file = ranks > kMaxRanks ? -1 : open(path.c_str(), O_RDWR | O_CLOEXEC);
  void* const mapped =
      file < 0 ? MAP_FAILED
               : mmap(nullptr, sizeof(Header), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) {
    fmt::print(stderr, "ohm: rank {} of {} cannot reach the others through {}: {}\n", rank, ranks,
               path, std::strerror(errno));
    if (file >= 0) close(file);
    return nullptr;
  }
  std::unique_ptr<RankChannel> channel(
      new RankChannel(file, static_cast<Header*>(mapped), ranks, rank));
  channel->wait_for_all();
  return channel;
}

RankChannel::RankChannel(int file, Header* header, int ranks, int rank)
    : file_(file),
      header_(header),
      ranks_(ranks),
      rank_(rank),
      read_(static_cast<std::size_t>(ranks)) {
  header_->processes[static_cast<std::size_t>(rank)] = getpid();
  ++header_->joined;
}

RankChannel::~RankChannel() {
  munmap(header_, sizeof(Header));
  close(file_);
}

void RankChannel::wait_for_all() const {
  for (int polls = 1; header_->joined < ranks_; ++polls) {
    if (polls == kPollsPerLook * kLooksBeforeNotice) {
      fmt::print(stderr, "ohm: rank {} waits for the other {} ranks of its communicator\n", rank_,
                 ranks_ - 1);
    }
    usleep(kPollMicroseconds);
  }
}

bool RankChannel::will_send(int from) const {
  const pid_t process = header_->processes[static_cast<std::size_t>(from)];
  return !is_aborted_ && (kill(process, 0) == 0 || errno != ESRCH);
}

bool RankChannel::send(int to, const void* data, std::size_t bytes) {
  auto& written =
      header_->queues[static_cast<std::size_t>(rank_)][static_cast<std::size_t>(to)].written;
  const std::uint64_t begin = written.load();
  const off_t place = place_of_queue(rank_, to) + static_cast<off_t>(begin);
  if (pwrite(file_, data, bytes, place) != static_cast<ssize_t>(bytes)) return false;
  written.store(begin + bytes);
  return true;
}

bool RankChannel::receive(int from, void* data, std::size_t bytes) {
  std::uint64_t& read = read_[static_cast<std::size_t>(from)];
  const auto& written =
      header_->queues[static_cast<std::size_t>(from)][static_cast<std::size_t>(rank_)].written;
  const std::uint64_t end = read + bytes;
  for (int polls = 1; written.load() < end; ++polls) {
    const bool looks = polls % kPollsPerLook == 0;
    if (looks && !will_send(from) && written.load() < end) return false;
    usleep(kPollMicroseconds);
  }
  const off_t queue = place_of_queue(from, rank_);
  if (pread(file_, data, bytes, queue + static_cast<off_t>(read)) != static_cast<ssize_t>(bytes)) {
    return false;
  }
  const std::uint64_t kept = read / kGiveBackBytes * kGiveBackBytes;
  if (end / kGiveBackBytes * kGiveBackBytes > kept) {
    fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, queue + static_cast<off_t>(kept),
              static_cast<off_t>(end / kGiveBackBytes * kGiveBackBytes - kept));
  }
  read = end;
  return true;
}

}  // namespace ohm::interpose
