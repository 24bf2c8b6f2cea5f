"""Writes tests/golden/oom_messages.txt: out-of-memory messages as they stand in logs, each with what
is true of it. The wordings are those of the programs' versions; the figures are made up, or of logs
that people have published.

    python3 messages.py > ../golden/oom_messages.txt

Each begins with a line `=== NAME`, then `KEY: VALUE` lines (source, and of PyTorch's cause and
request; place: the user's line), an empty line, and the text.
"""
import json
import textwrap

import more_messages
import rarer_messages

GI, MI = "GiB", "MiB"


def v1(request, gpu, total, allocated, free, reserved, tail=""):
    return (f"RuntimeError: CUDA out of memory. Tried to allocate {request} (GPU {gpu}; {total} total "
            f"capacity; {allocated} already allocated; {free} free; {reserved}{tail}")


def cached(request, gpu, total, allocated, free, cache):  # 1.0 to 1.3
    return v1(request, gpu, total, allocated, free, f"{cache} cached)")


def in_total(request, gpu, total, allocated, free, reserved):  # 1.4 to 1.9
    return v1(request, gpu, total, allocated, free, f"{reserved} reserved in total by PyTorch)")


def hint(request, gpu, total, allocated, free, reserved):  # 1.10 to 2.0
    return in_total(request, gpu, total, allocated, free, reserved).replace(
        "RuntimeError", "torch.cuda.OutOfMemoryError") + (
        " If reserved memory is >> allocated memory try setting max_split_size_mb to avoid "
        "fragmentation.  See documentation for Memory Management and PYTORCH_CUDA_ALLOC_CONF")


def fraction(request, gpu, total, allocated, free, allowed, reserved):  # 1.8 to 2.0
    return v1(request, gpu, total, allocated, free,
              f"{allowed} allowed; {reserved} reserved in total by PyTorch)")


def v2(request, gpu, total, free, own, allocated, cache, others=(), error="torch.OutOfMemoryError",
       word="capacity", allowed="", pools=""):  # 2.1 and newer
    named = "".join(f"Process {pid} has {used} memory in use. " for pid, used in others)
    this = f"Including non-PyTorch memory, this process has {own} memory in use. " if own else ""
    limit = f"{allowed} allowed; " if allowed else ""
    graphs = f"with {pools} allocated in private pools (e.g., CUDA Graphs), and " if pools else "and "
    return (f"{error}: CUDA out of memory. Tried to allocate {request}. GPU {gpu} has a total {word} "
            f"of {total} of which {free} is free. {named}{this}{limit}Of the allocated memory "
            f"{allocated} is allocated by PyTorch, {graphs}{cache} is reserved by PyTorch but "
            "unallocated. If reserved but unallocated memory is large try setting "
            "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See "
            "documentation for Memory Management  "
            "(https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)")


