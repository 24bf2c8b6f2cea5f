#include "runtime/parallel/fully_sharded_collectives.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/arithmetic/sum.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/autograd/variable.h"
#include "runtime/base/ceil_div.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/launch/elementwise.h"
#include "runtime/ops/convert.h"
#include "runtime/parallel/collective_guard.h"
#include "runtime/tensor/context.h"

namespace ohm::parallel {
namespace {

// Of the kernels that copy many pieces at once: a thread block of theirs copies so many bytes.
constexpr std::int64_t kThreadsInBlock = 128;
constexpr std::int64_t kBytesOfBlock = 16 * kThreadsInBlock;

Tensor piece_at(const Tensor& flat, std::int64_t start, std::int64_t length) {
  return make_view(flat, {length}, {1}, flat.impl()->offset + start);
}

std::int64_t numel_of(const FullyShardedParameters& parameters) {
  std::int64_t numel = 0;
  for (const auto& parameter : parameters) numel += parameter->padded_numel();
  return numel;
}

// The table of such a kernel, which says what its blocks copy: written in pinned memory, and copied
// to the device, where it goes once the kernel is queued.
void allocate_table(std::int64_t numbers, Device device) {
  if (!device.is_cuda()) return;
  const WorkspaceGuard workspace;
  if (Context::current().pinned == nullptr) {
    empty({numbers}, {DType::int64, device});
    return;
  }
  Tensor table = empty_pinned({numbers}, {1}, DType::int64);
  fill_values(table, 0.0);
  table = ops::to(table, device, std::nullopt, ops::Transfer::non_blocking);
}

// Of the copy of a gathered buffer: addresses from and to, and bytes, of each parameter; which one
// a block copies; where the blocks of each begin.
std::int64_t numbers_to_copy_out(const FullyShardedParameters& parameters, int ranks,
                                 std::size_t item, Device device) {
  const DeviceSlot& slot = Context::current().slot(device);
  const std::int64_t threads = std::int64_t{slot.multiprocessors} * slot.threads_per_multiprocessor;
  const std::int64_t most_blocks = threads / kThreadsInBlock * 2;
  std::int64_t blocks = 0;
  for (const auto& parameter : parameters) {
    blocks += ceil_div(parameter->padded_numel() * static_cast<std::int64_t>(item), kBytesOfBlock);
  }
  const std::int64_t factor = ceil_div(blocks * ranks, most_blocks);
  const auto root = static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(factor))));
  const std::int64_t repeats = ceil_div(factor, std::min<std::int64_t>(root, ranks));
  std::int64_t numbers = 4 * static_cast<std::int64_t>(parameters.size()) + 1;
  for (const auto& parameter : parameters) {
    numbers += ceil_div(parameter->padded_numel() * static_cast<std::int64_t>(item),
                        kBytesOfBlock * repeats);
  }
  return numbers;
}

// Of the copy of gradients into a buffer: seven lists, two of which have an end, and which gradient
// a block copies.
std::int64_t numbers_to_copy_in(const std::vector<WholeGradient>& gradients, std::size_t item) {
  std::int64_t numbers = 6 * static_cast<std::int64_t>(gradients.size()) + 2;
  for (const WholeGradient& each : gradients) {
    numbers +=
        ceil_div(each.parameter->padded_numel() * static_cast<std::int64_t>(item), kBytesOfBlock);
  }
  return numbers;
}

// What each rank sends of its parameters, as it is gathered. Casts lie in `casts`, one after the
// other.
std::vector<Tensor> gather_inputs(const FullyShardedParameters& parameters, Tensor& casts) {
  std::vector<Tensor> inputs;
  std::int64_t cast_numel = 0;
  DType dtype = DType::float32;
  for (const auto& parameter : parameters) {
    if (!parameter->cast_dtype()) continue;
    cast_numel += parameter->padded_numel();
    dtype = *parameter->cast_dtype();
  }
  if (cast_numel > 0) casts = empty({cast_numel}, {dtype, parameters[0]->shard().device()});
  std::int64_t start = 0;
  for (const auto& parameter : parameters) {
    inputs.push_back(parameter->flat());
    if (!parameter->cast_dtype()) continue;
    inputs.back() = piece_at(casts, start, parameter->padded_numel());
    copy_into(inputs.back(), parameter->flat());
    start += parameter->padded_numel();
  }
  return inputs;
}

