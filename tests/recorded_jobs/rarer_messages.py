"""More of others' messages for messages.py: of engines, containers, batch systems and languages, and what
only looks like one."""

OTHERS = {
    "vllm_startup_v1": (
        "vLLM", "ValueError: Free memory on device cuda:0 (21.5/79.15 GiB) on startup is less than "
        "desired GPU memory utilization (0.9, 71.24 GiB). Decrease GPU memory utilization or "
        "reduce GPU memory used by other processes."),
    "vllm_v1_need": (
        "vLLM", "ValueError: To serve at least one request with the models's max seq len (131072), 16.00 "
        "GiB KV cache is needed, which is larger than the available KV cache memory (10.60 GiB). "
        "Based on the available memory, the estimated maximum model length is 86832. Try "
        "increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the "
        "engine."),
    "vllm_kv_new": (
        "vLLM", "ValueError: To serve at least one request with the model's max seq len (40960), (5.63 "
        "GiB KV cache is needed, which is larger than the available KV cache memory (2.11 GiB)."),
    "nccl_shm_create": (
        "NCCL", "node1:412:988 [0] misc/shmutils.cc:72 NCCL WARN Error: failed to extend "
        "/dev/shm/nccl-3aUGsL to 33030532 bytes, error: No space left on device (28)\n"
        "ncclSystemError: System call (e.g. socket, malloc) or external library call failed or "
        "device error. \nLast error:\nError while creating shared memory segment "
        "/dev/shm/nccl-3aUGsL (size 33030528), error: No space left on device (28)"),
    "nccl_shm_last_only": (
        "NCCL", "torch.distributed.DistBackendError: NCCL error in: "
        "../torch/csrc/distributed/c10d/NCCLUtils.hpp:219, unhandled system error (run with "
        "NCCL_DEBUG=INFO for details), NCCL version 2.20.5\nncclSystemError: System call (e.g. "
        "socket, malloc) or external library call failed or device error.\nLast error:\nError "
        "while creating shared memory segment /dev/shm/nccl-Pd4HqA (size 9637888)"),
    "k8s_json": (
        "The host", '{"lastState":{"terminated":{"containerID":"containerd://ab","exitCode"'
        ':137,"finishedAt":"2024-05-01T00:00:00Z","reason":"OOMKilled","started'
        'At":"2024-05-01T00:00:00Z"}}}'),
    "k8s_kubectl_get": (
        "The host", "NAME          READY   STATUS      RESTARTS      AGE\ntrain-0       0/1     OOMKilled   "
        "3 (42s ago)   5m"),
    "k8s_evicted_memory": (
        "The host", "Warning  Evicted  kubelet  The node was low on resource: memory. Threshold quantity: "
        "100Mi, available: 81372Ki. Container trainer was using 30Gi, request is 8Gi, has larger "
        "consumption of memory."),
    "k8s_event_oomkilling": (
        "The host", "Warning  OOMKilling  node/gpu-3  Memory cgroup out of memory: Killed process 28921 "
        "(python3) total-vm:120GB, anon-rss:64GB"),
    "systemd_unit": (
        "The host", "systemd[1]: train.service: A process of this unit has been killed by the OOM killer.\n"
        "systemd[1]: train.service: Main process exited, code=killed, status=9/KILL\nsystemd[1]: "
        "train.service: Failed with result 'oom-kill'."),
    "dmesg_invoked": (
        "The host", "[12345.678901] python3 invoked oom-killer: "
        "gfp_mask=0x140cca(GFP_HIGHUSER_MOVABLE|__GFP_COMP), order=0, oom_score_adj=0"),
    "triton_tmem": (
        "Triton", "triton.runtime.errors.OutOfResources: out of resource: tensor memory, Required: 1024, "
        "Hardware limit: 512. Reducing block sizes or `num_stages` may help."),
    "onnx_bfc": (
        "ONNX Runtime", "onnxruntime.capi.onnxruntime_pybind11_state.RuntimeException: [ONNXRuntimeError] : 6 : "
        "RUNTIME_EXCEPTION : Non-zero status code returned while running Conv node. "
        "Name:'/conv1/Conv' Status Message: "
        "/onnxruntime_src/onnxruntime/core/framework/bfc_arena.cc:376 void* "
        "onnxruntime::BFCArena::AllocateRawInternal(size_t, bool, onnxruntime::Stream*, bool, "
        "onnxruntime::WaitNotificationFn) Failed to allocate memory for requested buffer of size "
        "1677721600"),
    "trt_requested_size": (
        "TensorRT", "[TRT] [E] 2: [virtualMemoryBuffer.cpp::resizePhysical::155] Error Code 2: OutOfMemory "
        "(Requested size was 4294967296 bytes.)"),
    "llama_cudamalloc_only": (
        "llama.cpp", "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 1234.50 MiB on device 1: "
        "cudaMalloc failed: out of memory"),
    "llama_metal": (
        "Metal", "ggml_metal_graph_compute: command buffer 0 failed with status 5\nerror: Insufficient "
        "Memory (00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)"),
    "llama_vulkan": (
        "llama.cpp", "ggml_vulkan: Device memory allocation of size 1073741824 failed.\nggml_vulkan: "
        "vk::Device::allocateMemory: ErrorOutOfDeviceMemory"),
    "dask_nanny": (
        "Dask", "distributed.nanny.memory - WARNING - Worker tcp://127.0.0.1:36545 (pid=1234) exceeded "
        "95% memory budget. Restarting..."),
    "jax_failed_request": (
        "JAX", "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Failed to allocate request "
        "for 1.50GiB (1610612736B) on device ordinal 0"),
    "jax_bfc": (
        "JAX", "2024-06-11 09:12:44.118820: W external/xla/xla/tsl/framework/bfc_allocator.cc:501] "
        "Allocator (GPU_0_bfc) ran out of memory trying to allocate 12.50GiB (rounded to "
        "13421772800)requested by op "),
    "cudnn9_alloc": (
        "CUDA", "RuntimeError: cuDNN error: CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED"),
    "java_heap": (
        "Java", 'Exception in thread "main" java.lang.OutOfMemoryError: Java heap space'),
    "yarn": (
        "Spark", "ExecutorLostFailure (executor 3 exited caused by one of the running tasks) Reason: "
        "Container killed by YARN for exceeding memory limits. 10.4 GB of 10.4 GB physical "
        "memory used. Consider boosting spark.yarn.executor.memoryOverhead."),
    "node_heap": (
        "Node.js", "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory"),
    "go_oom": (
        "Go", "fatal error: runtime: out of memory\n\nruntime stack:\nruntime.throw({0x1234, 0x16})"),
    "docker_inspect": (
        "The host", '"State": {"Status": "exited", "Running": false, "OOMKilled": true, "Dead": false, '
        '"ExitCode": 137'),
    "mps_buffer": (
        "PyTorch on MPS", "RuntimeError: Invalid buffer size: 24.00 GB"),
    "mlx_buffer": (
        "MLX", "RuntimeError: [metal::malloc] Attempting to allocate 37748736000 bytes which is greater "
        "than the maximum allowed buffer size of 22613000192 bytes."),
    "mlx_command": (
        "Metal", "libc++abi: terminating due to uncaught exception of type std::runtime_error: [METAL] "
        "Command buffer execution failed: Insufficient Memory "
        "(00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)"),
    "gcc_killed": (
        "The host", "c++: fatal error: Killed signal terminated program cc1plus\ncompilation terminated.\n"
        "ninja: build stopped: subcommand failed."),
    "slurm_old": (
        "The host", "slurmstepd: error: Detected 1 oom-kill event(s) in step 123456.batch cgroup. Some of "
        "your processes may have been killed by the cgroup out-of-memory handler."),
    "slurm_sacct": (
        "The host", "JobID    State      ExitCode\n123456   OUT_OF_ME+    0:125"),
    "slurm_sacct_full": (
        "The host", "123456|train|OUT_OF_MEMORY|0:125"),
    "lsf": (
        "The host", "TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.\nExited with exit code "
        "137."),
    "pbs": (
        "The host", "=>> PBS: job killed: mem 16812345kb exceeded limit 16777216kb"),
    "aws_batch": (
        "The host", "OutOfMemoryError: Container killed due to memory usage"),
    "vertex": (
        "The host", "The replica workerpool0-0 ran out-of-memory and exited with a non-zero status of "
        "137(SIGKILL)."),
    "sglang_prefill": (
        "SGLang", "RuntimeError: Prefill out of memory. Try to lower your batch size.\nTry to allocate "
        "8192 tokens.\nAvailable tokens: 1234"),
    "lmdeploy": (
        "LMDeploy", "[TM][ERROR] CUDA runtime error: out of memory "
        "/lmdeploy/src/turbomind/utils/allocator.h:246"),
    "exllama": (
        "ExLlamaV2", "RuntimeError: Insufficient VRAM for model and cache"),
    "opencl": (
        "OpenCL", "pyopencl._cl.MemoryError: create_buffer failed: MEM_OBJECT_ALLOCATION_FAILURE"),
    "directml": (
        "PyTorch on DirectML", "RuntimeError: Could not allocate tensor with 1073741824 bytes. There is not enough GPU "
        "video memory available!"),
    "gaudi": (
        "Intel Gaudi", "RuntimeError: [Rank:0] FATAL ERROR :: MODULE:PT_DEVMEM Allocation failed for "
        "size::4143972352 (3952)MB"),
    "winerror_1455": (
        "The host", "OSError: [WinError 1455] The paging file is too small for this operation to complete. "
        'Error loading "C:\\venv\\lib\\site-packages\\torch\\lib\\cublas64_11.dll" or one of its '
        "dependencies."),
    "winerror_8": (
        "The host", "OSError: [WinError 8] Not enough memory resources are available to process this command"),
    "arrow": (
        "Arrow", "pyarrow.lib.ArrowMemoryError: malloc of size 134217728 failed"),
    "duckdb": (
        "DuckDB", "duckdb.duckdb.OutOfMemoryException: Out of Memory Error: failed to allocate data of "
        "size 256.0 MiB (12.4 GiB/12.5 GiB used)"),
    "r_vector": (
        "R", "Error: cannot allocate vector of size 3.7 Gb"),
    "matlab": (
        "MATLAB", "Out of memory on device. To view more detail about available memory on the GPU, use "
        "'gpuDevice()'. If the problem persists, reset the GPU by calling 'gpuDevice(1)'."),
    "blender": (
        "Blender", "Error: System is out of GPU memory"),
    "nvenc": (
        "FFmpeg", "[h264_nvenc @ 0x55] OpenEncodeSessionEx failed: out of memory (10): (no details)"),
    "catboost": (
        "CatBoost", "_catboost.CatBoostError: catboost/cuda/cuda_lib/cuda_base.h:281: CUDA error 2: out of "
        "memory"),
    "celery_137": (
        "The host", "billiard.exceptions.WorkerLostError: Worker exited prematurely: signal 9 (SIGKILL) Job: "
        "0."),
    "joblib_killed": (
        "The host", "joblib.externals.loky.process_executor.TerminatedWorkerError: A worker process managed "
        "by the executor was unexpectedly terminated. This could be caused by a segmentation "
        "fault while calling the function or by an excessive memory usage causing the Operating "
        "System to kill the worker.\n\nThe exit codes of the workers are {SIGKILL(-9)}"),
}

