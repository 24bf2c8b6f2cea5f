#include "runtime/ops/matmul/einsum.h"

#include <fmt/core.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <set>
#include <utility>

#include "runtime/autograd/autocast_guard.h"
#include "runtime/ops/matmul/einsum_equation.h"
#include "runtime/ops/matmul/matmul.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/ops/shape/slice.h"
#include "runtime/ops/shape/view.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kEinsum{"einsum", CastPolicy::low_precision};

struct Named {
  Tensor tensor;
  std::string letters;  ///< of its dimensions
};

void require_same_size(const std::string& equation, char letter, std::int64_t a, std::int64_t b) {
  if (a == b) return;
  const std::string label = is_of_ellipsis(letter) ? "..." : std::string(1, letter);
  refuse_equation(equation, fmt::format("'{}' is {} and {}", label, a, b));
}

// The diagonal of both dimensions, where `first` was.
Tensor with_diagonal(const Tensor& tensor, int first, int second) {
  const Tensor diagonal_last = diagonal(tensor, 0, first, second);
  Shape order;
  for (int dim = 0; dim + 1 < diagonal_last.dims(); ++dim) {
    if (dim == first) order.push_back(diagonal_last.dims() - 1);
    order.push_back(dim);
  }
  if (first + 1 == diagonal_last.dims()) order.push_back(first);
  return permute(diagonal_last, order);
}

// With one dimension for each letter: of those that have the same letter, the diagonal.
Named with_diagonals(const std::string& equation, const Tensor& operand, std::string letters) {
  if (static_cast<int>(letters.size()) != operand.dims()) {
    refuse_equation(equation, fmt::format("\"{}\" does not name the dimensions of an operand {}",
                                          letters, operand.shape().str()));
  }
  Tensor tensor = operand;
  for (std::size_t dim = 0; dim < letters.size();) {
    const std::size_t first = letters.find(letters[dim]);
    if (first == dim) {
      ++dim;
      continue;
    }
    const Shape& sizes = tensor.shape();
    require_same_size(equation, letters[dim], sizes[static_cast<int>(first)],
                      sizes[static_cast<int>(dim)]);
    tensor = with_diagonal(tensor, static_cast<int>(first), static_cast<int>(dim));
    letters.erase(dim, 1);
  }
  return {tensor, letters};
}

// Those of one letter are equal but where they are 1.
void require_sizes(const std::string& equation, const std::vector<Named>& operands) {
  std::map<char, std::int64_t> sizes;
  for (const Named& operand : operands) {
    for (std::size_t dim = 0; dim < operand.letters.size(); ++dim) {
      const std::int64_t size = operand.tensor.shape()[static_cast<int>(dim)];
      if (size == 1) continue;
      const auto place = sizes.emplace(operand.letters[dim], size).first;
      require_same_size(equation, place->first, place->second, size);
    }
  }
}

bool has(const std::string& letters, char letter) {
  return letters.find(letter) != std::string::npos;
}

// Those of the result, then all others: of an ellipsis, and by the alphabet.
std::string all_letters(const std::string& equation, const std::string& result,
                        const std::vector<Named>& operands) {
  std::set<char> others;
  for (const Named& operand : operands)
    others.insert(operand.letters.begin(), operand.letters.end());
  std::string all = result;
  for (const char letter : others) {
    if (!has(result, letter)) all += letter;
  }
  if (all.size() > kMaxDims) {
    refuse_equation(equation, fmt::format("has {} letters, more than {}", all.size(), kMaxDims));
  }
  return all;
}

// Seen with a dimension for each of these letters, in their order.
Tensor aligned(const Named& operand, const std::string& all) {
  Tensor tensor = operand.tensor;
  std::string letters = operand.letters;
  for (const char letter : all) {
    if (has(letters, letter)) continue;
    tensor = unsqueeze(tensor, tensor.dims());
    letters += letter;
  }
  Shape order;
  for (const char letter : all) order.push_back(static_cast<std::int64_t>(letters.find(letter)));
  return permute(tensor, order);
}

std::int64_t product_of_sizes(const Tensor& tensor, const Shape& dims) {
  std::int64_t product = 1;
  for (const std::int64_t dim : dims) product *= tensor.shape()[static_cast<int>(dim)];
  return product;
}

Shape joined(std::initializer_list<const Shape*> parts) {
  Shape all;
  for (const Shape* part : parts) {
    for (const std::int64_t dim : *part) all.push_back(dim);
  }
  return all;
}

// The dimensions of two operands that are not summed over.
struct Kept {
  Shape batch;    ///< longer than 1 in both
  Shape rows;     ///< in the left one alone
  Shape columns;  ///< in the right one alone, and those that are 1 in both
};

Kept kept_dims(const Tensor& left, const Tensor& right, const Shape& summed) {
  Kept kept;
  for (int dim = 0; dim < left.dims(); ++dim) {
    if (std::find(summed.begin(), summed.end(), dim) != summed.end()) continue;
    const bool is_of_left = left.shape()[dim] != 1;
    const bool is_of_right = right.shape()[dim] != 1;
    (is_of_left && is_of_right ? kept.batch : is_of_left ? kept.rows : kept.columns).push_back(dim);
  }
  return kept;
}

// Whether the result has all columns before any row.
bool columns_come_first(const Kept& kept) {
  if (kept.columns.dims() == 0 || kept.rows.dims() == 0) return false;
  return kept.columns[kept.columns.dims() - 1] < kept.rows[0];
}

