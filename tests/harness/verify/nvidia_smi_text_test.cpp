#include "harness/verify/nvidia_smi_text.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "allocator_shim/base/bytes.h"

namespace ohm::engine {
namespace {

constexpr const char* kHead =
    "\n==============NVSMI LOG==============\n\n"
    "Driver Version                                         : 590.48.01\n\n"
    "Attached GPUs                                          : 1\n";

std::string gpu(const std::string& product, const std::string& total,
                const std::string& reserved = "479 MiB") {
  return "GPU 00000000:00:09.0\n"
         "    Product Name                                       : " +
         product +
         "\n"
         "    MIG Mode\n"
         "        Current                                        : Disabled\n"
         "    FB Memory Usage\n"
         "        Total                                          : " +
         total + "\n" +
         (reserved.empty()
              ? ""
              : "        Reserved                                       : " + reserved + "\n") +
         "        Used                                           : 59 MiB\n"
         "    BAR1 Memory Usage\n"
         "        Total                                          : 131072 MiB\n";
}

std::string mig_device(const std::string& multiprocessors, const std::string& total) {
  return "    MIG Device\n"
         "        Index                                          : 0\n"
         "        Device Attributes\n"
         "            Shared\n"
         "                Multiprocessor count                   : " +
         multiprocessors +
         "\n"
         "        Shared FB Memory Usage\n"
         "            Total                                      : " +
         total +
         "\n"
         "            Reserved                                   : 0 MiB\n"
         "        Shared BAR1 Memory\n"
         "            Total                                      : 24739 MiB\n";
}

std::string sliced_gpu(const std::string& mig_devices) {
  return "GPU 00000000:00:09.0\n"
         "    Product Name                                       : NVIDIA H100 80GB HBM3\n"
         "    MIG Mode\n"
         "        Current                                        : Enabled\n" +
         mig_devices;
}

GpuSelection read(const std::string& gpus) { return read_nvidia_smi_text("smi.txt", kHead + gpus); }

std::string error_of(const std::string& gpus) {
  try {
    read(gpus);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(NvidiaSmiText, IsToldFromOtherFiles) {
  EXPECT_TRUE(is_nvidia_smi_text(kHead));
  EXPECT_TRUE(is_nvidia_smi_text("GPU 00000000:00:09.0\n"));
  EXPECT_FALSE(is_nvidia_smi_text("{\"name\": \"GPU \"}"));
  EXPECT_FALSE(is_nvidia_smi_text(""));
}

TEST(NvidiaSmiText, GivesTheCardTheMemoryThatIsNotReserved) {
  const GpuSelection one = read(gpu("NVIDIA H100 80GB HBM3", "81559 MiB"));
  EXPECT_EQ(one.profile.name, "h100-80g");
  EXPECT_EQ(one.profile.capacity_bytes, (81559 - 479) * 1_MiB);
  EXPECT_EQ(one.profile.multiprocessors, 132);
  EXPECT_EQ(one.count, std::nullopt);
  EXPECT_TRUE(one.file.empty());
}

TEST(NvidiaSmiText, ReadsOlderDrivers) {
  const GpuSelection one = read(gpu("GeForce RTX 3090", "24268 MiB", ""));
  EXPECT_EQ(one.profile.name, "rtx3090-24g");
  EXPECT_EQ(one.profile.capacity_bytes, 24268_MiB);
}

TEST(NvidiaSmiText, ReadsLinesThatEndAsOnWindows) {
  std::string text = kHead + gpu("NVIDIA L40S", "46068 MiB", "609 MiB");
  for (std::size_t i = 0; (i = text.find('\n', i)) != std::string::npos; i += 2) {
    text.insert(i, "\r");
  }
  EXPECT_EQ(read_nvidia_smi_text("smi.txt", text).profile.capacity_bytes, 45459_MiB);
}

TEST(NvidiaSmiText, CountsGpusThatAreAlike) {
  const std::string one = gpu("NVIDIA L40S", "46068 MiB");
  EXPECT_EQ(read(one + one + one).count, 3);
}

TEST(NvidiaSmiText, RefusesGpusOfSeveralKinds) {
  const std::string why =
      error_of(gpu("NVIDIA L40S", "46068 MiB") + gpu("NVIDIA H100 80GB HBM3", "81559 MiB"));
  EXPECT_TRUE(
      why.starts_with("[gpu] smi.txt:17: NVIDIA H100 80GB HBM3 of 79.18 GiB is not like "
                      "NVIDIA L40S of 44.52 GiB in line 7, "))
      << why;
  EXPECT_NE(why.find("nvidia-smi -q -i 0"), std::string::npos) << why;
}

TEST(NvidiaSmiText, GivesAProgramOneMigDevice) {
  const std::string slice = mig_device("16", "9984 MiB");
  const GpuSelection one = read(sliced_gpu(slice + slice));
  EXPECT_EQ(one.profile.name, "h100-80g-mig-1g.10gb");
  EXPECT_EQ(one.profile.capacity_bytes, 9984_MiB);
  EXPECT_EQ(one.profile.multiprocessors, 16);
  EXPECT_EQ(one.count, std::nullopt);
}

TEST(NvidiaSmiText, TakesSlicesThatAreNotInTheTable) {
  const GpuSelection one = read(sliced_gpu(mig_device("26", "19968 MiB")));
  EXPECT_EQ(one.profile.name, "h100-80g");
  EXPECT_EQ(one.profile.capacity_bytes, 19968_MiB);
  EXPECT_EQ(one.profile.multiprocessors, 26);
}

TEST(NvidiaSmiText, RefusesMigDevicesOfSeveralSizes) {
  const std::string why =
      error_of(sliced_gpu(mig_device("60", "40448 MiB") + mig_device("16", "9984 MiB")));
  EXPECT_NE(why.find("smi.txt:21: "), std::string::npos) << why;
  EXPECT_NE(why.find("keep the MIG Device section that the program gets"), std::string::npos)
      << why;
  EXPECT_NE(error_of(sliced_gpu("")).find("smi.txt:7: MIG is enabled"), std::string::npos);
}

TEST(NvidiaSmiText, NamesTheLineOfWhatIsWrong) {
  EXPECT_EQ(error_of(""),
            "[gpu] smi.txt: it has no section for a GPU; write it with: nvidia-smi -q");
  EXPECT_EQ(error_of(gpu("NVIDIA L40S", "N/A")),
            "[gpu] smi.txt:12: Total: expected a size in MiB, not \"N/A\"");
  EXPECT_EQ(error_of(gpu("NVIDIA L40S", "46068 GiB")),
            "[gpu] smi.txt:12: Total: expected a size in MiB, not \"46068 GiB\"");
  EXPECT_EQ(error_of(gpu("NVIDIA L40S", "-1 MiB")),
            "[gpu] smi.txt:12: Total: expected a size in MiB, not \"-1 MiB\"");
  EXPECT_EQ(error_of(gpu("NVIDIA L40S", "99999999999999999999 MiB")),
            "[gpu] smi.txt:12: Total: expected a size in MiB, not \"99999999999999999999 MiB\"");
  EXPECT_EQ(error_of(gpu("NVIDIA L40S", "400 MiB")),
            "[gpu] smi.txt:11: nothing of the Total is left beside what is Reserved");
  EXPECT_EQ(error_of("GPU 00000000:00:09.0\n    Product Name : NVIDIA L40S\n"),
            "[gpu] smi.txt:7: this GPU has no FB Memory Usage with a Total");
  EXPECT_EQ(error_of("GPU 00000000:00:09.0\n    FB Memory Usage\n        Total : 8 MiB\n"),
            "[gpu] smi.txt:7: this GPU has no Product Name");
  EXPECT_EQ(error_of(sliced_gpu("    MIG Device\n        Index : 0\n")),
            "[gpu] smi.txt:11: this MIG device has no FB Memory Usage with a Total");
  EXPECT_EQ(error_of(gpu("NVIDIA L40S", "700 MiB")),
            "[gpu] smi.txt:7: 221.00 MiB of memory leave nothing beside the context of l40s-48g, "
            "which takes 450.00 MiB");
}

TEST(NvidiaSmiText, SuggestsACardForOneThatIsNotInTheTable) {
  EXPECT_EQ(error_of(gpu("NVIDIA RTX 7777", "16384 MiB", "384 MiB")),
            "[gpu] smi.txt:7: \"NVIDIA RTX 7777\" is not in the table of ohm gpus, and nvidia-smi "
            "does not print its compute capability; use the nearest card with this memory: --gpu "
            "NAME,capacity=16777216000");
}

}  // namespace
}  // namespace ohm::engine
