// Fused attention: functors of rows, as in rows.h. Everything is computed in float32; what a sum
// or an exponent comes of in double, so that a device's are the host's. Scores are computed again
// wherever they are wanted: nothing of the size of all of them is kept.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "runtime/base/philox.h"
#include "runtime/kernels/functors/row_launch.h"

namespace ohm::functors {

/// Steps through [batch, heads, rows, columns].
struct HeadSteps {
  std::int64_t batch = 0;
  std::int64_t head = 0;
  std::int64_t row = 0;
  std::int64_t column = 0;
};

/// query [batch, heads, queries, width], key [batch, heads, keys, width], value [batch, heads,
/// keys, value_width], maybe a bias [batch, heads, queries, keys], and the result or its gradient.
struct AttentionLayout {
  std::int64_t heads = 1;  ///< of a batch
  std::int64_t queries = 1;
  std::int64_t keys = 1;
  std::int64_t width = 1;
  std::int64_t value_width = 1;
  HeadSteps query;
  HeadSteps key;
  HeadSteps value;
  HeadSteps bias;
  HeadSteps result;
  std::int64_t log_sum_rows = 0;  ///< of a head, of which the queries are the first
  double scale = 1.0;
  bool is_causal = false;
  double dropout_p = 0.0;
  std::uint64_t seed = 0;        ///< of what is dropped
  std::uint64_t first_draw = 0;  ///< offset of the generator

  /// Of a row of one of the heads, which are numbered through all batches.
  constexpr std::int64_t start(const HeadSteps& steps, std::int64_t head_number,
                               std::int64_t row) const {
    return head_number / heads * steps.batch + head_number % heads * steps.head + row * steps.row;
  }
  /// Whether the key takes no part in the query's sum.
  constexpr bool is_left_out(std::int64_t of_query, std::int64_t of_key) const {
    return is_causal && of_key > of_query;
  }
  /// What dropout multiplies a probability with.
  constexpr float factor(std::int64_t head_number, std::int64_t of_query,
                         std::int64_t of_key) const {
    if (dropout_p == 0.0) return 1.0F;
    const std::int64_t element = (head_number * queries + of_query) * keys + of_key;
    const auto keep = static_cast<float>(1.0 - dropout_p);
    const float draw =
        uniform_from_word(philox_word(seed, first_draw, static_cast<std::uint64_t>(element)));
    return draw < keep ? 1.0F / keep : 0.0F;
  }
};

/// A head as the row of one of its queries or keys sees it.
template <class Team>
struct AttentionHead {
  /// A row of an operand.
  struct Row {
    int operand;
    std::int64_t start;
    std::int64_t step;
  };

  const Team& team;
  const RowLaunch& launch;
  const AttentionLayout& layout;
  int first;            ///< operand that is the query; key, value and bias come behind it
  std::int64_t number;  ///< through all batches

  constexpr Row row(int operand, const HeadSteps& steps, std::int64_t index) const {
    return {operand, layout.start(steps, number, index), steps.column};
  }
  constexpr Row query(std::int64_t index) const { return row(first, layout.query, index); }
  constexpr Row key(std::int64_t index) const { return row(first + 1, layout.key, index); }
  constexpr Row value(std::int64_t index) const { return row(first + 2, layout.value, index); }

  constexpr float at(const Row& of, std::int64_t column) const {
    return team.template load<float>(launch.operands[of.operand], of.start + column * of.step);
  }
  constexpr void put(const Row& to, std::int64_t column, double element) const {
    team.store(launch.operands[to.operand], to.start + column * to.step,
               static_cast<float>(element));
  }
  constexpr bool has(int operand) const { return launch.operands[operand].address != 0; }

