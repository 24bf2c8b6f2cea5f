// The virtual GPUs that a process sees, as CUDA's runtime and driver show them.
//
// Which ones there are stands in the environment (kGpusVariable) and is read at the first call, so
// that a process may still choose them; so does what they refuse (kFaultVariable). A GPU comes to
// life when it is first used: then its context takes memory. Addresses are those of host memory
// that is committed when touched.
//
// Any thread may call anything. One lock is held within a call and never across one, no thread is
// started, and fork() is held up while another thread is within a call: a child has the GPUs as
// they were. Who forks past libc (a raw system call) sees to it that no other thread is in here.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "allocator_shim/device/gpu_profile.h"
#include "allocator_shim/device/gpu_table.h"
#include "allocator_shim/device/virtual_gpu.h"
#include "allocator_shim/fault/fault_plan.h"
#include "allocator_shim/interpose/device_record.h"
#include "allocator_shim/interpose/gpu_variable.h"
#include "allocator_shim/interpose/handle_pool.h"
#include "allocator_shim/interpose/memory_pool.h"
#include "allocator_shim/interpose/modelled.h"
#include "allocator_shim/interpose/status.h"

namespace ohm::interpose {

/// A range of device memory or of addresses.
struct DeviceRange {
  int device = 0;
  DeviceAddress address = 0;
  std::size_t bytes = 0;
};

/// Where a piece of memory is. Nowhere: at addresses of a device or of managed memory, and not in
/// one allocation or in mapped memory; it cannot be touched.
enum class Place : std::uint8_t { host, managed, device, nowhere };

/// What programs say about managed memory, which they may ask for. Devices by number, kHostLocation
/// and kNoLocation as cudaMemRangeGetAttribute has them.
inline constexpr int kHostLocation = -1;
inline constexpr int kNoLocation = -2;
struct ManagedAdvice {
  std::optional<bool> is_read_mostly;
  std::optional<int> preferred_location;
  std::optional<int> prefetched_to;
};

/// Page-locked memory of the host: given by CUDA, or registered. A variable of device code is
/// memory of the device for programs.
enum class Pinned : std::uint8_t { allocated, registered, variable };

/// Memory without addresses (cuMemCreate). How long it lives is the driver's rule: until it is
/// released and no longer mapped.
struct PhysicalMemory {
  int device = 0;
  std::size_t bytes = 0;
  int references = 1;  ///< by handles and mappings
  int handles = 1;     ///< that were not released
};

/// What the host refuses is, for the program, memory that the card has not. That it is the host's
/// has to be said.
Status refused(const HostRefusal& refusal);

struct Context;

class GpuSystem {
 public:
  /// That of the process; never destroyed, because libraries call while a process ends.
  static GpuSystem& of_process();

  /// `visible`: as CUDA_VISIBLE_DEVICES has it, numbers or UUIDs up to the first that is none;
  /// nullptr: all. `faults` is a plan of calls of the device. Throws std::invalid_argument when
  /// `selection` is none, or nothing is left of its capacity. `table`: of processes that share the
  /// GPUs, not owned; nullptr: they are this one's alone.
  GpuSystem(std::string_view selection, const char* visible, FaultPlan faults,
            GpuTable* table = nullptr);

  /// Whether the driver takes calls. The first call that needs a GPU initializes it, but for those
  /// of the driver itself, which wait for cuInit; without any GPU it stays uninitialized.
  bool is_initialized() const { return is_initialized_.load(std::memory_order_relaxed); }
  /// A child of a process that used them (fork) has none of them, as on a card.
  bool is_lost_by_fork() const { return is_lost_by_fork_.load(std::memory_order_relaxed); }
  void lose_by_fork() { is_lost_by_fork_ = is_initialized(); }
  void initialize() {
    if (!is_initialized() && count() > 0) is_initialized_.store(true, std::memory_order_relaxed);
  }

  /// Those that the program sees, 0 to count() - 1.
  int count() const { return static_cast<int>(gpus_.size()); }
  /// By processes, whose GPUs of one number are then the same.
  bool are_shared() const { return table_ != nullptr; }
  /// Bytes of each.
  std::vector<std::uint64_t> capacities() const;
  /// All of the machine, and which of them a visible one is.
  int machine_count() const { return machine_count_; }
  int number_in_machine(int device) const { return gpus_[static_cast<std::size_t>(device)].number; }
  /// The visible one with this number in the machine; -1: it is not visible.
  int visible_device(int number) const;
  const GpuProfile& profile() const { return profile_; }
  bool has(int device) const { return device >= 0 && device < count(); }
  /// Of the calling thread.
  int current() const;
  Status set_current(int device);

  /// Rounded up to granules of 2 MiB, as the driver does; up to half of one, several blocks share a
  /// granule.
  /// It belongs to a context, whose end frees it; nullptr: to none.
  Status allocate(int device, std::size_t bytes, const Context* context, DeviceAddress& address);
  Status free(DeviceAddress address);
  /// What was allocated in a context; nullptr: in any. Memory that cuMemCreate made stays.
  void free_all(int device, const Context* context);
  /// Managed memory that was requested while the device was current.
  void free_all_managed(int device);

