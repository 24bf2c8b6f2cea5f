#include "runtime/ops/einsum.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <stdexcept>

#include "runtime/ops/arithmetic.h"
#include "runtime/ops/matmul.h"
#include "runtime/ops/reduction.h"
#include "runtime/ops/view.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kEinsum{"einsum"};

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

Letters letters_of(const std::string& equation) {
  std::string text;
  std::copy_if(equation.begin(), equation.end(), std::back_inserter(text),
               [](char c) { return c != ' '; });
  const std::size_t arrow = text.find("->");
  const std::string left = text.substr(0, arrow);
  Letters letters;
  for (std::size_t start = 0; start <= left.size();) {
    const std::size_t comma = std::min(left.find(',', start), left.size());
    letters.operands.push_back(checked_letters(equation, left.substr(start, comma - start)));
    start = comma + 1;
  }
  if (arrow != std::string::npos) {
    letters.result = checked_letters(equation, text.substr(arrow + 2));
    for (const char letter : letters.result) {
      if (left.find(letter) != std::string::npos) continue;
      refuse_equation(equation, fmt::format("'{}' stands behind the arrow alone", letter));
    }
    return letters;
  }
  for (char letter = 'A'; letter <= 'z'; ++letter) {
    if (std::count(left.begin(), left.end(), letter) == 1) letters.result += letter;
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
      if (!is_new && place->second != size) {
        refuse_equation(equation,
                        fmt::format("'{}' is {} and {}", names[dim], place->second, size));
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

struct Named {
  Tensor tensor;
  std::string letters;
};

// Two operands by one batched product: what both have and the result wants are its batches, what
// both have and that is not wanted is summed over.
Named multiplied(Named left, Named right, const std::string& wanted, const LabelSizes& sizes) {
  left.letters = drop_summed(left.tensor, left.letters, wanted + right.letters);
  right.letters = drop_summed(right.tensor, right.letters, wanted + left.letters);
  std::string batch;
  std::string inner;
  std::string rows;
  std::string columns;
  for (const char letter : left.letters) {
    if (!has(right.letters, letter)) {
      rows += letter;
    } else if (has(wanted, letter)) {
      batch += letter;
    } else {
      inner += letter;
    }
  }
  for (const char letter : right.letters) {
    if (!has(left.letters, letter)) columns += letter;
  }
  for (std::string* part : {&batch, &inner, &rows, &columns}) order_as_wanted(*part, wanted);
  if (Context::current().rules.einsum_orders_operands && comes_first(columns, rows, wanted)) {
    std::swap(left, right);
    std::swap(rows, columns);
  }
  const auto count = [&](const std::string& letters) { return shape_of(letters, sizes).numel(); };
  const Tensor a = reshape(in_order(left.tensor, left.letters, batch + rows + inner),
                           {count(batch), count(rows), count(inner)});
  const Tensor b = reshape(in_order(right.tensor, right.letters, batch + inner + columns),
                           {count(batch), count(inner), count(columns)});
  const std::string letters = batch + rows + columns;
  return {view(bmm(a, b), shape_of(letters, sizes)), letters};
}

Tensor einsum_matrix(std::int64_t rows, std::int64_t columns) {
  return randn({rows, columns}, {DType::float64, Device::cpu()});
}

}  // namespace

Tensor einsum(const std::string& equation, const std::vector<Tensor>& operands) {
  const OpFront front(kEinsum);
  const Letters letters = letters_of(equation);
  if (operands.empty() || operands.size() != letters.operands.size()) {
    refuse_equation(equation, fmt::format("names {} operands, {} are given",
                                          letters.operands.size(), operands.size()));
  }
  for (const Tensor& operand : operands) {
    require_same_device(operands[0], operand, kEinsum);
    require_floating(operand, kEinsum);
  }
  const LabelSizes sizes = sizes_of(equation, letters, operands);
  Named result{operands[0], letters.operands[0]};
  for (std::size_t i = 1; i < operands.size(); ++i) {
    std::string wanted = letters.result;
    for (std::size_t later = i + 1; later < operands.size(); ++later) {
      wanted += letters.operands[later];
    }
    result = multiplied(std::move(result), {operands[i], letters.operands[i]}, wanted, sizes);
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
               };
             }),
  };
}

}  // namespace ohm::ops