  constexpr double dot(const Row& a, const Row& b, std::int64_t size) const {
    double sum = 0;
    for (std::int64_t i = 0; i < size; ++i) sum += static_cast<double>(at(a, i) * at(b, i));
    return sum;
  }
  constexpr double score(std::int64_t of_query, std::int64_t of_key) const {
    if (layout.is_left_out(of_query, of_key)) return -std::numeric_limits<double>::infinity();
    const double score = dot(query(of_query), key(of_key), layout.width) * layout.scale;
    if (!has(first + 3)) return score;
    return score + static_cast<double>(at(row(first + 3, layout.bias, of_query), of_key));
  }
  constexpr float factor(std::int64_t of_query, std::int64_t of_key) const {
    return layout.factor(number, of_query, of_key);
  }
  constexpr float probability(std::int64_t of_query, std::int64_t of_key, float log_sum) const {
    if (log_sum == -std::numeric_limits<float>::infinity()) return 0.0F;
    return static_cast<float>(std::exp(score(of_query, of_key) - static_cast<double>(log_sum)));
  }
  /// Of a loss, by a probability; `grad` is the operand that holds that of the result.
  constexpr float slope(int grad, std::int64_t of_query, std::int64_t of_key) const {
    const double product =
        dot(row(grad, layout.result, of_query), value(of_key), layout.value_width);
    return static_cast<float>(product) * factor(of_query, of_key);
  }
  /// A number of each query.
  constexpr float per_query(int operand, std::int64_t rows, std::int64_t index) const {
    return team.template load<float>(launch.operands[operand], number * rows + index);
  }
};

/// A row is a query. Operands: the result, the logarithms of the queries' sums or none, query,
/// key, value, bias or none.
struct AttentionRow {
  static constexpr const char* kKernel = "attention_row";
  AttentionLayout layout;

  template <class /*Compute*/, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const auto number = static_cast<std::int64_t>(row_index);
    const std::int64_t query = number % layout.queries;
    const AttentionHead<Team> head{team, launch, layout, 2, number / layout.queries};
    const double largest =
        team.largest(layout.keys, [&](std::int64_t key) { return head.score(query, key); });
    // A row without any key that takes part is all zeros.
    const bool is_empty = largest == -std::numeric_limits<double>::infinity();
    const auto share = [&](std::int64_t key) {
      return is_empty ? 0.0F : static_cast<float>(std::exp(head.score(query, key) - largest));
    };
    const double sum =
        team.sum(layout.keys, [&](std::int64_t key) { return static_cast<double>(share(key)); });
    const float scale = is_empty ? 0.0F : static_cast<float>(1.0 / sum);
    team.weighted_sums(
        layout.keys, layout.value_width,
        [&](std::int64_t key) { return share(key) * scale * head.factor(query, key); },
        [&](std::int64_t key, std::int64_t column) { return head.at(head.value(key), column); },
        [&](std::int64_t column, double element) {
          head.put(head.row(0, layout.result, query), column, element);
        });
    if (!head.has(1)) return;
    team.once([&] {
      team.store(launch.operands[1], head.number * layout.log_sum_rows + query,
                 static_cast<float>(is_empty ? largest : largest + std::log(sum)));
    });
  }
};

// With P the probabilities, F what dropout multiplies them with and D = grad · valueᵀ · F:
// dS = P · (D − Σ D·P), and the gradients of value, query and key are (P·F)ᵀ · grad, dS · key and
// dSᵀ · query, the last two times the scale.

/// A row is a query. Operands: its gradient, that of the bias or none, Σ D·P of each query, the
/// gradient of the result, the logarithms of the queries' sums, query, key, value, bias or none.
struct AttentionQueryBackward {
  static constexpr const char* kKernel = "attention_query_backward";
  AttentionLayout layout;
  HeadSteps query_slope;
  HeadSteps bias_slope;

