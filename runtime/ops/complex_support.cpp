// Which ops take complex tensors: those with a kernel for them (complex_kernel.h), views, and what
// moves elements by copy_into() alone.
#include <fmt/core.h>

#include <algorithm>

#include "runtime/ops/op.h"

namespace ohm::ops {
namespace {

constexpr std::string_view kOps[] = {
    "abs",
    "add",
    "add_",
    "addmm",
    "angle",
    "as_strided",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "bmm",
    "broadcast_tensors",
    "broadcast_to",
    "cat",
    "chunk",
    "clone",
    "column_stack",
    "conj",
    "contiguous",
    "copy_",
    "div",
    "div_",
    "dsplit",
    "dstack",
    "einsum",
    "expand",
    "expand_as",
    "fft_fft",
    "fft_fft2",
    "fft_fftn",
    "fft_fftshift",
    "fft_ifft",
    "fft_ifft2",
    "fft_ifftn",
    "fft_ifftshift",
    "fft_irfft",
    "fft_irfft2",
    "fft_irfftn",
    "fill_",
    "flatten",
    "flip",
    "hsplit",
    "imag",
    "index",
    "index_select",
    "linear",
    "matmul",
    "mean",
    "mm",
    "movedim",
    "mul",
    "mul_",
    "narrow",
    "neg",
    "pad",
    "permute",
    "positive",
    "ravel",
    "real",
    "reshape",
    "reshape_as",
    "resolve_conj",
    "roll",
    "rsub",
    "select",
    "slice",
    "split",
    "squeeze",
    "squeeze_",
    "stack",
    "sub",
    "sub_",
    "sum",
    "swapaxes",
    "swapaxes_",
    "t",
    "t_",
    "tensor_split",
    "transpose",
    "transpose_",
    "unbind",
    "unflatten",
    "unsqueeze",
    "unsqueeze_",
    "view",
    "view_as",
    "view_as_real",
    "vsplit",
    "zero_",
};

bool takes_complex(std::string_view op) {
  return std::find(std::begin(kOps), std::end(kOps), op) != std::end(kOps);
}

void require_real(std::string_view op, const Tensor& tensor) {
  if (tensor.defined() && is_complex(tensor.dtype()) && !takes_complex(op)) {
    refuse_complex(tensor.dtype());
  }
}

}  // namespace

void require_complex_kernel(std::string_view op, std::span<const Value> values) {
  for (const Value& value : values) {
    if (const auto* tensor = std::get_if<Tensor>(&value)) require_real(op, *tensor);
    const auto* const tensors = std::get_if<std::vector<Tensor>>(&value);
    if (tensors == nullptr) continue;
    for (const Tensor& tensor : *tensors) require_real(op, tensor);
  }
}

}  // namespace ohm::ops