  /// Stream-ordered memory. The pool of a device, which is always there; nullptr: no such device.
  MemoryPool* default_pool(int device);
  /// That allocations of a device come from: the default one, until another is chosen.
  MemoryPool* current_pool(int device);
  /// That graphs have their memory from: it keeps what they free. nullptr: no such device.
  MemoryPool* graph_pool(int device);
  Status choose_pool(int device, MemoryPool* pool);
  MemoryPool* create_pool(int device, std::size_t most_bytes, int handle_types);
  Status destroy_pool(MemoryPool* pool);
  bool is_pool(const MemoryPool* pool) const {
    return pools_.is_alive(pool) && !pool->is_destroyed;
  }
  Status allocate_from(MemoryPool* pool, std::size_t bytes, const Context* context,
                       DeviceAddress& address);
  /// That an allocation is of; nullptr: of none.
  const MemoryPool* pool_of(DeviceAddress address);
  /// Gives cached memory back until the pool holds no more than this.
  Status trim_pool(MemoryPool* pool, std::size_t kept_bytes);
  /// Work was waited for: pools give back what is above their thresholds.
  void trim_pools();
  /// Copies of its counters, or calls change(pool).
  template <typename Change>
  Status with_pool(MemoryPool* pool, Change change) {
    const std::lock_guard guard(mutex_);
    if (!is_pool(pool)) return Status::invalid_value;
    return change(*pool);
  }

  /// Managed memory: it is the host's, and takes memory of a device where it is resident.
  Status allocate_managed(std::size_t bytes, DeviceAddress& address);
  /// A variable of device code, of this memory: it is never freed.
  void adopt_managed(DeviceAddress address, std::size_t bytes);
  bool is_managed(const void* address);
  /// All of it, and its GPU: where it was prefetched to, or of the thread that requested it.
  std::optional<DeviceRange> managed_range(DeviceAddress address);
  /// What a program has said about a part of it (cudaMemAdvise).
  Status advise(DeviceAddress address, std::size_t bytes, const ManagedAdvice& advice);
  Status advice_on(DeviceAddress address, std::size_t bytes, ManagedAdvice& advice);
  /// Moves a part of it to a device, as far as there is room, or (-1) to the host.
  Status prefetch(DeviceAddress address, std::size_t bytes, int device);
  /// Asked before each call that takes memory, without the lock: true refuses it.
  void refuse_when(bool (*is_refused)(std::size_t bytes)) { is_refused_ = is_refused; }
  /// Whether the plan makes a request to an allocator fail that stands above the device.
  bool refuses_request(int device, std::size_t bytes);
  /// How a call of CUDA fails by the plan, if it does.
  std::optional<FaultError> fault_of_call(std::string_view name);
  /// The allocation or reserved range that an address is in.
  std::optional<DeviceRange> find(DeviceAddress address);
  Place place_of(const void* address, std::size_t bytes);
  /// In which memory of a device was allocated; nullptr: in none, or there is no memory.
  const Context* context_of(DeviceAddress address);
  /// Out of memory: other processes leave no room for the context that this one needs to ask.
  Status info(int device, DeviceMemoryInfo& info);
  /// Those that hold memory of a GPU of the machine, their contexts included: of this process
  /// alone, unless GPUs are shared.
  std::vector<SharedGpuMemory::Process> processes_on(int number);
  /// The sum of what allocate() has given and free() has not taken back.
  std::size_t allocated_bytes(int device);

  Status reserve(int device, std::size_t bytes, DeviceAddress& address);
  Status release_range(DeviceAddress address);
  /// Handles are checked: one that is gone is invalid.
  Status create(int device, std::size_t bytes, PhysicalMemory*& memory);
  bool is_physical(const PhysicalMemory* memory) const { return physical_.is_alive(memory); }
  Status release(PhysicalMemory* memory);
  /// What is mapped there, for one more release().
  Status retain(DeviceAddress address, PhysicalMemory*& memory);
  Status map(DeviceAddress address, std::size_t bytes, PhysicalMemory* memory);
  Status unmap(DeviceAddress address, std::size_t bytes);
  /// Of mappings that follow each other without a gap. Memory without access cannot be touched.
  Status set_access(DeviceAddress address, std::size_t bytes, bool is_accessible);
  /// Whether memory that is mapped there has it; nullopt: none is.
  std::optional<bool> has_access(DeviceAddress address);

