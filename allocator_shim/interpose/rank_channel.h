// The messages that the ranks of a communicator send each other, between processes of one machine.
//
// Each pair of ranks has a queue in a file in memory, a ring: one process makes it, the others open
// it by the process and the descriptor of its meeting. Sending never waits. Receiving waits until
// the bytes are there, their sender has ended, or the communicator is aborted.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace ohm::interpose {

/// Where ranks meet: what rank 0 tells the others before there is a communicator.
struct Meeting {
  std::int32_t process;
  std::int32_t descriptor;
};

/// The GPU of a rank.
struct RankGpu {
  int number = 0;          ///< in the machine
  bool is_shared = false;  ///< with other processes; otherwise they have others of this number
};

class RankChannel {
 public:
  static constexpr int kMaxRanks = 256;

  /// The file stays as long as this process, or until end().
  static Meeting arrange();
  static void end(const Meeting& meeting);
  /// nullptr, and a line on stderr that says why: the meeting cannot be reached from here. One that
  /// can be reached soon is waited for.
  static std::unique_ptr<RankChannel> open(const Meeting& meeting, int ranks, int rank,
                                           const RankGpu& gpu);
  /// Whether the process that arranged it is not there any more.
  static bool has_ended(const Meeting& meeting);
  ~RankChannel();
  RankChannel(const RankChannel&) = delete;
  RankChannel& operator=(const RankChannel&) = delete;

  int ranks() const { return ranks_; }
  int rank() const { return rank_; }
  int gpu() const;

  /// Until each rank has opened the channel. False: one that had, or the process that arranged it,
  /// has ended before.
  bool wait_for_all() const;
  /// Two of the ranks, once all have opened the channel; nullopt: each has a GPU of its own.
  std::optional<std::pair<int, int>> ranks_on_one_gpu() const;
  /// False: the host has no memory for them.
  bool send(int to, const void* data, std::size_t bytes);
  /// False: they will not come.
  bool receive(int from, void* data, std::size_t bytes);
  bool skip(int from, std::size_t bytes);
  /// Ends the waiting of other threads.
  void abort() { is_aborted_ = true; }

 private:
  struct Header;
  RankChannel(int file, Header* header, int arranger, int ranks, int rank, const RankGpu& gpu);
  bool are_on_one_gpu(std::size_t one, std::size_t other) const;
  bool has_lost_a_rank() const;
  bool will_send(int from) const;
  bool wait_for(int from, std::size_t bytes) const;
  void take(int from, std::size_t bytes);

  int file_;
  Header* header_;
  int arranger_;  ///< the process that arranged the meeting
  int ranks_;
  int rank_;
  std::vector<std::uint64_t> read_;  ///< of each rank's queue to this one
  std::atomic<bool> is_aborted_ = false;
};

}  // namespace ohm::interpose
