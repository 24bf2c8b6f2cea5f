#include "runtime/ops/einsum.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <stdexcept>
#include <string_view>

#include "runtime/autograd/autocast_guard.h"
#include "runtime/ops/arithmetic.h"
#include "runtime/ops/matmul.h"
#include "runtime/ops/reduction.h"
#include "runtime/ops/view.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kEinsum{"einsum", CastPolicy::low_precision};

// An equation taken apart: the letters of each operand and of the result.
struct Letters {
  std::vector<std::string> operands;
  std::string result;
};

[[noreturn]] void refuse_equation(const std::string& equation, const std::string& why) {
  throw std::invalid_argument(fmt::format("[einsum] \"{}\": {}", equation, why));
}

std::string checked_letters(const std::string& equation, const std::string& letters) {
  std::set<char> seen;
  for (const char letter : letters) {
    if (std::isalpha(static_cast<unsigned char>(letter)) == 0) {
      refuse_equation(equation, fmt::format("'{}' is no letter", letter));
    }
    if (!seen.insert(letter).second) {
      refuse_equation(equation, fmt::format("'{}' stands twice in \"{}\"", letter, letters));
    }
  }
  return letters;
}

constexpr std::string_view kEllipsis = "...";
// The dimensions that an ellipsis stands for are labelled by digits, the last one by 9.
constexpr char kLastOfEllipsis = '9';

std::string labels_of_ellipsis(int dims) {
  std::string labels;
  for (int i = dims - 1; i >= 0; --i) labels += static_cast<char>(kLastOfEllipsis - i);
  return labels;
}

bool is_of_ellipsis(char label) { return label >= '0' && label <= kLastOfEllipsis; }

// The letters of one term, with labels for `dims` dimensions where its ellipsis is.
std::string labels_of_term(const std::string& equation, const std::string& term, int dims) {
  const std::size_t place = term.find(kEllipsis);
  if (place == std::string::npos) return checked_letters(equation, term);
  const std::string rest = term.substr(0, place) + term.substr(place + kEllipsis.size());
  std::string labels = checked_letters(equation, rest);
  return labels.insert(place, labels_of_ellipsis(dims));
}

std::vector<std::string> terms_of(const std::string& left) {
  std::vector<std::string> terms;
  for (std::size_t start = 0; start <= left.size();) {
    const std::size_t comma = std::min(left.find(',', start), left.size());
    terms.push_back(left.substr(start, comma - start));
    start = comma + 1;
  }
  return terms;
}

// What an equation without an arrow means: the dimensions of an ellipsis, then the letters that
// stand once, by the alphabet.
std::string implied_result(const std::string& left, int ellipsis_dims) {
  std::string result = labels_of_ellipsis(ellipsis_dims);
  for (char letter = 'A'; letter <= 'z'; ++letter) {
    if (std::count(left.begin(), left.end(), letter) == 1) result += letter;
  }
  return result;
}

// The dimensions that the ellipsis of a term stands for.
int ellipsis_dims_of(const std::string& equation, const std::string& term, const Tensor& operand) {
  if (term.find(kEllipsis) == std::string::npos) return 0;
  const int dims = operand.dims() - static_cast<int>(term.size() - kEllipsis.size());
  if (dims >= 0) return dims;
  refuse_equation(equation, fmt::format("\"{}\" has more letters than an operand {} has dimensions",
                                        term, operand.shape().str()));
}

Letters letters_of(const std::string& equation, const std::vector<Tensor>& operands) {
  std::string text;
  std::copy_if(equation.begin(), equation.end(), std::back_inserter(text),
               [](char c) { return c != ' '; });
  const std::size_t arrow = text.find("->");
  const std::string left = text.substr(0, arrow);
  const std::vector<std::string> terms = terms_of(left);
  if (operands.empty() || operands.size() != terms.size()) {
    refuse_equation(equation,
                    fmt::format("names {} operands, {} are given", terms.size(), operands.size()));
  }
  Letters letters;
  int most_dims = 0;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const int dims = ellipsis_dims_of(equation, terms[i], operands[i]);
    letters.operands.push_back(labels_of_term(equation, terms[i], dims));
    most_dims = std::max(most_dims, dims);
  }
  if (arrow == std::string::npos) {
    letters.result = implied_result(left, most_dims);
    return letters;
  }
  letters.result = labels_of_term(equation, text.substr(arrow + 2), most_dims);
  for (const char letter : letters.result) {
    if (is_of_ellipsis(letter) || left.find(letter) != std::string::npos) continue;
    refuse_equation(equation, fmt::format("'{}' stands behind the arrow alone", letter));
  }
  return letters;
}

