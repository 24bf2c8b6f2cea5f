// The figures that a limit can be about: one row each.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "harness/judge/measured_variant.h"

namespace ohm::engine {

/// A variant with the one whose values count as right; nullptr when there is none.
struct MeasurementSource {
  const MeasuredVariant* variant = nullptr;
  const MeasuredVariant* reference = nullptr;
};

/// A figure, or why there is none.
struct Measured {
  std::optional<double> value;
  /// True where values would be needed and the devices are size-only: the limit is not checked,
  /// which is neither holding nor breaking.
  bool needs_values = false;
  std::string why_not;
};

/// Whether a recorded memory snapshot tells a figure.
enum class InSnapshot : std::uint8_t {
  absent,   ///< it must not be taken for 0
  host,     ///< where the host's memory was recorded: a snapshot is of a GPU
  counter,  ///< where the allocator's own counters were recorded beside the snapshot
  figure,
  slope,  ///< from step to step: a limit that it breaks is a leak
};

struct Measurement {
  std::string_view name;
  Unit unit;
  bool has_index;        ///< `name[cuda:1]` is that GPU's; without an index see `help`
  bool needs_reference;  ///< compares with the reference's values
  InSnapshot in_snapshot;
  std::string_view help;
  Measured (*measure)(const MeasurementSource& source, std::optional<int> gpu);
};

std::span<const Measurement> measurements();

/// Throws std::invalid_argument that suggests the nearest name.
const Measurement& find_measurement(std::string_view name);

}  // namespace ohm::engine
