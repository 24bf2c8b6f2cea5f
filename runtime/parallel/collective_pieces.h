// The common part of collectives of a RankGroup: which tensors fit, pieces of them, and the fate of
// those that the ranks brought. All that refuses throws std::invalid_argument, naming the
// collective.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "runtime/parallel/rank_reduction.h"
#include "runtime/tensor/tensor.h"

namespace ohm::parallel {

/// Tensors that a rank brings, or some of each rank, by rank.
using TensorsOfRank = std::vector<Tensor>;

/// On a GPU elements are moved as they lie: without gaps.
void require_dense(std::string_view collective, const Tensor& tensor);
void require_dense(std::string_view collective, const std::vector<Tensor>& tensors);
/// A list has one tensor for each rank.
void require_one_each(std::string_view collective, std::string_view list,
                      const std::vector<Tensor>& tensors, int count);
void require_dtype(std::string_view collective, const std::vector<Tensor>& tensors,
                   const Tensor& own);
/// Tensors of a list that has one for each rank are like the one beside it.
void require_each_like(std::string_view collective, const std::vector<Tensor>& list,
                       const Tensor& own);
bool are_of_one_size(const std::vector<Tensor>& tensors);

std::vector<Tensor> item_of_each(const std::vector<TensorsOfRank>& brought, std::size_t item);
/// What the ranks bring first, which has one shape and one dtype.
std::vector<Tensor> alike_of_each(std::string_view collective,
                                  const std::vector<TensorsOfRank>& brought);

/// As many equal pieces of a contiguous tensor's elements as there are ranks.
std::vector<Tensor> pieces_of(std::string_view collective, const Tensor& tensor, int count);
/// Pieces of so many rows of the first dimension; equal ones where `rows` is empty.
std::vector<Tensor> split_rows(std::string_view collective, const Tensor& tensor,
                               const std::vector<std::int64_t>& rows, int count);

/// A list with more behind it.
std::vector<Tensor> joined(const std::vector<Tensor>& list, std::initializer_list<Tensor> more);

/// `to` gets the elements of `from`, which are as many.
void move_elements(std::string_view collective, const Tensor& to, const Tensor& from);
/// Of each rank: a piece for each rank, then a tensor, which becomes the reduction of all ranks'
/// pieces for it.
void reduce_pieces(std::string_view collective, const std::vector<TensorsOfRank>& brought,
                   Reduction reduction);
/// Of each rank: what it gets from each rank, then what it gives to each.
void exchange_pieces(std::string_view collective, const std::vector<TensorsOfRank>& brought);

}  // namespace ohm::parallel
