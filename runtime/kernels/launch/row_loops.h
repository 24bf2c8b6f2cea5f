// Functors of rows where their operands are: as kernels of a CUDA device, or in a loop on the host.
#pragma once

#include <cstdint>

#include "runtime/kernels/host/host_team.h"
#include "runtime/kernels/launch/row_kernels.h"

namespace ohm {

/// The rows as a kernel would be given them, with the host's addresses.
RowLaunch rows_on_host(const RowShape& shape, const RowArguments& arguments);

template <class Compute, class Functor>
void run_rows_on_host(const Functor& functor, const RowLaunch& rows) {
  const HostTeam team;
  for (std::uint64_t row = 0; row < rows.count; ++row) {
    functor.template run<Compute>(team, rows, row);
  }
}

/// A functor of floating rows, computed as loops of `dtype` are. Pre-condition: everything has
/// values.
template <class Functor>
void run_floating_rows(const Functor& functor, DType dtype, const RowShape& shape,
                       const RowArguments& arguments) {
  if (are_rows_done_on_cuda(functor, dtype, shape, arguments)) return;
  const RowLaunch rows = rows_on_host(shape, arguments);
  if (dtype == DType::float64) {
    run_rows_on_host<double>(functor, rows);
  } else {
    run_rows_on_host<float>(functor, rows);
  }
}

/// The same for any dtype.
template <class Functor>
void run_rows(const Functor& functor, DType dtype, const RowShape& shape,
              const RowArguments& arguments) {
  if (is_floating(dtype)) return run_floating_rows(functor, dtype, shape, arguments);
  if (are_rows_done_on_cuda(functor, dtype, shape, arguments)) return;
  run_rows_on_host<std::int64_t>(functor, rows_on_host(shape, arguments));
}

/// A row for each element that is written, each a thread's.
inline RowShape thread_for_each(std::int64_t count) { return {count, 1, 1, true}; }

}  // namespace ohm
