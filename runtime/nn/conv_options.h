// The options of convolutions in a script's words, behind the number of channels of their inputs.
#pragma once

#include <string>
#include <vector>

#include "runtime/ops/signature.h"

namespace ohm::nn {

inline std::vector<ops::ParamName> conv_options() {
  return {"out_channels",
          "kernel_size",
          {"stride", Shape{1}},
          {"padding", Shape{0}},
          {"dilation", Shape{1}},
          {"groups", std::int64_t{1}},
          {"bias", true},
          {"padding_mode", std::string("zeros")},
          "device",
          "dtype"};
}

inline std::vector<ops::ParamName> conv_transpose_options() {
  return {"out_channels",
          "kernel_size",
          {"stride", Shape{1}},
          {"padding", Shape{0}},
          {"output_padding", Shape{0}},
          {"groups", std::int64_t{1}},
          {"bias", true},
          {"dilation", Shape{1}},
          "device",
          "dtype"};
}

}  // namespace ohm::nn
