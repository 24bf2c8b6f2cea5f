#include "runtime/arithmetic/reduction_scratch.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "runtime/base/ceil_div.h"
#include "runtime/tensor/allocation.h"
#include "runtime/tensor/context.h"

namespace ohm {
namespace {

constexpr std::int64_t kMaxThreads = 512;
constexpr std::int64_t kWarp = 32;
constexpr std::int64_t kVector = 4;  ///< elements that one load takes
constexpr std::int64_t kMinValuesPerThread = 16;
constexpr std::int64_t kMaxValuesPerThread = 256;
constexpr std::int64_t kVectorizedInputs = 128;  ///< shorter runs are not worth vector loads

// The largest power of two that is not larger, at most `limit`.
std::int64_t pow2_below(std::int64_t n, std::int64_t limit) {
  if (n >= limit) return limit;
  return n < 1 ? 1 : static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(n)));
}

struct Dim {
  std::int64_t size;
  std::int64_t stride;
};

// Ascending strides; runs that lie behind one another become one.
std::vector<Dim> merged(std::vector<Dim> dims) {
  std::stable_sort(dims.begin(), dims.end(),
                   [](const Dim& a, const Dim& b) { return a.stride < b.stride; });
  std::vector<Dim> result;
  for (const Dim& dim : dims) {
    if (dim.size == 1) continue;
    if (!result.empty() && result.back().stride * result.back().size == dim.stride) {
      result.back().size *= dim.size;
    } else {
      result.push_back(dim);
    }
  }
  return result;
}

// How many outputs one thread can load at once: what all sizes and offsets are multiples of.
std::int64_t output_vector(const ReductionLayout& layout) {
  std::int64_t vector = kVector;
  const auto limit = [&vector](std::int64_t n) {
    while (n % vector != 0) vector /= 2;
  };
  limit(layout.sizes[layout.folded_dims]);
  for (int dim = 0; dim < layout.strides.dims(); ++dim) {
    if (dim != layout.folded_dims) limit(layout.strides[dim]);
  }
  return vector;
}

// The kernel's launch, as far as it decides the scratch.
struct Launch {
  std::int64_t block_width = 1;
  std::int64_t block_height = 1;
  std::int64_t output_vector = 1;
  std::int64_t step_input = 1;
  std::int64_t step_output = 1;
  bool folds_across_lanes = true;  ///< the folded dimension is the fastest: lanes share an output
  bool folds_across_warps = false;
  std::int64_t blocks_per_output = 1;

  void shape_block(std::int64_t width, std::int64_t height) {
    const std::int64_t max_threads = kMaxThreads / output_vector;
    const std::int64_t widest = pow2_below(width, max_threads);
    const std::int64_t highest = pow2_below(height, max_threads);
    block_width = std::min(widest, kWarp);
    block_height = std::min(highest, max_threads / block_width);
    block_width = std::min(widest, max_threads / block_height);
  }
  std::int64_t grid(const ReductionLayout& layout) const {
    return ceil_div(layout.outputs / output_vector, step_output);
  }
  std::int64_t values_per_thread(const ReductionLayout& layout) const {
    return ceil_div(layout.inputs_per_output, step_input);
  }
};

Launch block_of(const ReductionLayout& layout, const ReductionKernel& kernel) {
  Launch launch;
  const int dims = layout.sizes.dims();
  launch.folds_across_lanes =
      layout.folded_dims == dims ||
      (layout.folded_dims > 0 && layout.strides[0] < layout.strides[layout.folded_dims]);
  std::int64_t width = launch.folds_across_lanes ? layout.inputs_per_output : layout.outputs;
  const std::int64_t height = launch.folds_across_lanes ? layout.outputs : layout.inputs_per_output;
  const int fastest = launch.folds_across_lanes ? 0 : layout.folded_dims;
  if (dims > 0 && layout.strides[fastest] == 1) {
    if (launch.folds_across_lanes && width > kVectorizedInputs && layout.folded_dims == 1 &&
        kernel.loads_vectors) {
      width /= kVector;
    } else if (!launch.folds_across_lanes) {
      launch.output_vector = output_vector(layout);
      width /= launch.output_vector;
    }
  }
  launch.shape_block(width, height);
  return launch;
}