using LabelSizes = std::map<char, std::int64_t>;

LabelSizes sizes_of(const std::string& equation, const Letters& letters,
                    const std::vector<Tensor>& operands) {
  LabelSizes sizes;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const std::string& names = letters.operands[i];
    if (static_cast<int>(names.size()) != operands[i].dims()) {
      refuse_equation(equation, fmt::format("\"{}\" does not name the dimensions of an operand {}",
                                            names, operands[i].shape().str()));
    }
    for (std::size_t dim = 0; dim < names.size(); ++dim) {
      const std::int64_t size = operands[i].shape()[static_cast<int>(dim)];
      const auto [place, is_new] = sizes.emplace(names[dim], size);
      if (is_new || size == 1) continue;
      if (place->second == 1) {
        place->second = size;
      } else if (place->second != size) {
        const std::string label =
            is_of_ellipsis(names[dim]) ? std::string(kEllipsis) : std::string(1, names[dim]);
        refuse_equation(equation, fmt::format("'{}' is {} and {}", label, place->second, size));
      }
    }
  }
  return sizes;
}

bool has(const std::string& letters, char letter) {
  return letters.find(letter) != std::string::npos;
}

Shape shape_of(const std::string& letters, const LabelSizes& sizes) {
  Shape shape;
  for (const char letter : letters) shape.push_back(sizes.at(letter));
  return shape;
}

// The dimensions in another order; the tensor itself where nothing moves.
Tensor in_order(const Tensor& tensor, const std::string& from, const std::string& to) {
  if (from == to) return tensor;
  Shape order;
  for (const char letter : to) order.push_back(static_cast<std::int64_t>(from.find(letter)));
  return permute(tensor, order);
}

// Sums over the letters that no other operand wants; returns those that are left.
std::string drop_summed(Tensor& tensor, const std::string& letters, const std::string& wanted) {
  std::string kept;
  Shape summed;
  for (std::size_t dim = 0; dim < letters.size(); ++dim) {
    if (has(wanted, letters[dim])) {
      kept += letters[dim];
    } else {
      summed.push_back(static_cast<std::int64_t>(dim));
    }
  }
  if (!summed.empty()) tensor = sum(tensor, summed, false, std::nullopt);
  return kept;
}

// In the order of the result, then by the alphabet.
void order_as_wanted(std::string& letters, const std::string& wanted) {
  std::sort(letters.begin(), letters.end(), [&](char a, char b) {
    const std::size_t first = wanted.find(a);
    const std::size_t second = wanted.find(b);
    return first == second ? a < b : first < second;
  });
}

// Whether the result has all of `columns` before any of `rows`.
bool comes_first(const std::string& columns, const std::string& rows, const std::string& wanted) {
  if (columns.empty() || rows.empty()) return false;
  return wanted.find(columns.back()) < wanted.find(rows.front());
}

Shape its_dims(const Tensor& tensor) {
  Shape dims;
  for (int dim = 0; dim < tensor.dims(); ++dim) dims.push_back(dim);
  return dims;
}

struct Named {
  Tensor tensor;
  std::string letters;
};

// A dimension of size 1 that is longer in another operand is none of this one.
void drop_repeated(Named& operand, const LabelSizes& sizes) {
  for (std::size_t dim = operand.letters.size(); dim-- > 0;) {
    const char label = operand.letters[dim];
    const auto at = static_cast<int>(dim);
    if (operand.tensor.shape()[at] == sizes.at(label)) continue;
    operand.tensor = squeeze(operand.tensor, at);
    operand.letters.erase(dim, 1);
  }
}

