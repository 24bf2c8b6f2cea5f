"""CuPy beside PyTorch: arrays, a kernel of the program's own, a pool of its own."""
import cupy
import torch

assert cupy.cuda.runtime.getDeviceCount() >= 1
x = cupy.zeros((4096, 4096), dtype=cupy.float32)
y = x + cupy.asarray(range(4096), dtype=cupy.float32)
assert y.shape == (4096, 4096) and y.nbytes == 64 << 20
total = (y @ y).sum(axis=0)
assert total.dtype == cupy.float32
scale = cupy.RawKernel("""extern "C" __global__ void scale(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2.0f;
}""", "scale")
scale((4096 * 4096 // 256,), (256,), (y, 4096 * 4096))
pool = cupy.get_default_memory_pool()
assert pool.used_bytes() >= x.nbytes + y.nbytes

shared = torch.from_dlpack(y)
assert shared.is_cuda and shared.data_ptr() == y.data.ptr
free, capacity = cupy.cuda.runtime.memGetInfo()
try:
    cupy.zeros(capacity, dtype=cupy.uint8)
except cupy.cuda.memory.OutOfMemoryError as error:
    print("refused:", error)
else:
    raise AssertionError("more than the card has")
weights = torch.zeros(1 << 20, device="cuda")
print("peak", torch.cuda.max_memory_allocated(),
      torch.cuda.max_memory_reserved() + pool.total_bytes())
