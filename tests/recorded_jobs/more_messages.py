"""More messages for messages.py: causes that need the whole account of the card, other libraries, the
host, and text that is not about memory alone. name: (source, text) or, of PyTorch's, (text, cause,
request)."""


def by_process(request, total, free, processes, allocated, cache, pools="", word="CUDA"):
    graphs = f"with {pools} allocated in private pools (e.g., CUDA Graphs), and " if pools else "and "
    return (f"torch.OutOfMemoryError: {word} out of memory. Tried to allocate {request}. GPU 0 has a "
            f"total capacity of {total} of which {free} is free. {processes}Of the allocated memory "
            f"{allocated} is allocated by PyTorch, {graphs}{cache} is reserved by PyTorch but "
            "unallocated. If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_"
            "CONF=expandable_segments:True to avoid fragmentation.")


def this_process(used):
    return f"Including non-PyTorch memory, this process has {used} memory in use. "


def old(request, total, allocated, free, reserved):
    return (f"RuntimeError: CUDA out of memory. Tried to allocate {request} (GPU 0; {total} total "
            f"capacity; {allocated} already allocated; {free} free; {reserved} reserved in total by "
            "PyTorch)")


PYTORCH = {
    "2.4_outside_in_container": (by_process(
        "224.00 MiB", "79.11 GiB", "66.06 MiB", "Process 8123 has 79.04 GiB memory in use. ",
        "38.02 GiB", "1.02 GiB"), "outside", "224.00 MiB"),
    "2.6_outside": (by_process(
        "512.00 MiB", "47.54 GiB", "120.00 MiB", this_process("47.41 GiB"), "20.10 GiB",
        "310.00 MiB"), "outside", "512.00 MiB"),
    "2.7_private_pools": (by_process(
        "896.00 MiB", "79.11 GiB", "504.06 MiB", "Process 8123 has 78.61 GiB memory in use. ",
        "52.15 GiB", "1.02 GiB", "24.90 GiB"), "private_pools", "896.00 MiB"),
    "2.15_private_pools": (by_process(
        "20.00 MiB", "3.00 GiB", "2.00 MiB", this_process("3.00 GiB"), "2.54 GiB", "16.00 MiB",
        "2.50 GiB"), "private_pools", "20.00 MiB"),
    "1.9_one_large_request": (old("23.11 GiB", "23.70 GiB", "1.54 GiB", "20.40 GiB", "1.60 GiB"),
                              "large_request", "23.11 GiB"),
    "2.3_one_large_request": (by_process(
        "60.00 GiB", "79.11 GiB", "42.00 GiB", this_process("37.10 GiB"), "36.20 GiB", "200.00 MiB"),
        "large_request", "60.00 GiB"),
    "1.10_both_pieces": (old("4.18 GiB", "10.92 GiB", "4.68 GiB", "2.44 GiB", "7.85 GiB"),
                         "fragmented", "4.18 GiB"),
    "2.15_expandable": (
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 34.00 MiB. GPU 0 has a total "
        "capacity of 1024.00 MiB of which 34.00 MiB is free. Including non-PyTorch memory, this "
        "process has 990.00 MiB memory in use. Of the allocated memory 528.00 MiB is allocated by "
        "PyTorch, and 12.00 MiB is reserved by PyTorch but unallocated. expandable_segments is "
        "enabled. If instead the process is running out of virtual address space (VSZ), expandable "
        "segments may be over-reserving VA", "full", "34.00 MiB"),
    "2.15_expandable_with_cache": (
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total "
        "capacity of 79.15 GiB of which 1.24 GiB is free. Including non-PyTorch memory, this "
        "process has 77.90 GiB memory in use. Of the allocated memory 60.11 GiB is allocated by "
        "PyTorch, and 17.29 GiB is reserved by PyTorch but unallocated. expandable_segments is "
        "enabled.", "full", "2.00 GiB"),
    "npu": ("RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 60.97 GiB total "
            "capacity; 57.26 GiB already allocated; 57.26 GiB current active; 1.31 GiB free; 58.83 "
            "GiB reserved in total by PyTorch) If reserved memory is >> allocated memory try setting "
            "max_split_size_mb to avoid fragmentation.", "full", "2.00 GiB"),
    "xpu": ("torch.OutOfMemoryError: XPU out of memory. Tried to allocate 3.00 GiB. GPU 0 has a total "
            "capacity of 15.91 GiB. Of the allocated memory 14.10 GiB is allocated by PyTorch, and "
            "210.00 MiB is reserved by PyTorch but unallocated. Please use `empty_cache` to release "
            "all unoccupied cached memory.", "full", "3.00 GiB"),
}