# name: (text, cause, request)
PYTORCH = {
    "1.0_full": (cached("20.00 MiB", 0, "10.92 GiB", "10.31 GiB", "11.50 MiB", "32.50 MiB"),
                 "full", "20.00 MiB"),
    "1.2_full": (cached("9.80 GiB", 0, "14.76 GiB", "9.94 GiB", "3.89 GiB", "160.79 MiB"),
                 "full", "9.80 GiB"),
    "1.3_fragmented": (cached("512.00 MiB", 1, "15.75 GiB", "9.10 GiB", "107.88 MiB", "5.81 GiB"),
                       "fragmented", "512.00 MiB"),
    "1.4_full": (in_total("130.00 MiB", 1, "7.80 GiB", "6.91 GiB", "33.56 MiB", "7.09 GiB"),
                 "full", "130.00 MiB"),
    "1.7_other_process": (in_total("20.00 MiB", 0, "47.54 GiB", "304.36 MiB", "5.62 MiB",
                                   "306.00 MiB"), "other_process", "20.00 MiB"),
    "1.9_fragmented": (in_total("1.00 GiB", 0, "23.70 GiB", "14.20 GiB", "310.00 MiB", "22.60 GiB"),
                       "fragmented", "1.00 GiB"),
    "1.8_fraction": (fraction("2.00 GiB", 0, "39.59 GiB", "18.20 GiB", "19.90 GiB", "19.79 GiB",
                              "18.60 GiB"), "fraction", "2.00 GiB"),
    "1.12_other_process": (hint("20.00 MiB", 1, "31.75 GiB", "0 bytes", "6.62 MiB", "0 bytes"),
                           "other_process", "20.00 MiB"),
    "1.13_full": (hint("128.00 MiB", 0, "8.00 GiB", "7.25 GiB", "0 bytes", "7.25 GiB"), "full",
                  "128.00 MiB"),
    "2.0_too_large": (hint("60.00 GiB", 0, "23.65 GiB", "1.20 GiB", "21.90 GiB", "1.25 GiB"),
                      "too_large", "60.00 GiB"),
    "2.0_full": (hint("1.72 GiB", 0, "15.78 GiB", "13.36 GiB", "1.25 GiB", "13.96 GiB"), "full",
                 "1.72 GiB"),
    "2.1_misspelt_in_container": (v2(
        "496.00 MiB", 0, "14.75 GiB", "235.06 MiB", "", "14.06 GiB", "330.42 MiB",
        [(20398, "14.52 GiB")], "torch.cuda.OutOfMemoryError", "capacty"), "full", "496.00 MiB"),
    "2.2_full": (v2("2.00 GiB", 3, "79.15 GiB", "1.24 GiB", "77.90 GiB", "76.61 GiB", "790.00 MiB",
                    error="torch.cuda.OutOfMemoryError"), "full", "2.00 GiB"),
    "2.4_fragmented": (v2("2.00 GiB", 0, "79.15 GiB", "1.24 GiB", "77.90 GiB", "60.11 GiB",
                          "17.29 GiB"), "fragmented", "2.00 GiB"),
    "2.5_two_processes": (v2("4.00 GiB", 0, "79.15 GiB", "1.05 GiB", "30.10 GiB", "29.20 GiB",
                             "400.00 MiB", [(4711, "47.99 GiB")]), "other_process", "4.00 GiB"),
    "2.6_in_container": (v2("2.00 MiB", 0, "79.25 GiB", "960.00 KiB", "", "77.18 GiB", "1.55 GiB",
                            [(1074130, "79.24 GiB")]), "full", "2.00 MiB"),
    "2.6_container_of_several": (v2(
        "20.00 MiB", 0, "39.39 GiB", "9.25 MiB", "", "30.21 GiB", "217.48 MiB",
        [(25454, "3.86 GiB"), (104554, "4.29 GiB"), (30427, "31.20 GiB")], pools="26.00 MiB"),
        "other_process", "20.00 MiB"),
    "2.7_mig": (v2("1.50 GiB", 0, "9.50 GiB", "700.00 MiB", "8.81 GiB", "8.30 GiB", "60.00 MiB"),
                "full", "1.50 GiB"),
    "2.8_fraction": (v2("3.00 GiB", 0, "79.15 GiB", "50.00 GiB", "29.00 GiB", "27.90 GiB",
                        "300.00 MiB", allowed="30.00 GiB"), "fraction", "3.00 GiB"),
    "2.9_too_large": (v2("256.00 GiB", 0, "139.72 GiB", "138.00 GiB", "1.72 GiB", "1.00 GiB",
                         "24.00 MiB"), "too_large", "256.00 GiB"),
    "2.15_full": (v2("6.14 GiB", 0, "22.17 GiB", "226.06 MiB", "21.95 GiB", "21.48 GiB",
                     "30.62 MiB"), "full", "6.14 GiB"),
    "rocm": (v2("6.14 GiB", 0, "63.98 GiB", "226.06 MiB", "63.75 GiB", "63.10 GiB", "30.62 MiB"
                ).replace("CUDA out of memory", "HIP out of memory"), "full", "6.14 GiB"),
    # Refused with room for it: nothing in the figures says why.
    "1.0_room": (cached("14.00 MiB", 0, "10.92 GiB", "9.11 MiB", "9.31 GiB", "3.89 MiB"),
                 "not_said", "14.00 MiB"),
    "1.9_room": (in_total("2.10 GiB", 0, "6.00 GiB", "790.00 MiB", "2.95 GiB", "1.20 GiB"),
                 "not_said", "2.10 GiB"),
    "2.1_room_and_nothing_held": (v2("2.10 GiB", 0, "4.00 GiB", "2.85 GiB", "", "0 bytes", "0 bytes"),
                                  "not_said", "2.10 GiB"),
    "2.9_rocm_room": (v2("4.00 MiB", 7, "287.98 GiB", "201.50 GiB", "", "70.20 GiB", "14.10 GiB"
                         ).replace("CUDA out of memory", "HIP out of memory"), "not_said",
                      "4.00 MiB"),
    "2.8_rocm_more_free_than_there_is": (v2(
        "16.50 GiB", 0, "15.49 GiB", "85.10 GiB", "", "1.70 GiB", "8.00 GiB"
        ).replace("CUDA out of memory", "HIP out of memory"), "not_said", "16.50 GiB"),
    "2.12_allowed_more": (v2("8.05 GiB", 0, "16.54 GiB", "16.54 GiB", "", "0 bytes", "0 bytes",
                             allowed="8.27 GiB"), "not_said", "8.05 GiB"),
    "2.8_xpu_free_not_said": (v2("7.90 GiB", 0, "15.11 GiB", "", "", "0 bytes", "0 bytes"
                                 ).replace(" of which  is free", "").replace("CUDA", "XPU"),
                              "not_said", "7.90 GiB"),
    "2.5_cuda_malloc_async": (
        "torch.OutOfMemoryError: Allocation on device 0 would exceed allowed memory. (out of memory)\n"
        "Currently allocated     : 15.10 GiB\nRequested               : 512.00 KiB\n"
        "Device limit            : 15.99 GiB\nFree (according to CUDA): 0 bytes\n"
        "PyTorch limit (set by user-supplied memory fraction)\n"
        "                        : 17179869184.00 GiB", "full", "512.00 KiB"),
    # The last megabytes of a card leave no room.
    "2.4_last_megabytes": (v2("20.00 MiB", 0, "23.65 GiB", "25.06 MiB", "23.60 GiB", "22.90 GiB",
                              "194.87 MiB"), "full", "20.00 MiB"),
    "2.9_server_in_container": (v2("448.00 MiB", 7, "95.00 GiB", "98.00 MiB", "", "91.50 GiB",
                                   "112.00 MiB", [(12, "94.89 GiB")], pools="1.11 GiB"), "full",
                                "448.00 MiB"),
    "2.7_mig_counts_nothing": (v2("2.00 GiB", 0, "9.75 GiB", "1.93 GiB", "0 bytes", "7.12 GiB",
                                  "310.00 MiB"), "full", "2.00 GiB"),
}