// What is written is what saved tensors look for.
class KeptVersion {
 public:
  explicit KeptVersion(const Tensor& tensor)
      : storage_(tensor.storage()), version_(storage_.version()) {}
  ~KeptVersion() { storage_.set_version(version_); }
  KeptVersion(const KeptVersion&) = delete;
  KeptVersion& operator=(const KeptVersion&) = delete;

 private:
  Storage& storage_;
  std::uint32_t version_;
};

void divide(const Tensor& tensor, double divisor) {
  if (divisor == 1) return;
  tensor.bump_version();
  map_floating(tensor, tensor.dtype(), functors::Divided{divisor}, tensor);
}

/// Divisors before and after the sum over ranks. A sum in float16 is divided on both sides, lest it
/// be infinite.
struct Divisors {
  double before = 1;
  double after = 1;
};

Divisors divisors_of(DType dtype, int ranks) {
  if (dtype != DType::float16) return {1, static_cast<double>(ranks)};
  int before = 1;
  while (ranks % before == 0 && static_cast<double>(ranks) / before > before) before *= 2;
  return {static_cast<double>(before), static_cast<double>(ranks) / before};
}

// Rank r's rows of every gradient go to piece r of the buffer.
void copy_in(const std::vector<WholeGradient>& gradients, const Tensor& buffer, int ranks) {
  const std::int64_t length = buffer.numel() / ranks;
  std::int64_t start = 0;
  for (const WholeGradient& each : gradients) {
    const std::int64_t rows = each.gradient.shape()[0];
    const std::int64_t of_rank = each.parameter->padded_rows();
    const std::int64_t padded = each.parameter->padded_numel();
    for (int rank = 0; rank < ranks; ++rank) {
      const std::int64_t first = std::min(rows, of_rank * rank);
      Shape shape = each.gradient.shape();
      shape[0] = std::min(of_rank, rows - first);
      const std::int64_t target = rank * length + start;
      if (shape.numel() > 0) {
        copy_into(make_view(buffer, shape, contiguous_strides(shape), target),
                  make_view(each.gradient, shape, each.gradient.strides(),
                            each.gradient.impl()->offset + first * each.gradient.strides()[0]));
      }
      if (shape.numel() < padded) {
        fill_values(piece_at(buffer, target + shape.numel(), padded - shape.numel()), 0.0);
      }
    }
    start += padded;
  }
}

// Where the kernel that copies many pieces does not cast, gradients of uneven rows are padded.
std::vector<Tensor> padded_copies(const std::vector<WholeGradient>& gradients, int ranks) {
  std::vector<Tensor> copies;
  for (const WholeGradient& each : gradients) {
    if (each.gradient.shape()[0] % ranks == 0) continue;
    Shape shape = each.gradient.shape();
    shape[0] = each.parameter->padded_rows() * ranks;
    copies.push_back(zeros(shape, options_of(each.gradient)));
  }
  return copies;
}

void fill_buffer(const std::vector<WholeGradient>& gradients, const Tensor& buffer, int ranks) {
  const DType from = gradients[0].gradient.dtype();
  const bool is_one_kernel =
      from == buffer.dtype() || (from == DType::bfloat16 && buffer.dtype() == DType::float32);
  std::vector<Tensor> copies;
  if (is_one_kernel) {
    allocate_table(numbers_to_copy_in(gradients, item_bytes(buffer.dtype())), buffer.device());
  } else {
    copies = padded_copies(gradients, ranks);
  }
  copy_in(gradients, buffer, ranks);
}

void give_gradients(const std::vector<FullyShardedParameter*>& parameters, const Tensor& reduced) {
  std::int64_t start = 0;
  for (FullyShardedParameter* parameter : parameters) {
    const Tensor& shard = parameter->shard();
    const Shape& shape = parameter->sharded_shape();
    const Tensor gradient = make_view(reduced, shape, contiguous_strides(shape), start);
    if (shard.grad().defined()) {
      accumulate_into(shard.grad(), gradient);
    } else {
      gradient.impl()->is_view = false;
      shard.set_grad(gradient);
    }
    if (const AutogradMeta* meta = autograd_meta(shard)) {
      for (const auto& hook : meta->accumulation_hooks) hook(shard);
    }
    start += parameter->padded_numel();
  }
}

