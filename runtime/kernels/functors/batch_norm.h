// Batch normalisation: functors of rows, as in rows.h. A row is a channel of [N, C, …].
#pragma once

#include <cmath>

#include "runtime/kernels/functors/reduce_rows.h"
#include "runtime/kernels/functors/row_launch.h"

namespace ohm::functors {

/// Operands: mean and 1/deviation, running mean and variance, which move towards them, either of
/// which may be left out, x.
struct ChannelMoments {
  static constexpr const char* kKernel = "channel_moments";
  ReducedRows x;
  double eps;
  double momentum;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const auto channel = static_cast<std::int64_t>(row_index);
    const auto count = static_cast<double>(launch.size);
    const auto at = [&](std::int64_t i) {
      return static_cast<double>(
          team.template load<Compute>(launch.operands[4], x.offset(row_index, i)));
    };
    const double mean = team.sum(launch.size, at) / count;
    const double squares =
        team.sum(launch.size, [&](std::int64_t i) { return (at(i) - mean) * (at(i) - mean); });
    const auto move = [&](int operand, double value) {
      if (launch.operands[operand].address == 0) return;
      const double old = team.template load<double>(launch.operands[operand], channel);
      team.store(launch.operands[operand], channel, old + momentum * (value - old));
    };
    team.once([&] {
      team.store(launch.operands[0], channel, mean);
      team.store(launch.operands[1], channel,
                 1.0 / static_cast<double>(std::sqrt(squares / count + eps)));
      move(2, mean);
      move(3, squares / (count - 1.0));
    });
  }
};

/// (x − mean) / deviation · weight + bias. Operands: the result, x, mean, 1/deviation or the
/// variance, weight and bias, either of which may be left out.
struct ChannelNormalised {
  static constexpr const char* kKernel = "channel_normalised";
  ReducedRows out;
  ReducedRows x;
  bool is_variance;
  double eps;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const auto channel = static_cast<std::int64_t>(row_index);
    const auto of_channel = [&](int operand, double missing) {
      if (launch.operands[operand].address == 0) return missing;
      return team.template load<double>(launch.operands[operand], channel);
    };
    const double given = of_channel(3, 1.0);
    const double inverse = is_variance ? 1.0 / static_cast<double>(std::sqrt(given + eps)) : given;
    const auto center = static_cast<Compute>(of_channel(2, 0.0));
    const auto scale = static_cast<Compute>(inverse * of_channel(4, 1.0));
    const auto shift = static_cast<Compute>(of_channel(5, 0.0));
    team.each(launch.size, [&](std::int64_t i) {
      const Compute value = team.template load<Compute>(launch.operands[1], x.offset(row_index, i));
      team.store(launch.operands[0], out.offset(row_index, i), (value - center) * scale + shift);
    });
  }
};

/// Operands: gradients of x, weight and bias, each of which may be left out, the gradient of the
/// result, x, mean, 1/deviation or the variance, weight or none.
struct ChannelBackward {
  static constexpr const char* kKernel = "channel_backward";
  ReducedRows out;
  ReducedRows grad;
  ReducedRows x;
  bool is_variance;
  double eps;
  bool are_of_x;  ///< mean and deviation change with x

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const auto channel = static_cast<std::int64_t>(row_index);
    const auto grad_at = [&](std::int64_t i) {
      return team.template load<Compute>(launch.operands[3], grad.offset(row_index, i));
    };
    const auto x_at = [&](std::int64_t i) {
      return team.template load<Compute>(launch.operands[4], x.offset(row_index, i));
    };
    const double mean = team.template load<double>(launch.operands[5], channel);
    const double given = team.template load<double>(launch.operands[6], channel);
    const double inverse = is_variance ? 1.0 / static_cast<double>(std::sqrt(given + eps)) : given;
    const double weight = launch.operands[7].address == 0
                              ? 1.0
                              : team.template load<double>(launch.operands[7], channel);
    const double sum =
        team.sum(launch.size, [&](std::int64_t i) { return static_cast<double>(grad_at(i)); });
    const double normalised = inverse * team.sum(launch.size, [&](std::int64_t i) {
      return static_cast<double>(grad_at(i)) * (static_cast<double>(x_at(i)) - mean);
    });
    team.once([&] {
      if (launch.operands[1].address != 0) team.store(launch.operands[1], channel, normalised);
      if (launch.operands[2].address != 0) team.store(launch.operands[2], channel, sum);
    });
    if (launch.operands[0].address == 0) return;
    const double share = are_of_x ? 1.0 / static_cast<double>(launch.size) : 0.0;
    const auto center = static_cast<Compute>(mean);
    const auto scale = static_cast<Compute>(inverse * weight);
    const auto mean_grad = static_cast<Compute>(sum * share);
    const auto slope = static_cast<Compute>(normalised * inverse * share);
    team.each(launch.size, [&](std::int64_t i) {
      team.store(launch.operands[0], out.offset(row_index, i),
                 (grad_at(i) - mean_grad - (x_at(i) - center) * slope) * scale);
    });
  }
};

}  // namespace ohm::functors