// Of two aligned operands, multiplied and summed over dimensions that are longer than 1 in both:
// by a batched product where there are such.
Tensor sum_of_products(const Tensor& left, const Tensor& right, const Shape& summed) {
  if (summed.dims() == 0) return mul(left, right);
  Kept kept = kept_dims(left, right, summed);
  const bool is_swapped =
      Context::current().rules.einsum_orders_operands && columns_come_first(kept);
  if (is_swapped) std::swap(kept.rows, kept.columns);
  const Tensor& first = is_swapped ? right : left;
  const Tensor& second = is_swapped ? left : right;
  // Dimensions of size 1 stand behind all others: a column or a row has their stride.
  const Shape first_order = joined({&kept.batch, &kept.rows, &summed, &kept.columns});
  const Shape second_order = joined({&kept.batch, &summed, &kept.columns, &kept.rows});
  const std::int64_t batch = product_of_sizes(first, kept.batch);
  const std::int64_t inner = product_of_sizes(first, summed);
  const Tensor a =
      reshape(permute(first, first_order), {batch, product_of_sizes(first, kept.rows), inner});
  const Tensor b = reshape(permute(second, second_order),
                           {batch, inner, product_of_sizes(second, kept.columns)});
  Shape sizes;
  Shape places(first_order.dims(), 0);
  for (int place = 0; place < first_order.dims(); ++place) {
    const auto dim = static_cast<int>(first_order[place]);
    const bool is_summed = std::find(summed.begin(), summed.end(), dim) != summed.end();
    const std::int64_t size = first.shape()[dim] != 1 ? first.shape()[dim] : second.shape()[dim];
    sizes.push_back(is_summed ? 1 : size);
    places[dim] = place;
  }
  return permute(view(bmm(a, b), sizes), places);
}

// The operands of an equation, multiplied one after the other from the left.
class Contraction {
 public:
  Contraction(std::vector<Tensor> operands, int result_dims)
      : operands_(std::move(operands)),
        result_dims_(result_dims),
        uses_(static_cast<std::size_t>(operands_[0].dims()), 0) {
    for (const Tensor& operand : operands_) {
      for (int dim = 0; dim < operand.dims(); ++dim) {
        if (operand.shape()[dim] != 1) ++uses_[static_cast<std::size_t>(dim)];
      }
    }
  }

  Tensor run() {
    if (operands_.size() == 1) return sum_over_rest(operands_[0]);
    Tensor result = std::move(operands_[0]);
    for (std::size_t i = 1; i < operands_.size(); ++i) {
      // Of two sums the last one goes first.
      Tensor left = std::move(result);
      Tensor right = std::move(operands_[i]);
      const Shape summed = find_summed(left, right);
      sum_over(left, of_left_);
      sum_over(right, of_right_);
      result = sum_of_products(left, right, summed);
    }
    return without_rest(result);
  }

 private:
  // What no later operand has: of both, to be multiplied; of one alone, to be summed before.
  Shape find_summed(const Tensor& left, const Tensor& right) {
    Shape summed;
    of_left_ = of_right_ = Shape();
    for (int dim = result_dims_; dim < left.dims(); ++dim) {
      int& uses = uses_[static_cast<std::size_t>(dim)];
      const bool is_of_left = left.shape()[dim] != 1;
      const bool is_of_right = right.shape()[dim] != 1;
      if (is_of_left && is_of_right) {
        if (--uses == 1) summed.push_back(dim);
      } else if (uses == 1 && (is_of_left || is_of_right)) {
        (is_of_left ? of_left_ : of_right_).push_back(dim);
      } else {
        continue;
      }
      if (uses == 1) uses = 0;
    }
    return summed;
  }

  static void sum_over(Tensor& operand, const Shape& dims) {
    if (dims.dims() != 0) operand = sum(operand, dims, true, std::nullopt);
  }

  Tensor sum_over_rest(const Tensor& operand) const {
    Shape rest;
    for (int dim = result_dims_; dim < operand.dims(); ++dim) rest.push_back(dim);
    return rest.dims() == 0 ? operand : sum(operand, rest, false, std::nullopt);
  }

  // All that is not wanted has been summed over.
  Tensor without_rest(const Tensor& result) const {
    if (result.dims() == result_dims_) return result;
    Shape sizes;
    for (int dim = 0; dim < result_dims_; ++dim) sizes.push_back(result.shape()[dim]);
    return view(result, sizes);
  }

  std::vector<Tensor> operands_;
  int result_dims_;
  std::vector<int> uses_;  ///< operands to come, and the product so far, that have the dimension
  Shape of_left_;
  Shape of_right_;
};

}  // namespace

Tensor einsum(const std::string& equation, const std::vector<Tensor>& given) {
  const OpFront front(kEinsum);
  std::vector<Tensor> operands;
  for (const Tensor& operand : given) operands.push_back(front.input(operand));
  // What is inside runs in the dtype of the operands.
  const AutocastGuard plain(false, autocast_settings().dtype);
  const EquationLetters letters = letters_of(equation, operands);
  for (const Tensor& operand : operands) {
    require_same_device(operands[0], operand, kEinsum);
    require_floating(operand, kEinsum);
  }
  std::vector<Named> named;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    named.push_back(with_diagonals(equation, operands[i], letters.operands[i]));
  }
  require_sizes(equation, named);
  const std::string all = all_letters(equation, letters.result, named);
  // All are seen in their order before the first two are multiplied: a view's node stands before
  // each operand, whose gradient waits there for those of other products.
  std::vector<Tensor> in_order;
  for (const Named& operand : named) in_order.push_back(aligned(operand, all));
  named.clear();
  return Contraction(std::move(in_order), static_cast<int>(letters.result.size())).run();
}

std::vector<OpDef> einsum_ops() {
  return {
      define(kEinsum, kPythonFunction, &einsum, {"equation", "operands"}),
  };
}

}  // namespace ohm::ops
