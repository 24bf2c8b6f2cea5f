#include "runtime/parallel/coalesced.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"

namespace ohm::parallel {
namespace {

// Of a dtype among those that PyTorch numbers.
std::ptrdiff_t number_of(DType dtype) {
  constexpr std::array kNumbered = {DType::uint8,   DType::int8,    DType::int16,   DType::int32,
                                    DType::int64,   DType::float16, DType::float32, DType::float64,
                                    DType::boolean, DType::bfloat16};
  return std::find(kNumbered.begin(), kNumbered.end(), dtype) - kNumbered.begin();
}

Tensor flat_piece(const Tensor& flat, std::int64_t start, const Shape& shape) {
  return make_view(flat, shape, contiguous_strides(shape), flat.impl()->offset + start);
}

}  // namespace

std::vector<std::vector<std::size_t>> chunks_of(const std::vector<Tensor>& tensors,
                                                std::size_t limit_bytes, ChunkRule rule) {
  struct Group {
    DType dtype;
    std::vector<std::size_t> indices;
    std::size_t bytes;
  };
  std::vector<Group> open;  // one for each dtype, in order of first use
  std::vector<std::vector<std::size_t>> chunks;
  const auto close = [&chunks](Group& group) {
    chunks.push_back(std::move(group.indices));
    group.indices.clear();
    group.bytes = 0;
  };
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const DType dtype = tensors[i].dtype();
    auto group = std::find_if(open.begin(), open.end(),
                              [dtype](const Group& entry) { return entry.dtype == dtype; });
    if (group == open.end()) group = open.insert(open.end(), Group{dtype, {}, 0});
    const std::size_t bytes = tensors[i].nbytes();
    const bool would_exceed = group->bytes > 0 && group->bytes + bytes > limit_bytes;
    if (rule == ChunkRule::stays_below && would_exceed) close(*group);
    group->indices.push_back(i);
    group->bytes += bytes;
    if (rule == ChunkRule::may_exceed && group->bytes >= limit_bytes) close(*group);
  }
  if (rule == ChunkRule::may_exceed) {
    std::sort(open.begin(), open.end(), [](const Group& a, const Group& b) {
      return number_of(a.dtype) < number_of(b.dtype);
    });
  }
  for (Group& group : open) {
    if (!group.indices.empty()) close(group);
  }
  return chunks;
}

Tensor flatten(const std::vector<Tensor>& tensors) {
  if (tensors.size() == 1 && tensors[0].is_contiguous()) {
    return make_view(tensors[0], {tensors[0].numel()}, {1}, tensors[0].impl()->offset);
  }
  std::int64_t total = 0;
  for (const Tensor& tensor : tensors) total += tensor.numel();
  Tensor flat = empty({total}, options_of(tensors[0]));
  std::int64_t start = 0;
  for (const Tensor& tensor : tensors) {
    copy_into(flat_piece(flat, start, tensor.shape()), tensor);
    start += tensor.numel();
  }
  return flat;
}

std::vector<Tensor> unflatten(const Tensor& flat, const std::vector<Tensor>& like) {
  std::vector<Tensor> pieces;
  std::int64_t start = 0;
  for (const Tensor& tensor : like) {
    pieces.push_back(flat_piece(flat, start, tensor.shape()));
    start += tensor.numel();
  }
  return pieces;
}

}  // namespace ohm::parallel
