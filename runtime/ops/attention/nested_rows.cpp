#include "runtime/ops/attention/nested_rows.h"

#include <algorithm>
#include <numeric>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/indexing/selection.h"
#include "runtime/ops/shape/concat.h"
#include "runtime/ops/shape/rearrange.h"
#include "runtime/ops/shape/slice.h"
#include "runtime/ops/shape/view.h"

namespace ohm::ops {
namespace {

std::int64_t total_of(const std::vector<std::int64_t>& lengths) {
  return std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
}

// What kernels read of sizes, on the GPU that they run on.
Tensor sizes_on(Device device, std::int64_t count) {
  return device.is_cuda() ? empty({count}, {DType::int32, device}) : Tensor();
}

// The same of sizes that are made int32 on the device.
Tensor converted_sizes_on(Device device, std::int64_t count) {
  Tensor sizes = sizes_on(device, count);
  if (sizes.defined()) empty({count}, {DType::int64, device});
  return sizes;
}

bool has_kernel_to_remove_padding(DType dtype) {
  return dtype == DType::float32 || dtype == DType::float16;
}

bool has_kernel_to_pad(DType dtype) { return dtype != DType::bfloat16; }

// Calls copy(rows of a sequence, its number) for each that has some.
template <class Copy>
void for_each_sequence(const NestedRows& nested, const Copy& copy) {
  if (!nested.rows.has_values()) return;
  std::int64_t first = 0;
  for (std::size_t i = 0; i < nested.lengths.size(); ++i) {
    if (nested.lengths[i] == 0) continue;
    copy(narrow(nested.rows, 0, first, nested.lengths[i]), static_cast<std::int64_t>(i));
    first += nested.lengths[i];
  }
}

Tensor padded_behind(const Tensor& tensor, std::int64_t rows) {
  return pad(tensor, {0, 0, 0, rows}, "constant", 0.0);
}

// Of padded [B, T, E].
NestedRows selected(const Tensor& padded, const std::vector<std::int64_t>& lengths) {
  std::vector<Tensor> masks;
  masks.reserve(lengths.size());
  for (const std::int64_t length : lengths) {
    const Tensor taken = full({length, padded.size(2)}, 1.0, {DType::boolean, padded.device()});
    masks.push_back(padded_behind(taken, padded.size(1) - length));
  }
  const Tensor mask = stack(masks, 0);
  return {view(masked_select(padded, mask), {-1, padded.size(2)}), lengths};
}

}  // namespace

NestedRows nested_from_padded(const Tensor& padded, const std::vector<std::int64_t>& lengths) {
  if (!has_kernel_to_remove_padding(padded.dtype())) return selected(padded, lengths);
  const std::int64_t batch = padded.size(0);
  const NestedRows nested{empty({total_of(lengths), padded.size(2)}, options_of(padded)), lengths};
  const Tensor sizes = converted_sizes_on(padded.device(), 2 * batch + 3 + batch + 1);
  const Tensor source = contiguous(padded);
  for_each_sequence(nested, [&](const Tensor& rows, std::int64_t i) {
    copy_into(rows, narrow(select(source, 0, i), 0, 0, rows.size(0)));
  });
  return nested;
}

NestedRows nested_from_padded_heads(const Tensor& padded,
                                    const std::vector<std::int64_t>& lengths) {
  const std::int64_t batch = padded.size(0);
  const std::int64_t width = padded.size(1) * padded.size(3);
  if (!has_kernel_to_remove_padding(padded.dtype())) {
    const Tensor turned =
        view(contiguous(permute(padded, {0, 2, 1, 3})), {batch, padded.size(2), width});
    return selected(turned, lengths);
  }
  const NestedRows nested{empty({total_of(lengths), width}, options_of(padded)), lengths};
  const Tensor sizes = converted_sizes_on(padded.device(), 2 * batch + 4 + batch + 1);
  for_each_sequence(nested, [&](const Tensor& rows, std::int64_t i) {
    const Tensor heads = narrow(select(padded, 0, i), 1, 0, rows.size(0));
    copy_into(view(rows, {rows.size(0), padded.size(1), padded.size(3)}), transpose(heads, 0, 1));
  });
  return nested;
}

namespace {

Tensor padded_one_by_one(const NestedRows& nested, std::int64_t length) {
  const std::int64_t longest = *std::max_element(nested.lengths.begin(), nested.lengths.end());
  std::vector<Tensor> padded;
  padded.reserve(nested.lengths.size());
  std::int64_t first = 0;
  for (const std::int64_t each : nested.lengths) {
    padded.push_back(padded_behind(narrow(nested.rows, 0, first, each), longest - each));
    first += each;
  }
  const Tensor all = stack(padded, 0);
  return padded_behind(all, length - longest);
}

}  // namespace

Tensor to_padded(const NestedRows& nested, std::int64_t length) {
  if (!has_kernel_to_pad(nested.rows.dtype())) return padded_one_by_one(nested, length);
  const auto batch = static_cast<std::int64_t>(nested.lengths.size());
  const Tensor out = empty({batch, length, nested.rows.size(1)}, options_of(nested.rows));
  const Tensor sizes = sizes_on(out.device(), batch + 1 + 2 * batch);
  if (out.has_values()) fill_values(out, 0.0);
  for_each_sequence(nested, [&](const Tensor& rows, std::int64_t i) {
    copy_into(narrow(select(out, 0, i), 0, 0, rows.size(0)), rows);
  });
  return out;
}

}  // namespace ohm::ops
