#include "runtime/func/batching_rules.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

namespace ohm::func {
namespace {

// Views keep the dimension of the samples, loops over elements and sums run over it (batched.h);
// products, convolutions, softmax, losses and normalisations have rules beside their kernels.
constexpr std::string_view kOps[] = {
    "abs",           "add",       "binary_cross_entropy_with_logits",
    "bmm",           "conv2d",    "cos",
    "cross_entropy", "div",       "exp",
    "expand",        "flatten",   "gelu",
    "layer_norm",    "linear",    "log",
    "log_softmax",   "matmul",    "max_pool2d",
    "mean",          "mm",        "mse_loss",
    "mul",           "neg",       "nll_loss",
    "permute",       "pow",       "relu",
    "reshape",       "rsub",      "sigmoid",
    "silu",          "sin",       "softmax",
    "sqrt",          "square",    "squeeze",
    "sub",           "sum",       "t",
    "tanh",          "transpose", "unsqueeze",
    "view",
};

// Methods and properties, by the names that errors give them.
constexpr std::string_view kHandling[] = {
    "T",
    "detach",
    "device",
    "dim",
    "dtype",
    "functional_call",
    "grad",
    "grad_fn",
    "is_contiguous",
    "is_cuda",
    "is_floating_point",
    "is_leaf",
    "mT",
    "ndim",
    "numel",
    "requires_grad",
    "shape",
    "size",
    "stride",
    "vmap",
    "grad_and_value",
};

constexpr std::string_view kLayers[] = {
    "BCEWithLogitsLoss",
    "Conv2d",
    "CrossEntropyLoss",
    "Flatten",
    "GELU",
    "Identity",
    "LayerNorm",
    "Linear",
    "LogSoftmax",
    "MSELoss",
    "MaxPool2d",
    "NLLLoss",
    "ReLU",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Tanh",
};

// Nodes of graphs, whose formulas take gradients of all samples.
constexpr std::string_view kNodes[] = {
    "AbsBackward",       "AddBackward",        "AddmmBackward",       "BmmBackward",
    "ClampBackward",     "CloneBackward",      "ConvolutionBackward", "CosBackward",
    "DivBackward",       "ExpBackward",        "ExpandBackward",      "GeluBackward",
    "LogBackward",       "LogSoftmaxBackward", "MaxPool2DBackward",   "MeanBackward",
    "MmBackward",        "MseLossBackward",    "MulBackward",         "NativeLayerNormBackward",
    "NegBackward",       "NllLossBackward",    "PermuteBackward",     "PowBackward",
    "ReluBackward",      "RsubBackward",       "SigmoidBackward",     "SiluBackward",
    "SinBackward",       "SoftmaxBackward",    "SqrtBackward",        "SqueezeBackward",
    "SubBackward",       "SumBackward",        "TBackward",           "TanhBackward",
    "TransposeBackward", "UnsafeViewBackward", "UnsqueezeBackward",   "ViewBackward",
};

template <std::size_t N>
bool contains(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

}  // namespace

std::span<const std::string_view> batched_ops() { return kOps; }

void require_batching_rule(std::string_view name) {
  if (contains(kOps, name) || contains(kHandling, name) || contains(kLayers, name)) return;
  throw std::invalid_argument(
      fmt::format("[{}] vmap has no batching rule for {}: docs/model-limits.md lists what it knows",
                  name, name));
}

void require_batched_gradient(std::string_view node) {
  if (contains(kNodes, node)) return;
  throw std::invalid_argument(fmt::format(
      "[vmap] vmap has no batching rule for the gradient {}: docs/model-limits.md lists "
      "what it knows",
      node));
}

}  // namespace ohm::func