PYTORCH |= more_messages.PYTORCH

USER = "/home/me/project/train.py"
TRACEBACK = f'''Traceback (most recent call last):
  File "{USER}", line 88, in <module>
    main()
  File "{USER}", line 61, in main
    loss = model(batch).loss
  File "/venv/lib/python3.11/site-packages/torch/nn/modules/module.py", line 1739, in _wrapped_call_impl
    return self._call_impl(*args, **kwargs)
  File "/venv/lib/python3.11/site-packages/torch/nn/modules/linear.py", line 125, in forward
    return F.linear(input, self.weight, self.bias)
'''
PLACE = f"{USER}:61"


def each_line(before, text):
    return "".join(f"{before}{line}\n" for line in text.rstrip("\n").split("\n"))


def wrapped(text, width=80):
    """As a terminal breaks lines: within words, too."""
    return "\n".join(line[i:i + width] for line in text.split("\n")
                     for i in range(0, max(1, len(line)), width))


FORMS = {
    "plain": lambda text: text,
    "traceback": lambda text: TRACEBACK + text,
    "coloured": lambda text: TRACEBACK + f"\x1b[31m\x1b[1m{text[:40]}\x1b[0m\x1b[31m{text[40:]}\x1b[0m",
    "words_wrapped": lambda text: "\n".join(textwrap.wrap(text, 80)),
    "cut_at_80": lambda text: wrapped(TRACEBACK + text),
    "ranks": lambda text: each_line("[rank0]: ", TRACEBACK + text) + each_line(
        "[rank1]: ", TRACEBACK + text),
    "json": lambda text: json.dumps({"level": "error", "time": "2025-05-22T08:36:54Z",
                                     "message": TRACEBACK + text}),
    "logger": lambda text: each_line("2025-07-11 09:30:40,445 - __main__ - INFO - ",
                                     TRACEBACK + text),
    "vllm_worker": lambda text: each_line(
        "(EngineCore_DP0 pid=6880) ERROR 04-05 01:12:55 [core.py:390] ", TRACEBACK + text),
    "compose": lambda text: each_line("worker-1  | ", "\n".join(textwrap.wrap(text, 90))),
    "kubernetes": lambda text: each_line("2025-05-22T08:36:54.123456789Z stderr F ",
                                         TRACEBACK + text),
    "torchrun": lambda text: each_line("[default0]:", TRACEBACK + text),
    "frame": lambda text: "".join(f"│ {line:78} │\n" for line in textwrap.wrap(text, 76)),
}
# Of every fourth message.
RARE_FORMS = {
    "colours_written_out": lambda text: TRACEBACK + f"[31m[1m{text[:40]}[0m^[[1;36m{text[40:]}#033[0m",
    "bars": lambda text: "".join(f"| {line:78} |\n" for line in textwrap.wrap(text, 76)),
}
WITH_PLACE = {"traceback", "coloured", "cut_at_80", "ranks", "json", "logger", "vllm_worker",
              "kubernetes", "torchrun", "colours_written_out"}

