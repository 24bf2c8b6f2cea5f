#include "runtime/parallel/collective_pieces.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/memory_format.h"

namespace ohm::parallel {
namespace {

using Tensors = std::vector<Tensor>;

bool are_alike(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && a.dtype() == b.dtype();
}

void require_same_bytes(std::string_view collective, const Tensor& to, const Tensor& from) {
  if (to.numel() == from.numel() && to.dtype() == from.dtype()) return;
  throw std::invalid_argument(
      fmt::format("[{}] a piece of {} is to become {}", collective, describe(to), describe(from)));
}

Tensor flat(const Tensor& tensor) {
  return make_view(tensor, {tensor.numel()}, {1}, tensor.impl()->offset);
}

// The elements of a contiguous tensor, cut into pieces of these lengths.
Tensors cut(const Tensor& tensor, const std::vector<std::int64_t>& lengths) {
  Tensors pieces;
  std::int64_t start = tensor.impl()->offset;
  for (const std::int64_t length : lengths) {
    pieces.push_back(make_view(tensor, {length}, {1}, start));
    start += length;
  }
  return pieces;
}

}  // namespace

// ---- what fits ----------------------------------------------------------------------------------

// On a GPU elements are moved as they lie.
void require_dense(std::string_view collective, const Tensor& tensor) {
  if (tensor.device().is_cpu() || lies_in(tensor, memory_format_of(tensor))) return;
  throw std::invalid_argument(fmt::format("[{}] tensors have to be contiguous: {} has strides {}",
                                          collective, describe(tensor), tensor.strides().str()));
}

void require_dense(std::string_view collective, const Tensors& tensors) {
  for (const Tensor& tensor : tensors) require_dense(collective, tensor);
}

bool are_of_one_size(const Tensors& tensors) {
  return std::all_of(tensors.begin(), tensors.end(),
                     [&](const Tensor& tensor) { return tensor.shape() == tensors[0].shape(); });
}

// A list of tensors, one for each rank.
void require_one_each(std::string_view collective, std::string_view list, const Tensors& tensors,
                      int count) {
  if (tensors.size() != static_cast<std::size_t>(count)) {
    throw std::invalid_argument(
        fmt::format("[{}] {} has to have {} tensors, one for each rank, not {}", collective, list,
                    count, tensors.size()));
  }
}

void require_dtype(std::string_view collective, const Tensors& tensors, const Tensor& own) {
  for (const Tensor& tensor : tensors) {
    if (tensor.dtype() == own.dtype()) continue;
    throw std::invalid_argument(fmt::format("[{}] {} and {} are of different dtypes", collective,
                                            describe(tensor), describe(own)));
  }
}

// Tensors of a list that has one for each rank are like the one beside it.
void require_each_like(std::string_view collective, const Tensors& list, const Tensor& own) {
  for (std::size_t rank = 0; rank < list.size(); ++rank) {
    if (are_alike(list[rank], own)) continue;
    throw std::invalid_argument(
        fmt::format("[{}] the piece of rank {} is {}, not {}: they must be alike", collective, rank,
                    describe(list[rank]), describe(own)));
  }
}

Tensors item_of_each(const std::vector<Tensors>& brought, std::size_t item) {
  Tensors tensors;
  for (const Tensors& of_rank : brought) tensors.push_back(of_rank.at(item));
  return tensors;
}

// What the ranks bring first has one shape and one dtype.
Tensors alike_of_each(std::string_view collective, const std::vector<Tensors>& brought) {
  const Tensors tensors = item_of_each(brought, 0);
  for (std::size_t rank = 1; rank < tensors.size(); ++rank) {
    if (are_alike(tensors[rank], tensors[0])) continue;
    throw std::invalid_argument(fmt::format("[{}] rank 0 brings {}, rank {} {}: they must be alike",
                                            collective, describe(tensors[0]), rank,
                                            describe(tensors[rank])));
  }
  return tensors;
}

// ---- pieces -------------------------------------------------------------------------------------

Tensors joined(const Tensors& list, std::initializer_list<Tensor> more) {
  Tensors all = list;
  all.insert(all.end(), more);
  return all;
}

void move_elements(std::string_view collective, const Tensor& to, const Tensor& from) {
  require_same_bytes(collective, to, from);
  if (to.is_contiguous() && from.is_contiguous()) return copy_into(flat(to), flat(from));
  copy_into(to, from);
}

// As many equal pieces as there are ranks.
Tensors pieces_of(std::string_view collective, const Tensor& tensor, int count) {
  if (!tensor.is_contiguous() || tensor.numel() % count != 0) {
    throw std::invalid_argument(
        fmt::format("[{}] {} has to be contiguous, and to have a multiple of {} elements",
                    collective, describe(tensor), count));
  }
  return cut(tensor,
             std::vector<std::int64_t>(static_cast<std::size_t>(count), tensor.numel() / count));
}

// Pieces of so many rows of the first dimension.
Tensors split_rows(std::string_view collective, const Tensor& tensor,
                   const std::vector<std::int64_t>& rows, int count) {
  if (rows.empty()) return pieces_of(collective, tensor, count);
  const bool are_counts = std::all_of(rows.begin(), rows.end(), [&](std::int64_t number) {
    return number >= 0 && tensor.dims() > 0 && number <= tensor.shape()[0];
  });
  const bool fit = tensor.is_contiguous() && are_counts &&
                   rows.size() == static_cast<std::size_t>(count) &&
                   std::accumulate(rows.begin(), rows.end(), std::int64_t{0}) == tensor.shape()[0];
  if (!fit) {
    throw std::invalid_argument(fmt::format(
        "[{}] the splits have to be {} numbers of rows that make up the first dimension "
        "of {}, which has to be contiguous",
        collective, count, describe(tensor)));
  }
  const std::int64_t row = tensor.shape()[0] == 0 ? 0 : tensor.numel() / tensor.shape()[0];
  std::vector<std::int64_t> lengths;
  for (const std::int64_t number : rows) lengths.push_back(number * row);
  return cut(tensor, lengths);
}

// The tensor of rank r that stands behind its pieces becomes the reduction of all pieces r.
void reduce_pieces(std::string_view collective, const std::vector<Tensors>& brought,
                   Reduction reduction) {
  const std::size_t world = brought.size();
  for (std::size_t rank = 0; rank < world; ++rank) {
    const Tensor& target = brought[rank][world];
    Tensors sources;
    for (std::size_t i = 0; i < world; ++i) {
      require_same_bytes(collective, target, brought[i][rank]);
      const bool lies = target.is_contiguous() && brought[i][rank].is_contiguous();
      sources.push_back(lies ? flat(brought[i][rank]) : brought[i][rank]);
    }
    reduce_into(sources[0].dims() == 1 ? flat(target) : target, sources, reduction);
  }
}

void exchange_pieces(std::string_view collective, const std::vector<Tensors>& brought) {
  const std::size_t world = brought.size();
  for (std::size_t to = 0; to < world; ++to) {
    for (std::size_t from = 0; from < world; ++from) {
      move_elements(collective, brought[to][from], brought[from][world + to]);
    }
  }
}

}  // namespace ohm::parallel
