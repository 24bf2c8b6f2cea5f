#include "allocator_shim/interpose/device_properties.h"

#include <algorithm>
#include <string>

#include "allocator_shim/interpose/device_model.h"

namespace ohm::interpose {
namespace {

/// What both layouts have. Each figure is the attribute of the same name.
template <typename Properties>
void fill_common(Properties& p, const GpuProfile& profile, int device) {
  const auto value = [&](int attribute) { return attribute_of(profile, device, attribute); };
  const auto size = [&](int attribute) { return static_cast<std::size_t>(value(attribute)); };
  p = {};
  const std::string name = product_name(profile);
  std::copy_n(name.begin(), std::min(name.size(), p.name.size() - 1), p.name.begin());
  p.uuid = uuid_of(device);
  p.total_memory = profile.capacity_bytes;
  p.shared_per_block = size(8);
  p.registers_per_block = value(12);
  p.warp_size = value(10);
  p.max_pitch = size(11);
  p.max_block_threads = value(1);
  p.max_block = {value(2), value(3), value(4)};
  p.max_grid = {value(5), value(6), value(7)};
  p.constant_memory = size(9);
  p.major = value(75);
  p.minor = value(76);
  p.texture_alignment = size(14);
  p.texture_pitch_alignment = size(51);
  p.multiprocessors = value(16);
  p.can_map_host_memory = value(19);
  p.surface_alignment = size(30);
  p.concurrent_kernels = value(31);
  p.ecc = value(32);
  p.pci_bus = value(33);
  p.async_engines = value(40);
  p.unified_addressing = value(41);
  p.memory_bus_width = value(37);
  p.l2_bytes = value(38);
  p.persisting_l2_bytes = value(108);
  p.threads_per_multiprocessor = value(39);
  p.stream_priorities = value(78);
  p.global_l1_cache = value(79);
  p.local_l1_cache = value(80);
  p.shared_per_multiprocessor = size(81);
  p.registers_per_multiprocessor = value(82);
  p.managed_memory = value(83);
  p.concurrent_managed_access = value(89);
  p.compute_preemption = value(90);
  p.host_pointer_for_registered = value(91);
  p.cooperative_launch = value(95);
  p.shared_per_block_optin = size(97);
  p.blocks_per_multiprocessor = value(106);
  p.reserved_shared_per_block = size(111);
  p.host_register = value(99);
  p.memory_pools = value(115);
  p.cluster_launch = value(120);
}

/// In the order of cudaDeviceProp. `left_out`: an attribute that a release does not have there.
template <std::size_t Count>
void fill_textures(std::array<int, Count>& figures, const GpuProfile& profile, int device,
                   int left_out = 0) {
  constexpr std::array kAttributes = {21, 77, 69, 22, 23, 73, 74, 70, 71, 72, 45, 46, 24, 25,
                                      26, 47, 48, 49, 52, 42, 43, 27, 28, 29, 53, 54, 55, 56,
                                      57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68};
  std::size_t place = 0;
  for (const int attribute : kAttributes) {
    if (attribute == left_out) continue;
    figures.at(place++) = attribute_of(profile, device, attribute);
  }
}

}  // namespace

void fill(DeviceProperties12& properties, const GpuProfile& profile, int device) {
  fill_common(properties, profile, device);
  properties.clock_rate = attribute_of(profile, device, 13);
  properties.gpu_overlap = attribute_of(profile, device, 15);
  properties.memory_clock_rate = attribute_of(profile, device, 36);
  properties.single_to_double_ratio = attribute_of(profile, device, 87);
  properties.cooperative_multi_device_launch = properties.cooperative_launch;
  fill_textures(properties.textures_and_surfaces, profile, device);
}

void fill(DeviceProperties13& properties, const GpuProfile& profile, int device) {
  fill_common(properties, profile, device);
  constexpr int kTexture1DLinear = 69;
  fill_textures(properties.textures_and_surfaces, profile, device, kTexture1DLinear);
}

std::array<unsigned char, 16> uuid_of(int device) {
  std::array<unsigned char, 16> uuid = {'o', 'h', 'm'};
  uuid.back() = static_cast<unsigned char>(device + 1);
  return uuid;
}

}  // namespace ohm::interpose
