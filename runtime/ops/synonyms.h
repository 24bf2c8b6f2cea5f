// Second names of ops, as PyTorch has them: each is the same function under another name.
#pragma once

#include <array>
#include <string_view>

namespace ohm::ops {

struct Synonym {
  std::string_view name;
  std::string_view of;
};

inline constexpr std::array kSynonyms = {
    Synonym{"absolute", "abs"},      Synonym{"absolute_", "abs_"},    Synonym{"arccos", "acos"},
    Synonym{"arccos_", "acos_"},     Synonym{"arccosh", "acosh"},     Synonym{"arcsin", "asin"},
    Synonym{"arcsin_", "asin_"},     Synonym{"arcsinh", "asinh"},     Synonym{"arctan", "atan"},
    Synonym{"arctan2", "atan2"},     Synonym{"arctan_", "atan_"},     Synonym{"arctanh", "atanh"},
    Synonym{"clip", "clamp"},        Synonym{"clip_", "clamp_"},      Synonym{"concat", "cat"},
    Synonym{"concatenate", "cat"},   Synonym{"divide", "div"},        Synonym{"divide_", "div_"},
    Synonym{"fix", "trunc"},         Synonym{"fix_", "trunc_"},       Synonym{"ger", "outer"},
    Synonym{"greater", "gt"},        Synonym{"greater_equal", "ge"},  Synonym{"less", "lt"},
    Synonym{"less_equal", "le"},     Synonym{"moveaxis", "movedim"},  Synonym{"multiply", "mul"},
    Synonym{"multiply_", "mul_"},    Synonym{"negative", "neg"},      Synonym{"negative_", "neg_"},
    Synonym{"not_equal", "ne"},      Synonym{"row_stack", "vstack"},  Synonym{"subtract", "sub"},
    Synonym{"subtract_", "sub_"},    Synonym{"swapdims", "swapaxes"}, Synonym{"true_divide", "div"},
    Synonym{"true_divide_", "div_"},
};

/// Names in ohm.nn.functional alone, where a tensor's method of that name is another op.
inline constexpr std::array kFunctionalNames = {Synonym{"unfold", "im2col"}};

}  // namespace ohm::ops
