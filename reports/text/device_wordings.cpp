#include "reports/text/device_wordings.h"

#include <fmt/format.h>

#include <string>

#include "reports/text/measured_text.h"
#include "reports/text/wording_figures.h"

namespace ohm::reports {

namespace {

using Match = std::cmatch;

constexpr const char* kLessOnTheGpu =
    "Make the batch, the context or the model smaller, or end what else is on the GPU.";

std::string request_refused(const Match& m) {
  return fmt::format("a request of {} was refused", bytes_text(number_of(m.str(1))));
}

std::string gpu_refused(const Match& /*match*/) { return "the GPU refused a request"; }

}  // namespace

std::vector<ForeignWording> wordings_of_devices() {
  return {
      {"NCCL",
       R"(Error while creating shared memory segment /dev/shm/nccl-\w+ \(size \d+\)(?:, error: No space left on device|(?!, error)))",
       [](const Match&) {
         return std::string(
             "a segment in the host's shared memory could not be made, as it happens when /dev/shm "
             "is full");
       },
       "Make /dev/shm larger (docker run --shm-size, --ipc=host)."},
      {"SGLang", R"((?:Prefill|Decode) out of memory\. Try to lower your batch size)",
       [](const Match&) { return std::string("the KV cache has no room for the batch's tokens"); },
       "Lower --max-running-requests or --chunked-prefill-size, or raise --mem-fraction-static."},
      {"LMDeploy", R"(CUDA runtime error: out of memory \S{0,120}turbomind)", gpu_refused,
       "Lower cache_max_entry_count or the session length, or use more GPUs (--tp)."},
      {"ExLlamaV2", R"(Insufficient VRAM for model and cache)",
       [](const Match&) { return std::string("the model and its cache do not fit on the GPUs"); },
       "Use a model of fewer bits, a quantized cache, or a shorter max_seq_len."},
      {"llama.cpp", R"(ggml_vulkan: Device memory allocation of size (\d+) failed)",
       request_refused,
       "Put fewer layers on the GPU (--n-gpu-layers), or make the context smaller.", first_number},
      {"MLX",
       R"(Attempting to allocate (\d+) bytes which is greater than the maximum allowed buffer size of (\d+) bytes)",
       [](const Match& m) {
         return fmt::format("one array takes {}, and Metal allows {} for a buffer",
                            bytes_text(number_of(m.str(1))), bytes_text(number_of(m.str(2))));
       },
       "Make that one array smaller, or compute it in parts.", first_number},
      {"Metal", R"(kIOGPUCommandBufferCallbackErrorOutOfMemory)",
       [](const Match&) {
         return std::string(
             "the work of a command buffer does not fit into the GPU's share of the "
             "memory");
       },
       "Use a smaller model, context or batch, or close what else takes memory."},
      {"PyTorch on MPS", R"(RuntimeError: Invalid buffer size: ([\d.]+) ([KMGT]?i?B|bytes))",
       [](const Match& m) {
         return fmt::format("one tensor takes {} {}, more than Metal allows for a buffer", m.str(1),
                            m.str(2));
       },
       "Make that one tensor smaller: attention in slices, a smaller batch or input.",
       first_figure},
      {"PyTorch on DirectML",
       R"(Could not allocate tensor with (\d+) bytes\. There is not enough GPU video memory available)",
       request_refused, kLessOnTheGpu, first_number},
      {"Intel Gaudi", R"(PT_DEVMEM Allocation failed for size::(\d+)\s)", request_refused,
       "Use a smaller batch or a shorter sequence; hl-smi shows what else is on the device.",
       first_number},
      {"OpenCL", R"(\b(?:CL_)?MEM_OBJECT_ALLOCATION_FAILURE\b)",
       [](const Match&) { return std::string("the device had no room for a buffer"); },
       kLessOnTheGpu},
      {"CatBoost", R"(catboost/[^\n]{0,120}CUDA error 2: out of memory)", gpu_refused,
       "Lower border_count or depth, or end what else is on the GPU (nvidia-smi)."},
      {"MATLAB",
       R"(Out of memory on device\. To view more detail about available memory on the GPU)",
       gpu_refused, "Clear gpuArrays that are not needed, or work on less at once."},
      {"Blender", R"(System is out of GPU memory)",
       [](const Match&) { return std::string("the scene does not fit on the GPU"); },
       "Use smaller textures or less geometry, or render on the CPU."},
      {"FFmpeg", R"(OpenEncodeSessionEx failed: out of memory \(10\))",
       [](const Match&) {
         return std::string(
             "the driver refused an encoding session: the GPU's memory is full, or it "
             "has reached the most sessions that it allows");
       },
       "Encode fewer streams at once, or end what else is on the GPU (nvidia-smi)."},
  };
}

}  // namespace ohm::reports
