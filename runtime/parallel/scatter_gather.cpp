#include "runtime/parallel/scatter_gather.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/recorder.h"
#include "runtime/autograd/view_history.h"
#include "runtime/base/ceil_div.h"
#include "runtime/parallel/collective_guard.h"
#include "runtime/tensor/context.h"

namespace ohm::parallel {
namespace {

Tensor rows(const Tensor& tensor, std::int64_t start, std::int64_t count) {
  Shape sizes = tensor.shape();
  sizes[0] = count;
  return make_view(tensor, sizes, tensor.strides(),
                   tensor.impl()->offset + start * tensor.strides()[0]);
}

Tensor moved_piece(const Tensor& piece, Device device) {
  return piece.device().is_cpu() ? copied_from_host(piece, device) : transfer(piece, device);
}

// Sizes of the pieces: as torch.chunk cuts, equal but for the last.
std::vector<std::int64_t> piece_sizes(std::int64_t batch, std::size_t devices) {
  const auto count = static_cast<std::int64_t>(devices);
  const std::int64_t size = std::max<std::int64_t>(1, ceil_div(batch, count));
  std::vector<std::int64_t> sizes;
  for (std::int64_t start = 0; start < batch; start += size) {
    sizes.push_back(std::min(size, batch - start));
  }
  return sizes;
}

Tensor joined(const std::vector<Tensor>& pieces, Device device) {
  Shape sizes = pieces[0].shape();
  sizes[0] = 0;
  for (const Tensor& piece : pieces) sizes[0] += piece.shape()[0];
  Tensor whole = empty(sizes, {pieces[0].dtype(), device});
  std::int64_t start = 0;
  for (const Tensor& piece : pieces) {
    copy_into(rows(whole, start, piece.shape()[0]), piece);
    start += piece.shape()[0];
  }
  return whole;
}

}  // namespace

Tensor copied_from_host(const Tensor& tensor, Device device) {
  Tensor copy;
  {
    const StreamGuard stream(device, kCopyStream);
    copy = transfer(tensor, device);
  }
  copy.storage().record_stream(Context::current().state.streams.of(device));
  return copy;
}

std::vector<Tensor> scatter(const Tensor& input, const std::vector<Device>& devices) {
  const CollectiveGuard collective("scatter");
  if (input.dims() == 0) {
    throw std::invalid_argument("[scatter] cannot scatter a 0-dim tensor over GPUs");
  }
  std::vector<Tensor> pieces;
  std::int64_t start = 0;
  for (const std::int64_t size : piece_sizes(input.shape()[0], devices.size())) {
    pieces.push_back(moved_piece(rows(input, start, size), devices[pieces.size()]));
    start += size;
  }
  if (Recorder record("ScatterBackward", {&input}); record.is_needed()) {
    record.attach(pieces, [device = input.device()](BackwardCall& call) {
      std::vector<Tensor> grads;
      for (std::size_t i = 0; i < call.grad_count(); ++i) grads.push_back(call.grad(i));
      return TensorList{joined(grads, device)};
    });
  }
  for (const Tensor& piece : pieces) {
    if (&piece.storage() == &input.storage()) {
      track_view(piece, input, ViewOrigin::several_outputs);
    }
  }
  return pieces;
}

std::vector<std::vector<ops::Value>> scatter_arguments(const std::vector<ops::Value>& arguments,
                                                       const std::vector<Device>& devices) {
  std::vector<std::vector<ops::Value>> lists;
  std::size_t pieces = devices.size();
  std::vector<std::vector<Tensor>> scattered(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (const Tensor* tensor = std::get_if<Tensor>(&arguments[i])) {
      scattered[i] = scatter(*tensor, devices);
      pieces = std::min(pieces, scattered[i].size());
    }
  }
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    std::vector<ops::Value> list;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      list.push_back(scattered[i].empty() ? arguments[i] : ops::Value(scattered[i][piece]));
    }
    lists.push_back(std::move(list));
  }
  return lists;
}

Tensor gather(const std::vector<Tensor>& pieces, Device device) {
  const CollectiveGuard collective("gather");
  const bool are_scalars = pieces[0].dims() == 0;
  std::vector<Tensor> parts;
  parts.reserve(pieces.size());
  for (const Tensor& piece : pieces) {
    parts.push_back(are_scalars ? make_view(piece, {1}, {1}, piece.impl()->offset) : piece);
  }
  Tensor whole = joined(parts, device);
  if (Recorder record("GatherBackward", pieces); record.is_needed()) {
    std::vector<std::pair<Device, std::int64_t>> targets;
    targets.reserve(parts.size());
    for (const Tensor& part : parts) targets.emplace_back(part.device(), part.shape()[0]);
    record.attach(whole, [targets, are_scalars](BackwardCall& call) {
      TensorList grads;
      std::int64_t start = 0;
      for (const auto& [target, size] : targets) {
        const Tensor piece = transfer(rows(call.grad(), start, size), target);
        grads.push_back(are_scalars ? make_view(piece, {}, {}, piece.impl()->offset) : piece);
        start += size;
      }
      return grads;
    });
  }
  return whole;
}

}  // namespace ohm::parallel