  template <class /*Compute*/, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const auto number = static_cast<std::int64_t>(row_index);
    const std::int64_t query = number % layout.queries;
    const AttentionHead<Team> head{team, launch, layout, 5, number / layout.queries};
    const float log_sum = head.per_query(4, layout.log_sum_rows, query);
    const auto total = static_cast<float>(team.sum(layout.keys, [&](std::int64_t key) {
      return static_cast<double>(head.slope(3, query, key) * head.probability(query, key, log_sum));
    }));
    team.once([&] { team.store(launch.operands[2], number, total); });
    const auto of_score = [&](std::int64_t key) {
      return head.probability(query, key, log_sum) * (head.slope(3, query, key) - total);
    };
    team.weighted_sums(
        layout.keys, layout.width,
        [&](std::int64_t key) { return of_score(key) * static_cast<float>(layout.scale); },
        [&](std::int64_t key, std::int64_t column) { return head.at(head.key(key), column); },
        [&](std::int64_t column, double element) {
          head.put(head.row(0, query_slope, query), column, element);
        });
    if (!head.has(1)) return;
    team.each(layout.keys, [&](std::int64_t key) {
      head.put(head.row(1, bias_slope, query), key, of_score(key));
    });
  }
};

/// A row is a key. Operands: its gradient, that of its value, the gradient of the result, the
/// logarithms of the queries' sums, Σ D·P of each query, query, key, value, bias or none.
struct AttentionKeyBackward {
  static constexpr const char* kKernel = "attention_key_backward";
  AttentionLayout layout;
  HeadSteps key_slope;
  HeadSteps value_slope;

  template <class /*Compute*/, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const auto number = static_cast<std::int64_t>(row_index);
    const std::int64_t key = number % layout.keys;
    const AttentionHead<Team> head{team, launch, layout, 5, number / layout.keys};
    const auto probability = [&](std::int64_t query) {
      return head.probability(query, key, head.per_query(3, layout.log_sum_rows, query));
    };
    team.weighted_sums(
        layout.queries, layout.value_width,
        [&](std::int64_t query) { return probability(query) * head.factor(query, key); },
        [&](std::int64_t query, std::int64_t column) {
          return head.at(head.row(2, layout.result, query), column);
        },
        [&](std::int64_t column, double element) {
          head.put(head.row(1, value_slope, key), column, element);
        });
    team.weighted_sums(
        layout.queries, layout.width,
        [&](std::int64_t query) {
          const float total = head.per_query(4, layout.queries, query);
          return probability(query) * (head.slope(2, query, key) - total) *
                 static_cast<float>(layout.scale);
        },
        [&](std::int64_t query, std::int64_t column) { return head.at(head.query(query), column); },
        [&](std::int64_t column, double element) {
          head.put(head.row(0, key_slope, key), column, element);
        });
  }
};

// ---- what the kernels are verified with ---------------------------------------------------------

// The first head of each is made of numbers that are none. Scores are small and the gradients have
// no bias to speak of: the sums that are given to them are not of these scores.
inline constexpr AttentionLayout kVerifiedAttention{.heads = 2,
                                                    .queries = 10,
                                                    .keys = 240,
                                                    .width = 4,
                                                    .value_width = 6,
                                                    .query = {80, 40, 4, 1},
                                                    .key = {1920, 960, 4, 1},
                                                    .value = {2880, 1440, 6, 1},
                                                    .bias = {0, 0, 240, 1},
                                                    .result = {120, 60, 6, 1},
                                                    .log_sum_rows = 10,
                                                    .scale = 0.01,
                                                    .dropout_p = 0.25,
                                                    .seed = 7,
                                                    .first_draw = 3};
inline constexpr AttentionLayout kVerifiedOfQueries = [] {
  AttentionLayout layout = kVerifiedAttention;
  layout.bias = {};
  return layout;
}();
inline constexpr AttentionLayout kVerifiedOfKeys{.heads = 2,
                                                 .queries = 240,
                                                 .keys = 10,
                                                 .width = 4,
                                                 .value_width = 6,
                                                 .query = {1920, 960, 4, 1},
                                                 .key = {80, 40, 4, 1},
                                                 .value = {120, 60, 6, 1},
                                                 .bias = {},
                                                 .result = {2880, 1440, 6, 1},
                                                 .log_sum_rows = 240,
                                                 .scale = 0.01,
                                                 .is_causal = true,
                                                 .dropout_p = 0.25,
                                                 .seed = 7,
                                                 .first_draw = 3};

}  // namespace ohm::functors
