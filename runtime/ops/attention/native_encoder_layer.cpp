#include "runtime/ops/attention/native_encoder_layer.h"

#include "runtime/kernels/functors/activation.h"
#include "runtime/kernels/launch/elementwise.h"
#include "runtime/ops/activation/activation.h"
#include "runtime/ops/attention/nested_attention.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/matmul/matmul.h"
#include "runtime/ops/matmul/matrix_product.h"
#include "runtime/ops/normalization/layer_norm.h"
#include "runtime/ops/pointwise/inplace_binary.h"
#include "runtime/ops/shape/view.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

Tensor normalized(const Tensor& x, const NormParameters& norm, double eps) {
  return layer_norm(x, {x.size(-1)}, norm.weight, norm.bias, eps);
}

void activate(const Tensor& hidden, bool has_gelu) {
  if (!has_gelu) {
    relu_(hidden);
  } else if (hidden.device().is_cuda()) {
    map_elements(hidden, hidden.dtype(), functors::TanhGelu(), hidden);
  } else {
    map_elements(hidden, hidden.dtype(), functors::Gelu(), hidden);
  }
}

// The activation is part of the first product.
Tensor feed_forward(const Tensor& x, const EncoderLayerParameters& layer) {
  const Tensor rows = view(x, {-1, x.size(-1)});
  const Tensor hidden = raw_addmm(layer.bias1, rows, t(layer.weight1));
  activate(hidden, layer.has_gelu);
  return view(addmm(layer.bias2, hidden, t(layer.weight2)), x.shape());
}

// src [*, E]; attend() is given the input of the attention.
template <class Attend>
Tensor layer_around(const Tensor& src, const EncoderLayerParameters& layer, const Attend& attend) {
  Tensor x = src;
  if (layer.normalises_first) x = normalized(x, layer.norm1, layer.eps);
  x = attend(x);
  add_(x, src);
  if (!layer.normalises_first) x = normalized(x, layer.norm1, layer.eps);
  const Tensor residual = x;
  if (layer.normalises_first) x = normalized(x, layer.norm2, layer.eps);
  x = feed_forward(x, layer);
  add_(x, residual);
  if (!layer.normalises_first) x = normalized(x, layer.norm2, layer.eps);
  return x;
}

constexpr std::string_view kLayerName = "transformer_encoder_layer";

}  // namespace

Tensor native_encoder_layer(const Tensor& src, const EncoderLayerParameters& layer,
                            const std::optional<Tensor>& mask) {
  const OpGuard op(kLayerName);
  if (src.numel() == 0) return clone(src);
  return layer_around(src, layer, [&](const Tensor& x) {
    return native_multi_head_attention(x, layer.attention, mask, WantedWeights::none).output;
  });
}

NestedRows native_encoder_layer(const NestedRows& src, const EncoderLayerParameters& layer) {
  const OpGuard op(kLayerName);
  if (src.rows.numel() == 0) return src;
  const auto attend = [&](const Tensor& x) {
    return nested_attention({x, src.lengths}, layer.attention).rows;
  };
  return {layer_around(src.rows, layer, attend), src.lengths};
}

}  // namespace ohm::ops
