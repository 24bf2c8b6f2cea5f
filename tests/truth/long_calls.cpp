#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/ops/activation/softmax.h"
#include "runtime/ops/embedding/embedding.h"
#include "runtime/ops/loss/loss_nll.h"
#include "runtime/ops/normalization/layer_norm.h"
#include "runtime/ops/normalization/rms_norm.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/ops/shape/view.h"
#include "runtime/ops/sorting/sorting.h"
#include "tests/truth/op_call.h"

namespace ohm::truth {

namespace {

/// Numbers below `below`, each of them several times, on the device of `like`.
Tensor places(std::int64_t count, std::int64_t below, const Tensor& like) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<double>(i * 7919 % below));
  return from_values(values, {count}, {DType::int64, like.device()});
}

}  // namespace

std::vector<OpCall> long_calls() {
  // A launch has 8,192 blocks of 256 threads at most, and two elements for each thread.
  constexpr std::int64_t kElements = 8192 * 256 * 2 + 4099;
  constexpr std::int64_t kRows = 8192 + 37;
  return {
      call_of("add of 4.2 million elements", {{kElements}, {kElements}},
              [](const auto& in) { return ops::add(in[0], in[1]); }),
      call_of("mul of a transposed matrix of 4.2 million elements", {{2053, 2048}, {2048, 2053}},
              [](const auto& in) { return ops::mul(ops::t(in[0]), in[1]); }),
      call_of("sum of 4.2 million elements", {{kElements}},
              [](const auto& in) { return ops::sum(in[0]); }),
      call_of("sum of 8,229 rows", {{kRows, 17}},
              [](const auto& in) { return ops::sum(in[0], Shape{1}, false, std::nullopt); }),
      call_of("sum of the columns of 8,229 rows", {{kRows, 17}},
              [](const auto& in) { return ops::sum(in[0], Shape{0}, false, std::nullopt); }),
      call_of("softmax of 8,229 rows", {{kRows, 33}},
              [](const auto& in) { return ops::softmax(in[0], -1, std::nullopt); }),
      call_of("softmax of rows of 100,003 elements", {{3, 100003}},
              [](const auto& in) { return ops::softmax(in[0], -1, std::nullopt); }),
      call_of("sort of 100,003 elements", {{100'003}},
              [](const auto& in) { return ops::sort(in[0], 0, false).first; }),
      call_of("sort of 3 rows of 40,007 elements, descending", {{3, 40'007}},
              [](const auto& in) { return ops::sort(in[0], 1, true).first; }),
      call_of("sort of 3 columns of 40,007 elements", {{40'007, 3}},
              [](const auto& in) { return ops::sort(in[0], 0, false).first; }),
      call_of("topk of 100,003 elements", {{100'003}},
              [](const auto& in) { return ops::topk(in[0], 5000, 0, true).first; }),
      call_of("embedding of 20,000 indices of 1,009", {{1009, 5}},
              [](const auto& in) {
                return ops::embedding(places(20'000, 1009, in[0]), in[0], std::nullopt);
              }),
      call_of("nll_loss of 8,229 targets", {{kRows, 33}},
              [](const auto& in) {
                return ops::nll_loss(in[0], places(kRows, 33, in[0]), std::nullopt, -100,
                                     ops::Reduction::mean);
              }),
      call_of("layer_norm of 8,229 rows", {{kRows, 33}, {33}, {33}},
              [](const auto& in) { return ops::layer_norm(in[0], {33}, in[1], in[2], 1e-5); }),
      call_of("layer_norm of 515 rows of 2,052 elements", {{515, 2052}, {2052}, {2052}},
              [](const auto& in) { return ops::layer_norm(in[0], {2052}, in[1], in[2], 1e-5); }),
      call_of("rms_norm of 8,229 rows", {{kRows, 33}, {33}},
              [](const auto& in) { return ops::rms_norm(in[0], {33}, in[1], 1e-5); }),
      call_of("rms_norm of 515 rows of 2,052 elements", {{515, 2052}, {2052}},
              [](const auto& in) { return ops::rms_norm(in[0], {2052}, in[1], 1e-5); }),
  };
}

}  // namespace ohm::truth
