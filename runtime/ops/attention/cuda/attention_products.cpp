#include "runtime/ops/attention/cuda/attention_products.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "allocator_shim/base/assert.h"
#include "allocator_shim/base/bytes.h"
#include "runtime/kernels/functors/attention_tile.h"
#include "runtime/kernels/functors/generators.h"
#include "runtime/kernels/launch/row_kernels.h"
#include "runtime/ops/cuda/library_call.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

/// Scores of a tile: a library's products keep a device busy with as many queries, and it has the
/// memory; with less it is tried again.
constexpr std::size_t kMostScoreBytes = 128_MiB;
constexpr std::size_t kLeastScoreBytes = 8_MiB;

/// So many queries of a head, or all, are enough for a product.
constexpr std::int64_t kFewestQueries = 256;

// ---- tiles --------------------------------------------------------------------------------------

/// Heads that are computed together, all of some batches or some of one; their queries go in steps.
struct HeadGroup {
  std::int64_t first_batch = 0;
  std::int64_t batches = 1;
  std::int64_t first_head = 0;  ///< of the batch
  std::int64_t heads = 1;

  std::int64_t count() const { return batches * heads; }
};

struct Tiling {
  std::int64_t batches_together = 1;
  std::int64_t heads_together = 1;
  std::int64_t queries_together = 0;

  bool operator==(const Tiling&) const = default;
};

/// Whose scores take so many bytes at most, or those of one query.
Tiling tiling_of(const functors::AttentionLayout& layout, std::int64_t batches,
                 std::size_t score_bytes) {
  const auto lines = std::max<std::int64_t>(
      1, static_cast<std::int64_t>(score_bytes / sizeof(float)) / layout.keys);
  const std::int64_t fewest = std::min(layout.queries, kFewestQueries);
  const std::int64_t heads = std::clamp<std::int64_t>(lines / fewest, 1, batches * layout.heads);
  Tiling tiling{std::max<std::int64_t>(1, heads / layout.heads), std::min(heads, layout.heads), 1};
  tiling.queries_together = std::clamp<std::int64_t>(
      lines / (tiling.batches_together * tiling.heads_together), 1, layout.queries);
  return tiling;
}

std::vector<HeadGroup> groups_of(const functors::AttentionLayout& layout, std::int64_t batches,
                                 const Tiling& tiling) {
  std::vector<HeadGroup> groups;
  for (std::int64_t batch = 0; batch < batches; batch += tiling.batches_together) {
    for (std::int64_t head = 0; head < layout.heads; head += tiling.heads_together) {
      groups.push_back({batch, std::min(tiling.batches_together, batches - batch), head,
                        std::min(tiling.heads_together, layout.heads - head)});
    }
  }
  return groups;
}

// ---- a call on its device -----------------------------------------------------------------------

/// Rows of heads, float32, dense: in scratch, or where the tensor has them.
struct PackedRows {
  std::uint64_t address = 0;
  std::int64_t rows = 0;
  std::int64_t width = 0;
  std::int64_t head_stride = rows * width;

  cuda::ProductOperand operand(bool is_transposed) const {
    return {address, width, is_transposed, head_stride};
  }
  /// Of each head.
  PackedRows first(std::int64_t count) const { return {address, count, width, head_stride}; }
};

class AttentionProducts {
 public:
  AttentionProducts(const AttentionCall& call, const CudaBackend& backend, Device device)
      : call_(call),
        layout_(call.layout),
        batches_(call.inputs.query.size(0)),
        backend_(backend),
        workspace_bytes_(Context::current().slot(device).cublas_workspace_bytes) {}

  bool forward(const Tensor& out, const Tensor& logsumexp) {
    const bool is_reserved = reserve([&](std::int64_t keys, std::int64_t queries) {
      return std::vector{queries * layout_.keys, queries * layout_.width, keys * layout_.width,
                         keys * layout_.value_width, queries * layout_.value_width};
    });
    if (!is_reserved) return false;
    for (const HeadGroup& group : groups_of(layout_, batches_, tiling_)) {
      const PackedRows key = packed(2, call_.inputs.key, group, {0, layout_.keys});
      const PackedRows value = packed(3, call_.inputs.value, group, {0, layout_.keys});
      for_each_tile([&](const Rows& rows) {
        const PackedRows query = packed(1, call_.inputs.query, group, rows);
        const PackedRows weights = scratch(0, rows.count, rows.keys);
        multiply(group, query.operand(false), key.operand(true), weights, layout_.width);
        run(functors::AttentionWeights{tile(group, rows)}, group, rows,
            {{operand(weights, group), logsumexp.numel() == 0 ? Tensor() : logsumexp},
             {call_.inputs.bias},
             &backend_});
        const PackedRows result = scratch(4, rows.count, layout_.value_width);
        multiply(group, weights.operand(false), value.operand(false), result, rows.keys);
        unpack(result, out, group, rows);
      });
    }
    return true;
  }

