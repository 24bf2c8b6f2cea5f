"""CuPy beside PyTorch: arrays, a kernel of the program's own, a pool of its own."""
import cupy
import cupyx.scipy.sparse
import torch

assert cupy.cuda.runtime.getDeviceCount() >= 1
free_at_first, _ = cupy.cuda.runtime.memGetInfo()
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
with cupy.cuda.Stream(non_blocking=True) as stream:
    noise = cupy.random.default_rng(0).standard_normal((1024, 1024), dtype=cupy.float32)
    noise += cupy.random.rand(1024, 1024, dtype=cupy.float32)
    stream.synchronize()
assert cupy.fft.fft2(noise).shape == (1024, 1024)
assert cupy.linalg.solve(noise, noise[0]).shape == (1024,)
ones = cupy.ones(8, dtype=cupy.float32)
diagonal = cupyx.scipy.sparse.csr_matrix((ones, cupy.arange(8), cupy.arange(9)), shape=(8, 8))
assert (diagonal @ ones).shape == (8,)

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
      free_at_first - min(free, cupy.cuda.runtime.memGetInfo()[0]))
