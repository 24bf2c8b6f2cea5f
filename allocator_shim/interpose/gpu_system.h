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
#include "allocator_shim/device/virtual_gpu.h"
#include "allocator_shim/fault/fault_plan.h"
#include "allocator_shim/interpose/gpu_variable.h"
#include "allocator_shim/interpose/modelled.h"
#include "allocator_shim/interpose/status.h"

namespace ohm::interpose {

/// A range of device memory or of addresses.
struct DeviceRange {
  int device = 0;
  DeviceAddress address = 0;
  std::size_t bytes = 0;
};

/// Where a piece of memory is. Nowhere: at a device's addresses, and not in one allocation or in
/// mapped memory; it cannot be touched.
enum class Place : std::uint8_t { host, device, nowhere };

/// Memory without addresses (cuMemCreate). How long it lives is the driver's rule: until it is
/// released and no longer mapped.
struct PhysicalMemory {
  int device = 0;
  std::size_t bytes = 0;
  int references = 1;
};

class GpuSystem {
 public:
  /// That of the process; never destroyed, because libraries call while a process ends.
  static GpuSystem& of_process();

  /// `visible`: as CUDA_VISIBLE_DEVICES has it, numbers or UUIDs up to the first that is none;
  /// nullptr: all. `faults` is a plan of calls of the device. Throws std::invalid_argument when
  /// `selection` is none, or nothing is left of its capacity.
  GpuSystem(std::string_view selection, const char* visible, FaultPlan faults);

  /// Whether the driver takes calls. The first call that needs a GPU initializes it, but for those
  /// of the driver itself, which wait for cuInit; without any GPU it stays uninitialized.
  bool is_initialized() const { return is_initialized_.load(std::memory_order_relaxed); }
  void initialize() {
    if (!is_initialized() && count() > 0) is_initialized_.store(true, std::memory_order_relaxed);
  }

  /// Those that the program sees, 0 to count() - 1.
  int count() const { return static_cast<int>(gpus_.size()); }
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

  /// Rounded up to granules of 2 MiB, as the driver does with anything but the smallest.
  Status allocate(int device, std::size_t bytes, DeviceAddress& address);
  Status free(DeviceAddress address);
  /// Asked before each call that takes memory, without the lock: true refuses it.
  void refuse_when(bool (*is_refused)(std::size_t bytes)) { is_refused_ = is_refused; }
  /// Whether the plan makes a request to an allocator fail that stands above the device.
  bool refuses_request(int device, std::size_t bytes);
  /// The allocation or reserved range that an address is in.
  std::optional<DeviceRange> find(DeviceAddress address);
  Place place_of(const void* address, std::size_t bytes);
  DeviceMemoryInfo info(int device);
  /// What this process holds of a device, its context included; 0 when it never used it.
  std::size_t used_bytes(int device);
  /// The sum of what allocate() has given and free() has not taken back.
  std::size_t allocated_bytes(int device);

  Status reserve(int device, std::size_t bytes, DeviceAddress& address);
  Status release_range(DeviceAddress address);
  Status create(int device, std::size_t bytes, PhysicalMemory*& memory);
  Status release(PhysicalMemory* memory);
  Status map(DeviceAddress address, std::size_t bytes, PhysicalMemory* memory);
  Status unmap(DeviceAddress address, std::size_t bytes);

  /// Page-locked memory of the host, so that programs can ask whether some is.
  void add_pinned(const void* address, std::size_t bytes);
  /// False: it was not.
  bool remove_pinned(const void* address);
  bool is_pinned(const void* address);

  /// For fork().
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  struct Mapping {
    std::size_t bytes;
    PhysicalMemory* memory;
  };
  struct Gpu {
    int number = 0;                      ///< in the machine
    std::unique_ptr<VirtualGpu> memory;  ///< nullptr until it is used
    std::map<DeviceAddress, std::size_t> segments;
    std::map<DeviceAddress, std::size_t> ranges;
    std::map<DeviceAddress, Mapping> mappings;
  };

  std::size_t capacity_of(int number) const;
  VirtualGpu& used(int device);
  bool is_refused(std::size_t bytes) const;
  bool fails_by_plan(FaultLevel level, int device, std::size_t bytes);
  static Status no_room(int device);
  Gpu* owner(DeviceAddress address);
  static bool is_mapped(const Gpu& gpu, DeviceAddress address, std::size_t bytes);
  void drop(PhysicalMemory* memory);

  GpuProfile profile_;
  FaultPlan faults_;  ///< knows devices by their numbers in the machine
  int machine_count_ = 1;
  std::mutex mutex_;
  std::vector<Gpu> gpus_;
  std::map<DeviceAddress, std::size_t> pinned_;
  std::atomic<bool (*)(std::size_t bytes)> is_refused_ = nullptr;
  std::atomic<bool> is_initialized_ = false;
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
