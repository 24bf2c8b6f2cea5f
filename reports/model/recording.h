// The detail in which a run records memory, and which a report needs.
#pragma once

#include <cstdint>

namespace ohm {

/// In ascending order.
enum class Recording : std::uint8_t {
  figures,  ///< the figures that limits are about
  peaks,    ///< and what made up the peak of each device
  history,  ///< and what every block did, and what kept it alive
};

}  // namespace ohm
