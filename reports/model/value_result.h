// The digest of what a variant returned: enough to tell when a program computes something else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reports/model/fields.h"

namespace ohm {

struct ValueResult {
  std::string name;
  std::string dtype;                 ///< of a tensor, or string, boolean, integer, number
  std::vector<std::int64_t> shape;   ///< empty for a scalar
  std::string digest;                ///< of integers, booleans and strings: of every element
  std::optional<double> norm;        ///< of floating point: the root of the sum of squares
  std::optional<double> projection;  ///< the sum of the elements, each with a sign of its own
  std::int64_t non_finite = 0;       ///< elements that neither counts: infinite or NaN

  static constexpr const char* kSchemaName = "value";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = ValueResult;
    visit("name", &T::name);
    visit("dtype", &T::dtype, "The dtype of a tensor; or string, boolean, integer, number.");
    visit("shape", &T::shape);
    visit("digest", &T::digest, Presence::optional,
          "Digest of all elements, for integers, booleans and strings.");
    visit("norm", &T::norm, Presence::optional,
          "Root of the sum of squares, for floating point; absent if nothing is computed.");
    visit("projection", &T::projection, Presence::optional,
          "Sum of the elements, each with a sign derived from its index.");
    visit("non_finite", &T::non_finite, Presence::optional,
          "Infinite or NaN elements, which neither figure counts.");
  }
};

}  // namespace ohm