  bool backward(const Tensor& grad, const AttentionInputs& gradients, const Tensor& logsumexp) {
    const bool is_reserved = reserve([&](std::int64_t keys, std::int64_t queries) {
      return std::vector{
          queries * layout_.keys,     queries * layout_.width,       keys * layout_.width,
          keys * layout_.value_width, queries * layout_.value_width, queries * layout_.keys,
          queries * layout_.width,    keys * layout_.width,          keys * layout_.value_width};
    });
    if (!is_reserved) return false;
    for (const HeadGroup& group : groups_of(layout_, batches_, tiling_)) {
      const Rows all_keys{0, layout_.keys};
      const PackedRows key = packed(2, call_.inputs.key, group, all_keys);
      const PackedRows value = packed(3, call_.inputs.value, group, all_keys);
      const PackedRows key_slopes = scratch(7, layout_.keys, layout_.width);
      const PackedRows value_slopes = scratch(8, layout_.keys, layout_.value_width);
      for_each_tile([&](const Rows& rows) {
        const PackedRows query = packed(1, call_.inputs.query, group, rows);
        const PackedRows of_result = packed(4, grad, group, rows);
        const PackedRows weights = scratch(0, rows.count, rows.keys);
        const PackedRows slopes = scratch(5, rows.count, rows.keys);
        multiply(group, query.operand(false), key.operand(true), weights, layout_.width);
        multiply(group, of_result.operand(false), value.operand(true), slopes, layout_.value_width);
        run(functors::AttentionSlopes{tile(group, rows), steps_through(gradients.bias)}, group,
            rows,
            {{operand(weights, group), operand(slopes, group), gradients.bias},
             {logsumexp, call_.inputs.bias},
             &backend_});
        multiply(group, weights.operand(true), of_result.operand(false),
                 value_slopes.first(rows.keys), rows.count, !rows.are_last);
        multiply(group, slopes.operand(true), query.operand(false), key_slopes.first(rows.keys),
                 rows.count, !rows.are_last);
        const PackedRows query_slopes = scratch(6, rows.count, layout_.width);
        multiply(group, slopes.operand(false), key.operand(false), query_slopes, rows.keys);
        unpack(query_slopes, gradients.query, group, rows);
      });
      unpack(key_slopes, gradients.key, group, all_keys);
      unpack(value_slopes, gradients.value, group, all_keys);
    }
    return true;
  }

 private:
  /// Of each head.
  struct Rows {
    std::int64_t first = 0;
    std::int64_t count = 0;
    std::int64_t keys = 0;  ///< of queries: how many take part
    bool are_last = false;
  };

  static constexpr std::uint64_t kAlignment = 256;

  static functors::HeadSteps steps_through(const Tensor& tensor) {
    if (!tensor.defined()) return {};
    const Shape& strides = tensor.strides();
    return {strides[0], strides[1], strides[2], strides[3]};
  }