  /// Page-locked memory of the host, so that programs can ask whether some is.
  /// False: a part of it is already.
  bool add_pinned(const void* address, std::size_t bytes, Pinned how, unsigned flags = 0);
  /// Those of a GPU that is reset.
  void forget_pinned(int device);
  /// False: none begins there that became so in this way.
  bool remove_pinned(const void* address, Pinned how);
  bool is_pinned(const void* address);
  std::optional<DeviceRange> pinned_range(const void* address);
  bool is_variable(const void* address);
  /// With which flags it was allocated or registered; nullopt: it is not page-locked.
  std::optional<unsigned> pinned_flags(const void* address);

  /// For fork().
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  struct Mapping {
    std::size_t bytes;
    PhysicalMemory* memory;
    bool is_accessible = false;  ///< cuMemSetAccess said so
  };
  /// What a program requested: a segment of its own, or a part of one.
  struct Block {
    std::size_t bytes = 0;        ///< that were asked for
    std::size_t taken_bytes = 0;  ///< of the card, or of what the block is a part of
    const Context* context = nullptr;
    MemoryPool* pool = nullptr;  ///< nullptr: of none
  };
  struct ManagedRange {
    std::size_t bytes = 0;
    std::size_t requested_bytes = 0;
    int owner = 0;    ///< whose reset frees it; kNobody: nothing does
    int device = -1;  ///< where a part of it is resident
    std::size_t resident_bytes = 0;
    ManagedAdvice advice = {};
  };
  static constexpr int kNobody = -1;
  struct PinnedRange {
    std::size_t bytes = 0;
    Pinned how = Pinned::allocated;
    unsigned flags = 0;
    int device = 0;  ///< that was current
  };
  struct Gpu {
    int number = 0;                      ///< in the machine
    std::unique_ptr<VirtualGpu> memory;  ///< nullptr until it is opened
    std::map<DeviceAddress, Block> blocks;
    SegmentedMemory small_blocks;  ///< several share a segment
    std::map<DeviceAddress, std::size_t> ranges;
    MemoryPool* default_pool = nullptr;
    MemoryPool* current_pool = nullptr;
    MemoryPool* graph_pool = nullptr;
    std::map<DeviceAddress, Mapping> mappings;
  };

  std::size_t capacity_of(int number) const;
  Status open(int device);
  VirtualGpu& used(int device) { return *gpus_[static_cast<std::size_t>(device)].memory; }
  bool is_refused(std::size_t bytes) const;
  bool fails_by_plan(FaultLevel level, int device, std::size_t bytes);
  static Status no_room(int device);
  Status not_granted(int device, std::size_t bytes, NotGranted why);
  /// A block, with the segment that was taken for it; 0 bytes: none was.
  static void record_request(int device, DeviceAddress address, std::size_t bytes,
                             std::size_t segment_bytes);
  MemoryPool* pool_at(MemoryPool*& place, int device, std::uint64_t release_threshold);
  Status take(int device, std::size_t bytes, DeviceAddress& address);
  bool make_room(int device, std::size_t bytes);
  void leave(ManagedRange& range);
  ManagedRange* managed_part(DeviceAddress address, std::size_t bytes);
  Status take_block(int device, std::size_t bytes, DeviceAddress& address,
                    std::size_t& segment_bytes);
  void free_block(Gpu& gpu, std::map<DeviceAddress, Block>::iterator block);
  void free_small_block(Gpu& gpu, DeviceAddress address, const Block& block, std::uint32_t site);
  void trim(MemoryPool& pool, std::size_t kept_bytes);
  /// Of a call that gives memory back, where it is recorded.
  static std::uint32_t recorded_site();
  static void give_back(VirtualGpu& gpu, DeviceAddress address, std::size_t bytes,
                        std::uint32_t site);
  void end_pool(MemoryPool* pool);
  static Status failed_free(DeviceAddress address);
  Status free_managed(DeviceAddress address);
  Gpu* owner(DeviceAddress address);
  static bool is_mapped(const Gpu& gpu, DeviceAddress address, std::size_t bytes);
  void drop(PhysicalMemory* memory);

  GpuProfile profile_;
  FaultPlan faults_;  ///< knows devices by their numbers in the machine
  GpuTable* table_;
  int machine_count_ = 1;
  std::mutex mutex_;
  std::vector<Gpu> gpus_;
  std::map<DeviceAddress, PinnedRange> pinned_;
  std::map<DeviceAddress, ManagedRange> managed_;
  HandlePool<MemoryPool> pools_;
  HandlePool<PhysicalMemory> physical_;
  std::vector<MemoryPool*> live_pools_;
  std::atomic<bool (*)(std::size_t bytes)> is_refused_ = nullptr;
  std::atomic<bool> is_initialized_ = false;
  std::atomic<bool> is_lost_by_fork_ = false;
};

/// For a program that uses them. NVML only looks at them: it takes GpuSystem::of_process().
inline GpuSystem& gpus() {
  GpuSystem& system = GpuSystem::of_process();
  system.initialize();
  return system;
}

/// On the calling thread's GPU.
inline void note_assumption(Assumption assumption) {
  note_assumption(gpus().current(), assumption);
}

}  // namespace ohm::interpose