# name: (source, text)
OTHERS = {
    "tensorflow": ("TensorFlow", "ResourceExhaustedError: OOM when allocating tensor with "
                   "shape[16,112,112,147] and type float on /job:localhost/replica:0/task:0/"
                   "device:GPU:0 by allocator GPU_0_bfc"),
    "tensorflow_1": ("TensorFlow", "ResourceExhaustedError (see above for traceback): OOM when "
                     "allocating tensor with shape[100,4096,32]"),
    "tensorflow_node": ("TensorFlow", "tensorflow.python.framework.errors_impl.ResourceExhausted"
                        "Error: 2 root error(s) found.\n  (0) Resource exhausted: OOM when "
                        "allocating tensor with shape[500,17,17,4032] and type half on "
                        "/job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc\n"
                        "\t [[{{node resnet_v1_50/conv1/ExtractImagePatches}}]]"),
    "tensorflow_op": ("TensorFlow", "2024-06-11 09:12:44.118820: W external/local_tsl/tsl/framework/"
                      "bfc_allocator.cc:487] Allocator (GPU_0_bfc) ran out of memory trying to allocate"
                      " 3.05GiB (rounded to 3276800000)requested by op model/dense/MatMul/MatMul_1"),
    "jax_tpu_buffer": ("JAX", "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Error allocating device "
                       "buffer: Attempting to allocate 2.50G. That was not possible. There are 1.12G "
                       "free.; (0x0x0_HBM0)"),
    "jax_tpu_program": ("JAX", "RESOURCE_EXHAUSTED: Error loading program 'jit_step': Attempting to "
                        "reserve 6.14G at the bottom of memory. That was not possible."),
    "jax_tpu_compiled": ("JAX", "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Ran out of "
                         "memory in memory space hbm. Used 21.94G of 15.48G hbm. Exceeded hbm capacity "
                         "by 6.46G."),
    "tensorflow_xla": ("TensorFlow", "tensorflow.python.framework.errors_impl.ResourceExhausted"
                       "Error: 2 root error(s) found.\n  (0) Resource exhausted: Out of memory "
                       "while trying to allocate 68852648264 bytes."),
    "tensorflow_device": ("TensorFlow", "failed to allocate 17.79G (19104890880 bytes) from device: "
                          "CUDA_ERROR_OUT_OF_MEMORY: out of memory"),
    "jax": ("JAX", "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while "
            "trying to allocate 7406166528 bytes."),
    "jax_stats": ("JAX", "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory "
                  "while trying to allocate 4770354232 bytes.\nBufferAssignment OOM Debugging.\n"
                  "BufferAssignment stats:\n             parameter allocation:  372.76MiB\n"),
    "jax_2019": ("JAX", "E external/org_tensorflow/tensorflow/compiler/xla/python/local_client.cc:672]"
                 " Execution of replica 0 failed: Resource exhausted: Out of memory while trying to "
                 "allocate 5520758552 bytes. (jaxlib)"),
    "elixir": ("JAX", "[error] Execution of replica 0 failed: RESOURCE_EXHAUSTED: Out of memory while "
               "trying to allocate 58982400 bytes."),
    "cupy": ("CuPy", "cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 25,600,000 bytes "
             "(allocated so far: 3,635,267,072 bytes)."),
    "cupy_limit": ("CuPy", "cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 1,073,741,824 "
                   "bytes (allocated so far: 512,000,000 bytes, limit set to: 1,000,000,000 bytes)."),
    "cupy_5": ("CuPy", "cupy.cuda.memory.OutOfMemoryError: out of memory to allocate 1073741824 bytes "
               "(total 12373894656 bytes)"),
    "rmm_pool": ("RMM", "MemoryError: std::bad_alloc: out_of_memory: RMM failure at:/envs/rapids-23.10"
                 "/include/rmm/mr/device/pool_memory_resource.hpp:196: Maximum pool size exceeded"),
    "rmm_pool_2022": ("RMM", "MemoryError: std::bad_alloc: RMM failure at:/rmm/include/rmm/mr/device/"
                      "pool_memory_resource.hpp:179: Maximum pool size exceeded"),
    "rmm_device": ("RMM", "MemoryError: std::bad_alloc: CUDA error at: ../include/rmm/mr/device/cuda_"
                   "memory_resource.hpp68: cudaErrorMemoryAllocation out of memory"),
    "vllm_cache": ("vLLM", "ValueError: To serve at least one request with the models's max seq len "
                   "(262144), (24.0 GiB KV cache is needed, which is larger than the available KV "
                   "cache memory (3.18 GiB). Based on the available memory, the estimated maximum "
                   "model length is 34736. Try increasing `gpu_memory_utilization` or decreasing "
                   "`max_model_len` when initializing the engine."),
    "vllm_0.2": ("vLLM", "ValueError: The model's max seq len (32768) is larger than the maximum "
                 "number of tokens that can be stored in KV cache (7344). Try increasing "
                 "`gpu_memory_utilization` or decreasing `max_model_len` when initializing the "
                 "engine."),
    "vllm_blocks": ("vLLM", "ValueError: No available memory for the cache blocks. Try increasing "
                    "`gpu_memory_utilization` when initializing the engine."),
    "sglang": ("SGLang", "RuntimeError: Not enough memory. Please try to increase "
               "--mem-fraction-static."),
    "tgi": ("TGI", 'Error: Warmup(Generation("Not enough memory to handle 4096 prefill tokens. You need '
            'to decrease `--max-batch-prefill-tokens`"))'),
    "tgi_0.9": ("TGI", "Not enough memory to handle 16000 total tokens with 4096 prefill tokens. You need "
                "to decrease `--max-batch-total-tokens` or `--max-batch-prefill-tokens`"),
    "xgboost": ("XGBoost", "../src/tree/updater_gpu_hist.cu:784: Exception in gpu_hist: [11:01:50] "
                "../src/common/device_helpers.cuh:431: Memory allocation error on worker 0: "
                "std::bad_alloc: cudaErrorMemoryAllocation: out of memory\n- Free memory: 8126464\n"
                "- Requested memory: 33554432"),
    "julia": ("CUDA.jl", "ERROR: Out of GPU memory trying to allocate 8.016 MiB\nEffective GPU memory "
              "usage: 91.54% (14.446 GiB/15.782 GiB)"),
    "ctranslate2": ("CUDA", "RuntimeError: CUDA failed with error out of memory"),
    "cufft": ("CUDA", "RuntimeError: cuFFT error: CUFFT_ALLOC_FAILED"),
    "mig": ("PyTorch", "RuntimeError: NVML_SUCCESS == r INTERNAL ASSERT FAILED at \"/opt/conda/conda-bld/"
            "pytorch_1695392020201/work/c10/cuda/CUDACachingAllocator.cpp\":1154, please report a bug "
            "to PyTorch."),
    "accelerate": ("Accelerate", "RuntimeError: No executable batch size found, reached zero."),
    "cpu": ("PyTorch on the host", "RuntimeError: [enforce fail at alloc_cpu.cpp:83] err == 0. "
            "DefaultCPUAllocator: can't allocate memory: you tried to allocate 137438953472 bytes. "
            "Error code 12 (Cannot allocate memory)"),
    "cpu_windows": ("PyTorch on the host", "RuntimeError: [enforce fail at ..\\c10\\core\\impl\\"
                    "alloc_cpu.cpp:72] data. DefaultCPUAllocator: not enough memory: you tried to "
                    "allocate 4294967296 bytes."),
    "mps": ("PyTorch on MPS", "RuntimeError: MPS backend out of memory (MPS allocated: 17.92 GB, "
            "other allocations: 40.00 MB, max allowed: 18.13 GB). Tried to allocate 160.00 MB on "
            "private pool. Use PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 to disable upper limit for "
            "memory allocations (may cause system failure)."),
    "mps_shared": ("PyTorch on MPS", "RuntimeError: MPS backend out of memory (MPS allocated: 9.10 GiB,"
                   " other allocations: 17.90 GiB, max allowed: 27.20 GiB). Tried to allocate 256 "
                   "bytes on shared pool."),
    "tensorflow_scalar": ("TensorFlow", "tensorflow.python.framework.errors_impl.ResourceExhausted"
                          "Error: OOM when allocating tensor with shape[]"),
    "paddle": ("PaddlePaddle", "ResourceExhaustedError: \n\nOut of memory error on GPU 0. Cannot "
               "allocate 56.000000MB memory on GPU 0, 7.750000GB memory has been allocated and "
               "available memory is only 12.500000MB."),
    "paddle_1": ("PaddlePaddle", "Out of memory error on GPU 1. Cannot allocate 3.250000GB memory on "
                 "GPU 1, available memory is only 118.000000MB."),
    "tensorrt": ("TensorRT", "[E] Error[1]: [defaultAllocator.cpp::allocate::31] Error Code 1: Cuda "
                 "Runtime (out of memory)\n[W] [TRT] Requested amount of GPU memory (15485030400 "
                 "bytes) could not be allocated. There may not be enough free memory for allocation "
                 "to succeed."),
    "tensorrt_7": ("TensorRT", "[E] [TRT] ../rtSafe/safeRuntime.cpp (25) - Cuda Error in allocate: 2 "
                   "(out of memory)"),
    "mxnet": ("MXNet", "mxnet.base.MXNetError: [18:53:03] src/storage/./pooled_storage_manager.h:157: "
              "cudaMalloc failed: out of memory"),
    "numpy": ("NumPy", "numpy._core._exceptions._ArrayMemoryError: Unable to allocate 10.7 GiB for an "
              "array with shape (1000, 1440000) and data type float64"),
    "shared_memory": ("PyTorch on the host", "RuntimeError: DataLoader worker (pid 3002) is killed by "
                      "signal: Bus error. It is possible that dataloader's workers are out of shared "
                      "memory. Please try to raise your shared memory limit."),
    "killed_by_kernel": ("The host", "Out of memory: Killed process 4242 (python) total-vm:91234560kB, "
                         "anon-rss:65432100kB, file-rss:0kB, shmem-rss:0kB"),
    "killed_in_container": ("The host", "[ 8123.331300] Memory cgroup out of memory: Killed process 5512 "
                            "(python) total-vm:48211404kB, anon-rss:33217280kB, file-rss:92160kB"),
    "killed_in_kubernetes": ("The host", "    Last State:     Terminated\n      Reason:       OOMKilled\n"
                             "      Exit Code:    137"),
    "killed_in_slurm": ("The host", "slurmstepd: error: Detected 1 oom_kill event in StepId=14604003.0. "
                        "Some of the step tasks have been OOM Killed."),
    "nccl": ("NCCL", "node:3063028:3066152 [3] include/alloc.h:178 NCCL WARN Cuda failure 'out of "
             "memory'\nnode:3063028:3066152 [3] include/alloc.h:185 NCCL WARN Failed to CUDA calloc "
             "6291456 bytes"),
    "numba": ("CUDA", "numba.cuda.cudadrv.driver.CudaAPIError: [2] Call to cuMemAlloc results in "
              "CUDA_ERROR_OUT_OF_MEMORY"),
    "cuda": ("CUDA", "RuntimeError: CUDA error: out of memory\nCUDA kernel errors might be "
             "asynchronously reported at some other API call"),
    "cuda_0.4": ("CUDA", "RuntimeError: cuda runtime error (2) : out of memory at /pytorch/aten/src/"
                 "THC/generic/THCStorage.cu:58"),
    "cublas": ("CUDA", "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling "
               "`cublasCreate(handle)`"),
}
OTHERS |= more_messages.OTHERS | rarer_messages.OTHERS
OTHER_FORMS = {"plain": FORMS["plain"], "ranks": lambda text: each_line("[rank0]: ", TRACEBACK + text)}