// Returns what the shards' gradients are views of, or were added from.
Tensor reduce_on_stream(const std::vector<FullyShardedParameter*>& parameters, const Tensor& buffer,
                        RankGroup& group, StreamId stream) {
  const StreamGuard queue(buffer.device(), stream);
  const int ranks = group.world_size();
  const Divisors divisors = divisors_of(buffer.dtype(), ranks);
  Tensor reduced = empty({buffer.numel() / ranks}, options_of(buffer));
  divide(buffer, divisors.before);
  group.reduce_scatter_from(reduced, buffer);
  divide(reduced, divisors.after);
  const DType wanted = parameters[0]->original_dtype();
  if (reduced.dtype() != wanted) reduced = cast(reduced, wanted);
  give_gradients(parameters, reduced);
  return reduced;
}

}  // namespace

Tensor gather_shards(const FullyShardedParameters& parameters, RankGroup& group, StreamId stream) {
  const NoGradGuard no_grad;
  const CollectiveGuard collective("all_gather_into_tensor");
  const CategoryGuard category(Category::other);
  const StreamGuard queue(parameters[0]->shard().device(), stream);
  Tensor casts;
  const std::vector<Tensor> inputs = gather_inputs(parameters, casts);
  const std::int64_t length = numel_of(parameters);
  const Tensor buffer = empty({length * group.world_size()}, options_of(inputs[0]));
  std::int64_t start = length * group.rank();
  for (const Tensor& input : inputs) {
    copy_into(piece_at(buffer, start, input.numel()), input);
    start += input.numel();
  }
  group.all_gather_into(buffer, piece_at(buffer, length * group.rank(), length));
  return buffer;
}

void copy_gathered(const FullyShardedParameters& parameters, const Tensor& gathered,
                   const RankGroup& group) {
  const NoGradGuard no_grad;
  const OpGuard op("split_with_sizes_copy");
  {
    const CategoryGuard category(Category::parameter);
    for (const auto& parameter : parameters) parameter->make_room();
  }
  const int ranks = group.world_size();
  allocate_table(
      numbers_to_copy_out(parameters, ranks, item_bytes(gathered.dtype()), gathered.device()),
      gathered.device());
  const std::int64_t of_rank = gathered.numel() / ranks;
  std::int64_t start = 0;
  for (const auto& parameter : parameters) {
    const KeptVersion version(parameter->gathered());
    const std::int64_t length = parameter->padded_numel();
    for (int rank = 0; rank < ranks; ++rank) {
      copy_into(piece_at(parameter->gathered(), rank * length, length),
                piece_at(gathered, rank * of_rank + start, length));
    }
    start += length;
  }
}

void copy_own_shards(const FullyShardedParameters& parameters) {
  const NoGradGuard no_grad;
  const CategoryGuard category(Category::parameter);
  Tensor input;
  for (const auto& parameter : parameters) {
    input = cast(parameter->flat(), parameter->computed_dtype());
    parameter->make_room();
    const KeptVersion version(parameter->gathered());
    copy_into(parameter->gathered(), input);
  }
}

Tensor reduce_gradients(std::vector<WholeGradient> gradients, DType dtype, RankGroup& group,
                        StreamId stream) {
  const NoGradGuard no_grad;
  const CollectiveGuard collective("reduce_scatter_tensor");
  const CategoryGuard category(Category::gradient);
  std::vector<FullyShardedParameter*> parameters;
  std::int64_t numel = 0;
  for (const WholeGradient& each : gradients) {
    parameters.push_back(each.parameter);
    numel += each.parameter->padded_numel() * group.world_size();
  }
  const Device device = gradients[0].gradient.device();
  Tensor buffer = empty({numel}, {dtype, device});
  fill_buffer(gradients, buffer, group.world_size());
  Tensor reduced;
  // Before 2.15 a variable holds the last one until everything is done.
  const Tensor last = follows_later_rules() ? Tensor() : gradients.back().gradient;
  while (!gradients.empty()) gradients.pop_back();
  reduced = reduce_on_stream(parameters, buffer, group, stream);
  return buffer;
}

}  // namespace ohm::parallel