  /// Takes memory for arrays of floats(rows of keys, rows of queries) of a tile, and a workspace of
  /// the library.
  template <class Floats>
  bool reserve(const Floats& floats) {
    for (std::size_t bytes = kMostScoreBytes; bytes >= kLeastScoreBytes; bytes /= 4) {
      const Tiling before = tiling_;
      tiling_ = tiling_of(layout_, batches_, bytes);
      if (tiling_ == before) continue;
      const std::int64_t heads = tiling_.batches_together * tiling_.heads_together;
      if (is_reserved(floats(heads * layout_.keys, heads * tiling_.queries_together))) return true;
    }
    return false;
  }
  bool is_reserved(const std::vector<std::int64_t>& floats) {
    arrays_.clear();
    std::uint64_t bytes = 0;
    for (const std::int64_t count : floats) {
      arrays_.push_back(bytes);
      const std::uint64_t needed = static_cast<std::uint64_t>(count) * sizeof(float);
      bytes += (needed + kAlignment - 1) / kAlignment * kAlignment;
    }
    const std::uint64_t first = backend_.kernels->scratch(bytes + workspace_bytes_);
    if (first == 0) return false;
    for (std::uint64_t& array : arrays_) array += first;
    workspace_ = {first + bytes, workspace_bytes_};
    if (workspace_bytes_ == 0) workspace_ = {};
    return true;
  }
  PackedRows scratch(std::size_t array, std::int64_t rows, std::int64_t width) const {
    return {.address = arrays_.at(array), .rows = rows, .width = width};
  }
  static RowOperand operand(const PackedRows& rows, const HeadGroup& group) {
    return {rows.address, group.count() * rows.rows * rows.width, DType::float32};
  }

  /// The last one first: all keys are written then, to which the others add.
  template <class Visit>
  void for_each_tile(const Visit& visit) const {
    const std::int64_t step = tiling_.queries_together;
    for (std::int64_t first = (layout_.queries - 1) / step * step; first >= 0; first -= step) {
      const std::int64_t end = std::min(first + step, layout_.queries);
      const bool are_last = end == layout_.queries;
      const bool are_all = are_last || !layout_.is_causal;
      visit(
          Rows{first, end - first, are_all ? layout_.keys : std::min(end, layout_.keys), are_last});
    }
  }
  functors::AttentionTile tile(const HeadGroup& group, const Rows& rows) const {
    return {layout_, group.first_batch * layout_.heads + group.first_head, rows.first, rows.count,
            rows.keys};
  }

  template <class Functor>
  void run(const Functor& functor, const HeadGroup& group, const Rows& rows,
           const RowArguments& arguments) const {
    [[maybe_unused]] const bool is_done =
        are_rows_done_on_cuda(functor, DType::float32,
                              {.count = group.count() * rows.count, .size = rows.keys}, arguments);
    OHM_ASSERT(is_done, "there is a kernel of it");
  }

  void multiply(const HeadGroup& group, const cuda::ProductOperand& a,
                const cuda::ProductOperand& b, const PackedRows& out, std::int64_t inner,
                bool adds_to_out = false) const {
    cuda::Product product;
    product.m = out.rows;
    product.n = out.width;
    product.k = inner;
    product.batches = group.count();
    product.a = a;
    product.b = b;
    product.out = out.address;
    product.out_batch_stride = out.head_stride;
    product.adds_to_out = adds_to_out;
    backend_.libraries->cublas()->multiply(product, workspace_);
  }

  // ---- between tensors and packed rows

  /// The tensor's rows of a group, as a loop over [batches, heads, rows, width].
  ElementwiseOperand in_tensor(const Tensor& tensor, CudaAccess access, const HeadGroup& group,
                               const Rows& rows) const {
    const functors::HeadSteps steps = steps_through(tensor);
    const std::int64_t start =
        group.first_batch * steps.batch + group.first_head * steps.head + rows.first * steps.row;
    ElementwiseOperand operand;
    operand.address = tensor.cuda_address(access) +
                      static_cast<std::uint64_t>(start) * item_bytes(tensor.dtype());
    operand.dtype = tensor.dtype();
    const std::array strides{steps.batch, steps.head, steps.row, steps.column};
    std::copy(strides.begin(), strides.end(), operand.strides);
    return operand;
  }
  static ElementwiseOperand in_scratch(const PackedRows& rows, const HeadGroup& group) {
    ElementwiseOperand operand;
    operand.address = rows.address;
    const std::int64_t of_head = rows.rows * rows.width;
    const std::array strides{group.heads * of_head, of_head, rows.width, std::int64_t{1}};
    std::copy(strides.begin(), strides.end(), operand.strides);
    return operand;
  }
  void copy(const ElementwiseOperand& to, const ElementwiseOperand& from, const HeadGroup& group,
            const PackedRows& rows) const {
    ElementwiseLaunch loop;
    loop.dims = 4;
    const std::array sizes{group.batches, group.heads, rows.rows, rows.width};
    std::copy(sizes.begin(), sizes.end(), loop.sizes);
    loop.count = static_cast<std::uint64_t>(group.count() * rows.rows * rows.width);
    loop.out = to;
    loop.in[0] = from;
    const functors::Copy functor;
    backend_.kernels->launch(functors::Copy::kKernel, loop, &functor);
  }
  static bool walks_alike(const ElementwiseOperand& a, const ElementwiseOperand& b,
                          const HeadGroup& group, const PackedRows& rows) {
    const std::array sizes{group.batches, group.heads, rows.rows, rows.width};
    bool is_alike = true;
    for (std::size_t dim = 0; dim < sizes.size(); ++dim) {
      is_alike = is_alike && (sizes.at(dim) == 1 || a.strides[dim] == b.strides[dim]);
    }
    return is_alike;
  }
  /// In the array, or where the tensor has them if they are packed there.
  PackedRows packed(std::size_t array, const Tensor& tensor, const HeadGroup& group,
                    const Rows& rows) const {
    PackedRows to = scratch(array, rows.count, tensor.size(3));
    const ElementwiseOperand from = in_tensor(tensor, CudaAccess::read, group, rows);
    const ElementwiseOperand there = in_scratch(to, group);
    if (from.dtype == DType::float32 && std::equal(from.strides, from.strides + 4, there.strides)) {
      to.address = from.address;
    } else {
      copy(there, from, group, to);
    }
    return to;
  }
  void unpack(const PackedRows& from, const Tensor& tensor, const HeadGroup& group,
              const Rows& rows) const {
    copy(in_tensor(tensor, CudaAccess::write, group, rows), in_scratch(from, group), group, from);
  }