// Splits inputs and outputs over lanes, warps and blocks.
Launch launch_of(const ReductionLayout& layout, const ReductionKernel& kernel,
                 const DeviceSlot& device) {
  Launch launch = block_of(layout, kernel);
  (launch.folds_across_lanes ? launch.step_input : launch.step_output) *= launch.block_width;
  const std::int64_t warp_threshold = std::min(launch.block_height * 16, kMaxValuesPerThread);
  launch.folds_across_warps = launch.values_per_thread(layout) >= warp_threshold;
  (launch.folds_across_warps ? launch.step_input : launch.step_output) *= launch.block_height;

  const std::int64_t threads = launch.block_width * launch.block_height;
  const std::int64_t target_grid =
      device.multiprocessors * (device.threads_per_multiprocessor / threads);
  const std::int64_t grid = launch.grid(layout);
  const std::int64_t values = launch.values_per_thread(layout);
  if (launch.folds_across_warps && values >= kMaxValuesPerThread && grid <= target_grid) {
    const std::int64_t fill_device = ceil_div(target_grid, grid);
    const std::int64_t at_least_each = ceil_div(values, kMinValuesPerThread);
    const std::int64_t at_most_each = ceil_div(values, kMaxValuesPerThread);
    launch.blocks_per_output = std::max(std::min(fill_device, at_least_each), at_most_each);
  }
  return launch;
}

}  // namespace

ReductionLayout reduction_layout(const Tensor& input, std::uint32_t folded) {
  std::vector<Dim> folded_dims;
  std::vector<Dim> kept_dims;
  ReductionLayout layout;
  if (input.numel() == 0) {  // sizes beside the 0 may have any product
    layout.outputs = 0;
    return layout;
  }
  for (int dim = 0; dim < input.dims(); ++dim) {
    const bool is_folded = ((folded >> static_cast<unsigned>(dim)) & 1U) != 0;
    const std::int64_t size = input.shape()[dim];
    (is_folded ? folded_dims : kept_dims).push_back({size, input.strides()[dim]});
    (is_folded ? layout.inputs_per_output : layout.outputs) *= size;
  }
  folded_dims = merged(std::move(folded_dims));
  kept_dims = merged(std::move(kept_dims));
  layout.folded_dims = static_cast<int>(folded_dims.size());
  folded_dims.insert(folded_dims.end(), kept_dims.begin(), kept_dims.end());
  for (const Dim& dim : folded_dims) {
    layout.sizes.push_back(dim.size);
    layout.strides.push_back(dim.stride);
  }
  return layout;
}

ReductionScratchBytes reduction_scratch_bytes(const ReductionLayout& layout,
                                              const ReductionKernel& kernel,
                                              const DeviceSlot& device) {
  if (layout.outputs == 0 || layout.inputs_per_output == 0) return {};
  const Launch launch = launch_of(layout, kernel, device);
  if (launch.blocks_per_output <= 1) return {};
  std::int64_t partial_results = layout.outputs * launch.blocks_per_output;
  if (!launch.folds_across_lanes) partial_results *= launch.block_width * launch.output_vector;
  return {static_cast<std::size_t>(partial_results) * kernel.accumulator_bytes,
          static_cast<std::size_t>(launch.grid(layout)) * sizeof(std::int32_t)};
}

ReductionScratch::ReductionScratch(const Tensor& input, std::uint32_t folded)
    : ReductionScratch(input, folded, {std::max<std::size_t>(item_bytes(input.dtype()), 4), true}) {
}

ReductionScratch::ReductionScratch(const Tensor& input, std::uint32_t folded,
                                   const ReductionKernel& kernel) {
  if (input.device().is_cpu()) return;
  const ReductionScratchBytes bytes = reduction_scratch_bytes(
      reduction_layout(input, folded), kernel, Context::current().slot(input.device()));
  if (bytes.partial_results == 0) return;
  const WorkspaceGuard guard;
  partial_results_ = allocate_storage(bytes.partial_results, input.device());
  counters_ = allocate_storage(bytes.counters, input.device());
}

}  // namespace ohm
