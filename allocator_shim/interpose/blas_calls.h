// Calls of cuBLAS without a function of their own: what is wrong with their arguments, by where
// these are among the words of a call.
#pragma once

#include <cstddef>
#include <cstdint>

#include "allocator_shim/interpose/call_library.h"
#include "allocator_shim/interpose/objects.h"
#include "allocator_shim/interpose/stub_work.h"

namespace ohm::interpose {

inline constexpr Word kWrongBlasArgument =
    static_cast<Word>(invalid_argument_of(CallLibrary::cublas));
inline constexpr Word kUnsupportedByBlas = 15;

/// cublasOperation_t: as it is, transposed, or conjugated, too.
constexpr bool is_blas_operation(Word word) {
  constexpr unsigned kConjugateTransposed = 2;
  return static_cast<unsigned>(word) <= kConjugateTransposed;
}

/// The words of a call that are numbers of this type.
template <typename Number>
class BlasNumbers {
 public:
  explicit BlasNumbers(const Words& words) : words_(words) {}

  Number at(std::size_t i) const { return static_cast<Number>(words_[i]); }
  bool is_size(std::size_t i) const { return at(i) >= 0; }
  bool is_transposed(std::size_t i) const { return static_cast<int>(words_[i]) != 0; }
  /// Whether it is a leading dimension of a matrix with so many rows.
  bool is_leading(std::size_t i, Number rows) const { return at(i) >= (rows > 1 ? rows : 1); }

