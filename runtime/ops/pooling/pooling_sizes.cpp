#include "runtime/ops/pooling/pooling_sizes.h"

#include <fmt/core.h>

#include <stdexcept>

#include "runtime/ops/convolution/conv_sizes.h"

namespace ohm::ops {
namespace {

using functors::PoolAxis;

void set_output(const OpInfo& info, PoolAxis& axis, bool ceil_mode) {
  if (axis.padding * 2 > axis.kernel) {
    throw std::invalid_argument(
        fmt::format("[{}] pad should be at most half of effective kernel size, but got pad={} and "
                    "kernel_size={}",
                    info.name, axis.padding, axis.kernel));
  }
  const std::int64_t room = axis.in + 2 * axis.padding - axis.dilation * (axis.kernel - 1) - 1;
  if (room < 0) {
    throw std::invalid_argument(
        fmt::format("[{}] a window of {} does not fit into {} padded elements: the output would be "
                    "too small",
                    info.name, axis.dilation * (axis.kernel - 1) + 1, axis.in + 2 * axis.padding));
  }
  axis.out = (room + (ceil_mode ? axis.stride - 1 : 0)) / axis.stride + 1;
  // No window may begin in the padding behind the image.
  if (ceil_mode && (axis.out - 1) * axis.stride >= axis.in + axis.padding) axis.out = axis.out - 1;
}

}  // namespace

void set_windows(const OpInfo& info, const PoolSizes& sizes, const std::vector<PoolAxis*>& axes) {
  const Shape& stride = sizes.stride && !sizes.stride->empty() ? *sizes.stride : sizes.kernel;
  const int dims = static_cast<int>(axes.size());
  require_sizes(info, dims, sizes.kernel, 1, "kernel_size");
  require_sizes(info, dims, stride, 1, "stride");
  require_sizes(info, dims, sizes.padding, 0, "padding");
  require_sizes(info, dims, sizes.dilation, 1, "dilation");
  int position = 0;
  for (PoolAxis* axis : axes) {
    axis->kernel = size_at(sizes.kernel, position);
    axis->stride = size_at(stride, position);
    axis->padding = size_at(sizes.padding, position);
    axis->dilation = size_at(sizes.dilation, position);
    set_output(info, *axis, sizes.ceil_mode);
    ++position;
  }
}

}  // namespace ohm::ops
