#include "runtime/arithmetic/whole_scalars.h"

#include <algorithm>

namespace ohm {
namespace {

// Of the innermost call.
thread_local WholeScalars* innermost = nullptr;

template <class Iterator>
std::optional<std::int64_t> rounded_to(double rounded, Iterator first, Iterator last) {
  const auto found = std::find_if(
      first, last, [rounded](std::int64_t whole) { return static_cast<double>(whole) == rounded; });
  if (found == last || is_held_by_a_double(*found)) return std::nullopt;
  return *found;
}

}  // namespace

bool is_held_by_a_double(std::int64_t whole) {
  const auto number = static_cast<double>(whole);
  return number < 0x1p63 && static_cast<std::int64_t>(number) == whole;
}

WholeScalars::WholeScalars() : outer_(innermost) { innermost = this; }

WholeScalars::~WholeScalars() { innermost = outer_; }

void WholeScalars::note(std::int64_t whole) {
  constexpr std::int64_t kExact = std::int64_t{1} << 53U;
  const bool is_exact = whole >= -kExact && whole <= kExact;
  if (innermost != nullptr && !is_exact) innermost->given_.push_back(whole);
}

std::optional<std::int64_t> whole_scalar(double rounded, DType dtype) {
  if (innermost == nullptr || dtype != DType::int64) return std::nullopt;
  const std::vector<std::int64_t>& given = innermost->given_;
  return rounded_to(rounded, given.begin(), given.end());
}

std::optional<std::int64_t> last_whole_scalar(double rounded, DType dtype) {
  if (innermost == nullptr || dtype != DType::int64) return std::nullopt;
  const std::vector<std::int64_t>& given = innermost->given_;
  return rounded_to(rounded, given.rbegin(), given.rend());
}

}  // namespace ohm
