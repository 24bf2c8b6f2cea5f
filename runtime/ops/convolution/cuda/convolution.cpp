#include "runtime/ops/convolution/cuda/convolution.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "allocator_shim/observe/out_of_memory.h"
#include "runtime/ops/cuda/library_call.h"
#include "runtime/tensor/allocation.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

using cuda::ConvolutionPass;

/// Whether the library takes it: it is asked for images alone, no tensor is empty, and each has at
/// most 2³¹ − 1 elements.
bool is_of_library(const ConvGeometry& g) {
  if (g.is_of_volumes) return false;
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  const std::int64_t kernel = g.kernel_height * g.kernel_width;
  const std::int64_t elements[] = {g.batch * g.groups * g.in_channels * g.in_height * g.in_width,
                                   g.batch * g.groups * g.out_channels * g.out_height * g.out_width,
                                   g.groups * g.out_channels * g.in_channels * kernel};
  const std::int64_t numbers[] = {g.padding_height, g.padding_width,
                                  g.stride_height * g.dilation_height,
                                  g.stride_width * g.dilation_width};
  return std::all_of(std::begin(elements), std::end(elements),
                     [](std::int64_t count) { return count > 0 && count <= kMost; }) &&
         *std::max_element(std::begin(numbers), std::end(numbers)) <= kMost;
}

/// nullopt where the library does not take it.
std::optional<cuda::Convolution> described(const ConvGeometry& g, DType dtype) {
  if (!is_of_library(g)) return std::nullopt;
  const auto size = [](std::int64_t value) { return static_cast<int>(value); };
  const int in_channels = size(g.groups * g.in_channels);
  const int out_channels = size(g.groups * g.out_channels);
  cuda::Convolution convolution;
  convolution.type = element_type(dtype);
  convolution.input = {size(g.batch), in_channels, size(g.in_height), size(g.in_width)};
  convolution.filter = {out_channels, size(g.in_channels), size(g.kernel_height),
                        size(g.kernel_width)};
  convolution.output = {size(g.batch), out_channels, size(g.out_height), size(g.out_width)};
  convolution.padding = {size(g.padding_height), size(g.padding_width)};
  convolution.stride = {size(g.stride_height), size(g.stride_width)};
  convolution.dilation = {size(g.dilation_height), size(g.dilation_width)};
  convolution.groups = size(g.groups);
  convolution.is_deterministic = Context::current().state.convolution_plans.is_deterministic;
  return convolution;
}

IntrusivePtr<Storage> workspace_of(std::size_t bytes, Device device) {
  if (bytes == 0) return {};
  const WorkspaceGuard guard;
  return allocate_storage(bytes, device);
}

/// Of `bytes`, or of what halving leaves of them when there is memory for it: nothing at the end.
IntrusivePtr<Storage> workspace_of_at_most(std::size_t bytes, Device device) {
  for (; bytes > 0; bytes /= 2) {
    try {
      return workspace_of(bytes, device);
    } catch (const OutOfMemory&) {  // counted, as PyTorch's is
    }
  }
  return {};
}

cuda::DeviceRange range_of(const IntrusivePtr<Storage>& workspace) {
  return workspace ? cuda::DeviceRange{workspace->address(), workspace->bytes()}
                   : cuda::DeviceRange{};
}

struct ConvolutionTensors {
  const Tensor& first;
  const Tensor& second;
  const Tensor& bias;  ///< may be undefined
  const Tensor& result;

  Device device() const { return result.device(); }
  cuda::ConvolutionOperands on_cuda() const {
    return {read_on_cuda(first), read_on_cuda(second), overwrite_on_cuda(result)};
  }
};

/// One convolution as the library is asked for it.
struct Asked {
  const cuda::Cudnn* cudnn;
  ConvolutionPass pass;
  cuda::Convolution convolution;
};

/// nullopt where they are not on a CUDA device with the library, or do not fit it.
std::optional<Asked> asked_for(ConvolutionPass pass, const ConvGeometry& geometry,
                               const ConvolutionTensors& operands) {
  // The library is told of row-major operands alone.
  for (const Tensor* operand :
       {&operands.first, &operands.second, &operands.bias, &operands.result}) {
    if (operand->defined() && !operand->is_contiguous()) return std::nullopt;
  }
  cuda::DeviceLibraries* const libraries =
      libraries_for({&operands.first, &operands.second, &operands.bias, &operands.result});
  const cuda::Cudnn* const cudnn = libraries == nullptr ? nullptr : libraries->cudnn();
  if (cudnn == nullptr) return std::nullopt;
  const std::optional<cuda::Convolution> convolution = described(geometry, operands.result.dtype());
  if (!convolution) return std::nullopt;
  return Asked{cudnn, pass, *convolution};
}

