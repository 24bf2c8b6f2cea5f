// cudaDeviceProp, as CUDA 12 and CUDA 13 lay it out: names are the project's, places are NVIDIA's.
#pragma once

#include <array>
#include <cstddef>

#include "allocator_shim/device/gpu_profile.h"

namespace ohm::interpose {

struct DeviceProperties12 {
  std::array<char, 256> name;
  std::array<unsigned char, 16> uuid;
  std::array<char, 8> luid;
  unsigned luid_node_mask;
  std::size_t total_memory;
  std::size_t shared_per_block;
  int registers_per_block;
  int warp_size;
  std::size_t max_pitch;
  int max_block_threads;
  std::array<int, 3> max_block;
  std::array<int, 3> max_grid;
  int clock_rate;
  std::size_t constant_memory;
  int major;
  int minor;
  std::size_t texture_alignment;
  std::size_t texture_pitch_alignment;
  int gpu_overlap;
  int multiprocessors;
  int kernel_timeout;
  int integrated;
  int can_map_host_memory;
  int compute_mode;
  std::array<int, 40> textures_and_surfaces;
  std::size_t surface_alignment;
  int concurrent_kernels;
  int ecc;
  int pci_bus;
  int pci_device;
  int pci_domain;
  int tcc;
  int async_engines;
  int unified_addressing;
  int memory_clock_rate;
  int memory_bus_width;
  int l2_bytes;
  int persisting_l2_bytes;
  int threads_per_multiprocessor;
  int stream_priorities;
  int global_l1_cache;
  int local_l1_cache;
  std::size_t shared_per_multiprocessor;
  int registers_per_multiprocessor;
  int managed_memory;
  int multi_gpu_board;
  int multi_gpu_board_group;
  int host_native_atomics;
  int single_to_double_ratio;
  int pageable_memory_access;
  int concurrent_managed_access;
  int compute_preemption;
  int host_pointer_for_registered;
  int cooperative_launch;
  int cooperative_multi_device_launch;
  std::size_t shared_per_block_optin;
  int host_page_tables;
  int direct_managed_access;
  int blocks_per_multiprocessor;
  int access_policy_window;
  std::size_t reserved_shared_per_block;
  int host_register;
  int sparse_arrays;
  int host_register_read_only;
  int timeline_semaphores;
  int memory_pools;
  int gpu_direct;
  unsigned gpu_direct_flush;
  int gpu_direct_ordering;
  unsigned memory_pool_handle_types;
  int deferred_mapping;
  int ipc_events;
  int cluster_launch;
  int unified_function_pointers;
  std::array<int, 63> reserved;
};
static_assert(sizeof(DeviceProperties12) == 1032);

struct DeviceProperties13 {
  std::array<char, 256> name;
  std::array<unsigned char, 16> uuid;
  std::array<char, 8> luid;
  unsigned luid_node_mask;
  std::size_t total_memory;
  std::size_t shared_per_block;
  int registers_per_block;
  int warp_size;
  std::size_t max_pitch;
  int max_block_threads;
  std::array<int, 3> max_block;
  std::array<int, 3> max_grid;
  std::size_t constant_memory;
  int major;
  int minor;
  std::size_t texture_alignment;
  std::size_t texture_pitch_alignment;
  int multiprocessors;
  int integrated;
  int can_map_host_memory;
  std::array<int, 39> textures_and_surfaces;
  std::size_t surface_alignment;
  int concurrent_kernels;
  int ecc;
  int pci_bus;
  int pci_device;
  int pci_domain;
  int tcc;
  int async_engines;
  int unified_addressing;
  int memory_bus_width;
  int l2_bytes;
  int persisting_l2_bytes;
  int threads_per_multiprocessor;
  int stream_priorities;
  int global_l1_cache;
  int local_l1_cache;
  std::size_t shared_per_multiprocessor;
  int registers_per_multiprocessor;
  int managed_memory;
  int multi_gpu_board;
  int multi_gpu_board_group;
  int host_native_atomics;
  int pageable_memory_access;
  int concurrent_managed_access;
  int compute_preemption;
  int host_pointer_for_registered;
  int cooperative_launch;
  std::size_t shared_per_block_optin;
  int host_page_tables;
  int direct_managed_access;
  int blocks_per_multiprocessor;
  int access_policy_window;
  std::size_t reserved_shared_per_block;
  int host_register;
  int sparse_arrays;
  int host_register_read_only;
  int timeline_semaphores;
  int memory_pools;
  int gpu_direct;
  unsigned gpu_direct_flush;
  int gpu_direct_ordering;
  unsigned memory_pool_handle_types;
  int deferred_mapping;
  int ipc_events;
  int cluster_launch;
  int unified_function_pointers;
  std::array<int, 63> reserved;
};
static_assert(sizeof(DeviceProperties13) == 1008);

/// Properties of device number `device`, whose profile this is.
void fill(DeviceProperties12& properties, const GpuProfile& profile, int device);
void fill(DeviceProperties13& properties, const GpuProfile& profile, int device);

/// Different for each device, the same on every run.
std::array<unsigned char, 16> uuid_of(int device);

}  // namespace ohm::interpose
