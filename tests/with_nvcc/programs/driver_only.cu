// links: -lcuda
// exec: --gpu tiny-64m
// A program of the driver's calls alone: none of them makes the runtime's context, and each has the
// code that NVIDIA documents.
#include <cuda.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

static int failures = 0;

#define IS(expected, call)                                                          \
  do {                                                                              \
    const CUresult status = (call);                                                 \
    const char* name = "?";                                                         \
    cuGetErrorName(status, &name);                                                  \
    if (std::strcmp(name, #expected) != 0) {                                        \
      std::printf("%d: %s returns %s, not %s\n", __LINE__, #call, name, #expected); \
      ++failures;                                                                   \
    }                                                                               \
  } while (false)
#define HOLDS(condition)                                                         \
  do {                                                                           \
    if (!(condition)) std::printf("%d: %s\n", __LINE__, #condition), ++failures; \
  } while (false)

static const char kPtx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .global .align 4 .f32 factor = 0f3F800000;\n"
    ".const .align 4 .b8 table[2][512];\n"
    ".visible .entry one(){ ld.global.f32 %f1, [factor]; ret; }\n.visible .entry two(){ret;}\n";

static CUcontext context;

static void uses_no_runtime() {
  unsigned flags;
  int is_active;
  CUcontext current;
  CUstream stream;
  CUdeviceptr memory;
  IS(CUDA_SUCCESS, cuInit(0));
  IS(CUDA_SUCCESS, cuCtxCreate(&context, nullptr, 0, 0));
  IS(CUDA_SUCCESS, cuMemAllocManaged(&memory, 1, CU_MEM_ATTACH_GLOBAL));
  IS(CUDA_SUCCESS, cuMemFree(memory));
  IS(CUDA_SUCCESS, cuStreamCreate(&stream, 0));
  IS(CUDA_SUCCESS, cuStreamSynchronize(stream));
  IS(CUDA_SUCCESS, cuStreamDestroy(stream));
  IS(CUDA_SUCCESS, cuDevicePrimaryCtxGetState(0, &flags, &is_active));
  HOLDS(!is_active);
  IS(CUDA_SUCCESS, cuCtxPopCurrent(&current));
  IS(CUDA_SUCCESS, cuCtxGetCurrent(&current));
  HOLDS(current == nullptr);
  IS(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&memory, 1));
  IS(CUDA_SUCCESS, cuCtxPushCurrent(context));
}

static void fills() {
  CUdeviceptr memory;
  std::size_t pitch;
  std::uint16_t halves[4];
  std::uint32_t words[2];
  IS(CUDA_SUCCESS, cuMemAllocPitch(&memory, &pitch, 8, 4, 4));
  IS(CUDA_SUCCESS, cuMemsetD16(memory, 7, 4));
  IS(CUDA_SUCCESS, cuMemcpyDtoH(halves, memory, sizeof(halves)));
  HOLDS(halves[0] == 7 && halves[3] == 7);
  IS(CUDA_ERROR_INVALID_VALUE, cuMemsetD16(memory + 1, 7, 1));
  IS(CUDA_SUCCESS, cuMemsetD2D32(memory, pitch, 9, 2, 4));
  IS(CUDA_SUCCESS, cuMemcpyDtoH(words, memory + 3 * pitch, sizeof(words)));
  HOLDS(words[0] == 9 && words[1] == 9);
  IS(CUDA_SUCCESS, cuMemsetD2D8Async(memory, pitch, 1, 8, 4, nullptr));
  IS(CUDA_SUCCESS, cuMemsetD2D16(memory, pitch, 1, 4, 4));
  IS(CUDA_ERROR_INVALID_VALUE, cuMemsetD2D32(memory, pitch, 9, 2, 400));
  IS(CUDA_ERROR_INVALID_VALUE, cuMemsetD2D32(memory, 4, 9, 2, 4));
  CUDA_MEMCPY2D copied = {};
  copied.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copied.srcDevice = memory;
  copied.srcPitch = pitch;
  copied.dstMemoryType = CU_MEMORYTYPE_HOST;
  copied.dstHost = halves;
  copied.dstPitch = 2;
  copied.WidthInBytes = 2;
  copied.Height = 4;
  IS(CUDA_SUCCESS, cuMemcpy2D(&copied));
  HOLDS(halves[3] == 1);
  copied.WidthInBytes = 4;
  IS(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&copied));
  IS(CUDA_SUCCESS, cuMemFree(memory));
}

static void addresses() {
  CUdeviceptr range;
  IS(CUDA_SUCCESS, cuMemAddressReserve(&range, std::size_t{1} << 40, 0, 0, 0));
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemGenericAllocationHandle handle;
  const std::size_t bytes = std::size_t{2} << 20;
  IS(CUDA_SUCCESS, cuMemCreate(&handle, bytes, &properties, 0));
  unsigned long long access;
  IS(CUDA_ERROR_INVALID_VALUE, cuMemGetAccess(&access, &properties.location, range));
  IS(CUDA_SUCCESS, cuMemMap(range, bytes, 0, handle, 0));
  IS(CUDA_SUCCESS, cuMemGetAccess(&access, &properties.location, range));
  HOLDS(access == CU_MEM_ACCESS_FLAGS_PROT_NONE);
  const CUmemAccessDesc description = {properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  IS(CUDA_SUCCESS, cuMemSetAccess(range, bytes, &description, 1));
  IS(CUDA_SUCCESS, cuMemGetAccess(&access, &properties.location, range));
  HOLDS(access == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  IS(CUDA_SUCCESS, cuMemUnmap(range, bytes));
  IS(CUDA_SUCCESS, cuMemRelease(handle));
  IS(CUDA_SUCCESS, cuMemAddressFree(range, std::size_t{1} << 40));
}

static void pointers() {
  CUdeviceptr memory;
  unsigned is_managed = 7;
  CUmemorytype type;
  std::size_t bytes;
  IS(CUDA_SUCCESS, cuMemAllocManaged(&memory, 100, CU_MEM_ATTACH_GLOBAL));
  IS(CUDA_SUCCESS, cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, memory));
  HOLDS(is_managed == 1);
  IS(CUDA_SUCCESS, cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory));
  HOLDS(type == CU_MEMORYTYPE_DEVICE);
  IS(CUDA_SUCCESS, cuPointerGetAttribute(&bytes, CU_POINTER_ATTRIBUTE_RANGE_SIZE, memory));
  HOLDS(bytes == 100);
  void* host = nullptr;
  IS(CUDA_SUCCESS, cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, memory));
  HOLDS(host == reinterpret_cast<void*>(memory));
  const CUmemLocation device = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  IS(CUDA_SUCCESS, cuMemPrefetchAsync(memory, 100, device, 0, nullptr));
  IS(CUDA_SUCCESS, cuMemFree(memory));
  IS(CUDA_ERROR_INVALID_VALUE,
     cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory));
  CUcontext owner;
  IS(CUDA_SUCCESS, cuMemAlloc(&memory, 100));
  IS(CUDA_SUCCESS, cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, memory));
  HOLDS(owner == context);
  IS(CUDA_SUCCESS, cuMemFree(memory));
}

