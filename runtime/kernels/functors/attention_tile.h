// The parts of attention that are not matrix products, for a tile of all scores: functors of rows,
// as in rows.h. The products are a library's, of float32; exponents are computed in float32, too,
// and their sums in double.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "runtime/kernels/functors/attention.h"
#include "runtime/kernels/functors/element_run.h"

namespace ohm::functors {

/// Some queries of some heads, with the first of the keys: row n of the tile is query n % queries
/// of head n / queries of it, and lies in the tile's operands at n · keys.
struct AttentionTile {
  AttentionLayout layout;
  std::int64_t first_head = 0;   ///< numbered through all batches
  std::int64_t first_query = 0;  ///< of each head
  std::int64_t queries = 1;      ///< of each head
  std::int64_t keys = 1;         ///< no query of the tile has others that take part

  /// A row as it is computed; `bias`: the operand, maybe one that is left out.
  template <class Team>
  struct Row {
    const Team& team;
    const RowLaunch& launch;
    const AttentionTile& tile;
    int bias;
    std::int64_t number;
    std::int64_t head = tile.first_head + number / tile.queries;
    std::int64_t query = tile.first_query + number % tile.queries;

    /// Of the keys that take part, which are the first of all.
    constexpr std::int64_t size() const {
      return tile.layout.is_causal && query < tile.keys ? query + 1 : tile.keys;
    }
    constexpr ElementRun run(int operand) const {
      return {&launch.operands[operand], number * tile.keys};
    }
    constexpr ElementRun run_of_bias(int operand, const HeadSteps& steps) const {
      return {&launch.operands[operand], tile.layout.start(steps, head, query), steps.column};
    }
    /// use(of', runs…): of(score), from the products of query and keys that are in operand 0.
    template <class Of, class Use>
    constexpr auto with_scores(const Of& of, const Use& use) const {
      const auto scale = static_cast<float>(tile.layout.scale);
      if (launch.operands[bias].address != 0) {
        return use([&](float product, float more) { return of(product * scale + more); }, run(0),
                   run_of_bias(bias, tile.layout.bias));
      }
      return use([&](float product) { return of(product * scale); }, run(0));
    }
    /// What dropout leaves of the elements, whichever thread wrote them.
    constexpr void drop(int operand) const {
      if (tile.layout.dropout_p == 0.0) return;
      team.meet();
      const ElementRun elements = run(operand);
      team.each(size(), [&](std::int64_t key) {
        const float element = team.template load<float>(*elements.operand, elements.offset(key));
        team.store(*elements.operand, elements.offset(key),
                   element * tile.layout.factor(head, query, key));
      });
    }
    /// Keys that take no part have no weight.
    constexpr void clear_rest(int operand) const {
      const std::int64_t first = size();
      team.each(tile.keys - first, [&](std::int64_t i) {
        team.store(launch.operands[operand], run(operand).offset(first + i), 0.0F);
      });
    }
    constexpr std::int64_t log_sum_place() const { return head * tile.layout.log_sum_rows + query; }
  };
};

/// A row is a query. Operands: products of the tile's queries with its keys, which become what the
/// values are weighted with; the logarithms of the queries' sums or none; bias or none.
struct AttentionWeights {
  static constexpr const char* kKernel = "attention_weights";
  AttentionTile tile;

  template <class /*Compute*/, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const AttentionTile::Row<Team> row{team, launch, tile, 2, static_cast<std::int64_t>(row_index)};
    const float largest =
        row.with_scores([](float score) { return score; },
                        [&](const auto& of, const auto&... runs) {
                          return team.template largest_along<float>(row.size(), of, runs...);
                        });
    // A row without any key that takes part is all zeros.
    const bool is_empty = largest == -std::numeric_limits<float>::infinity();
    const auto share = [&](float score) {
      return is_empty ? 0.0F : static_cast<float>(std::exp(score - largest));
    };
    const double sum =
        row.with_scores([&](float score) { return static_cast<double>(share(score)); },
                        [&](const auto& of, const auto&... runs) {
                          return team.template sum_along<float>(row.size(), of, runs...);
                        });
    const float scale = is_empty ? 0.0F : static_cast<float>(1.0 / sum);
    row.with_scores([&](float score) -> float { return share(score) * scale; },
                    [&](const auto& of, const auto&... runs) {
                      team.template store_along<float>(row.size(), row.run(0), of, runs...);
                    });
    row.drop(0);
    row.clear_rest(0);
    if (launch.operands[1].address == 0) return;
    team.once([&] {
      team.store(launch.operands[1], row.log_sum_place(),
                 static_cast<float>(is_empty ? static_cast<double>(largest)
                                             : static_cast<double>(largest) + std::log(sum)));
    });
  }
};

/// A row is a query. Operands: products of the tile's queries with its keys, which become what the
/// values were weighted with; products of the result's gradients with all values, which become the
/// gradients of the products of queries and keys; the gradient of the bias or none; the logarithms
/// of the queries' sums; bias or none.
struct AttentionSlopes {
  static constexpr const char* kKernel = "attention_slopes";
  AttentionTile tile;
  HeadSteps bias_slope;

  template <class /*Compute*/, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const AttentionTile::Row<Team> row{team, launch, tile, 4, static_cast<std::int64_t>(row_index)};
    const float log_sum = team.template load<float>(launch.operands[3], row.log_sum_place());
    const bool is_empty = log_sum == -std::numeric_limits<float>::infinity();
    row.with_scores(
        [&](float score) -> float {
          return is_empty ? 0.0F : static_cast<float>(std::exp(score - log_sum));
        },
        [&](const auto& of, const auto&... runs) {
          team.template store_along<float>(row.size(), row.run(0), of, runs...);
        });
    row.drop(1);
    team.meet();
    const auto total = static_cast<float>(team.template sum_along<float>(
        row.size(), [](float slope, float chance) { return static_cast<double>(slope * chance); },
        row.run(1), row.run(0)));
    const auto store = [&](const ElementRun& to, float factor) {
      team.template store_along<float>(
          row.size(), to,
          [&](float slope, float chance) -> float { return chance * (slope - total) * factor; },
          row.run(1), row.run(0));
    };
    if (launch.operands[2].address != 0) put_bias_slopes(row, store);
    store(row.run(1), static_cast<float>(tile.layout.scale));
    row.drop(0);
    row.clear_rest(0);
    row.clear_rest(1);
  }

 private:
  template <class Team, class Store>
  constexpr void put_bias_slopes(const AttentionTile::Row<Team>& row, const Store& store) const {
    const ElementRun slopes = row.run_of_bias(2, bias_slope);
    store(slopes, 1.0F);
    row.team.each(tile.layout.keys - row.size(), [&](std::int64_t i) {
      row.team.store(*slopes.operand, slopes.offset(row.size() + i), 0.0F);
    });
    row.team.meet();
  }
};

// To verify kernels with. The logarithms that slopes are given are not those of these scores, which
// have no bias to speak of.
inline constexpr AttentionTile kVerifiedAttentionTile = [] {
  AttentionTile tile;
  tile.layout = kVerifiedAttention;
  tile.layout.queries = tile.layout.log_sum_rows = 20;
  tile.first_query = 1;
  tile.queries = 19;
  tile.keys = tile.layout.keys;
  return tile;
}();
inline constexpr AttentionTile kVerifiedSlopesTile = [] {
  AttentionTile tile = kVerifiedAttentionTile;
  tile.layout.bias = {};
  return tile;
}();

}  // namespace ohm::functors
