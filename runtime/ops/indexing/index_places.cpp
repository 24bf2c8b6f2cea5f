#include "runtime/ops/indexing/index_places.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/arithmetic/reduce.h"
#include "runtime/arithmetic/whole_scalars.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/kernels/launch/row_loops.h"
#include "runtime/ops/pointwise/binary_kernel.h"
#include "runtime/ops/shape/view.h"
#include "runtime/tensor/cuda_backend.h"

namespace ohm::ops {
namespace {

// Enough of them to write at once where there is one row.
constexpr std::int64_t kMostOwners = 256;
// So many rows are enough for a thread each.
constexpr std::int64_t kManyRows = 1024;

}  // namespace

RowShape owners_of(const Tensor& target, std::int64_t rows, std::int64_t places) {
  if (target.cuda_backend() == nullptr || rows >= kManyRows) return {rows, 1, 1, true};
  return {rows, std::clamp<std::int64_t>(places, 1, kMostOwners)};
}

void require_index(const OpInfo& info, const Tensor& input, const Tensor& index) {
  require_same_device(input, index, info);
  if (index.dtype() == DType::int64 || index.dtype() == DType::int32) return;
  throw std::invalid_argument(fmt::format("[{}] expected an index of dtype int64 or int32, not {}",
                                          info.name, name_of(index.dtype())));
}

namespace {

std::string no_place(std::string_view op, std::int64_t index, std::int64_t size) {
  return fmt::format("[{}] index {} is out of bounds for a size of {}", op, index, size);
}

}  // namespace

void require_place(const OpInfo& info, std::int64_t index, std::int64_t size) {
  if (index >= 0 && index < size) return;
  throw std::invalid_argument(no_place(info.name, index, size));
}

int gathered_dim(const OpInfo& info, const Tensor& input, std::int64_t dim, const Tensor& index) {
  require_index(info, input, index);
  const int position = wrap_dim(dim, input.dims(), info.name.data());
  bool fits = index.dims() == input.dims();
  for (int i = 0; fits && i < input.dims(); ++i) {
    fits = i == position || index.shape()[i] <= input.shape()[i];
  }
  if (!fits) {
    throw std::invalid_argument(fmt::format("[{}] an index of shape {} does not fit an input of {}",
                                            info.name, index.shape().str(), input.shape().str()));
  }
  return position;
}

functors::IndexAlongDim index_along_dim(const Tensor& tensor, int dim) {
  if (tensor.dims() == 0) return {};
  return {strided_index_of(tensor, with(0, dim), false), tensor.strides()[dim]};
}

namespace {

/// Where an index was spread over other dimensions each entry stands for many.
Tensor once_each(const Tensor& index) {
  Shape sizes = index.shape();
  for (int dim = 0; dim < index.dims(); ++dim) {
    if (index.strides()[dim] == 0) sizes[dim] = 1;
  }
  return make_view(index, sizes, index.strides(), index.impl()->offset);
}

}  // namespace

bool is_checked_on_cuda(const Tensor& index, const functors::PlacesOutside& outside,
                        DeferredErrors::Message message) {
  const CudaBackend* const backend = index.cuda_backend();
  const bool can_be = backend != nullptr && backend->errors && backend->kernels &&
                      backend->kernels->has(functors::PlacesOutside::kKernel, DType::int64);
  if (!can_be) return false;
  const RowOperand word{backend->errors->defer(std::move(message)), 1, DType::int64};
  return word.address != 0 &&
         are_rows_done_on_cuda(outside, DType::int64, thread_for_each(index.numel()),
                               {{word}, {index}});
}

void require_places(const OpInfo& info, const Tensor& given, const PlaceBounds& bounds) {
  if (given.numel() == 0) return;
  const Tensor index = once_each(given);
  const std::int64_t lowest = bounds.counts_from_end ? -bounds.size : 0;
  const bool is_deferred =
      is_checked_on_cuda(index, {strided_index_of(index, 0, false), lowest, bounds.size, lowest},
                         [op = std::string(info.name), size = bounds.size](std::int64_t place) {
                           return no_place(op, place, size);
                         });
  if (is_deferred) return;
  const HostInput<std::int64_t> places(index);
  for (std::int64_t i = 0; i < index.numel(); ++i) {
    const std::int64_t place = places.data()[i];
    if (place < lowest || place >= bounds.size) require_place(info, place, bounds.size);
  }
}

Tensor copy_with_places(const OpInfo& info, const Tensor& input, int dim, const Tensor& index) {
  Tensor out = empty(input.shape(), options_of(input));
  if (out.has_values() && index.has_values()) {
    require_places(info, index, {input.dims() == 0 ? 1 : input.shape()[dim]});
  }
  copy_into(out, input);
  return out;
}

namespace {

void scatter_into(const Tensor& target, int dim, const Tensor& index, const Tensor& source,
                  bool is_added, double number) {
  if (!target.has_values() || index.numel() == 0) return;
  // A number is one row of one element.
  const bool is_scalar = target.dims() == 0;
  const std::int64_t count = is_scalar ? 1 : index.shape()[dim];
  Shape rows = index.shape();
  if (!is_scalar) rows[dim] = 1;
  const Tensor begins = make_view(target, rows, target.strides(), target.impl()->offset);
  functors::IndexAlongDim places = index_along_dim(begins, dim);
  const functors::Scattered scattered{
      places,
      index_along_dim(index, dim),
      source.defined() ? index_along_dim(source, dim) : functors::IndexAlongDim(),
      count,
      is_scalar ? 1 : target.shape()[dim],
      is_added,
      number};
  run_rows(scattered, target.dtype(), owners_of(target, index.numel() / count, scattered.size),
           {{target}, {index, source}});
}

}  // namespace

void add_at(const Tensor& target, int dim, const Tensor& index, const Tensor& source,
            double factor) {
  if (const std::optional<std::int64_t> whole = whole_scalar(factor, target.dtype())) {
    // Both parts are numbers that doubles hold.
    constexpr std::int64_t kLow = 0xFFFFFFFF;
    const std::int64_t low = *whole & kLow;
    scatter_into(target, dim, index, source, true, static_cast<double>(*whole & ~kLow));
    return scatter_into(target, dim, index, source, true, static_cast<double>(low));
  }
  scatter_into(target, dim, index, source, true, factor);
}

void write_at(const Tensor& target, int dim, const Tensor& index, const Tensor& source,
              double number) {
  if (!source.defined() && whole_scalar(number, target.dtype())) {
    const Tensor whole = full({}, number, {DType::int64, Device::cpu()});
    return scatter_into(target, dim, index, broadcast_view(whole, index.shape()), false, number);
  }
  scatter_into(target, dim, index, source, false, number);
}

Tensor spread_index(const Tensor& index, const Shape& shape, int dim) {
  Shape sizes = shape;
  Shape strides(shape.dims(), 0);
  sizes[dim] = index.numel();
  strides[dim] = index.dims() == 0 ? 1 : index.strides()[0];
  return make_view(index, sizes, strides, index.impl()->offset);
}

}  // namespace ohm::ops
