// Formulas of lines where their operands are: as kernels of a real card, or in a loop on the host.
#pragma once

#include <cstdint>

#include "runtime/kernels/host/host_team.h"
#include "runtime/kernels/launch/row_kernels.h"

namespace ohm {

/// The lines as a kernel would be given them, with the host's addresses.
CardLines lines_on_host(const LineShape& shape, const LineArguments& arguments);

template <class Compute, class Formula>
void run_lines_on_host(const Formula& formula, const CardLines& lines) {
  const HostTeam team;
  for (std::uint64_t line = 0; line < lines.count; ++line) {
    formula.template run<Compute>(team, lines, line);
  }
}

/// A formula of floating lines, computed as loops of `dtype` are. Pre-condition: everything has
/// values.
template <class Formula>
void run_floating_lines(const Formula& formula, DType dtype, const LineShape& shape,
                        const LineArguments& arguments) {
  if (are_lines_done_on_card(formula, dtype, shape, arguments)) return;
  const CardLines lines = lines_on_host(shape, arguments);
  if (dtype == DType::float64) {
    run_lines_on_host<double>(formula, lines);
  } else {
    run_lines_on_host<float>(formula, lines);
  }
}

/// The same for any dtype.
template <class Formula>
void run_lines(const Formula& formula, DType dtype, const LineShape& shape,
               const LineArguments& arguments) {
  if (is_floating(dtype)) return run_floating_lines(formula, dtype, shape, arguments);
  if (are_lines_done_on_card(formula, dtype, shape, arguments)) return;
  run_lines_on_host<std::int64_t>(formula, lines_on_host(shape, arguments));
}

/// A line for each element that is written, each a thread's.
inline LineShape thread_for_each(std::int64_t count) { return {count, 1, 1, true}; }

}  // namespace ohm
