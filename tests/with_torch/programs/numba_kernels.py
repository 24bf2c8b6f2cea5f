"""Numba: a kernel that it compiles, arrays on the card, the card's memory."""
import sys

import numpy
from numba import cuda
from numba.cuda.cudadrv.nvvm import NVVM

try:
    NVVM()
except Exception as error:
    print(f"skipped: Numba compiles kernels with NVIDIA's NVVM: {error}")
    sys.exit(77)


@cuda.jit
def add(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


count = 1 << 22
x = cuda.to_device(numpy.ones(count, dtype=numpy.float32))
y = cuda.to_device(numpy.ones(count, dtype=numpy.float32))
before = cuda.current_context().get_memory_info().free
out = cuda.device_array(count, dtype=numpy.float32)
assert before - cuda.current_context().get_memory_info().free == out.nbytes
add[(count + 255) // 256, 256](x, y, out)
cuda.synchronize()
assert out.copy_to_host().shape == (count,)
assert numpy.array_equal(x.copy_to_host()[:4], numpy.ones(4, dtype=numpy.float32))
print("peak", 3 * out.nbytes, 3 * out.nbytes)
