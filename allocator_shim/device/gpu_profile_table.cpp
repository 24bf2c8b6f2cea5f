// The virtual GPUs that have a name: one row each.
//
// Capacity is what the runtime reports as total, mostly with Linux drivers; it differs by some MiB
// between releases of the driver. Multiprocessors and compute capability come from the same output,
// or from NVIDIA's specification; L2 only from the output.
#include <array>
#include <string_view>
#include <vector>

#include "allocator_shim/base/bytes.h"
#include "allocator_shim/device/gpu_profile.h"

namespace ohm {
namespace {

/// The bytes that print as `hundredths` / 100 GiB, in whole granules of 64 KiB.
constexpr std::size_t printed_gib(std::size_t hundredths) {
  return hundredths * 1_GiB / 100 / 64_KiB * 64_KiB;
}

constexpr bool kExact = true;
constexpr bool kRounded = false;

struct Context {
  std::size_t bytes;
  bool is_measured;
};
constexpr Context kAssumed = {450_MiB, false};
// Of a card whose driver is 580: what cudaMemGetInfo says is gone once CUDA has started.
constexpr Context kHopper = {552'402'944, true};
// By which repeated measurements in xMem's data differ: NVML's first sample came before or after
// the context.
constexpr Context kRtx3060 = {502_MiB, true};

struct Card {
  std::string_view name;
  std::string_view product;
  std::size_t capacity_bytes;
  bool capacity_is_exact;
  Context context;
  std::array<int, 2> compute_capability;
  int multiprocessors;
  std::size_t l2_cache_bytes;
  std::string_view source;
};

// Who published a capacity: outputs of a card, in repositories and threads on GitHub. Of
// nvidia-smi's figures it is the total less what is reserved.
constexpr std::string_view kMessages = "PyTorch's out-of-memory messages";
constexpr std::string_view kDeviceQueries = "deviceQuery";
constexpr std::string_view kMt4g = "device query, caps-tum/mt4g";
constexpr std::string_view kTelegraf = "nvidia-smi, influxdata/telegraf";
constexpr std::string_view kExporter = "nvidia-smi, utkuozdemir/nvidia_gpu_exporter";
constexpr std::string_view kOpenClBenchmark = "OpenCL, ProjectPhysX/OpenCL-Benchmark";
constexpr std::string_view kHashcat = "hashcat, siseci/hashcat-benchmark-comparison";
constexpr std::string_view kXmem = "PyTorch, Stone-ResearchLife/xMem";
constexpr std::string_view kJumperkables = "device query, Jumperkables/cuda-benchmarking";
constexpr std::string_view kGoNvml = "MIG profiles, NVIDIA/go-nvml";
constexpr std::string_view kMigParted = "nvidia-smi mig -lgip, NVIDIA/mig-parted#139";
constexpr std::string_view kGpuOperator = "nvidia-smi mig -lgip, NVIDIA/gpu-operator#1303";

// clang-format off
constexpr std::array kCards = {
    Card{"k80-12g", "Tesla K80", 11'996'954'624,
         kExact, kAssumed, {3, 7}, 13, 0, kDeviceQueries},
    Card{"v100-16g", "Tesla V100-SXM2-16GB", printed_gib(1578),
         kRounded, kAssumed, {7, 0}, 80, 0, kMessages},
    Card{"v100-pcie-16g", "Tesla V100-PCIE-16GB", 16'928'342'016,
         kExact, kAssumed, {7, 0}, 80, 6'291'456, kMt4g},
    Card{"t4-16g", "Tesla T4", printed_gib(1475),
         kRounded, kAssumed, {7, 5}, 40, 0, kMessages},
    Card{"a100-40g", "NVIDIA A100-SXM4-40GB", 42'298'834'944,
         kExact, kAssumed, {8, 0}, 108, 41'943'040,
         "deviceQuery, bottlerocket-os/bottlerocket#3873"},
    Card{"a100-pcie-40g", "NVIDIA A100-PCIE-40GB", 42'406'903'808,
         kExact, kAssumed, {8, 0}, 108, 41'943'040, kMt4g},
    Card{"a100-80g", "NVIDIA A100-SXM4-80GB", printed_gib(7914),
         kRounded, kAssumed, {8, 0}, 108, 0, kMessages},
    Card{"a10-24g", "NVIDIA A10", 23'609'475'072,
         kExact, kAssumed, {8, 6}, 72, 6'291'456, "device query, aalanwyr/face2cuda"},
    Card{"a10g-24g", "NVIDIA A10G", 22'593_MiB,
         kRounded, kAssumed, {8, 6}, 80, 0, kTelegraf},
    Card{"l4-24g", "NVIDIA L4", printed_gib(2217),
         kRounded, kAssumed, {8, 9}, 58, 0, kMessages},
    Card{"l40s-48g", "NVIDIA L40S", 45'459_MiB,
         kRounded, kAssumed, {8, 9}, 142, 0, kExporter},
    Card{"h100-80g", "NVIDIA H100 80GB HBM3", printed_gib(7910),
         kRounded, kHopper, {9, 0}, 132, 52'428'800, kMessages},
    Card{"h100-nvl-94g", "NVIDIA H100 NVL", 99'960'750'080,
         kExact, kAssumed, {9, 0}, 132, 62'914'560, kMt4g},
    Card{"h200-141g", "NVIDIA H200", 150'109'880'320,
         kExact, kHopper, {9, 0}, 132, 0, "read from a card"},
    Card{"b200-180g", "NVIDIA B200", 182'642_MiB,
         kRounded, kAssumed, {10, 0}, 148, 0, kOpenClBenchmark},
    Card{"b300-288g", "NVIDIA B300 SXM6 AC", 274'113_MiB,
         kRounded, kAssumed, {10, 3}, 148, 0, kOpenClBenchmark},
    Card{"titanx-12g", "GeForce GTX TITAN X", 12'287_MiB,
         kRounded, kAssumed, {5, 2}, 24, 0, kHashcat},
    Card{"gtx980-4g", "GeForce GTX 980", 4'233'887'744,
         kExact, kAssumed, {5, 2}, 16, 0, "deviceQuery, NVIDIA/nvidia-docker#471"},
    Card{"gtx980ti-6g", "GeForce GTX 980 Ti", 6'143_MiB,
         kRounded, kAssumed, {5, 2}, 22, 0, kHashcat},
    Card{"gtx1070-8g", "GeForce GTX 1070", 8'114_MiB,
         kRounded, kAssumed, {6, 1}, 15, 0, kHashcat},
    Card{"gtx1080-8g", "GeForce GTX 1080", 8'113_MiB,
         kRounded, kAssumed, {6, 1}, 20, 0, kHashcat},
    Card{"gtx1080ti-11g", "GeForce GTX 1080 Ti", 11'715'084'288,
         kExact, kAssumed, {6, 1}, 28, 2'883'584, "deviceQuery, ethereum-mining/ethminer#536"},
    Card{"titanxp-12g", "NVIDIA TITAN Xp", 12'183_MiB,
         kRounded, kAssumed, {6, 1}, 30, 0, kOpenClBenchmark},
    Card{"p400-2g", "Quadro P400", 1'998_MiB,
         kRounded, kAssumed, {6, 1}, 2, 0, kTelegraf},
    Card{"p2000-5g", "Quadro P2000", 5'054_MiB,
         kRounded, kAssumed, {6, 1}, 8, 0, kTelegraf},
    Card{"p6000-24g", "Quadro P6000", 25'623'527'424,
         kExact, kAssumed, {6, 1}, 30, 3'145'728, kMt4g},
    Card{"t1000-4g", "NVIDIA T1000", 3'897'229'312,
         kExact, kAssumed, {7, 5}, 14, 1'048'576, kMt4g},
    Card{"rtx2070-8g", "NVIDIA GeForce RTX 2070", 7'979_MiB,
         kRounded, kAssumed, {7, 5}, 36, 0, "device query, ekondis/mixbench"},
    Card{"rtx2070super-8g", "NVIDIA GeForce RTX 2070 SUPER", 7'979_MiB,
         kRounded, kAssumed, {7, 5}, 40, 0, "hashcat, analsec/hashcatbenchmark"},
    Card{"rtx2080-8g", "NVIDIA GeForce RTX 2080", 7'778_MiB,
         kRounded, kAssumed, {7, 5}, 46, 4_MiB, "device query, abdullah0096/learningCuda"},
    Card{"rtx2080super-8g", "NVIDIA GeForce RTX 2080 SUPER", 7'784_MiB,
         kRounded, kAssumed, {7, 5}, 48, 0, kExporter},
    Card{"rtx2080ti-11g", "NVIDIA GeForce RTX 2080 Ti", 11'348'672'512,
         kExact, kAssumed, {7, 5}, 68, 5'767'168, kMt4g},
    Card{"rtx3060-12g", "NVIDIA GeForce RTX 3060", 12'622'168'064,
         kExact, kRtx3060, {8, 6}, 28, 0, kXmem},
    Card{"rtx3080-10g", "NVIDIA GeForce RTX 3080", 9'843_MiB,
         kRounded, kAssumed, {8, 6}, 68, 0, kTelegraf},
    Card{"rtx3090-24g", "NVIDIA GeForce RTX 3090", 25'286'672'384,
         kExact, kAssumed, {8, 6}, 82, 6'291'456, kJumperkables},
    Card{"rtx4060-8g", "NVIDIA GeForce RTX 4060", 8'318'222'336,
         kExact, kAssumed, {8, 9}, 24, 0, kXmem},
    Card{"rtx4080super-16g", "NVIDIA GeForce RTX 4080 SUPER", 15'942_MiB,
         kRounded, kAssumed, {8, 9}, 80, 0, kExporter},
    Card{"rtx4090-24g", "NVIDIA GeForce RTX 4090", printed_gib(2365),
         kRounded, kAssumed, {8, 9}, 128, 0, kMessages},
    Card{"rtx4000sffada-20g", "NVIDIA RTX 4000 SFF Ada Generation", 20'015_MiB,
         kRounded, kAssumed, {8, 9}, 48, 0, kTelegraf},
    Card{"rtx5060ti-16g", "NVIDIA GeForce RTX 5060 Ti", 16'617'897'984,
         kExact, kAssumed, {12, 0}, 36, 33'554'432, kJumperkables},
    Card{"rtx5090-32g", "NVIDIA GeForce RTX 5090", 33'680'457'728,
         kExact, kAssumed, {12, 0}, 170, 100'663'296, "deviceQuery, NVIDIA/nccl#1637"},
    Card{"jetson-tx2-8g", "NVIDIA Tegra X2", 8'223'334'400,
         kExact, kAssumed, {6, 2}, 2, 524'288, "deviceQuery, kozyilmaz/nvidia-jetson-rt"},
    Card{"a100-40g-mig-1g.5gb", "NVIDIA A100-SXM4-40GB MIG 1g.5gb", 4'864_MiB,
         kRounded, kAssumed, {8, 0}, 14, 0, kGoNvml},
    Card{"a100-40g-mig-1g.10gb", "NVIDIA A100-SXM4-40GB MIG 1g.10gb", 9'856_MiB,
         kRounded, kAssumed, {8, 0}, 14, 0, kGoNvml},
    Card{"a100-40g-mig-2g.10gb", "NVIDIA A100-SXM4-40GB MIG 2g.10gb", 9'856_MiB,
         kRounded, kAssumed, {8, 0}, 28, 0, kGoNvml},
    Card{"a100-40g-mig-3g.20gb", "NVIDIA A100-SXM4-40GB MIG 3g.20gb", 19'968_MiB,
         kRounded, kAssumed, {8, 0}, 42, 0, kGoNvml},
    Card{"a100-40g-mig-4g.20gb", "NVIDIA A100-SXM4-40GB MIG 4g.20gb", 19'968_MiB,
         kRounded, kAssumed, {8, 0}, 56, 0, kGoNvml},
    Card{"a100-40g-mig-7g.40gb", "NVIDIA A100-SXM4-40GB MIG 7g.40gb", 40'192_MiB,
         kRounded, kAssumed, {8, 0}, 98, 0, kGoNvml},
    Card{"a100-80g-mig-1g.20gb", "NVIDIA A100-SXM4-80GB MIG 1g.20gb", 19'968_MiB,
         kRounded, kAssumed, {8, 0}, 14, 0, kTelegraf},
    Card{"h100-80g-mig-1g.10gb", "NVIDIA H100 80GB HBM3 MIG 1g.10gb", 9'984_MiB,
         kRounded, kAssumed, {9, 0}, 16, 0, kExporter},
    Card{"h100-80g-mig-2g.20gb", "NVIDIA H100 80GB HBM3 MIG 2g.20gb", 20'096_MiB,
         kRounded, kAssumed, {9, 0}, 32, 0, kExporter},
    Card{"h100-80g-mig-3g.40gb", "NVIDIA H100 80GB HBM3 MIG 3g.40gb", 40'448_MiB,
         kRounded, kAssumed, {9, 0}, 60, 0, kExporter},
    Card{"h200-141g-mig-1g.18gb", "NVIDIA H200 MIG 1g.18gb", 16'384_MiB,
         kRounded, kAssumed, {9, 0}, 16, 0, kExporter},
    Card{"h200-141g-mig-2g.35gb", "NVIDIA H200 MIG 2g.35gb", 33'280_MiB,
         kRounded, kAssumed, {9, 0}, 32, 0, kExporter},
    Card{"gh200-144g-mig-1g.18gb", "NVIDIA GH200 144G HBM3e MIG 1g.18gb", printed_gib(1750),
         kRounded, kAssumed, {9, 0}, 16, 0, kMigParted},
    Card{"gh200-144g-mig-1g.36gb", "NVIDIA GH200 144G HBM3e MIG 1g.36gb", printed_gib(3525),
         kRounded, kAssumed, {9, 0}, 26, 0, kMigParted},
    Card{"gh200-144g-mig-2g.36gb", "NVIDIA GH200 144G HBM3e MIG 2g.36gb", printed_gib(3525),
         kRounded, kAssumed, {9, 0}, 32, 0, kMigParted},
    Card{"gb200-192g-mig-1g.24gb", "NVIDIA GB200 MIG 1g.24gb", printed_gib(2000),
         kRounded, kAssumed, {10, 0}, 18, 0, kGpuOperator},
    Card{"gb200-192g-mig-1g.47gb", "NVIDIA GB200 MIG 1g.47gb", printed_gib(4550),
         kRounded, kAssumed, {10, 0}, 32, 0, kGpuOperator},
    Card{"gb200-192g-mig-2g.47gb", "NVIDIA GB200 MIG 2g.47gb", printed_gib(4550),
         kRounded, kAssumed, {10, 0}, 38, 0, kGpuOperator},
};
// clang-format on

/// cuDNN was measured on an H100 and an H200; a MIG device of one was not.
bool has_measured_cudnn(const Card& card) {
  return card.context.bytes == kHopper.bytes && card.context.is_measured;
}

GpuProfile profile_of(const Card& card) {
  GpuProfile profile;
  profile.name = card.name;
  profile.capacity_bytes = card.capacity_bytes;
  profile.capacity_is_exact = card.capacity_is_exact;
  profile.context_bytes = card.context.bytes;
  profile.compute_capability = card.compute_capability;
  profile.multiprocessors = card.multiprocessors;
  profile.threads_per_multiprocessor = threads_per_multiprocessor(card.compute_capability);
  profile.cublas_workspace_bytes = cublas_workspace_bytes(card.compute_capability);
  profile.has_measured_cudnn = has_measured_cudnn(card);
  profile.has_recurrent_reserve = card.context.bytes > 0;
  profile.product = card.product;
  profile.l2_cache_bytes = card.l2_cache_bytes;
  profile.context_is_measured = card.context.is_measured;
  profile.source = card.source;
  return profile;
}

/// No card: all of it is for the program.
GpuProfile profile_without_context(std::string_view name, std::size_t capacity_bytes,
                                   const std::array<int, 2>& compute_capability,
                                   int multiprocessors, std::string_view source) {
  return profile_of({name,
                     "",
                     capacity_bytes,
                     kExact,
                     {0, true},
                     compute_capability,
                     multiprocessors,
                     0,
                     source});
}

std::vector<GpuProfile> all_profiles() {
  std::vector<GpuProfile> all;
  for (const Card& card : kCards) all.push_back(profile_of(card));
  // Small enough that a page of code fills it, and without workspaces.
  all.push_back(profile_without_context("tiny-64m", 64_MiB, {8, 0}, 108, "for teaching"));
  all.back().cublas_workspace_bytes = 0;
  constexpr std::string_view kRecorded = "what PyTorch's recorded programs ran on";
  all.push_back(profile_without_context("golden-sm80", 80_GiB, {8, 0}, 108, kRecorded));
  all.push_back(profile_without_context("golden-sm90", 80_GiB, {9, 0}, 132, kRecorded));
  return all;
}

}  // namespace

std::span<const GpuProfile> gpu_profiles() {
  static const std::vector<GpuProfile> kProfiles = all_profiles();
  return kProfiles;
}

}  // namespace ohm