UNKNOWN = {
    "finished": "epoch 3: loss 0.123\nsaved the model\n",
    "shape_error": TRACEBACK + "RuntimeError: mat1 and mat2 shapes cannot be multiplied (8x512 and "
                   "1024x10)\n",
    "index_error": TRACEBACK + "IndexError: list index out of range\n",
    "launch_failed": "numba.cuda.cudadrv.driver.CudaAPIError: [719] Call to cuMemAlloc results in "
                     "CUDA_ERROR_LAUNCH_FAILED\n",
    "pinned": "ggml_cuda_host_malloc: failed to allocate 1900.00 MiB of pinned memory: invalid "
              "argument\n",
    "device_assert": "RuntimeError: CUDA error: device-side assert triggered\n",
    "tensorflow_advice": "2020-09-24 21:35:23.363348: W tensorflow/core/common_runtime/bfc_allocator.cc:246] "
                         "Allocator (GPU_0_bfc) ran out of memory trying to allocate 1.02GiB with "
                         "freed_by_count=0. The caller indicates that this is not a failure, but may mean "
                         "that there could be performance gains if more memory were available.\n",
    "advice": "Hint: use a smaller batch where the memory of the card is small.\n",
    "empty": "",
}

UNKNOWN |= more_messages.UNKNOWN | rarer_messages.UNKNOWN