// As PyTorch does it: one workspace for all that are tried, the largest that there is memory for.
void measure(const Asked& asked, const ConvolutionTensors& operands) {
  const Device device = operands.device();
  const std::size_t room = Context::current().slot(device).allocator->info().free_bytes;
  std::size_t bytes = 0;
  for (const cuda::ConvolutionAlgorithm& one :
       asked.cudnn->suggested(asked.pass, asked.convolution)) {
    if (one.workspace_bytes <= room) bytes = std::max(bytes, one.workspace_bytes);
  }
  const IntrusivePtr<Storage> workspace = workspace_of_at_most(bytes, device);
  asked.cudnn->measure(asked.pass, asked.convolution, operands.on_cuda(), range_of(workspace));
}

/// A way to compute it, with its workspace.
struct ChosenAlgorithm {
  cuda::ConvolutionAlgorithm algorithm;
  IntrusivePtr<Storage> workspace;
};

// Where there is no memory for a workspace, the next way is taken, as in PyTorch.
ChosenAlgorithm chosen(const Asked& asked, Device device) {
  const std::size_t most = Context::current().slot(device).cudnn_workspace_bytes;
  const auto& suggested = asked.cudnn->suggested(asked.pass, asked.convolution);
  const auto needs_less = [](const auto& a, const auto& b) {
    return a.workspace_bytes < b.workspace_bytes;
  };
  const auto least = std::min_element(suggested.begin(), suggested.end(), needs_less);
  for (const cuda::ConvolutionAlgorithm& one : suggested) {
    if (one.workspace_bytes == least->workspace_bytes) break;
    if (one.workspace_bytes > most) continue;
    try {
      return {one, workspace_of(one.workspace_bytes, device)};
    } catch (const OutOfMemory&) {  // counted, as PyTorch's is
    }
  }
  return {*least, workspace_of(least->workspace_bytes, device)};
}

/// The bytes of the workspace that it took.
std::size_t compute(const Asked& asked, const ConvolutionTensors& operands, ConvolutionPlan plan) {
  const Device device = operands.device();
  const cuda::ConvolutionAlgorithm* const measured =
      plan == ConvolutionPlan::measured ? asked.cudnn->measured(asked.pass, asked.convolution)
                                        : nullptr;
  const ChosenAlgorithm way =
      measured == nullptr
          ? chosen(asked, device)
          : ChosenAlgorithm{*measured, workspace_of(measured->workspace_bytes, device)};
  asked.cudnn->convolve(asked.pass, asked.convolution, way.algorithm, operands.on_cuda(),
                        range_of(way.workspace));
  if (operands.bias.defined()) {
    asked.cudnn->add_bias(asked.convolution.type, asked.convolution.output,
                          read_on_cuda(operands.bias),
                          operands.result.cuda_address(CudaAccess::write));
  }
  return way.algorithm.workspace_bytes;
}

// ---- workspaces of virtual GPUs -----------------------------------------------------------------

std::string name_of(ConvolutionPass pass) {
  switch (pass) {
    case ConvolutionPass::output:
      return "output";
    case ConvolutionPass::input_grad:
      return "gradient of the input";
    case ConvolutionPass::filter_grad:
      return "gradient of the filter";
  }
  return "";
}

// What tells one convolution from another in a profile.
std::string call_text(ConvolutionPass pass, const ConvGeometry& g, DType dtype) {
  const std::string of_depth =
      g.is_of_volumes
          ? fmt::format(", depth {} by {}, stride {}, padding {}, dilation {}", g.in_depth,
                        g.kernel_depth, g.stride_depth, g.padding_depth, g.dilation_depth)
          : "";
  return fmt::format(
      "{}, {}: [{}, {}, {}, {}] by [{}, {}, {}, {}], stride {} {}, padding {} {}, dilation {} {}, "
      "groups {}{}",
      name_of(pass), name_of(dtype), g.batch, g.groups * g.in_channels, g.in_height, g.in_width,
      g.groups * g.out_channels, g.in_channels, g.kernel_height, g.kernel_width, g.stride_height,
      g.stride_width, g.padding_height, g.padding_width, g.dilation_height, g.dilation_width,
      g.groups, of_depth);
}

