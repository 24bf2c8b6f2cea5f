#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/ops/attention/attention.h"
#include "runtime/ops/convolution/conv.h"
#include "runtime/ops/convolution/conv_transpose.h"
#include "runtime/ops/matmul/linear.h"
#include "runtime/ops/matmul/matmul.h"
#include "runtime/ops/normalization/batch_norm.h"
#include "runtime/ops/pooling/average_pool.h"
#include "runtime/ops/pooling/max_pool.h"
#include "runtime/ops/shape/view.h"
#include "tests/truth/op_call.h"

namespace ohm::truth {

namespace {

// ---- products -----------------------------------------------------------------------------------

struct Sizes {
  std::int64_t m, n, k;
};

constexpr Sizes kProducts[] = {{1, 1, 1},    {1, 257, 64}, {257, 1, 64},   {64, 64, 1},
                               {1, 1, 1031}, {3, 5, 7},    {128, 96, 160}, {17, 1031, 33}};

/// Row-major, or the transpose of what lies in memory.
Tensor laid_out(const Tensor& matrix, bool is_transposed) {
  return is_transposed ? ops::transpose(matrix, -2, -1) : matrix;
}

void add_products(std::vector<OpCall>& calls) {
  for (const Sizes& sizes : kProducts) {
    for (int layout = 0; layout < 4; ++layout) {
      const bool a_transposed = (layout & 1) != 0;
      const bool b_transposed = (layout & 2) != 0;
      const std::string name =
          fmt::format("m={} n={} k={}{}{}", sizes.m, sizes.n, sizes.k,
                      a_transposed ? " a transposed" : "", b_transposed ? " b transposed" : "");
      const Shape a = a_transposed ? Shape{sizes.k, sizes.m} : Shape{sizes.m, sizes.k};
      const Shape b = b_transposed ? Shape{sizes.n, sizes.k} : Shape{sizes.k, sizes.n};
      const auto product = [=](const Tensor& left, const Tensor& right) {
        return std::pair(laid_out(left, a_transposed), laid_out(right, b_transposed));
      };
      calls.push_back(call_of("mm " + name, {a, b}, [=](const auto& in) {
        const auto [left, right] = product(in[0], in[1]);
        return ops::mm(left, right);
      }));
      calls.push_back(call_of("addmm " + name, {{sizes.n}, a, b}, [=](const auto& in) {
        const auto [left, right] = product(in[1], in[2]);
        return ops::addmm(in[0], left, right);
      }));
    }
  }
}

void add_batches(std::vector<OpCall>& calls) {
  for (const std::int64_t batches : {1, 2, 7, 129}) {
    calls.push_back(call_of(fmt::format("bmm of {}", batches), {{batches, 5, 9}, {batches, 9, 3}},
                            [](const auto& in) { return ops::bmm(in[0], in[1]); }));
    calls.push_back(call_of(fmt::format("bmm of {}, the second transposed", batches),
                            {{batches, 5, 9}, {batches, 3, 9}}, [](const auto& in) {
                              return ops::bmm(in[0], ops::transpose(in[1], 1, 2));
                            }));
    // Stride 0: one matrix for all.
    calls.push_back(call_of(fmt::format("bmm of {}, the first expanded", batches),
                            {{1, 5, 9}, {batches, 9, 3}}, [batches](const auto& in) {
                              return ops::bmm(ops::expand(in[0], {batches, 5, 9}), in[1]);
                            }));
    calls.push_back(call_of(
        fmt::format("baddbmm of {}", batches), {{batches, 5, 3}, {batches, 5, 9}, {batches, 9, 3}},
        [](const auto& in) { return ops::baddbmm(in[0], in[1], in[2], 0.5, 2.0); }));
  }
  calls.push_back(call_of("mm, a row expanded", {{1, 9}, {9, 4}}, [](const auto& in) {
    return ops::mm(ops::expand(in[0], {6, 9}), in[1]);
  }));
  calls.push_back(call_of("linear of [2, 3, 8], no bias", {{2, 3, 8}, {5, 8}},
                          [](const auto& in) { return ops::linear(in[0], in[1], std::nullopt); }));
  calls.push_back(call_of("linear of [2, 3, 8]", {{2, 3, 8}, {5, 8}, {5}},
                          [](const auto& in) { return ops::linear(in[0], in[1], in[2]); }));
}

// ---- attention ----------------------------------------------------------------------------------

struct Heads {
  std::int64_t batches, heads, queries, keys, width;
};

void add_attention(std::vector<OpCall>& calls) {
  for (const Heads& one : {Heads{1, 1, 5, 7, 8}, Heads{2, 3, 65, 65, 16}, Heads{1, 2, 33, 130, 64},
                           Heads{1, 2, 130, 33, 64}}) {
    const Shape query{one.batches, one.heads, one.queries, one.width};
    const Shape key{one.batches, one.heads, one.keys, one.width};
    const std::string name =
        fmt::format("attention of [{}] to {} keys", fmt::join(query, ", "), one.keys);
    for (const bool is_causal : {false, true}) {
      calls.push_back(call_of(
          name + (is_causal ? ", causal" : ""), {query, key, key}, [is_causal](const auto& in) {
            return ops::scaled_dot_product_attention(in[0], in[1], in[2], std::nullopt, 0.0,
                                                     is_causal, std::nullopt);
          }));
    }
    calls.push_back(call_of(
        name + ", with a mask", {query, key, key, {one.queries, one.keys}}, [](const auto& in) {
          return ops::scaled_dot_product_attention(in[0], in[1], in[2], in[3], 0.0, false, 0.5);
        }));
  }
}

// ---- images -------------------------------------------------------------------------------------

struct Images {
  Shape input, filter;
  std::int64_t stride, padding, dilation, groups;
};

const std::vector<Images>& images() {
  static const std::vector<Images> kImages = {
      {{1, 1, 4, 4}, {1, 1, 3, 3}, 1, 0, 1, 1},     {{2, 3, 9, 11}, {4, 3, 3, 3}, 1, 1, 1, 1},
      {{2, 3, 9, 11}, {4, 3, 1, 1}, 1, 0, 1, 1},    {{2, 4, 12, 12}, {8, 2, 3, 3}, 2, 1, 1, 2},
      {{2, 6, 10, 10}, {6, 1, 3, 3}, 1, 1, 1, 6},   {{1, 3, 17, 17}, {8, 3, 7, 7}, 2, 3, 1, 1},
      {{2, 4, 16, 16}, {4, 4, 3, 3}, 1, 2, 2, 1},   {{2, 32, 14, 14}, {64, 32, 3, 3}, 1, 1, 1, 1},
      {{4, 16, 1, 33}, {16, 16, 1, 5}, 1, 0, 1, 1},
  };
  return kImages;
}

void add_images(std::vector<OpCall>& calls) {
  for (const Images& one : images()) {
    const std::string name =
        fmt::format("of [{}] by [{}], stride {}, padding {}, dilation {}, {} groups",
                    fmt::join(one.input, ", "), fmt::join(one.filter, ", "), one.stride,
                    one.padding, one.dilation, one.groups);
    const auto convolve = [one](const Tensor& input, const Tensor& filter,
                                const std::optional<Tensor>& bias) {
      return ops::conv2d(input, filter, bias, {one.stride, one.stride}, {one.padding, one.padding},
                         {one.dilation, one.dilation}, one.groups);
    };
    calls.push_back(call_of("conv2d " + name, {one.input, one.filter, {one.filter[0]}},
                            [convolve](const auto& in) { return convolve(in[0], in[1], in[2]); }));
    calls.push_back(
        call_of("conv2d without a bias " + name, {one.input, one.filter},
                [convolve](const auto& in) { return convolve(in[0], in[1], std::nullopt); }));
  }
  for (const std::int64_t stride : {1, 2}) {
    calls.push_back(call_of(fmt::format("conv_transpose2d, stride {}", stride),
                            {{2, 4, 7, 5}, {4, 3, 3, 3}, {3}}, [stride](const auto& in) {
                              return ops::conv_transpose2d(in[0], in[1], in[2], {stride, stride},
                                                           {1, 1}, {0, 0}, 1, {1, 1});
                            }));
  }
  for (const std::int64_t stride : {1, 2, 3}) {
    calls.push_back(call_of(fmt::format("avg_pool2d, stride {}", stride), {{2, 3, 9, 11}},
                            [stride](const auto& in) {
                              return ops::avg_pool2d(in[0], {3, 3}, Shape{stride, stride}, {1, 1},
                                                     false, true, std::nullopt);
                            }));
    calls.push_back(call_of(
        fmt::format("max_pool2d, stride {}", stride), {{2, 3, 9, 11}}, [stride](const auto& in) {
          return ops::max_pool2d(in[0], {3, 3}, Shape{stride, stride}, {1, 1}, {1, 1}, false);
        }));
  }
}

// ---- statistics ---------------------------------------------------------------------------------

void add_norms(std::vector<OpCall>& calls) {
  const std::vector<Shape> inputs = {
      {16, 5}, {4, 3, 7}, {2, 3, 5, 7}, {8, 33, 1, 1}, {2, 64, 9, 9}};
  for (const Shape& input : inputs) {
    const Shape channels = {input[1]};
    for (const bool is_training : {true, false}) {
      calls.push_back(call_of(fmt::format("batch_norm of [{}], {}", fmt::join(input, ", "),
                                          is_training ? "training" : "evaluating"),
                              {input, channels, channels}, [=](const auto& in) {
                                const TensorOptions options = {in[0].dtype(), in[0].device()};
                                const Tensor mean = full(channels, 0.25, options);
                                const Tensor variance = full(channels, 1.5, options);
                                return ops::batch_norm(in[0], mean, variance, in[1], in[2],
                                                       is_training, 0.1, 1e-5);
                              }));
    }
  }
}

}  // namespace

std::vector<OpCall> library_calls() {
  std::vector<OpCall> calls;
  add_products(calls);
  add_batches(calls);
  add_attention(calls);
  add_images(calls);
  add_norms(calls);
  return calls;
}

}  // namespace ohm::truth