// Both seen with all dimensions that one of them has, and multiplied element by element.
Named multiplied_elements(const Named& left, const Named& right, const std::string& wanted) {
  std::string all = left.letters;
  for (const char letter : right.letters) {
    if (!has(all, letter)) all += letter;
  }
  order_as_wanted(all, wanted);
  const auto widened = [&all](const Named& operand) {
    std::string own;
    for (const char letter : all) {
      if (has(operand.letters, letter)) own += letter;
    }
    Tensor tensor = in_order(operand.tensor, operand.letters, own);
    for (std::size_t dim = 0; dim < all.size(); ++dim) {
      if (!has(own, all[dim])) tensor = unsqueeze(tensor, static_cast<std::int64_t>(dim));
    }
    return tensor;
  };
  return {mul(widened(left), widened(right)), all};
}

std::string without(const std::string& letters, const std::string& some) {
  std::string others;
  for (const char letter : letters) {
    if (!has(some, letter)) others += letter;
  }
  return others;
}

// The letters of dimensions of size 1 that nothing else wants: there is nothing to sum up.
std::string single_letters(const Named& operand, const std::string& wanted) {
  std::string singles;
  for (std::size_t dim = 0; dim < operand.letters.size(); ++dim) {
    const char letter = operand.letters[dim];
    if (operand.tensor.shape()[static_cast<int>(dim)] == 1 && !has(wanted, letter)) {
      singles += letter;
    }
  }
  return singles;
}

void drop_single(Named& operand, const std::string& wanted) {
  const std::string singles = single_letters(operand, wanted);
  for (std::size_t dim = operand.letters.size(); dim-- > 0;) {
    if (!has(singles, operand.letters[dim])) continue;
    operand.tensor = squeeze(operand.tensor, static_cast<int>(dim));
    operand.letters.erase(dim, 1);
  }
}

// Whether there are letters that no other operand wants.
bool sums_up(const std::string& letters, const std::string& wanted) {
  return !std::all_of(letters.begin(), letters.end(),
                      [&](char letter) { return has(wanted, letter); });
}

// Two operands by one batched product: what both have and the result wants are its batches, what
// both have and that is not wanted is summed over.
Named multiplied(Named left, Named right, const std::string& wanted, const LabelSizes& sizes) {
  const Named whole_left = left;
  const Named whole_right = right;
  // They stay behind all others: what is read as a column or a row has their stride.
  std::string left_singles = single_letters(left, wanted);
  std::string right_singles = single_letters(right, wanted);
  const std::string of_left = without(left.letters, left_singles);
  const std::string of_right = without(right.letters, right_singles);
  const bool is_left_summed = sums_up(of_left, wanted + of_right);
  const bool is_right_summed = sums_up(of_right, wanted + of_left);
  left.letters = drop_summed(left.tensor, left.letters, wanted + of_right + left_singles);
  right.letters = drop_summed(right.tensor, right.letters, wanted + of_left + right_singles);
  std::string batch;
  std::string inner;
  std::string rows;
  std::string columns;
  for (const char letter : without(left.letters, left_singles)) {
    if (!has(of_right, letter)) {
      rows += letter;
    } else if (has(wanted, letter)) {
      batch += letter;
    } else {
      inner += letter;
    }
  }
  for (const char letter : without(right.letters, right_singles)) {
    if (!has(of_left, letter)) columns += letter;
  }
  if (inner.empty() && !is_left_summed && !is_right_summed) {
    // Dimensions of size 1 take part in the choice of the result's strides.
    Named product = multiplied_elements(whole_left, whole_right, wanted);
    drop_single(product, wanted);
    return product;
  }
  if (inner.empty()) {
    drop_single(left, wanted);
    drop_single(right, wanted);
    return multiplied_elements(left, right, wanted);
  }
  for (std::string* part : {&batch, &inner, &rows, &columns}) order_as_wanted(*part, wanted);
  if (Context::current().rules.einsum_orders_operands && comes_first(columns, rows, wanted)) {
    std::swap(left, right);
    std::swap(left_singles, right_singles);
    std::swap(rows, columns);
  }
  const auto count = [&](const std::string& letters) { return shape_of(letters, sizes).numel(); };
  const std::string left_order = batch + rows + inner + left_singles;
  const std::string right_order = batch + inner + columns + right_singles;
  const Tensor a = reshape(in_order(left.tensor, left.letters, left_order),
                           {count(batch), count(rows), count(inner)});
  const Tensor b = reshape(in_order(right.tensor, right.letters, right_order),
                           {count(batch), count(inner), count(columns)});
  const std::string letters = batch + rows + columns;
  return {view(bmm(a, b), shape_of(letters, sizes)), letters};
}

