// The properties that a virtual GPU reports beyond its memory. What its profile does not say is
// that of the nearest architecture that NVIDIA's programming guide lists. Sizes in bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "allocator_shim/device/gpu_profile.h"

namespace ohm::interpose {

/// Limits that come with a compute capability.
struct Architecture {
  int capability;          ///< 10 * major + minor
  int max_blocks;          ///< per multiprocessor
  int shared_bytes;        ///< per multiprocessor
  int shared_bytes_optin;  ///< per block, for kernels that ask
  int l2_bytes;            ///< of the largest card, a round figure for the others
};

inline constexpr int kWarpThreads = 32;
inline constexpr int kMaxBlockThreads = 1024;
inline constexpr int kRegisters = 65536;           ///< per block and per multiprocessor
inline constexpr int kSharedBytes = 48 << 10;      ///< per block, for kernels that do not ask
inline constexpr int kKernelRegisters = 32;        ///< per thread, of any kernel: none was compiled
inline constexpr std::size_t kPitchBytes = 512;    ///< rows of pitched memory begin at multiples
inline constexpr int kReservedSharedBytes = 1024;  ///< per block, taken by the system

const Architecture& architecture_of(const GpuProfile& profile);

/// As cudaGetDeviceProperties has it: the marketing name, or the profile's.
std::string product_name(const GpuProfile& profile);

/// How many blocks of `threads` threads and `shared_bytes` of dynamic shared memory a
/// multiprocessor holds at once, when registers do not limit it.
int resident_blocks(const GpuProfile& profile, int threads, std::size_t shared_bytes);

/// Dynamic shared memory that so many blocks of a multiprocessor have each.
std::size_t shared_bytes_of_each(const GpuProfile& profile, int blocks);

/// Whether there is such a cudaDeviceAttr or CUdevice_attribute.
bool is_attribute(int attribute);

/// The value of a cudaDeviceAttr or CUdevice_attribute, which share their numbers; 0 for those that
/// say nothing about computing (textures, surfaces).
int attribute_of(const GpuProfile& profile, int device, int attribute);

/// `GPU-6f686d00-0000-0000-0000-000000000001`, as NVML writes it.
std::string uuid_text(int device);
/// The device that a word of CUDA_VISIBLE_DEVICES names, by number or by the beginning of its UUID;
/// -1: none of them.
int device_named(std::string_view word, int count);

/// `00000000:04:00.0`: each device has a bus of its own.
std::string pci_bus_id(int device);
/// -1: none.
int device_of_pci_bus_id(const char* text);

}  // namespace ohm::interpose