  const AttentionCall& call_;
  const functors::AttentionLayout& layout_;
  std::int64_t batches_;
  Tiling tiling_;
  const CudaBackend& backend_;
  std::size_t workspace_bytes_;
  std::vector<std::uint64_t> arrays_;
  cuda::DeviceRange workspace_;
};

/// The backend that all of them are on, with what it takes; else nullptr.
const CudaBackend* backend_for(const AttentionCall& call,
                               std::initializer_list<const Tensor*> others) {
  const AttentionInputs& in = call.inputs;
  const CudaBackend* const backend = in.query.cuda_backend();
  const auto is_elsewhere = [backend](const Tensor* tensor) {
    return tensor->defined() && tensor->numel() > 0 && tensor->cuda_backend() != backend;
  };
  const std::initializer_list<const Tensor*> inputs = {&in.key, &in.value, &in.bias};
  const bool is_there = backend != nullptr && backend->kernels && backend->libraries &&
                        std::none_of(inputs.begin(), inputs.end(), is_elsewhere) &&
                        std::none_of(others.begin(), others.end(), is_elsewhere) &&
                        backend->libraries->cublas() != nullptr;
  if (!is_there) return nullptr;
  const functors::AttentionLayout& layout = call.layout;
  const std::array sizes{in.query.size(0), layout.heads, layout.queries,
                         layout.keys,      layout.width, layout.value_width};
  constexpr std::int64_t kMost = INT32_MAX;  // as a library counts
  const bool fits = std::all_of(sizes.begin(), sizes.end(),
                                [](std::int64_t size) { return size > 0 && size <= kMost; });
  return fits && in.query.size(0) * layout.heads <= kMost ? backend : nullptr;
}

}  // namespace

CudaResult multiply_attention(const AttentionCall& call, const Tensor& out,
                              const Tensor& logsumexp) {
  const CudaBackend* const backend = backend_for(call, {&out, &logsumexp});
  if (backend == nullptr) return CudaResult::no;
  return call_library(out.device(), [&] {
    AttentionProducts products(call, *backend, out.device());
    return products.forward(out, logsumexp) ? CudaResult::done : CudaResult::no;
  });
}

CudaResult multiply_attention_gradients(const AttentionCall& call, const Tensor& grad,
                                        const AttentionInputs& gradients, const Tensor& logsumexp) {
  const CudaBackend* const backend = backend_for(call, {&grad, &logsumexp, &gradients.query});
  if (backend == nullptr) return CudaResult::no;
  return call_library(grad.device(), [&] {
    AttentionProducts products(call, *backend, grad.device());
    return products.backward(grad, gradients, logsumexp) ? CudaResult::done : CudaResult::no;
  });
}

}  // namespace ohm::ops