Tensor einsum_matrix(std::int64_t rows, std::int64_t columns) {
  return randn({rows, columns}, {DType::float64, Device::cpu()});
}

Tensor einsum_batch(const Shape& shape) { return randn(shape, {DType::float64, Device::cpu()}); }

}  // namespace

Tensor einsum(const std::string& equation, const std::vector<Tensor>& given) {
  const OpFront front(kEinsum);
  std::vector<Tensor> operands;
  for (const Tensor& operand : given) operands.push_back(front.input(operand));
  // What is inside runs in the dtype of the operands.
  const AutocastGuard plain(false, autocast_settings().dtype);
  const Letters letters = letters_of(equation, operands);
  for (const Tensor& operand : operands) {
    require_same_device(operands[0], operand, kEinsum);
    if (!is_complex(operand.dtype())) require_floating(operand, kEinsum);
  }
  const LabelSizes sizes = sizes_of(equation, letters, operands);
  std::vector<Named> named;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    named.push_back({operands[i], letters.operands[i]});
    drop_repeated(named.back(), sizes);
  }
  // All are seen in their order before the first two are multiplied: a view's node stands before
  // each operand, whose gradient waits there for those of other products.
  for (Named& operand : named) operand.tensor = permute(operand.tensor, its_dims(operand.tensor));
  Named result = std::move(named[0]);
  for (std::size_t i = 1; i < named.size(); ++i) {
    std::string wanted = letters.result;
    for (std::size_t later = i + 1; later < named.size(); ++later) wanted += named[later].letters;
    result = multiplied(std::move(result), std::move(named[i]), wanted, sizes);
  }
  result.letters = drop_summed(result.tensor, result.letters, letters.result);
  return in_order(result.tensor, result.letters, letters.result);
}

std::vector<OpDef> einsum_ops() {
  return {
      define(kEinsum, kFunction, &einsum, {"equation", "operands"},
             [] {
               const auto two = [](const std::string& equation) {
                 return Sample{equation,
                               std::vector<Tensor>{einsum_matrix(3, 4), einsum_matrix(4, 2)}};
               };
               return std::vector<Sample>{
                   two("ij,jk->ik"),
                   two("ij,jk->ki"),
                   two("ij,jk"),
                   {std::string("bi,bi->b"),
                    std::vector<Tensor>{einsum_matrix(3, 4), einsum_matrix(3, 4)}},
                   {std::string("ij->j"), std::vector<Tensor>{einsum_matrix(3, 4)}},
                   {std::string("...ij,...jk->...ik"),
                    std::vector<Tensor>{einsum_batch({2, 3, 4}), einsum_batch({2, 4, 2})}},
                   {std::string("...ij,jk"),
                    std::vector<Tensor>{einsum_batch({2, 3, 4}), einsum_matrix(4, 2)}},
                   {std::string("bi,bj,bi->bij"),
                    std::vector<Tensor>{einsum_matrix(3, 4), einsum_matrix(3, 2),
                                        einsum_matrix(3, 4)}},
                   {std::string("b...i,b...i->b..."),
                    std::vector<Tensor>{einsum_batch({2, 3, 4}), einsum_batch({2, 1, 4})}},
               };
             }),
  };
}

}  // namespace ohm::ops