static void modules() {
  CUmodule module;
  CUdeviceptr variable;
  std::size_t bytes = 0;
  float value = 0;
  unsigned count = 0;
  CUfunction functions[2];
  const char* name = "";
  IS(CUDA_SUCCESS, cuModuleLoadData(&module, kPtx));
  IS(CUDA_SUCCESS, cuModuleGetGlobal(&variable, &bytes, module, "factor"));
  HOLDS(bytes == sizeof(float));
  const float sent = 2;
  IS(CUDA_SUCCESS, cuMemcpyHtoD(variable, &sent, sizeof(sent)));
  IS(CUDA_SUCCESS, cuMemcpyDtoH(&value, variable, sizeof(value)));
  HOLDS(value == 2);
  IS(CUDA_SUCCESS, cuModuleGetGlobal(nullptr, &bytes, module, "table"));
  HOLDS(bytes == 1024);
  IS(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal(&variable, &bytes, module, "one"));
  IS(CUDA_SUCCESS, cuModuleGetFunctionCount(&count, module));
  HOLDS(count == 2);
  IS(CUDA_SUCCESS, cuModuleEnumerateFunctions(functions, 2, module));
  IS(CUDA_SUCCESS, cuFuncGetName(&name, functions[0]));
  HOLDS(std::strcmp(name, "one") == 0);
  IS(CUDA_SUCCESS, cuModuleUnload(module));
  IS(CUDA_ERROR_INVALID_HANDLE, cuModuleGetGlobal(&variable, &bytes, module, "factor"));
}

int main() {
  uses_no_runtime();
  fills();
  addresses();
  pointers();
  modules();
  IS(CUDA_SUCCESS, cuCtxDestroy(context));
  return failures == 0 ? 0 : 1;
}