OTHERS = {
    "jax_external": ("JAX", "2019-06-13 01:17:08.886805: E external/org_tensorflow/tensorflow/compiler/"
                     "xla/python/local_client.cc:672] Execution of replica 0 failed: Resource exhausted: "
                     "Out of memory while trying to allocate 5520758552 bytes."),
    "tensorflow_graph": ("TensorFlow", "Graph execution error:\nOut of memory while trying to allocate "
                         "8589934592 bytes.\n\t [[{{node StatefulPartitionedCall}}]] "
                         "[Op:__inference_train_function_9812]"),
    "nccl_last_error": ("NCCL", "torch.distributed.DistBackendError: NCCL error in: /pytorch/torch/csrc/"
                        "distributed/c10d/ProcessGroupNCCL.cpp:3353, unhandled cuda error, NCCL version "
                        "2.26.2\nncclUnhandledCudaError: Call to CUDA function failed.\nLast error:\n"
                        "Cuda failure 2 'out of memory'"),
    "nccl_no_number": ("NCCL", "node1:412:988 [0] NCCL INFO transport/p2p.cc:612 -> 1\nLast error:\n"
                       "Cuda failure 'out of memory'"),
    "killed_alone": ("The host", "Loading checkpoint shards:  67%|██████▋   | 2/3 [00:41<00:20, 20.6s/it]\n"
                     "Killed"),
    "killed_in_bash": ("The host", "./run.sh: line 12:  4711 Killed                  python train.py"),
    "killed_in_zsh": ("The host", "zsh: killed     python train.py"),
    "torchrun_minus_9": ("The host", "torch.distributed.elastic.multiprocessing.api:failed (exitcode: -9) "
                         "local_rank: 0 (pid: 12345) of binary: /usr/bin/python"),
    "torchrun_table": ("The host", "Root Cause (first observed failure):\n[0]:\n  rank      : 3 "
                       "(local_rank: 3)\n  exitcode  : -9 (pid: 2417)\n  error_file: <N/A>\n  traceback "
                       ": Signal 9 (SIGKILL) received by PID 2417"),
    "subprocess_killed": ("The host", "subprocess.CalledProcessError: Command '['python', 'train.py']' died "
                          "with <Signals.SIGKILL: 9>."),
    "deepspeed_killed": ("The host", "[launch.py:321:sigkill_handler] ['python', 'train.py'] exits with "
                         "return code = -9"),
    "docker_137": ("The host", "container train exited with code 137"),
    "worker_killed": ("PyTorch on the host", "RuntimeError: DataLoader worker (pid 4711) is killed by "
                      "signal: Killed."),
    "shm_full": ("PyTorch on the host", "RuntimeError: unable to write to file </torch_3511_2>: No space "
                 "left on device (28)"),
    "pin_memory": ("PyTorch on the host", "RuntimeError: Caught RuntimeError in pin memory thread for "
                   "device 0.\nRuntimeError: CUDA error: out of memory\nCUDA kernel errors might be "
                   "asynchronously reported at some other API call"),
    "oom_kill_line": ("The host", "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=job,mems_"
                      "allowed=0,oom_memcg=/slurm,task_memcg=/slurm/job,task=python3,pid=5121,uid=1000"),
    "slurm_handler": ("The host", "slurmstepd: error: Some of your processes may have been killed by the "
                      "cgroup out-of-memory handler."),
    "ray_threshold": ("Ray", "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low "
                      "on memory.\nMemory on the node (IP: 10.0.0.5, ID: ab12) where the task (task ID: 3) "
                      "was running was 30.48GB / 31.73GB (0.960453), which exceeds the memory usage "
                      "threshold of 0.95."),
    "ray_raylet": ("Ray", "(raylet) node_manager.cc:3084: 2 Workers (tasks / actors) killed due to memory "
                   "pressure (OOM), 0 Workers crashed due to other reasons"),
    "ray_store": ("Ray", "ray.exceptions.ObjectStoreFullError: Failed to put object ffff in object store "
                  "because it is full. Object size is 2147483648 bytes."),
    "bitsandbytes": ("bitsandbytes", "Error out of memory at line 380 in file /home/tim/git/bitsandbytes/"
                     "csrc/pythonInterface.c"),
    "quantized_offload": ("bitsandbytes", "ValueError: Some modules are dispatched on the CPU or the disk. "
                          "Make sure you have enough GPU RAM to fit the quantized model. If you want to "
                          "dispatch the model on the CPU or the disk"),
    "tensorrt_llm": ("TensorRT-LLM", "[TensorRT-LLM][ERROR] CUDA runtime error in ::cudaMallocAsync(ptr, "
                     "n, mMemPool->getPool(), mCudaStream->get()): out of memory (/app/tensorrt_llm/"
                     "tllmBuffers.h:125)"),
    "comfyui": ("PyTorch", "torch.OutOfMemoryError: Allocation on device \nGot an OOM, unloading all "
                "loaded models."),
    "triton_shared": ("Triton", "triton.runtime.errors.OutOfResources: out of resource: shared memory, "
                      "Required: 163840, Hardware limit: 101376. Reducing block sizes or `num_stages` may "
                      "help."),
    "memory_summary": ("PyTorch", """|===========================================================================|
|                  PyTorch CUDA memory summary, device ID 0                 |
|---------------------------------------------------------------------------|
|            CUDA OOMs: 1            |        cudaMalloc retries: 1         |
|===========================================================================|
|        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  |
|---------------------------------------------------------------------------|
| Allocated memory      |  32019 MiB |  32019 MiB |  66253 MiB |  34234 MiB |
|       from large pool |  32007 MiB |  32007 MiB |  65929 MiB |  33922 MiB |
|---------------------------------------------------------------------------|
| GPU reserved memory   |  32400 MiB |  32402 MiB |  33000 MiB |    600 MiB |
|---------------------------------------------------------------------------|"""),
    "caffe": ("Caffe", "F0512 09:21:11.120 syncedmem.cpp:56] Check failed: error == cudaSuccess (2 vs. 0)  "
              "out of memory"),
    "theano": ("Theano", "MemoryError: ('Error allocating 1073741824 bytes of device memory (out of "
               "memory).', \"you might consider using 'theano.shared(..., borrow=True)'\")"),
    "darknet": ("CUDA", "CUDA Error: out of memory"),
    "driver": ("CUDA", "RuntimeError: CUDA driver error: out of memory"),
    "accelerator": ("CUDA", "torch.AcceleratorError: CUDA error: out of memory"),
    "hip": ("CUDA", "RuntimeError: HIP error: out of memory"),
    "faiss": ("FAISS", "Error: 'err == cudaSuccess' failed: StandardGpuResources: alloc fail type Temporary"
              "MemoryBuffer dev 0 space Device stream 0x55 size 1610612736 bytes (cudaMalloc error out of "
              "memory [2])"),
    "intel": ("Intel GPU", "RuntimeError: Native API failed. Native API returns: 39 "
              "(UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)"),
    "ollama": ("Ollama", "Error: model requires more system memory (12.3 GiB) than is available (8.1 GiB)"),
    "llama_buffer": ("llama.cpp", "ggml_gallocr_reserve_n: failed to allocate CUDA0 buffer of size "
                     "1073741824"),
    "bad_alloc": ("Python", "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  "
                  "std::bad_alloc"),
    "errno_12": ("Python", "OSError: [Errno 12] Cannot allocate memory"),
    "killed_behind_a_bar": ("The host", "Epoch 1:  43%|####3     | 430/1000 [01:22<01:49,  5.2it/s]Killed"),
    "spawn_sigkill": ("The host", "torch.multiprocessing.spawn.ProcessExitedException: process 2 terminated "
                      "with signal SIGKILL"),
    "slurm_limit": ("The host", "slurmstepd: error: Exceeded job memory limit at some point."),
    "systemd_oomd": ("The host", "systemd-oomd[755]: Killed /user.slice/user-1000.slice/session-4.scope due to "
                     "memory used (15837966336) / total (16676728832) and swap used being more than 90.00%"),
    "earlyoom": ("The host", 'earlyoom[812]: sending SIGTERM to process 4242 uid 1000 "python3": badness '
                 "1200, VmRSS 29211 MiB"),
    "worker_bus_error": ("PyTorch on the host", "ERROR: Unexpected bus error encountered in worker. This might "
                         "be caused by insufficient shared memory (shm)."),
    "shm_without_reason": ("PyTorch on the host", "RuntimeError: unable to write to file </torch_3511_2>"),
    "shm_errno_28": ("PyTorch on the host", "OSError: [Errno 28] No space left on device: "
                     "'/dev/shm/torch_4711_1234'"),
    "nccl_shm": ("NCCL", "node1:412:988 [0] NCCL WARN Error: failed to extend /dev/shm/nccl-3aUGsL to 9637892 "
                 "bytes"),
    "ray_of_1": ("Ray", "ray.memory_monitor.RayOutOfMemoryError: More than 95% of the memory on node gpu-3 is "
                 "used (59.71 / 62.78 GB). The top 10 memory consumers are:"),
    "inductor_templates": ("Triton", "torch._inductor.exc.InductorError: RuntimeError: No valid triton configs. "
                           "OutOfMemoryError: out of resource: triton_tem_fused_0 Required: 163840 Hardware "
                           "limit:101376 Reducing block sizes or `num_stages` may help."),
    "tensorrt_code_2": ("TensorRT", "[E] 2: [virtualMemoryBuffer.cpp::resizePhysical::127] Error Code 2: "
                        "OutOfMemory (no further information)"),
    "tensorflow_on_the_host": ("TensorFlow", "ResourceExhaustedError: OOM when allocating tensor with shape"
                               "[100000,50000] and type float on /job:localhost/replica:0/task:0/device:CPU:0 "
                               "by allocator cpu"),
}

