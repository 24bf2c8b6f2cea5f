#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/ops/arithmetic.h"
#include "runtime/ops/layer_norm.h"
#include "runtime/ops/reduction.h"
#include "runtime/ops/softmax.h"
#include "runtime/ops/view.h"
#include "tests/truth/op_call.h"

namespace ohm::truth {

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
      call_of("layer_norm of 8,229 rows", {{kRows, 33}, {33}, {33}},
              [](const auto& in) { return ops::layer_norm(in[0], {33}, in[1], in[2], 1e-5); }),
  };
}

}  // namespace ohm::truth