void note_workspace(const Tensor& result, const std::string& call, std::size_t bytes) {
  const CudaBackend& backend = *result.cuda_backend();
  if (backend.traffic) backend.traffic->convolution_workspaces[call] = bytes;
}

// As it was measured on a card; where there is no memory for it, a card computes in another way.
void take_measured_workspace(DeviceSlot& slot, Device device, const std::string& call) {
  const auto measured = slot.convolution_workspaces->find(call);
  if (measured == slot.convolution_workspaces->end()) {
    slot.assumptions.add(Assumption::cudnn_workspace);
    return;
  }
  try {
    workspace_of(measured->second, device);
  } catch (const OutOfMemory&) {  // counted, as PyTorch's is
  }
}

ConvolutionKey key_of(ConvolutionPass pass, const ConvGeometry& g, const Tensor& result) {
  return {result.device().index,
          static_cast<std::int64_t>(pass),
          static_cast<std::int64_t>(result.dtype()),
          g.batch,
          g.groups,
          g.in_channels,
          g.out_channels,
          g.in_depth,
          g.in_height,
          g.in_width,
          g.out_depth,
          g.out_height,
          g.out_width,
          g.kernel_depth,
          g.kernel_height,
          g.kernel_width,
          g.stride_depth,
          g.stride_height,
          g.stride_width,
          g.padding_depth,
          g.padding_height,
          g.padding_width,
          g.dilation_depth,
          g.dilation_height,
          g.dilation_width,
          std::int64_t{Context::current().state.convolution_plans.is_deterministic}};
}

// PyTorch computes it with a kernel of its own, unless it is in halves.
bool is_depthwise(const ConvGeometry& g, DType dtype) {
  return g.groups > 1 && g.in_channels == 1 && (dtype == DType::float32 || dtype == DType::float64);
}

CudaResult convolve(ConvolutionPass pass, const ConvGeometry& geometry,
                    const ConvolutionTensors& operands) {
  if (operands.device().is_cpu() || operands.result.numel() == 0) return CudaResult::no;
  ExecutionState& state = Context::current().state;
  const ConvolutionKey key = key_of(pass, geometry, operands.result);
  const auto known = state.convolution_plans.find(state.thread, key);
  const ConvolutionPlan plan = is_depthwise(geometry, operands.result.dtype())
                                   ? ConvolutionPlan::suggested
                                   : known.value_or(state.convolution_plans.next());
  return call_library(operands.device(), [&] {
    const std::optional<Asked> asked = asked_for(pass, geometry, operands);
    if (!known && plan == ConvolutionPlan::measured) {
      if (asked) measure(*asked, operands);
      // What PyTorch does to get rid of what the trials took.
      for (const DeviceSlot& gpu : Context::current().gpus) gpu.allocator->empty_cache();
    }
    DeviceSlot& slot = Context::current().slot(operands.device());
    const DType dtype = operands.result.dtype();
    if (asked) {
      const std::size_t bytes = compute(*asked, operands, plan);
      note_workspace(operands.result, call_text(pass, geometry, dtype), bytes);
    } else if (slot.convolution_workspaces != nullptr) {
      take_measured_workspace(slot, operands.device(), call_text(pass, geometry, dtype));
    }
    state.convolution_plans.keep(state.thread, key, plan);
    return asked ? CudaResult::done : CudaResult::no;
  });
}

}  // namespace

CudaResult convolve_on_cuda(const ConvGeometry& geometry, const Tensor& input, const Tensor& weight,
                            const Tensor& bias, const Tensor& out) {
  return convolve(ConvolutionPass::output, geometry, {input, weight, bias, out});
}

CudaResult convolve_grad_input_on_cuda(const ConvGeometry& geometry, const Tensor& grad_out,
                                       const Tensor& weight, const Tensor& grad_input) {
  return convolve(ConvolutionPass::input_grad, geometry, {weight, grad_out, Tensor(), grad_input});
}

CudaResult convolve_grad_weight_on_cuda(const ConvGeometry& geometry, const Tensor& grad_out,
                                        const Tensor& input, const Tensor& grad_weight) {
  return convolve(ConvolutionPass::filter_grad, geometry, {input, grad_out, Tensor(), grad_weight});
}

}  // namespace ohm::ops
