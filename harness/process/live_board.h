// The memory that running variants hold now: figures shared with the worker processes.
//
// Workers write figures as they allocate and never wait; a reader sees figures of some moment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ohm::engine {

struct LiveGpu {
  std::int64_t allocated_bytes = 0;
  std::int64_t peak_bytes = 0;
  std::int64_t capacity_bytes = 0;
  /// The largest sum of each stretch of the run so far, all stretches equally many allocations.
  std::vector<std::int64_t> history;
};

struct LiveVariant {
  std::string name;
  std::vector<LiveGpu> gpus;
};

class LiveBoard {
 public:
  static constexpr std::size_t kVariants = 32;  ///< at once; more are not seen
  static constexpr std::size_t kGpus = 8;       ///< of one variant; more are not seen
  static constexpr std::size_t kHistory = 64;   ///< stretches at most

  /// Throws std::runtime_error when there is no memory to share. Make it before the workers.
  LiveBoard();
  ~LiveBoard();
  LiveBoard(const LiveBoard&) = delete;
  LiveBoard& operator=(const LiveBoard&) = delete;

  /// Those that run now.
  std::vector<LiveVariant> running() const;

 private:
  friend class LiveEntry;
  struct Variant;
  struct Board;

  Board* board_;
};

/// In a worker: a place on the board for as long as this lives.
class LiveEntry {
 public:
  LiveEntry(LiveBoard& board, std::string_view name);
  ~LiveEntry();
  LiveEntry(const LiveEntry&) = delete;
  LiveEntry& operator=(const LiveEntry&) = delete;

  void set_capacity(std::size_t gpu, std::int64_t bytes);
  void note(std::size_t gpu, std::int64_t allocated_bytes);

 private:
  LiveBoard::Variant* variant_ = nullptr;  ///< nullptr: the board is full
};

}  // namespace ohm::engine
