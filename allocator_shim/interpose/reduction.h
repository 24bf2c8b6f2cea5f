// What NCCL's reductions compute: elements of several ranks, piece by piece.
#pragma once

#include <cstddef>
#include <vector>

namespace ohm::interpose {

/// 0: it is not an ncclDataType_t.
std::size_t element_bytes(int data_type);

/// An element of a type that can be reduced.
double number_at(const void* element, int data_type);

class Reduction {
 public:
  /// Elements that fit a piece of memory which stays in a processor's cache.
  static constexpr std::size_t kMostElements = std::size_t{1} << 16U;

  /// False for types of eight bits: their sums are left out.
  static bool can_reduce(int data_type);

  /// `operation`: ncclRedOp_t; numbers that it does not name are sums.
  Reduction(int data_type, int operation);

  /// Begins a piece of at most kMostElements.
  void begin(std::size_t count);
  /// The elements of the next rank, each times `scale`.
  void add(const void* part, double scale);
  /// Writes the piece, reduced; `ranks`: how many were added, for averages.
  void finish(void* to, int ranks) const;

 private:
  int data_type_;
  int operation_;
  std::size_t count_ = 0;
  bool is_first_ = true;
  std::vector<std::byte> total_;  ///< of the type that elements are computed with
};

}  // namespace ohm::interpose
