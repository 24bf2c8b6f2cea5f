// The error of a file that cannot be replayed.
#pragma once

#include <stdexcept>

namespace ohm::engine {

/// The file cannot be replayed, or does not say what was asked of it: missing, damaged, of another
/// kind, without a history. Says which file and why.
class ReplayError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace ohm::engine
