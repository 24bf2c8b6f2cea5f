#include "reports/text/foreign_wordings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "reports/text/device_wordings.h"
#include "reports/text/host_wordings.h"
#include "reports/text/measured_text.h"
#include "reports/text/wording_figures.h"

namespace ohm::reports {

const char* const kSmallerJax =
    "Make arrays or the batch smaller, or recompute (jax.checkpoint); if another process shares "
    "the GPU, set XLA_PYTHON_CLIENT_PREALLOCATE=false.";

const char* const kSmallerTensorFlow =
    "Make the batch or the input smaller, or use mixed precision; "
    "tf.config.experimental.set_memory_growth shows whether others on the GPU matter.";

namespace {

using Match = std::cmatch;

constexpr const char* kSmallerTpu =
    "Make arrays or the batch smaller, recompute (jax.checkpoint), or shard over more devices.";
constexpr const char* kWhoHoldsIt =
    "Look with nvidia-smi at what is in use: other processes, or this one's own allocators, that "
    "leave nothing to the rest.";
constexpr const char* kVllm =
    "Raise gpu_memory_utilization, lower max_model_len, or spread the model over more GPUs "
    "(tensor_parallel_size).";
constexpr const char* kSmallerTensorRt =
    "Make the engine's largest shape or its workspace smaller, or end what else is on the GPU "
    "(nvidia-smi).";
constexpr const char* kRmm =
    "Raise the pool's maximum size, work on less at once, or use managed memory.";

constexpr const char* kTensorRtLlm =
    "Lower the KV cache's free_gpu_memory_fraction, max_batch_size or max_num_tokens, or use more "
    "GPUs.";
constexpr const char* kNccl =
    "Leave NCCL room: a smaller batch, fewer communicators or channels (NCCL_MAX_NCHANNELS), a "
    "smaller NCCL_BUFFSIZE; nvidia-smi shows what else is on the GPU.";

/// A shape, "16,112,112,147", of a type of TensorFlow; nullopt: a type that is not known.
std::optional<double> tensor_bytes(const std::string& shape, const std::string& type) {
  using Type = std::pair<std::string_view, double>;
  constexpr std::array<Type, 16> kTypes = {{{"complex128", 16},
                                            {"complex64", 8},
                                            {"double", 8},
                                            {"int64", 8},
                                            {"uint64", 8},
                                            {"float", 4},
                                            {"int32", 4},
                                            {"uint32", 4},
                                            {"half", 2},
                                            {"bfloat16", 2},
                                            {"int16", 2},
                                            {"uint16", 2},
                                            {"bool", 1},
                                            {"int8", 1},
                                            {"uint8", 1},
                                            {"float32", 4}}};
  const auto* known = std::find_if(kTypes.begin(), kTypes.end(),
                                   [&](const Type& row) { return row.first == type; });
  if (known == kTypes.end()) return std::nullopt;
  double bytes = known->second;
  const std::regex number(R"(\d+)");
  for (auto at = std::sregex_iterator(shape.begin(), shape.end(), number);
       at != std::sregex_iterator(); ++at) {
    bytes *= number_of(at->str());
  }
  return bytes;
}

/// Of programs that use a GPU, and of what ends them.
std::vector<ForeignWording> wordings_of_programs() {
  return {
      {"Triton",
       R"(out of resource: (shared memory|tensor memory|registers), Required: (\d+), Hardware limit: (\d+)\.)",
       [](const Match& m) {
         const std::string kind = m.str(1);
         return fmt::format(
             "a kernel needs {}{} of a multiprocessor's {}, which has {}; the GPU's memory is not "
             "full",
             m.str(2),
             kind == "shared memory"   ? " bytes"
             : kind == "tensor memory" ? " columns"
                                       : "",
             kind, m.str(3));
       },
       "Make the kernel's block sizes or num_stages smaller."},
      {"Triton", R"(out of resource: (\w+) Required: (\d+) Hardware limit: ?(\d+)\s+Reducing\b)",
       [](const Match& m) {
         return fmt::format(
             "the kernel {} needs {} bytes of a multiprocessor's memory, which has {}; the GPU's "
             "memory is not full",
             m.str(1), m.str(2), m.str(3));
       },
       "Make the kernel's block sizes or num_stages smaller."},
      {"Ray",
       R"(was running was ([\d.]+) ?GB / ([\d.]+) ?GB \([\d.]+\), which exceeds the memory usage threshold of (\d+\.\d+)\.(?:\s|$))",
       [](const Match& m) {
         return fmt::format(
             "the host's own memory, not the GPU's: {} of {} GB were in use on the node, and Ray "
             "kills workers above {}",
             m.str(1), m.str(2), m.str(3));
       },
       "Ask for more memory per task (@ray.remote(memory=...)), run fewer tasks at once, or use a "
       "larger node."},
      {"Ray",
       R"(Task was killed due to the node running low on memory|[Ww]orkers \(tasks / actors\) killed due to memory pressure \(OOM\)|\bRayOutOfMemoryError:)",
       [](const Match&) {
         return std::string(
             "the host's own memory, not the GPU's: the node ran low, and Ray killed a worker");
       },
       "Ask for more memory per task (@ray.remote(memory=...)), run fewer tasks at once, or use a "
       "larger node."},
      {"Ray", R"(ObjectStoreFullError|object store because it is full)",
       [](const Match&) {
         return std::string("the object store in the host's shared memory is full");
       },
       "Raise object_store_memory, or drop references to objects that are no longer needed."},
      {"TensorRT-LLM", R"(CUDA runtime error in (?:::)?cudaMalloc[^\n]{0,160}out of memory)",
       [](const Match&) { return std::string("the GPU refused a request of its buffers"); },
       kTensorRtLlm},
      {"bitsandbytes", R"(Error out of memory at line \d+ in file [^\n]{0,160}pythonInterface)",
       [](const Match&) {
         return std::string("the GPU refused memory for a quantized or paged optimizer state");
       },
       "Use a smaller batch or a paged 8-bit optimizer, or end what else is on the GPU "
       "(nvidia-smi)."},
      {"bitsandbytes",
       R"(Some modules are dispatched on the CPU or the disk\. Make sure you have enough GPU RAM to fit the quantized model)",
       [](const Match&) {
         return std::string("the quantized model does not fit into the GPU's free memory");
       },
       "Free the GPU, quantize to fewer bits, or set llm_int8_enable_fp32_cpu_offload with a "
       "device_map of your own."},
      {"vLLM",
       R"(max seq len \((\d+)\), \(?([\d.]+) (GiB) KV ?cac ?he is needed, which is larger than the available KV cache memory \((-?[\d.]+) GiB\))",
       [](const Match& m) {
         return fmt::format(
             "the KV cache of one sequence of {} tokens takes {} GiB, and {} GiB are "
             "left for it",
             m.str(1), m.str(2), m.str(4));
       },
       kVllm, [](const Match& m) { return std::optional(number_of(m.str(2)) * 0x1p30); }},
      {"vLLM",
       R"(max seq len \((\d+)\) is larger than the maximum number of tokens that can be stored in KV cache \( ?(\d+)\))",
       [](const Match& m) {
         return fmt::format(
             "a sequence of {} tokens does not fit into the KV cache, which has room "
             "for {}",
             m.str(1), m.str(2));
       },
       kVllm},
      {"vLLM", R"(No available memory for the cache blocks)",
       [](const Match&) {
         return std::string("the model's weights and activations leave nothing for the KV cache");
       },
       kVllm},
      {"vLLM",
       R"(Free memory on device[^(]{0,20}\(([\d.]+)/([\d.]+) GiB\) on startup is less than desired GPU memory utilization \(([\d.]+), ([\d.]+) GiB\))",
       [](const Match& m) {
         return fmt::format(
             "{} of {} GiB are free at the start, and gpu_memory_utilization={} asks "
             "for {} GiB: something else is on the GPU",
             m.str(1), m.str(2), m.str(3), m.str(4));
       },
       "End what else is on the GPU (nvidia-smi), or lower gpu_memory_utilization."},
      {"vLLM", R"(CUDA out of memory occurred when warming up sampler with (\d+) dummy requests)",
       [](const Match& m) {
         return fmt::format("the sampler's warm-up with {} sequences did not fit beside the cache",
                            m.str(1));
       },
       "Lower max_num_seqs or gpu_memory_utilization."},
      {"CuPy",
       R"([Oo]ut of memory allocating ([\d,]+) bytes \(allocated so far: ([\d,]+) bytes(?:, limit set to: ([\d,]+) bytes)?\))",
       [](const Match& m) {
         const std::string limit =
             m[3].matched ? fmt::format(", with a limit of {}", bytes_text(number_of(m.str(3))))
                          : "";
         return fmt::format("{} requested, with {} in CuPy's pool{}",
                            bytes_text(number_of(m.str(1))), bytes_text(number_of(m.str(2))),
                            limit);
       },
       "Free arrays and call cupy.get_default_memory_pool().free_all_blocks(), or work on less at "
       "once; other libraries on the GPU cannot use what the pool keeps.",
       first_number},
      {"CuPy", R"(out of memory to allocate (\d+) bytes \(total (\d+) bytes\))",
       [](const Match& m) {
         return fmt::format("{} requested, with {} in CuPy's pool", bytes_text(number_of(m.str(1))),
                            bytes_text(number_of(m.str(2))));
       },
       "Free arrays and call cupy.get_default_memory_pool().free_all_blocks(), or work on less at "
       "once.",
       first_number},
      {"RMM",
       R"(Maximum pool size exceeded(?: \(failed to allocate ([\d.]+) ?([KMGT]?i?B|bytes)\))?)",
       [](const Match&) { return std::string("the pool of RMM has reached its maximum size"); },
       kRmm, [](const Match& m) { return m[1].matched ? first_figure(m) : std::nullopt; }},
      {"RMM",
       R"((?:std::bad_alloc|out_of_memory)[^\n]{0,40}CUDA error(?: \(failed to allocate (\d+) bytes\))? at: [^\n]{0,300}cudaErrorMemoryAllocation)",
       [](const Match&) { return std::string("cudaMalloc refused a request of RMM"); }, kRmm,
       [](const Match& m) { return m[1].matched ? first_number(m) : std::nullopt; }},
      {"TensorFlow",
       R"(OOM when allocating tensor with shape ?\[([\d,]*)\] and type (\w+) on \S*CPU:\d+ by allocator)",
       [](const Match& m) {
         const std::optional<double> bytes = tensor_bytes(m.str(1), m.str(2));
         return fmt::format(
             "the host's own memory, not the GPU's: a tensor of shape [{}] of type {}{} did not "
             "fit",
             m.str(1), m.str(2), bytes ? fmt::format(", {},", bytes_text(*bytes)) : "");
       },
       kLessOnTheHost, [](const Match& m) { return tensor_bytes(m.str(1), m.str(2)); }},
      {"TensorFlow",
       R"(OOM when allocating tensor with shape ?\[([\d,]*)\](?: and type (\w+) on\b)?)",
       [](const Match& m) {
         const std::optional<double> bytes = tensor_bytes(m.str(1), m.str(2));
         return fmt::format("a tensor of shape [{}]{}{} did not fit", m.str(1),
                            m[2].matched ? " of type " + m.str(2) : "",
                            bytes ? fmt::format(", {},", bytes_text(*bytes)) : "");
       },
       kSmallerTensorFlow, [](const Match& m) { return tensor_bytes(m.str(1), m.str(2)); }},
      {"TensorFlow",
       R"(ran out of memory trying to allocate [\d.]+\w+ \(rounded to (\d+)\) ?requested by op(?: (\w+/[\w/.-]+))?)",
       [](const Match& m) {
         return fmt::format("{} requested{}", bytes_text(number_of(m.str(1))),
                            m[2].matched ? " by " + m.str(2) : "");
       },
       kSmallerTensorFlow, first_number},
      {"JAX",
       R"(Ran out of memory in memory space hbm[^U]{0,40}Used ([\d.]+[KMGT]?) of ([\d.]+[KMGT]?) hbm\.)",
       [](const Match& m) {
         return fmt::format("a program takes {} of HBM, and there are {}", m.str(1), m.str(2));
       },
       kSmallerTpu},
      {"JAX",
       R"(Attempting to (?:allocate|reserve) ([\d.]+[KMGT]?)(?: at the bottom of memory)?\. That was not possible\.(?: There are ([\d.]+[KMGT]?) free)?)",
       [](const Match& m) {
         return fmt::format("{} requested{}", m.str(1),
                            m[2].matched ? fmt::format(" with {} free", m.str(2)) : "");
       },
       kSmallerTpu},
      {"JAX",
       R"((?:RESOURCE_EXHAUSTED|Resource exhausted): (?:Out ?of ?memory|Failed to allocate request for [\d.]+\w+) ?(?:while trying to allocate|allocating|\() ?(\d+) ?(?:bytes|B))",
       [](const Match& m) {
         return fmt::format("XLA requested {} at once", bytes_text(number_of(m.str(1))));
       },
       kSmallerJax, first_number},
      {"JAX", R"(Out of memory while trying to allocate (\d+) bytes)",
       [](const Match& m) {
         return fmt::format("XLA requested {} at once", bytes_text(number_of(m.str(1))));
       },
       kSmallerJax, first_number},
      {"TensorFlow",
       R"(failed to allocate [\d.]+\w+ \((\d+) bytes\) from device: CUDA_ERROR_OUT_OF_MEMORY)",
       [](const Match& m) {
         return fmt::format("a single request of {} was refused", bytes_text(number_of(m.str(1))));
       },
       "TensorFlow takes nearly all of a GPU at its start: end what else is on it, or set "
       "tf.config.experimental.set_memory_growth.",
       first_number},
      {"PyTorch",
       R"(NVML_SUCCESS == r INTERNAL ASSERT FAILED at "[^"]{0,200}CUDACachingAllocator\.cpp")",
       [](const Match&) {
         return std::string(
             "PyTorch could not compose its message, since NVML does not answer for this device (a "
             "MIG instance, for one)");
       },
       "Make the batch smaller, or take a larger instance."},
      {"SGLang", R"(Not enough memory\. Please try to increase --mem-fraction-static)",
       [](const Match&) {
         return std::string("the model's weights leave nothing of its share for the KV cache");
       },
       "Raise --mem-fraction-static, or spread the model over more GPUs (--tp)."},
      {"TGI",
       R"(Not enough memory to handle (\d+) (?:total tokens with (\d+) )?prefill tokens\. You need to decrease)",
       [](const Match& m) {
         return fmt::format("the warm-up with {} prefill tokens did not fit",
                            m[2].matched ? m.str(2) : m.str(1));
       },
       "Lower --max-batch-prefill-tokens, or spread the model over more GPUs (--num-shard)."},
      {"XGBoost",
       R"(Memory allocation error on worker \d+: [^\n]{0,120}out of memory\s*(?:- )?Free memory: (\d+)\s*(?:- )?Requested memory: (?:(\d+)\s)?)",
       [](const Match& m) {
         const std::string free = bytes_text(number_of(m.str(1)));
         return m[2].matched ? fmt::format("{} requested with {} free",
                                           bytes_text(number_of(m.str(2))), free)
                             : fmt::format("{} were free", free);
       },
       "Train on parts of the data (external memory), with fewer bins, or end what else is on the "
       "GPU "
       "(nvidia-smi).",
       [](const Match& m) {
         return m[2].matched ? std::optional(number_of(m.str(2))) : std::nullopt;
       }},
      {"CUDA.jl", R"(Out of GPU memory trying to allocate ([\d.]+) ([KMGT]?i?B|bytes))",
       [](const Match& m) { return fmt::format("{} {} requested", m.str(1), m.str(2)); },
       "Free arrays before they are collected (CUDA.unsafe_free!), or work on less at once.",
       first_figure},
      {"Accelerate", R"(No executable batch size found, reached zero)",
       [](const Match&) {
         return std::string(
             "find_executable_batch_size has halved the batch down to nothing: every "
             "size ran out of memory");
       },
       "The model alone does not fit, or what failed attempts left is still held: look at the "
       "first "
       "out-of-memory error before it."},
      {"ONNX Runtime", R"(Failed to allocate memory for requested buffer of size (?:(\d+)\s)?)",
       [](const Match& m) {
         const std::string by = m[1].matched ? " by " + bytes_text(number_of(m.str(1))) : "";
         return fmt::format("its arena could not grow{}", by);
       },
       "Make the batch smaller; on a GPU, arena_extend_strategy=kSameAsRequested lets the arena "
       "ask "
       "for less.",
       [](const Match& m) { return m[1].matched ? first_number(m) : std::nullopt; }},
      {"llama.cpp", R"(allocating ([\d.]+) (MiB) on device \d+: cudaMalloc failed: out of memory)",
       [](const Match& m) { return fmt::format("a buffer of {} MiB did not fit", m.str(1)); },
       "Put fewer layers on the GPU (--n-gpu-layers), or make the context smaller.", first_figure},
      {"PaddlePaddle",
       R"(Out of memory error on GPU (\d+)\. ?Cannot allocate ([\d.]+)([KMG]?B)(?: GPU)? memory[^,]{0,20}, (?:([\d.]+)([KMG]?B) memory has been allocated and )?available memory is (?:only )?([\d.]+)([KMG]?B))",
       [](const Match& m) {
         const auto figure = [&m](std::size_t at) {
           return bytes_text(number_of(m.str(at)) * binary_unit_of(m.str(at + 1)));
         };
         const std::string held =
             m[4].matched ? fmt::format(", {} allocated", figure(4)) : std::string();
         return fmt::format("{} requested on GPU {}{}, {} free", figure(2), m.str(1), held,
                            figure(6));
       },
       "End what else is on the GPU (nvidia-smi), or make the batch smaller.",
       [](const Match& m) {
         return std::optional(number_of(m.str(2)) * binary_unit_of(m.str(3)));
       }},
      {"TensorRT", R"(Requested amount of GPU memory \((\d+) bytes\) could not be allocated)",
       [](const Match& m) {
         return fmt::format("a request of {} was refused", bytes_text(number_of(m.str(1))));
       },
       kSmallerTensorRt, first_number},
      {"TensorRT",
       R"((?:Cuda Error in (?:\w+::)*allocate: 2 \(out of memory\)|Cuda Runtime \(out of memory\)|Error Code 2: OutOfMemory\b))",
       [](const Match&) { return std::string("the GPU refused a request of its allocator"); },
       kSmallerTensorRt},
      {"MXNet", R"(pooled_storage_manager\.h:\d+: cudaMalloc failed: out of memory)",
       [](const Match&) { return std::string("the GPU refused a request of its pool"); },
       "Make the batch smaller, or end what else is on the GPU (nvidia-smi)."},
      {"PyTorch on MPS",
       R"(MPS backend out of memory \(MPS allocated: ([\d.]+) (\w+), other allocations: ([\d.]+) (\w+), max allowed: ([\d.]+) (\w+)\)(?:\. Tried to allocate ([\d.]+) ([KMGT]?i?B|bytes))?)",
       [](const Match& m) {
         const std::string request =
             m[7].matched ? fmt::format("{} {} requested with ", m.str(7), m.str(8)) : "";
         return fmt::format("{}{} {} by its allocator and {} {} beside it of {} {} allowed",
                            request, m.str(1), m.str(2), m.str(3), m.str(4), m.str(5), m.str(6));
       },
       "Make the batch smaller; PYTORCH_MPS_HIGH_WATERMARK_RATIO moves the limit, not the memory."},
      {"PyTorch on the host",
       R"(DefaultCPUAllocator: (?:can't allocate|not enough) memory: you tried to allocate (\d+) bytes)",
       [](const Match& m) {
         return fmt::format("the host's own memory, not the GPU's: {} requested",
                            bytes_text(number_of(m.str(1))));
       },
       kLessOnTheHost, first_number},
      {"PyTorch", R"(OutOfMemoryError: Allocation on device(?: \d+)?)",
       [](const Match&) {
         return std::string(
             "the GPU refused a request of the backend cudaMallocAsync, whose message has no "
             "figures");
       },
       "Load less at once on the GPU (offload models that are not in use), or make the input "
       "smaller."},
      {"PyTorch on the host",
       R"(DataLoader worker \(pid\(?s?\)? ?[\d, ]+\) is killed by signal: Killed)",
       [](const Match&) {
         return std::string(
             "a DataLoader worker was killed, as the kernel does when the host's own memory, not "
             "the GPU's, runs out");
       },
       kLessOnTheHost},
      {"PyTorch on the host",
       R"(unable to (?:write to file|mmap \d+ bytes from file|open shared memory object) </?torch_[^\n]{0,60}(?:No space left on device|Cannot allocate memory)|unable to write to file </?torch_\d+_\d+(?:_\d+)?>(?!:)|might be caused by insufficient shared memory \(shm\)|No space left on device: '/dev/shm/)",
       [](const Match&) { return std::string("the host's shared memory (/dev/shm) is full"); },
       "Make /dev/shm larger (docker run --shm-size), or use fewer workers and smaller batches."},
      {"PyTorch on the host",
       R"(DataLoader worker \(pid\(?s?\)? ?[\d, ]+\) is killed by signal: Bus error)",
       [](const Match&) {
         return std::string(
             "a DataLoader worker died of a bus error, as it does when shared memory is full");
       },
       "Make /dev/shm larger (docker run --shm-size), or use fewer workers and smaller batches."},
      {"The host", R"([Oo]ut of memory: Kill(?:ed)? process (\d+) \(([^)]{1,60})\))",
       [](const Match& m) {
         return fmt::format("the kernel killed process {} ({})", m.str(1), m.str(2));
       },
       kLessOnTheHost},
      {"The host", R"(oom-kill:constraint=[^\n]{0,300}task=([^,]{1,60}),pid=(\d+),)",
       [](const Match& m) {
         return fmt::format("the kernel killed process {} ({})", m.str(2), m.str(1));
       },
       kLessOnTheHost},
      {"The host", R"(systemd-oomd\[\d+\]: Killed \S{1,200} due to memory (?:used|pressure))",
       [](const Match&) { return std::string("systemd-oomd killed what ran, before it was full"); },
       kLessOnTheHost},
      {"The host",
       R"re(earlyoom[^\n]{0,40}: sending SIG(?:TERM|KILL) to process (\d+)(?: uid \d+)? "([^"]{1,60})")re",
       [](const Match& m) {
         return fmt::format("earlyoom ended process {} ({}), before it was full", m.str(1),
                            m.str(2));
       },
       kLessOnTheHost},
      {"The host", R"(slurmstepd: error: (?:Job \d+ )?[Ee]xceeded (?:job|step) memory limit)",
       [](const Match&) { return std::string("Slurm ended a step at the job's limit"); },
       "Ask for more (sbatch --mem), or load less at once: fewer DataLoader workers, smaller "
       "batches."},
      {"The host",
       R"(slurmstepd: error: Detected \d+ oom[-_]kill event(?:\w*(?:\(s\))? in (?:StepId=|step )([\w+]+(?:\.[\w+]+)*)\.?\s)?)",
       [](const Match& m) {
         return fmt::format("the kernel killed what ran in {}, at the job's limit",
                            m[1].matched ? "step " + m.str(1) : "a step");
       },
       "Ask for more (sbatch --mem), or load less at once: fewer DataLoader workers, smaller "
       "batches."},
      {"The host",
       R"(killed by the cgroup out-of-memory handler|State: OUT_OF_MEMORY|oom_reaper: reaped process)",
       [](const Match&) {
         return std::string("the kernel killed a process at the job's or the machine's limit");
       },
       "Ask for more (sbatch --mem), or load less at once: fewer DataLoader workers, smaller "
       "batches."},
      {"Ollama",
       R"(model requires more system memory \(([\d.]+ \w+)\) than is available \(([\d.]+ \w+)\))",
       [](const Match& m) {
         return fmt::format(
             "the host's own memory, not the GPU's: the model takes {}, and {} are available",
             m.str(1), m.str(2));
       },
       "Use a smaller or more quantized model, or a machine with more memory."},
      {"The host", R"(Reason:\s+OOMKilled)",
       [](const Match&) {
         return std::string("the kernel killed a container of Kubernetes's, at its limit");
       },
       "Raise resources.limits.memory, or load less at once: fewer DataLoader workers, smaller "
       "batches."},
      {"NumPy",
       R"(Unable to allocate ([\d.]+) ([KMGTPE]?i?B|bytes) for an array with shape (\([^)]{0,80}\))(?: and data type ((?:u?int|float|complex)\d+|bool|object)(?=\s))?)",
       [](const Match& m) {
         return fmt::format("the host's own memory, not the GPU's: {} {} for an array {}{}",
                            m.str(1), m.str(2), m.str(3), m[4].matched ? " of " + m.str(4) : "");
       },
       "Make the array or its type smaller, work on parts of it, or map it from a file.",
       first_figure},
      {"CUDA",
       R"((?:CUBLAS|CUDNN|CUSOLVER|CUSPARSE|CURAND)_STATUS_ALLOC(?:ATION)?_FAILED|CUFFT_ALLOC_FAILED|CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED|CUSPARSE_STATUS_INSUFFICIENT_RESOURCES)",
       [](const Match& m) {
         return fmt::format("a library of NVIDIA could not allocate memory ({})", m.str(0));
       },
       kWhoHoldsIt},
      {"NCCL",
       R"(Cuda failure[^']{0,20}'out of memory'[^\n]{0,300}Failed to CUDA [cm]alloc (\d+) bytes)",
       [](const Match& m) {
         return fmt::format("{} for its own buffers were refused", bytes_text(number_of(m.str(1))));
       },
       kWhoHoldsIt, first_number},
      {"NCCL", R"(Cuda failure (?:\d+ )?'out of memory')",
       [](const Match&) { return std::string("the GPU refused memory for NCCL's own buffers"); },
       kNccl},
      {"NCCL", R"(failed to extend /dev/shm/nccl-\w+ to (\d+) bytes)",
       [](const Match& m) {
         return fmt::format("the host's shared memory (/dev/shm) has no room for {} of NCCL's",
                            bytes_text(number_of(m.str(1))));
       },
       "Make /dev/shm larger (docker run --shm-size, --ipc=host).", first_number},
      {"Caffe", R"(error == cudaSuccess \(2 vs\. 0\)\s+out of memory)",
       [](const Match&) { return std::string("the GPU refused a request"); },
       "Make batch_size smaller, or end what else is on the GPU (nvidia-smi)."},
      {"Theano", R"(Error allocating (\d+) bytes of device memory)",
       [](const Match& m) {
         return fmt::format("a request of {} was refused", bytes_text(number_of(m.str(1))));
       },
       "Make the batch smaller, or end what else is on the GPU (nvidia-smi).", first_number},
      {"FAISS", R"(size (\d+) bytes \(cudaMalloc error out of memory)",
       [](const Match& m) {
         return fmt::format("a request of {} was refused", bytes_text(number_of(m.str(1))));
       },
       "Make temporary memory smaller (setTempMemory), shard the index, or store it in float16.",
       first_number},
      {"LightGBM", R"(\[LightGBM\][^\n]{0,40}\[CUDA\] out of memory)",
       [](const Match&) { return std::string("the GPU refused a request"); },
       "Use fewer bins (max_bin) or train on a part of the data."},
      {"PyCUDA", R"(pycuda\._driver\.MemoryError: \w+ failed: out of memory)",
       [](const Match&) { return std::string("the GPU refused a request"); }, kWhoHoldsIt},
      {"OpenCV", R"(\(-217:Gpu API call\) out of memory)",
       [](const Match&) { return std::string("the GPU refused a request"); }, kWhoHoldsIt},
      {"Intel GPU",
       R"((?:UR_RESULT_ERROR_OUT_OF_(?:DEVICE_MEMORY|RESOURCES)|PI_ERROR_OUT_OF_RESOURCES))",
       [](const Match& m) { return fmt::format("the driver refused a request ({})", m.str(0)); },
       "Use a smaller batch or a smaller dtype; xpu-smi shows what else is on the GPU."},
      {"Ascend NPU",
       R"(EL0004: Failed to allocate memory|EZ?9999[^\n]{0,80}alloc[^\n]{0,40}failed)",
       [](const Match&) { return std::string("the NPU refused a request"); },
       "Use a smaller batch or a smaller dtype; npu-smi info shows what else is on the NPU."},
      {"llama.cpp", R"(failed to allocate (CUDA\d+|ROCm\d+|Vulkan\d+|Metal) buffer of size (\d+))",
       [](const Match& m) { return fmt::format("a buffer did not fit on {}", m.str(1)); },
       "Put fewer layers on the GPU (--n-gpu-layers), or make the context smaller.",
       [](const Match& m) { return std::optional(number_of(m.str(2))); }},
      {"CUDA", R"(HIP error: out of memory|hipErrorOutOfMemory)",
       [](const Match&) {
         return std::string(
             "HIP itself refused, outside of an allocator that prints figures: a context, a "
             "library's workspace, a kernel's own memory");
       },
       "Look with rocm-smi at what is in use: other processes, or this one's own allocators, that "
       "leave nothing to the rest."},
      {"CUDA",
       R"(CUDA [Ee]rror: out of memory|CUDA driver error: out of memory|CUDA failed with error out of memory|cuda runtime error \(2\) ?: out of memory|(?:[:(] ?|results in |returned )(?:cudaErrorMemoryAllocation|CUDA_ERROR_OUT_OF_MEMORY)|(?:cudaErrorMemoryAllocation|CUDA_ERROR_OUT_OF_MEMORY)[:)]? \(?out of memory)",
       [](const Match&) {
         return std::string(
             "CUDA itself refused, outside of an allocator that prints figures: a "
             "context, a library's workspace, a kernel's own memory");
       },
       kWhoHoldsIt},
  };
}

}  // namespace

const std::vector<ForeignWording>& foreign_wordings() {
  static const std::vector<ForeignWording> all = [] {
    std::vector<ForeignWording> rows = wordings_of_programs();
    for (std::vector<ForeignWording> more : {wordings_of_devices(), wordings_of_host()}) {
      std::move(more.begin(), more.end(), std::back_inserter(rows));
    }
    return rows;
  }();
  return all;
}

}  // namespace ohm::reports
