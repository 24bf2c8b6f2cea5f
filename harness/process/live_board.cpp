#include "harness/process/live_board.h"

#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <new>
#include <stdexcept>

namespace ohm::engine {

namespace {

constexpr std::size_t kNameBytes = 96;
constexpr std::memory_order kRelaxed = std::memory_order_relaxed;

using SharedBytes = std::atomic<std::int64_t>;
static_assert(SharedBytes::is_always_lock_free, "processes share no locks");

}  // namespace

/// A GPU of a running variant, as processes share it.
struct SharedGpu {
  SharedBytes capacity;
  SharedBytes allocated;
  SharedBytes peak;
  SharedBytes stretches;  ///< used ones, the last one still growing
  SharedBytes stride;     ///< notes of a stretch
  SharedBytes notes;      ///< in the last stretch
  std::array<SharedBytes, LiveBoard::kHistory> history;
};

namespace {

/// Half as many stretches, each twice as long.
void halve(SharedGpu& gpu) {
  for (std::size_t i = 0; i < LiveBoard::kHistory / 2; ++i) {
    gpu.history[i].store(
        std::max(gpu.history[2 * i].load(kRelaxed), gpu.history[2 * i + 1].load(kRelaxed)),
        kRelaxed);
  }
  gpu.stretches.store(LiveBoard::kHistory / 2, kRelaxed);
  gpu.stride.store(2 * gpu.stride.load(kRelaxed), kRelaxed);
}

void add_to_history(SharedGpu& gpu, std::int64_t bytes) {
  const bool begins =
      gpu.stretches.load(kRelaxed) == 0 || gpu.notes.load(kRelaxed) == gpu.stride.load(kRelaxed);
  if (begins) {
    if (gpu.stretches.load(kRelaxed) == LiveBoard::kHistory) halve(gpu);
    const auto last = static_cast<std::size_t>(gpu.stretches.load(kRelaxed));
    gpu.history[last].store(bytes, kRelaxed);
    gpu.stretches.store(static_cast<std::int64_t>(last) + 1, kRelaxed);
    gpu.notes.store(1, kRelaxed);
    return;
  }
  SharedBytes& last = gpu.history[static_cast<std::size_t>(gpu.stretches.load(kRelaxed)) - 1];
  last.store(std::max(bytes, last.load(kRelaxed)), kRelaxed);
  gpu.notes.store(gpu.notes.load(kRelaxed) + 1, kRelaxed);
}

void clear(SharedGpu& gpu) {
  for (SharedBytes* figure :
       {&gpu.capacity, &gpu.allocated, &gpu.peak, &gpu.stretches, &gpu.notes}) {
    figure->store(0, kRelaxed);
  }
  gpu.stride.store(1, kRelaxed);
}

LiveGpu read(const SharedGpu& gpu) {
  LiveGpu live;
  live.allocated_bytes = gpu.allocated.load(kRelaxed);
  live.peak_bytes = gpu.peak.load(kRelaxed);
  live.capacity_bytes = gpu.capacity.load(kRelaxed);
  const auto stretches = std::clamp<std::int64_t>(gpu.stretches.load(kRelaxed), 0,
                                                  static_cast<std::int64_t>(LiveBoard::kHistory));
  for (std::size_t i = 0; i < static_cast<std::size_t>(stretches); ++i) {
    live.history.push_back(gpu.history[i].load(kRelaxed));
  }
  return live;
}

bool is_alive(pid_t process) { return process != 0 && (::kill(process, 0) == 0 || errno == EPERM); }

}  // namespace

struct LiveBoard::Variant {
  std::atomic<pid_t> process;  ///< that writes here; 0: none
  std::atomic<bool> is_named;  ///< the name is there to be read
  std::array<char, kNameBytes> name;
  std::array<SharedGpu, kGpus> gpus;
};

struct LiveBoard::Board {
  std::array<Variant, kVariants> variants;
};

LiveBoard::LiveBoard() {
  void* const memory =
      ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("no memory to share with workers");
  board_ = new (memory) Board();
}

LiveBoard::~LiveBoard() { ::munmap(board_, sizeof(Board)); }

std::vector<LiveVariant> LiveBoard::running() const {
  std::vector<LiveVariant> running;
  for (const Variant& variant : board_->variants) {
    if (!is_alive(variant.process.load(kRelaxed))) continue;
    if (!variant.is_named.load(std::memory_order_acquire)) continue;
    LiveVariant live;
    const auto end = std::find(variant.name.begin(), variant.name.end(), '\0');
    live.name.assign(variant.name.begin(), end);
    for (const SharedGpu& gpu : variant.gpus) {
      if (gpu.capacity.load(kRelaxed) > 0) live.gpus.push_back(read(gpu));
    }
    running.push_back(std::move(live));
  }
  return running;
}

LiveEntry::LiveEntry(LiveBoard& board, std::string_view name) {
  for (LiveBoard::Variant& variant : board.board_->variants) {
    // One who died without a word leaves its place.
    pid_t owner = variant.process.load(kRelaxed);
    if (is_alive(owner)) continue;
    if (!variant.process.compare_exchange_strong(owner, ::getpid())) continue;
    variant.is_named.store(false, kRelaxed);
    for (SharedGpu& gpu : variant.gpus) clear(gpu);
    variant.name.fill('\0');
    std::copy_n(name.begin(), std::min(name.size(), kNameBytes - 1), variant.name.begin());
    variant.is_named.store(true, std::memory_order_release);
    variant_ = &variant;
    return;
  }
}

LiveEntry::~LiveEntry() {
  if (variant_ == nullptr) return;
  variant_->is_named.store(false, kRelaxed);
  variant_->process.store(0, kRelaxed);
}

void LiveEntry::set_capacity(std::size_t gpu, std::int64_t bytes) {
  if (variant_ != nullptr && gpu < LiveBoard::kGpus) {
    variant_->gpus[gpu].capacity.store(bytes, kRelaxed);
  }
}

void LiveEntry::note(std::size_t gpu, std::int64_t allocated_bytes) {
  if (variant_ == nullptr || gpu >= LiveBoard::kGpus) return;
  SharedGpu& shared = variant_->gpus[gpu];
  shared.allocated.store(allocated_bytes, kRelaxed);
  shared.peak.store(std::max(allocated_bytes, shared.peak.load(kRelaxed)), kRelaxed);
  add_to_history(shared, allocated_bytes);
}

}  // namespace ohm::engine
