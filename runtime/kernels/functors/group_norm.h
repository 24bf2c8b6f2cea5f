// Norms of groups of channels: functors of rows, as in rows.h. With x̂ the normalised group and
// h = grad · weight, the slope by x is (h − mean(h) − x̂ · mean(h·x̂)) / deviation.
#pragma once

#include <cmath>

#include "runtime/base/divisor.h"
#include "runtime/kernels/functors/row_launch.h"

namespace ohm::functors {

/// [N, C, *], row-major or with the channels last, as groups of channels of pixels.
struct ChannelGroups {
  std::int64_t channels;
  Divisor groups;  ///< of a sample
  Divisor pixels;  ///< of one channel
  bool are_last = false;

  constexpr std::int64_t channel(std::int64_t group, std::int64_t i) const {
    return group % groups * (channels / groups) + i / pixels;
  }
  /// Of a group's element; `start`: of its first one where they are row-major.
  constexpr std::int64_t place(std::int64_t group, std::int64_t start, std::int64_t i) const {
    if (!are_last) return start + i;
    return (group / groups * pixels + i % pixels) * channels + channel(group, i);
  }
  /// Of a channel's element, over all samples.
  constexpr std::int64_t place_in_channel(std::int64_t of_channel, std::int64_t i) const {
    const std::int64_t sample = i / pixels;
    return are_last ? i * channels + of_channel
                    : (sample * channels + of_channel) * pixels + i - sample * pixels;
  }
};

/// A row is a group. Operands: the result, mean and 1/deviation of each group, x, weight and bias
/// of each channel, either of which may be left out.
struct GroupNormRow {
  static constexpr const char* kKernel = "group_norm_row";
  ChannelGroups layout;
  double eps;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const auto group = static_cast<std::int64_t>(row_index);
    const std::int64_t start = group * launch.size;
    const auto length = static_cast<double>(launch.size);
    const auto at = [&](std::int64_t i) {
      return team.template load<Compute>(launch.operands[3], layout.place(group, start, i));
    };
    const double mean =
        team.sum(launch.size, [&](std::int64_t i) { return static_cast<double>(at(i)); }) / length;
    const double squares = team.sum(launch.size, [&](std::int64_t i) {
      const double distance = static_cast<double>(at(i)) - mean;
      return distance * distance;
    });
    const auto center = static_cast<Compute>(mean);
    const auto inverse = static_cast<Compute>(1.0 / std::sqrt(squares / length + eps));
    team.once([&] {
      team.store(launch.operands[1], group, center);
      team.store(launch.operands[2], group, inverse);
    });
    const bool has_weight = launch.operands[4].address != 0;
    const bool has_bias = launch.operands[5].address != 0;
    team.each(launch.size, [&](std::int64_t i) {
      const std::int64_t channel = layout.channel(group, i);
      Compute y = (at(i) - center) * inverse;
      if (has_weight) y *= team.template load<Compute>(launch.operands[4], channel);
      if (has_bias) y += team.template load<Compute>(launch.operands[5], channel);
      team.store(launch.operands[0], layout.place(group, start, i), y);
    });
  }
};

/// A row is a group. Operands: the gradient of x, that of the result, x, mean, 1/deviation, weight
/// or none.
struct GroupNormBackwardRow {
  static constexpr const char* kKernel = "group_norm_backward_row";
  ChannelGroups layout;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const auto group = static_cast<std::int64_t>(row_index);
    const std::int64_t start = group * launch.size;
    const auto length = static_cast<double>(launch.size);
    const Compute mean = team.template load<Compute>(launch.operands[3], group);
    const double inverse = team.template load<double>(launch.operands[4], group);
    const bool has_weight = launch.operands[5].address != 0;
    const auto normalised = [&](std::int64_t i) {
      const Compute x =
          team.template load<Compute>(launch.operands[2], layout.place(group, start, i));
      return static_cast<double>(x - mean) * inverse;
    };
    const auto weighted = [&](std::int64_t i) {
      const double grad =
          team.template load<double>(launch.operands[1], layout.place(group, start, i));
      if (!has_weight) return grad;
      return grad * team.template load<double>(launch.operands[5], layout.channel(group, i));
    };
    const double total = team.sum(launch.size, weighted) / length;
    const double slope =
        team.sum(launch.size, [&](std::int64_t i) { return weighted(i) * normalised(i); }) / length;
    team.each(launch.size, [&](std::int64_t i) {
      team.store(launch.operands[0], layout.place(group, start, i),
                 (weighted(i) - total - normalised(i) * slope) * inverse);
    });
  }
};

/// A row is a channel, over the pixels of all samples. Operands: gradients of weight and bias,
/// either of which may be left out, the gradient of the result, x, mean, 1/deviation of each group.
struct GroupNormChannel {
  static constexpr const char* kKernel = "group_norm_channel";
  ChannelGroups layout;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const auto channel = static_cast<std::int64_t>(row_index);
    const std::int64_t of_sample = channel / (layout.channels / layout.groups);
    const auto offset = [&](std::int64_t i) { return layout.place_in_channel(channel, i); };
    const auto grad = [&](std::int64_t i) {
      return team.template load<double>(launch.operands[2], offset(i));
    };
    if (launch.operands[0].address != 0) {
      const double sum = team.sum(launch.size, [&](std::int64_t i) {
        const std::int64_t group = i / layout.pixels * layout.groups + of_sample;
        const Compute x = team.template load<Compute>(launch.operands[3], offset(i));
        const Compute mean = team.template load<Compute>(launch.operands[4], group);
        const double inverse = team.template load<double>(launch.operands[5], group);
        return grad(i) * (static_cast<double>(x - mean) * inverse);
      });
      team.once([&] { team.store(launch.operands[0], channel, sum); });
    }
    if (launch.operands[1].address != 0) {
      const double sum = team.sum(launch.size, grad);
      team.once([&] { team.store(launch.operands[1], channel, sum); });
    }
  }
};

// To verify kernels with.
inline constexpr ChannelGroups kVerifiedGroups{259, 37, 37};
inline constexpr ChannelGroups kVerifiedChannels{37, 37, 37};

}  // namespace ohm::functors
