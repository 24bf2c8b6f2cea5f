#include "allocator_shim/interpose/device_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>
#include <cstring>
#include <string_view>

namespace ohm::interpose {
namespace {

// capability, blocks, shared per multiprocessor, shared per block on request, L2
constexpr std::array<Architecture, 8> kArchitectures = {{
    {37, 16, 114'688, 49'152, 1'572'864},
    {70, 32, 98'304, 98'304, 6'291'456},
    {75, 16, 65'536, 65'536, 4'194'304},
    {80, 32, 167'936, 166'912, 41'943'040},
    {86, 16, 102'400, 101'376, 6'291'456},
    {89, 24, 102'400, 101'376, 75'497'472},
    {90, 32, 233'472, 232'448, 52'428'800},
    {100, 32, 233'472, 232'448, 132'644'864},
}};

constexpr int kFirstBus = 4;

struct Attribute {
  int number;
  int value;
};

constexpr int kMostTexture1D = 131'072;
constexpr int kMostTexture3D = 16'384;
constexpr int kMostLayered = 32'768;
constexpr int kMostLayers = 2'048;
constexpr int kMostCubemapLayers = 2'046;

// The same on every card. Numbers of cudaDeviceAttr.
constexpr std::array<Attribute, 77> kCommonAttributes = {{
    {1, kMaxBlockThreads},        // MaxThreadsPerBlock
    {2, kMaxBlockThreads},        // MaxBlockDimX
    {3, kMaxBlockThreads},        // MaxBlockDimY
    {4, 64},                      // MaxBlockDimZ
    {5, INT_MAX},                 // MaxGridDimX
    {6, 65'535},                  // MaxGridDimY
    {7, 65'535},                  // MaxGridDimZ
    {8, kSharedBytes},            // MaxSharedMemoryPerBlock
    {9, 65'536},                  // TotalConstantMemory
    {10, kWarpThreads},           // WarpSize
    {11, INT_MAX},                // MaxPitch
    {12, kRegisters},             // MaxRegistersPerBlock
    {13, 1'410'000},              // ClockRate, kHz
    {14, 512},                    // TextureAlignment
    {15, 1},                      // GpuOverlap
    {19, 1},                      // CanMapHostMemory
    {30, 512},                    // SurfaceAlignment
    {31, 1},                      // ConcurrentKernels
    {32, 1},                      // EccEnabled
    {36, 1'593'000},              // MemoryClockRate, kHz
    {37, 5'120},                  // GlobalMemoryBusWidth, bits
    {40, 3},                      // AsyncEngineCount
    {41, 1},                      // UnifiedAddressing
    {51, 32},                     // TexturePitchAlignment
    {78, 1},                      // StreamPrioritiesSupported
    {79, 1},                      // GlobalL1CacheSupported
    {80, 1},                      // LocalL1CacheSupported
    {82, kRegisters},             // MaxRegistersPerMultiprocessor
    {83, 1},                      // ManagedMemory
    {87, 2},                      // SingleToDoublePrecisionPerfRatio
    {89, 1},                      // ConcurrentManagedAccess
    {90, 1},                      // ComputePreemptionSupported
    {91, 1},                      // CanUseHostPointerForRegisteredMem
    {95, 1},                      // CooperativeLaunch
    {99, 1},                      // HostRegisterSupported
    {111, kReservedSharedBytes},  // ReservedSharedMemoryPerBlock
    {115, 1},                     // MemoryPoolsSupported
    // Of textures and surfaces, as the programming guide lists them from Pascal on.
    {21, kMostTexture1D},      // MaxTexture1DWidth
    {22, kMostTexture1D},      // MaxTexture2DWidth
    {23, 65'536},              // MaxTexture2DHeight
    {24, kMostTexture3D},      // MaxTexture3DWidth
    {25, kMostTexture3D},      // MaxTexture3DHeight
    {26, kMostTexture3D},      // MaxTexture3DDepth
    {27, kMostLayered},        // MaxTexture2DLayeredWidth
    {28, kMostLayered},        // MaxTexture2DLayeredHeight
    {29, kMostLayers},         // MaxTexture2DLayeredLayers
    {42, kMostLayered},        // MaxTexture1DLayeredWidth
    {43, kMostLayers},         // MaxTexture1DLayeredLayers
    {45, kMostLayered},        // MaxTexture2DGatherWidth
    {46, kMostLayered},        // MaxTexture2DGatherHeight
    {47, 8'192},               // MaxTexture3DWidthAlt
    {48, 8'192},               // MaxTexture3DHeightAlt
    {49, 32'768},              // MaxTexture3DDepthAlt
    {52, kMostLayered},        // MaxTextureCubemapWidth
    {53, kMostLayered},        // MaxTextureCubemapLayeredWidth
    {54, kMostCubemapLayers},  // MaxTextureCubemapLayeredLayers
    {55, kMostLayered},        // MaxSurface1DWidth
    {56, kMostTexture1D},      // MaxSurface2DWidth
    {57, 65'536},              // MaxSurface2DHeight
    {58, kMostTexture3D},      // MaxSurface3DWidth
    {59, kMostTexture3D},      // MaxSurface3DHeight
    {60, kMostTexture3D},      // MaxSurface3DDepth
    {61, kMostLayered},        // MaxSurface1DLayeredWidth
    {62, kMostLayers},         // MaxSurface1DLayeredLayers
    {63, kMostLayered},        // MaxSurface2DLayeredWidth
    {64, kMostLayered},        // MaxSurface2DLayeredHeight
    {65, kMostLayers},         // MaxSurface2DLayeredLayers
    {66, kMostLayered},        // MaxSurfaceCubemapWidth
    {67, kMostLayered},        // MaxSurfaceCubemapLayeredWidth
    {68, kMostCubemapLayers},  // MaxSurfaceCubemapLayeredLayers
    {69, 1 << 28},             // MaxTexture1DLinearWidth
    {70, kMostTexture1D},      // MaxTexture2DLinearWidth
    {71, 65'000},              // MaxTexture2DLinearHeight
    {72, 2'097'120},           // MaxTexture2DLinearPitch
    {73, kMostLayered},        // MaxTexture2DMipmappedWidth
    {74, kMostLayered},        // MaxTexture2DMipmappedHeight
    {77, kMostLayered},        // MaxTexture1DMipmappedWidth
}};

}  // namespace

const Architecture& architecture_of(const GpuProfile& profile) {
  const int capability = 10 * profile.compute_capability[0] + profile.compute_capability[1];
  const auto* above =
      std::find_if(kArchitectures.begin(), kArchitectures.end(),
                   [&](const Architecture& row) { return row.capability > capability; });
  return above == kArchitectures.begin() ? kArchitectures.front() : *(above - 1);
}

std::string product_name(const GpuProfile& profile) {
  return profile.product.empty() ? profile.name : profile.product;
}

int resident_blocks(const GpuProfile& profile, int threads, std::size_t shared_bytes) {
  const Architecture& architecture = architecture_of(profile);
  int blocks = profile.threads_per_multiprocessor / std::max(threads, 1);
  blocks = std::min(blocks, architecture.max_blocks);
  if (shared_bytes > 0) {
    const auto by_shared_memory =
        static_cast<std::size_t>(architecture.shared_bytes) / (shared_bytes + kReservedSharedBytes);
    blocks = static_cast<int>(std::min(static_cast<std::size_t>(blocks), by_shared_memory));
  }
  return blocks;
}

std::size_t shared_bytes_of_each(const GpuProfile& profile, int blocks) {
  const Architecture& architecture = architecture_of(profile);
  const auto whole = static_cast<std::size_t>(architecture.shared_bytes);
  const std::size_t part = whole / static_cast<std::size_t>(blocks);
  const std::size_t left = part - std::min<std::size_t>(part, kReservedSharedBytes);
  return std::min(left, static_cast<std::size_t>(architecture.shared_bytes_optin));
}

bool is_attribute(int attribute) {
  constexpr int kLast = 150;  // of CUDA 13
  return attribute > 0 && attribute <= kLast;
}

int attribute_of(const GpuProfile& profile, int device, int attribute) {
  const Architecture& architecture = architecture_of(profile);
  switch (attribute) {
    case 16:  // MultiProcessorCount
      return profile.multiprocessors;
    case 33:  // PciBusId
      return kFirstBus + device;
    case 38:  // L2CacheSize
      return architecture.l2_bytes;
    case 39:  // MaxThreadsPerMultiProcessor
      return profile.threads_per_multiprocessor;
    case 75:  // ComputeCapabilityMajor
      return profile.compute_capability[0];
    case 76:  // ComputeCapabilityMinor
      return profile.compute_capability[1];
    case 81:  // MaxSharedMemoryPerMultiprocessor
      return architecture.shared_bytes;
    case 97:  // MaxSharedMemoryPerBlockOptin
      return architecture.shared_bytes_optin;
    case 102:  // the driver's VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED
      return 1;
    case 106:  // MaxBlocksPerMultiprocessor
      return architecture.max_blocks;
    case 108:  // MaxPersistingL2CacheSize
      return architecture.l2_bytes / 4 * 3;
    case 120:  // ClusterLaunch
      return profile.compute_capability[0] >= 9 ? 1 : 0;
    default:
      break;
  }
  for (const Attribute& row : kCommonAttributes) {
    if (row.number == attribute) return row.value;
  }
  return 0;
}

std::string uuid_text(int device) {
  return fmt::format("GPU-6f686d00-0000-0000-0000-{:012x}", device + 1);
}

int device_named(std::string_view word, int count) {
  constexpr std::string_view kUuidPrefix = "GPU-";
  if (word.starts_with(kUuidPrefix)) {
    for (int device = 0; device < count; ++device) {
      if (uuid_text(device).starts_with(word)) return device;
    }
    return -1;
  }
  int device = -1;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), device);
  const bool is_number = error == std::errc() && end == word.data() + word.size();
  return is_number && device < count ? device : -1;
}

std::string pci_bus_id(int device) {
  return fmt::format("00000000:{:02x}:00.0", kFirstBus + device);
}

int device_of_pci_bus_id(const char* text) {
  // [domain]:[bus]:[device].[function], the domain may be left out.
  std::string_view rest = text;
  if (std::count(rest.begin(), rest.end(), ':') == 2) rest.remove_prefix(rest.find(':') + 1);
  int bus = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), bus, 16);
  return error == std::errc() && *end == ':' ? bus - kFirstBus : -1;
}

}  // namespace ohm::interpose
