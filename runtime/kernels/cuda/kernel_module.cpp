#include "runtime/kernels/cuda/kernel_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "allocator_shim/base/assert.h"

namespace ohm::kernels {
namespace {

constexpr unsigned kThreadsPerBlock = 256;
/// More blocks than any device runs at once: the kernels walk over what is left.
constexpr std::uint64_t kMostBlocks = 8192;
/// A thread's share: 16 bytes, of which an element takes 8 at most.
constexpr std::uint64_t kElementsPerThread = 2;

/// Enough for the partial results of any reduction.
constexpr std::size_t kLeastScratchBytes = std::size_t{1} << 20U;

unsigned blocks_for(std::uint64_t count, std::uint64_t share) {
  const std::uint64_t threads = (count + share - 1) / share;
  const std::uint64_t blocks = (threads + kThreadsPerBlock - 1) / kThreadsPerBlock;
  return static_cast<unsigned>(std::clamp<std::uint64_t>(blocks, 1, kMostBlocks));
}

/// Whole warps, no more of them than there are elements for.
unsigned threads_for_row(std::int64_t size) {
  constexpr std::int64_t kWarpSize = 32;
  const std::int64_t warps = (size + kWarpSize - 1) / kWarpSize;
  return static_cast<unsigned>(
      std::clamp<std::int64_t>(warps * kWarpSize, kWarpSize, kThreadsPerBlock));
}

// What the driver answers to an image that it cannot use.
constexpr cuda::Result kInvalidImage = 200;
constexpr cuda::Result kNoBinaryForGpu = 209;
constexpr cuda::Result kInvalidPtx = 218;
constexpr cuda::Result kUnsupportedPtxVersion = 222;

/// Empty for any other answer.
std::string why_unavailable(cuda::Result answer, const cuda::CudaDevice& device) {
  const KernelBuild build = kernel_build();
  if (answer == kNoBinaryForGpu) {
    const auto [major, minor] = device.properties().compute_capability;
    return fmt::format("this build has no kernels for compute capability {}.{} (it has {})", major,
                       minor, fmt::join(build.architectures, ", "));
  }
  if (answer == kInvalidImage || answer == kInvalidPtx || answer == kUnsupportedPtxVersion) {
    return fmt::format(
        "the kernels of this build need a driver for CUDA {} or newer; this one is for CUDA {}",
        cuda::version_text(build.toolkit_version), cuda::version_text(device.driver().version()));
  }
  return {};
}

}  // namespace

void KernelModule::Unload::operator()(cuda::ModuleHandle module) const {
  if (device->make_current()) device->driver().functions().module_unload(module);
}

KernelModule::KernelModule(std::shared_ptr<const cuda::CudaDevice> device)
    : device_(std::move(device)) {
  for (const KernelImage& image : kernel_build().images) {
    for (const std::string_view functor : image.functors) {
      image_of_.emplace(functor, images_.size());
    }
    images_.push_back({image, {}});
  }
  const auto smallest = std::min_element(
      images_.begin(), images_.end(),
      [](const Image& a, const Image& b) { return a.built.code.size() < b.built.code.size(); });
  if (smallest != images_.end()) loaded(*smallest);
}

cuda::ModuleHandle KernelModule::loaded(Image& image) const {
  if (image.module) return image.module.get();
  cuda::ModuleHandle module = nullptr;
  const cuda::Result result = device_->current().module_load(&module, image.built.code.data());
  const std::string why = why_unavailable(result, *device_);
  if (!why.empty()) throw KernelsUnavailable(why);
  device_->driver().check(result, "cuModuleLoadData");
  image.module = Module(module, Unload{device_.get()});
  return module;
}

void KernelModule::load_all() const {
  for (Image& image : images_) loaded(image);
}

KernelModule::~KernelModule() { release_scratch(); }

cuda::FunctionHandle KernelModule::function(const char* functor, DType dtype) const {
  const auto key = std::make_pair(functor, kernel_dtype(dtype));
  const auto known = functions_.find(key);
  if (known != functions_.end()) return known->second;
  cuda::FunctionHandle found = nullptr;
  const auto image = image_of_.find(functor);
  if (image != image_of_.end()) {
    const cuda::ModuleHandle module = loaded(images_[image->second]);
    const std::string symbol = kernel_symbol(functor, dtype);
    const cuda::Result result = device_->current().module_function(&found, module, symbol.c_str());
    if (result == cuda::kNotFound) {
      found = nullptr;
    } else {
      device_->driver().check(result, "cuModuleGetFunction");
    }
  }
  functions_.emplace(key, found);
  return found;
}

bool KernelModule::has(const char* functor, DType dtype) const {
  return function(functor, dtype) != nullptr;
}

void KernelModule::launch(cuda::FunctionHandle kernel, unsigned blocks, unsigned threads,
                          const void* call, const void* parameters) const {
  OHM_ASSERT(kernel != nullptr, "what is launched is there");
  // The driver reads both before it returns.
  std::array<void*, 2> arguments = {const_cast<void*>(call), const_cast<void*>(parameters)};
  device_->driver().check(device_->current().launch(kernel, blocks, 1, 1, threads, 1, 1, 0, nullptr,
                                                    arguments.data(), nullptr),
                          "cuLaunchKernel");
}

std::uint64_t KernelModule::scratch(std::size_t bytes) const {
  if (bytes <= scratch_bytes_) return scratch_;
  // Kernels may still use what there is: the driver waits for them.
  release_scratch();
  for (const std::size_t tried : {std::max(kLeastScratchBytes, std::bit_ceil(bytes)), bytes}) {
    const cuda::Result result = device_->current().memory_allocate(&scratch_, tried);
    if (result == cuda::kSuccess) {
      scratch_bytes_ = tried;
      return scratch_;
    }
    scratch_ = 0;
    if (result != cuda::kOutOfMemory) device_->driver().check(result, "cuMemAlloc_v2");
  }
  return 0;
}

bool KernelModule::release_scratch() const {
  if (scratch_ == 0) return false;
  if (device_->make_current()) device_->driver().functions().memory_free(scratch_);
  scratch_ = 0;
  scratch_bytes_ = 0;
  return true;
}

void KernelModule::launch(const char* functor, const ElementwiseLaunch& loop,
                          const void* parameters) const {
  launch(function(functor, loop.dtype), blocks_for(loop.count, kElementsPerThread),
         kThreadsPerBlock, &loop, parameters);
}

void KernelModule::launch(const char* functor, DType dtype, const RowLaunch& rows,
                          const void* parameters) const {
  const cuda::FunctionHandle kernel = function(functor, dtype);
  if (rows.are_threads) {
    launch(kernel, blocks_for(rows.count, 1), kThreadsPerBlock, &rows, parameters);
    return;
  }
  const auto blocks = static_cast<unsigned>(std::min<std::uint64_t>(rows.count, kMostBlocks));
  launch(kernel, blocks, threads_for_row(rows.size), &rows, parameters);
}

}  // namespace ohm::kernels