FULL = PYTORCH["2.2_full"][0]
RICH = """╭───────────────────── Traceback (most recent call last) ──────────────────────╮
│ /home/me/project/train.py:88 in <module>                                     │
│                                                                              │
│ ❱  88 │   main()                                                             │
│                                                                              │
│ /home/me/project/a_folder_with_a_long_name/another_folder_with_one/train.py: │
│ 61 in main                                                                   │
│                                                                              │
│    60 │   │   loss = model(batch).loss                                       │
│ ❱  61 │   │   loss.backward()                                                │
│                                                                              │
│ /venv/lib/python3.11/site-packages/torch/autograd/function.py:267 in apply   │
│                                                                              │
│ ❱ 267 │   │   return user_fn(self, *args)                                    │
╰──────────────────────────────────────────────────────────────────────────────╯
"""
# As notebooks and Windows show them. name: (text, place)
TRACEBACKS = {
    "rich": (RICH + FULL, "/home/me/project/a_folder_with_a_long_name/another_folder_with_one/"
             "train.py:61"),
    "notebook_2021": ("""---------------------------------------------------------------------------
RuntimeError                              Traceback (most recent call last)
<ipython-input-1-983aaf196620> in <module>()
----> 6 train(model)

<ipython-input-4-123aaf196620> in train(model)
     11     for batch in loader:
---> 12         loss = model(batch)

/venv/lib/python3.7/site-packages/torch/nn/functional.py in linear(input, weight, bias)
   1847         return handle_torch_function(linear, (input, weight))
-> 1848     return torch._C._nn.linear(input, weight, bias)

""" + FULL, "<ipython-input-4-123aaf196620>:12"),
    "colab": ("""[/content/train.py](https://localhost:8080/#) in main()
     59     for batch in loader:
---> 61         loss = model(batch)
[/usr/local/lib/python3.10/dist-packages/torch/nn/modules/linear.py](https://localhost:8080/#) in forward(self, input)
--> 114         return F.linear(input, self.weight, self.bias)
""" + FULL, "/content/train.py:61"),
    "windows": ("""Traceback (most recent call last):
  File "C:\\Users\\me\\project\\train.py", line 61, in main
    loss = model(batch)
  File "C:\\Users\\me\\anaconda3\\envs\\t\\lib\\site-packages\\torch\\nn\\modules\\linear.py", line 114, in forward
    return F.linear(input, self.weight, self.bias)
  File "C:\\Users\\me\\anaconda3\\envs\\t\\lib\\contextlib.py", line 81, in inner
    return func(*args, **kwds)
""" + FULL, "C:\\Users\\me\\project\\train.py:61"),
    "module_run": ("""Traceback (most recent call last):
  File "<frozen runpy>", line 198, in _run_module_as_main
  File "/venv/lib/python3.11/site-packages/vllm/entrypoints/api_server.py", line 61, in main
    engine.run()
""" + FULL, None),
}


