#include "runtime/ops/matmul/einsum_equation.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <stdexcept>
#include <string_view>

namespace ohm::ops {
namespace {

void require_letters(const std::string& equation, const std::string& letters) {
  for (const char letter : letters) {
    if (std::isalpha(static_cast<unsigned char>(letter)) == 0) {
      refuse_equation(equation, fmt::format("'{}' is not a letter", letter));
    }
  }
}

constexpr std::string_view kEllipsis = "...";
// The dimensions that an ellipsis stands for are labelled by digits, the last one by 9.
constexpr char kLastOfEllipsis = '9';

std::string labels_of_ellipsis(int dims) {
  std::string labels;
  for (int i = dims - 1; i >= 0; --i) labels += static_cast<char>(kLastOfEllipsis - i);
  return labels;
}

// The letters of one term, with labels for `dims` dimensions where its ellipsis is.
std::string labels_of_term(const std::string& equation, const std::string& term, int dims) {
  const std::size_t place = term.find(kEllipsis);
  std::string labels = term;
  if (place != std::string::npos) labels.erase(place, kEllipsis.size());
  require_letters(equation, labels);
  return place == std::string::npos ? labels : labels.insert(place, labels_of_ellipsis(dims));
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

}  // namespace

void refuse_equation(const std::string& equation, const std::string& why) {
  throw std::invalid_argument(fmt::format("[einsum] \"{}\": {}", equation, why));
}

bool is_of_ellipsis(char label) { return label >= '0' && label <= kLastOfEllipsis; }

EquationLetters letters_of(const std::string& equation, const std::vector<Tensor>& operands) {
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
  EquationLetters letters;
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
    if (std::count(letters.result.begin(), letters.result.end(), letter) > 1) {
      refuse_equation(equation, fmt::format("'{}' stands twice behind the arrow", letter));
    }
    if (is_of_ellipsis(letter) || left.find(letter) != std::string::npos) continue;
    refuse_equation(equation, fmt::format("'{}' stands behind the arrow alone", letter));
  }
  return letters;
}

}  // namespace ohm::ops