 private:
  const Words& words_;
};

/// A call that fails where its arguments are not right, and is work otherwise.
template <typename Call>
struct BlasWork {
  static Word call(const Words& words, const char* name) {
    const bool is_alive = is_object(reinterpret_cast<const void*>(words[0]));
    return !is_alive || Call::is_right(words) ? Works::call(words, name) : kWrongBlasArgument;
  }
};

/// A product of matrices, whose arguments are the handle, two operations, three sizes, alpha, A.
/// Where its leading dimensions, beta and the number of products are; 0: it is one product.
template <typename Number, std::size_t LeadingA, std::size_t LeadingB, std::size_t Beta,
          std::size_t LeadingC, std::size_t Count = 0>
struct MultipliesMatricesAt
    : BlasWork<MultipliesMatricesAt<Number, LeadingA, LeadingB, Beta, LeadingC, Count>> {
  static bool is_right(const Words& words) {
    const BlasNumbers<Number> numbers(words);
    const Number m = numbers.at(3);
    const Number n = numbers.at(4);
    const Number k = numbers.at(5);
    return is_blas_operation(words[1]) && is_blas_operation(words[2]) && m >= 0 && n >= 0 &&
           k >= 0 && words[6] != 0 && words[Beta] != 0 && (Count == 0 || numbers.is_size(Count)) &&
           numbers.is_leading(LeadingA, numbers.is_transposed(1) ? k : m) &&
           numbers.is_leading(LeadingB, numbers.is_transposed(2) ? n : k) &&
           numbers.is_leading(LeadingC, m);
  }
};

template <typename Number>
using MultipliesMatrices = MultipliesMatricesAt<Number, 8, 10, 11, 13>;
template <typename Number>
using MultipliesBatch = MultipliesMatricesAt<Number, 8, 10, 11, 13, 14>;
template <typename Number>
using MultipliesStrides = MultipliesMatricesAt<Number, 8, 11, 13, 15, 17>;

/// Of matrices whose types are arguments, too: A and B have one.
template <typename Product, std::size_t TypeB>
struct MultipliesTypes {
  static constexpr std::size_t kTypeA = 8;
  static Word call(const Words& words, const char* name) {
    const bool is_one_type = static_cast<int>(words[kTypeA]) == static_cast<int>(words[TypeB]);
    const bool is_right =
        is_object(reinterpret_cast<const void*>(words[0])) && Product::is_right(words);
    return is_right && !is_one_type ? kUnsupportedByBlas : Product::call(words, name);
  }
};

template <typename Number>
using MultipliesTyped = MultipliesTypes<MultipliesMatricesAt<Number, 9, 12, 13, 16>, 11>;
template <typename Number>
using MultipliesTypedBatch = MultipliesTypes<MultipliesMatricesAt<Number, 9, 12, 13, 16, 17>, 11>;
template <typename Number>
using MultipliesTypedStrides = MultipliesTypes<MultipliesMatricesAt<Number, 9, 13, 15, 18, 20>, 12>;

/// The same of a matrix and a vector: the handle, an operation, two sizes, alpha, A with its
/// leading dimension, x with its step, beta, y with its step.
template <typename Number>
struct MultipliesVector : BlasWork<MultipliesVector<Number>> {
  static bool is_right(const Words& words) {
    const BlasNumbers<Number> numbers(words);
    return is_blas_operation(words[1]) && numbers.is_size(2) && numbers.is_size(3) &&
           words[4] != 0 && words[9] != 0 && numbers.is_leading(6, numbers.at(2)) &&
           numbers.at(8) != 0 && numbers.at(11) != 0;
  }
};

/// A triangle on one side of a matrix: the handle, side, triangle, operation, diagonal, two sizes,
/// alpha, A with its leading dimension, B.
template <typename Number>
struct AppliesTriangle : BlasWork<AppliesTriangle<Number>> {
  static bool is_right(const Words& words) {
    const BlasNumbers<Number> numbers(words);
    const bool is_on_right = static_cast<int>(words[1]) != 0;
    return is_blas_operation(words[3]) && numbers.is_size(5) && numbers.is_size(6) &&
           words[7] != 0 && numbers.is_leading(9, numbers.at(is_on_right ? 6 : 5)) &&
           numbers.is_leading(11, numbers.at(5));
  }
};

/// A product of a matrix with itself: the handle, triangle, operation, two sizes, alpha, A with its
/// leading dimension, beta, C.
template <typename Number>
struct SquaresMatrix : BlasWork<SquaresMatrix<Number>> {
  static bool is_right(const Words& words) {
    const BlasNumbers<Number> numbers(words);
    const Number rows = numbers.at(numbers.is_transposed(2) ? 4 : 3);
    return is_blas_operation(words[2]) && numbers.is_size(3) && numbers.is_size(4) &&
           words[5] != 0 && words[8] != 0 && numbers.is_leading(7, rows) &&
           numbers.is_leading(10, numbers.at(3));
  }
};

/// A product of vectors: the handle, two sizes, alpha, each vector with its step, A.
template <typename Number>
struct MultipliesVectors : BlasWork<MultipliesVectors<Number>> {
  static bool is_right(const Words& words) {
    const BlasNumbers<Number> numbers(words);
    return numbers.is_size(1) && numbers.is_size(2) && words[3] != 0 && numbers.at(5) != 0 &&
           numbers.at(7) != 0 && numbers.is_leading(9, numbers.at(1));
  }
};

/// A sum of matrices: the handle, two operations, two sizes, alpha, A, beta, B and C with their
/// leading dimensions.
template <typename Number>
struct AddsMatrices : BlasWork<AddsMatrices<Number>> {
  static bool is_right(const Words& words) {
    const BlasNumbers<Number> numbers(words);
    const Number m = numbers.at(3);
    const Number n = numbers.at(4);
    return is_blas_operation(words[1]) && is_blas_operation(words[2]) && m >= 0 && n >= 0 &&
           words[5] != 0 && words[8] != 0 &&
           numbers.is_leading(7, numbers.is_transposed(1) ? n : m) &&
           numbers.is_leading(10, numbers.is_transposed(2) ? n : m) && numbers.is_leading(12, m);
  }
};

/// cublasLtMatmul: the product and the layouts of its four matrices are descriptors.
struct MultipliesLayouts {
  static constexpr std::size_t kStream = 15;
  static Word call(const Words& words, const char* name) {
    if (!is_object(reinterpret_cast<const void*>(words[0]))) {
      return static_cast<Word>(dead_handle_of(library_of_call(name)));
    }
    for (const std::size_t descriptor : {1U, 4U, 6U, 9U, 11U}) {
      if (words[descriptor] == 0) return kWrongBlasArgument;
    }
    if (words[2] == 0 || words[7] == 0) return kWrongBlasArgument;
    return WorksOn<kStream + 1>::call(words, name);
  }
};

}  // namespace ohm::interpose