def show(name, facts, text):
    print(f"=== {name}")
    for key, value in facts.items():
        print(f"{key}: {value}")
    print()
    print(text.rstrip("\n"))


def main():
    for i, (name, (text, cause, request)) in enumerate(PYTORCH.items()):
        # Every message in three forms, every form with several messages.
        forms = list(FORMS)
        chosen = [forms[(4 * i + k) % len(forms)] for k in range(4)]
        rare = RARE_FORMS if i % 4 == 0 else ()
        for form in dict.fromkeys(["plain", *chosen, *rare]):
            facts = {"source": "PyTorch", "cause": cause, "request": request}
            if form in WITH_PLACE:
                facts["place"] = PLACE
            show(f"pytorch_{name}_{form}", facts, (FORMS | RARE_FORMS)[form](text))
    for name, (source, text) in OTHERS.items():
        for form, shape in OTHER_FORMS.items():
            facts = {"source": source}
            if form == "ranks" and name in (*more_messages.OF_NO_CALL, *rarer_messages.OF_NO_CALL):
                continue
            if form == "ranks":
                facts["place"] = PLACE
            show(f"{name}_{form}", facts, shape(text))
    for name, (text, place) in TRACEBACKS.items():
        facts = {"source": "PyTorch", "cause": "full", "request": "2.00 GiB"}
        show(f"traceback_{name}", facts | ({"place": place} if place else {}), text)
    for name, text in UNKNOWN.items():
        show(f"unknown_{name}", {"source": "unknown"}, text)


main()
