// The parts of attention that are not matrix products, for a tile of all scores: functors of rows,
// as in rows.h. The products are a library's, of float32; exponents and sums are computed in
// double.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "runtime/kernels/functors/attention.h"

namespace ohm::functors {

/// Some queries of some heads: row n of the tile is query n % queries of head n / queries of it,
/// and lies in the tile's operands at n · keys.
struct AttentionTile {
  AttentionLayout layout;
  std::int64_t first_head = 0;   ///< numbered through all batches
  std::int64_t first_query = 0;  ///< of each head
  std::int64_t queries = 1;      ///< of each head

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

    constexpr float at(int operand, std::int64_t key) const {
      return team.template load<float>(launch.operands[operand], number * tile.layout.keys + key);
    }
    constexpr void put(int operand, std::int64_t key, float element) const {
      team.store(launch.operands[operand], number * tile.layout.keys + key, element);
    }
    /// Of the product of query and key that is in operand 0.
    constexpr double score(std::int64_t key) const {
      const AttentionLayout& layout = tile.layout;
      if (layout.is_left_out(query, key)) return -std::numeric_limits<double>::infinity();
      const double score = static_cast<double>(at(0, key)) * layout.scale;
      if (launch.operands[bias].address == 0) return score;
      const std::int64_t place = layout.start(layout.bias, head, query) + key * layout.bias.column;
      return score + static_cast<double>(team.template load<float>(launch.operands[bias], place));
    }
    constexpr float factor(std::int64_t key) const { return tile.layout.factor(head, query, key); }
    constexpr std::int64_t log_sum_place() const { return head * tile.layout.log_sum_rows + query; }
  };
};

/// A row is a query. Operands: products of the tile's queries with all keys, which become what the
/// values are weighted with; the logarithms of the queries' sums or none; bias or none.
struct AttentionWeights {
  static constexpr const char* kKernel = "attention_weights";
  AttentionTile tile;

  template <class /*Compute*/, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const AttentionTile::Row<Team> row{team, launch, tile, 2, static_cast<std::int64_t>(row_index)};
    const std::int64_t keys = tile.layout.keys;
    const double largest = team.largest(keys, [&](std::int64_t key) { return row.score(key); });
    // A row without any key that takes part is all zeros.
    const bool is_empty = largest == -std::numeric_limits<double>::infinity();
    const auto share = [&](std::int64_t key) {
      return is_empty ? 0.0F : static_cast<float>(std::exp(row.score(key) - largest));
    };
    const double sum =
        team.sum(keys, [&](std::int64_t key) { return static_cast<double>(share(key)); });
    const float scale = is_empty ? 0.0F : static_cast<float>(1.0 / sum);
    team.each(keys,
              [&](std::int64_t key) { row.put(0, key, share(key) * scale * row.factor(key)); });
    if (launch.operands[1].address == 0) return;
    team.once([&] {
      team.store(launch.operands[1], row.log_sum_place(),
                 static_cast<float>(is_empty ? largest : largest + std::log(sum)));
    });
  }
};

/// A row is a query. With D the products of the result's gradient with the values, times what
/// dropout multiplies with: P · (D − Σ D·P). Operands: products as above, which become what the
/// values were weighted with; the products with the values, which become the slopes by products of
/// queries and keys; the gradient of the bias or none; the logarithms of the queries' sums; bias or
/// none.
struct AttentionSlopes {
  static constexpr const char* kKernel = "attention_slopes";
  AttentionTile tile;
  HeadSteps bias_slope;

  template <class /*Compute*/, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const AttentionTile::Row<Team> row{team, launch, tile, 4, static_cast<std::int64_t>(row_index)};
    const AttentionLayout& layout = tile.layout;
    const float log_sum = team.template load<float>(launch.operands[3], row.log_sum_place());
    const bool is_empty = log_sum == -std::numeric_limits<float>::infinity();
    const auto probability = [&](std::int64_t key) {
      return is_empty ? 0.0F
                      : static_cast<float>(std::exp(row.score(key) - static_cast<double>(log_sum)));
    };
    const auto total = static_cast<float>(team.sum(layout.keys, [&](std::int64_t key) {
      return static_cast<double>(row.at(1, key) * row.factor(key) * probability(key));
    }));
    team.each(layout.keys, [&](std::int64_t key) {
      const float chance = probability(key);
      const float factor = row.factor(key);
      const float slope = chance * (row.at(1, key) * factor - total);
      row.put(0, key, chance * factor);
      row.put(1, key, slope * static_cast<float>(layout.scale));
      if (launch.operands[2].address == 0) return;
      const std::int64_t place = layout.start(bias_slope, row.head, row.query);
      team.store(launch.operands[2], place + key * bias_slope.column, slope);
    });
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
  return tile;
}();
inline constexpr AttentionTile kVerifiedSlopesTile = [] {
  AttentionTile tile = kVerifiedAttentionTile;
  tile.layout.bias = {};
  return tile;
}();

}  // namespace ohm::functors