# What no traceback belongs to.
OF_NO_CALL = ("killed_alone", "killed_behind_a_bar", "killed_in_bash", "killed_in_zsh", "memory_summary")

UNKNOWN = {
    "killed_word": "Killed the previous run and started again\n",
    "time_limit": "slurmstepd: error: *** JOB 8123 ON node1 CANCELLED AT 2024-05-01T10:00:00 DUE TO TIME "
                  "LIMIT ***\nKilled\n",
    "exit_minus_9_of_time_limit": "slurmstepd: error: *** STEP 1.0 CANCELLED DUE TO TIME LIMIT ***\nfailed "
                                  "(exitcode: -9) local_rank: 0 (pid: 1) of binary: python\n",
    "exit_minus_11": "torch.distributed.elastic.multiprocessing.api:failed (exitcode: -11) local_rank: 0 "
                     "(pid: 3) of binary: python\n",
    "nccl_timeout": "[rank1]: Watchdog caught collective operation timeout: WorkNCCL(SeqNum=3, OpType="
                    "ALLREDUCE) ran for 600000 milliseconds before timing out.\n",
    "illegal_access": "RuntimeError: CUDA error: an illegal memory access was encountered\n",
    "cublas_not_initialized": "RuntimeError: CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling "
                              "`cublasCreate(handle)`\n",
    "worker_exited": "RuntimeError: DataLoader worker (pid(s) 4711) exited unexpectedly\n",
    "disk_full": "OSError: [Errno 28] No space left on device\n",
    "pin_memory_option": "DataLoader(num_workers=4, pin_memory=True)\nepoch 1 done\n",
    "segmentation_fault": "Segmentation fault (core dumped)\n",
    "scheduler_killed": "Job 4711 was killed by the scheduler: exceeded its time\n",
    "log_of_killing": "INFO: [trainer] 3 stale runs [a, b] killed\n",
    "nccl_unhandled": "RuntimeError: NCCL error in: ProcessGroupNCCL.cpp:957, unhandled cuda error, NCCL version "
                      "21.0.3\nncclUnhandledCudaError: Call to CUDA function failed.\n",
    "open_files": "RuntimeError: unable to open shared memory object </torch_29919_1396182366> in read-write "
                  "mode: Too many open files (24)\n",
    "triton_threads": "triton.runtime.errors.OutOfResources: out of resource: threads, Required: 2048, Hardware "
                      "limit: 1024. Reducing block sizes or `num_stages` may help.\n",
    "too_many_resources": "RuntimeError: CUDA error: too many resources requested for launch\n",
}