# What no traceback belongs to.
OF_NO_CALL = frozenset("""k8s_json k8s_kubectl_get k8s_evicted_memory k8s_event_oomkilling systemd_unit
    dmesg_invoked llama_metal llama_vulkan dask_nanny java_heap yarn node_heap go_oom
    docker_inspect gcc_killed slurm_old slurm_sacct slurm_sacct_full lsf pbs aws_batch vertex
    blender nvenc""".split())

UNKNOWN = {
    "ray_worker_crash": "ray.exceptions.WorkerCrashedError: The worker died unexpectedly while "
                        "executing this task. Check python-core-worker-*.log files for more "
                        "information.\n(raylet) A worker died or was killed while executing a "
                        "task by an unexpected system error. To troubleshoot the problem, check "
                        "the logs for the dead worker. Worker exit type: SYSTEM_ERROR Worker "
                        "exit detail: Worker unexpectedly exits with a connection error code 2. "
                        "End of file. There are some potential root causes. (1) The process is "
                        "killed by SIGKILL by OOM killer due to high memory usage. (2) ray stop "
                        "--force is called. (3) The worker is crashed unexpectedly due to "
                        "SIGSEGV or other unexpected errors.\n",
    "k8s_evicted_disk": "Warning  Evicted  kubelet  The node was low on resource: "
                        "ephemeral-storage. Threshold quantity: 10Gi, available: 9Gi. Container "
                        "trainer was using 60Gi, request is 0.\n",
    "systemd_kill_only": "systemd[1]: train.service: State 'stop-sigterm' timed out. Killing.\n"
                         "systemd[1]: train.service: Killing process 812 (python3) with signal "
                         "SIGKILL.\nsystemd[1]: train.service: Failed with result 'timeout'.\n",
    "dmesg_xid31": "NVRM: Xid (PCI:0000:3b:00): 31, pid=21433, name=python3, Ch 00000008, intr "
                   "00000000. MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_0 faulted @ "
                   "0x7f5e_4a000000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ\n",
    "dmesg_xid79": "NVRM: Xid (PCI:0000:5e:00): 79, pid='<unknown>', name=<unknown>, GPU has "
                   "fallen off the bus.\n",
    "trt_skip_tactic": "[03/14/2024-09:12:44] [TRT] [W] Skipping tactic 0x0000000000000000 due "
                       "to exception... Tactic Device request: 3184MB Available: 2048MB. Device "
                       "memory is insufficient to use tactic.\n[03/14/2024-09:13:44] [TRT] [I] "
                       "Engine built in 73.2 s\n",
    "dask_unmanaged": "distributed.worker.memory - WARNING - Unmanaged memory use is high. This "
                      "may indicate a memory leak or the memory may not be released to the OS; "
                      "see https://distributed.dask.org/en/latest/worker-memory.html for more "
                      "information. -- Unmanaged memory: 5.60 GiB -- Worker memory limit: 8.00 "
                      "GiB\n",
    "dask_killed_worker": "distributed.scheduler.KilledWorker: Attempted to run task "
                          "('read-parquet-1', 3) on 4 different workers, but all those workers "
                          "died while running it.\n",
    "grpc_quota": "google.api_core.exceptions.ResourceExhausted: 429 Resource has been exhausted "
                  "(e.g. check quota).\n",
    "grpc_message_size": "grpc._channel._InactiveRpcError: <_InactiveRpcError of RPC that "
                         "terminated with:\n\tstatus = StatusCode.RESOURCE_EXHAUSTED\n\tdetails "
                         '= "Received message larger than max (5242880 vs. 4194304)"\n>\n',
    "gcp_quota": "RESOURCE_EXHAUSTED: Quota exceeded for quota metric 'TPUV2 cores' and limit "
                 "'TPUV2 cores per project per zone'\n",
    "openai_rate": "openai.RateLimitError: Error code: 429 - {'error': {'message': 'You exceeded "
                   "your current quota', 'type': 'insufficient_quota'}}\n",
    "tf_exceeds_warning": "2024-01-01 10:00:00.000000: W "
                          "tensorflow/tsl/framework/cpu_allocator_impl.cc:83] Allocation of "
                          "1073741824 exceeds 10% of free system memory.\nEpoch 1/3\n100/100 - "
                          "3s - loss: 0.1\n",
    "cusolver_internal": "torch._C._LinAlgError: cusolver error: CUSOLVER_STATUS_INTERNAL_ERROR, "
                         "when calling `cusolverDnCreate(handle)`\n",
    "pbs_walltime": "=>> PBS: job killed: walltime 3610 exceeded limit 3600\n",
    "save_disk_full": "RuntimeError: [enforce fail at inline_container.cc:595] . unexpected pos "
                      "1342177280 vs 1342177168\n",
    "find_engine": "RuntimeError: FIND was unable to find an engine to execute this computation\n",
    "cudnn_algorithm": "RuntimeError: Unable to find a valid cuDNN algorithm to run convolution\n",
    "threads": "RuntimeError: can't start new thread\n",
    "openblas": "OpenBLAS blas_thread_init: pthread_create failed for thread 63 of 64: Resource "
                "temporarily unavailable\nOpenBLAS blas_thread_init: RLIMIT_NPROC 4096 current, "
                "4096 max\n",
    "launch_out_of_resources": "numba.cuda.cudadrv.driver.CudaAPIError: [701] Call to "
                               "cuLaunchKernel results in CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES\n",
    "sglang_retract": "[2024-11-11 10:00:00 TP0] KV cache pool is full. Retract requests. "
                      "#retracted_reqs: 1, #new_token_ratio: 0.71\n",
    "worker_segv": "RuntimeError: DataLoader worker (pid 12) is killed by signal: Segmentation "
                   "fault. \n",
    "worker_aborted": "RuntimeError: DataLoader worker (pid 3512) is killed by signal: "
                      "Aborted. \n",
    "rocm_fault": "Memory access fault by GPU node-1 (Agent handle: 0x55d1a0) on address "
                  "0x7f1a00000000. Reason: Page not present or supervisor privilege.\n",
    "stage3_flush": "[WARNING] [stage3.py:2069:step] 3 pytorch allocator cache flushes since "
                    "last step. this happens when there is high memory pressure and is "
                    "detrimental to performance. if this is happening frequently consider "
                    "adjusting settings to reduce memory consumption.\n",
    "deepspeed_estimate": "Estimated memory needed for params, optim states and gradients for "
                          "a:\nHW: Setup with 1 node, 8 GPUs per node.\nSW: Model with 2851M "
                          "total params, 32M largest layer params.\n  per CPU  |  per GPU |   "
                          "Options\n   71.71GB |   0.12GB | offload_param=OffloadDeviceEnum.cpu\n",
    "bnb_invalid": "Error invalid configuration argument at line 218 in file /src/csrc/ops.cu\n",
    "gunicorn_kill": "[2024-05-05 10:00:00 +0000] [1] [CRITICAL] WORKER TIMEOUT (pid:12)\n"
                     "[2024-05-05 10:00:01 +0000] [1] [ERROR] Worker (pid:12) was sent SIGKILL! "
                     "Perhaps out of memory?\n",
    "joblib_segv": "joblib.externals.loky.process_executor.TerminatedWorkerError: A worker "
                   "process managed by the executor was unexpectedly terminated. This could be "
                   "caused by a segmentation fault while calling the function or by an excessive "
                   "memory usage causing the Operating System to kill the worker.\n\nThe exit "
                   "codes of the workers are {SIGSEGV(-11)}\n",
    "brokenpool": "concurrent.futures.process.BrokenProcessPool: A process in the process pool "
                  "was terminated abruptly while the future was running or pending.\n",
    "doc_text": "# Troubleshooting\nIf you see an out of memory error, reduce --batch-size. "
                "Memory pool settings are described in docs/memory.md.\nTraining finished: loss "
                "0.12, peak memory 11.2 GiB\n",
    "peak_log": "step 100 | loss 2.31 | mem: 38.5 GiB allocated, 40.1 GiB reserved | OOM "
                "retries: 0\n",
    "test_names": "tests/test_memory.py::test_out_of_memory_is_reported PASSED\n"
                  "tests/test_memory.py::test_MemoryError_subclass PASSED\n2 passed in 0.3s\n",
    "grep_code": "src/alloc.cc:12: // throws std::bad_alloc when OOM; see "
                 "CUDA_ERROR_OUT_OF_MEMORY handling\nbuild ok\n",
}
