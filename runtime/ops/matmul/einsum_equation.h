// An equation of einsum, taken apart.
#pragma once

#include <string>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// A letter for each dimension of the operands and of the result. Those that an ellipsis stands for
/// have digits: the last one 9, so that those of operands meet from the right.
struct EquationLetters {
  std::vector<std::string> operands;
  std::string result;
};

/// Throws std::invalid_argument where the equation is none, or not one of so many operands and
/// dimensions. Sizes are not looked at.
EquationLetters letters_of(const std::string& equation, const std::vector<Tensor>& operands);

bool is_of_ellipsis(char label);

/// Throws std::invalid_argument with the equation and what is wrong about it.
[[noreturn]] void refuse_equation(const std::string& equation, const std::string& why);

}  // namespace ohm::ops
