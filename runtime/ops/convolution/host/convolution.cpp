#include "runtime/ops/convolution/host/convolution.h"

#include <algorithm>
#include <vector>

#include "runtime/kernels/launch/host_values.h"
#include "runtime/ops/matmul/host/gemm.h"

namespace ohm::ops {
namespace {

// Elements of one block of columns: it stays in a core's second-level cache.
constexpr std::int64_t kColumnElements = 128 * 1024;

// Rows of output pixels that are worked on at once.
struct RowBlock {
  std::int64_t first = 0;
  std::int64_t rows = 0;
};

template <class F>
void for_each_row_block(const ConvGeometry& g, F&& visit) {
  const std::int64_t row_elements = std::max<std::int64_t>(1, g.column_rows() * g.out_width);
  const std::int64_t rows = std::clamp<std::int64_t>(kColumnElements / row_elements, 1,
                                                     std::max<std::int64_t>(1, g.out_rows()));
  for (std::int64_t first = 0; first < g.out_rows(); first += rows) {
    visit(RowBlock{first, std::min(rows, g.out_rows() - first)});
  }
}

// The output columns [first, last) whose input column lies inside the image.
struct Inside {
  std::int64_t first;
  std::int64_t last;
};

Inside inside_columns(const ConvGeometry& g, std::int64_t kernel_column) {
  // Input column of output column x: x · stride + shift.
  const std::int64_t shift = kernel_column * g.dilation_width - g.padding_width;
  const std::int64_t stride = g.stride_width;
  const std::int64_t first = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
  const std::int64_t last = g.in_width <= shift ? 0 : (g.in_width - shift + stride - 1) / stride;
  return {std::min(first, g.out_width), std::clamp(last, first, std::max(first, g.out_width))};
}

// Where the input row of an output row and a kernel row begins in its channel; -1: in the padding.
std::int64_t input_row(const ConvGeometry& g, std::int64_t row, std::int64_t kernel_row) {
  const std::int64_t z = row / g.out_height * g.stride_depth - g.padding_depth +
                         kernel_row / g.kernel_height * g.dilation_depth;
  const std::int64_t y = row % g.out_height * g.stride_height - g.padding_height +
                         kernel_row % g.kernel_height * g.dilation_height;
  const bool is_inside = z >= 0 && z < g.in_depth && y >= 0 && y < g.in_height;
  return is_inside ? (z * g.in_height + y) * g.in_width : -1;
}

// Calls visit(offset of the column matrix's row segment, input row or -1, kernel column) for each
// kernel element and output row of the block.
template <class F>
void for_each_segment(const ConvGeometry& g, const RowBlock& block, F&& visit) {
  std::int64_t offset = 0;
  const std::int64_t kernel_rows = g.kernel_depth * g.kernel_height;
  for (std::int64_t channel = 0; channel < g.in_channels; ++channel) {
    const std::int64_t first = channel * g.in_pixels();
    for (std::int64_t kernel_row = 0; kernel_row < kernel_rows; ++kernel_row) {
      for (std::int64_t kx = 0; kx < g.kernel_width; ++kx) {
        for (std::int64_t row = block.first; row < block.first + block.rows; ++row) {
          const std::int64_t in_channel = input_row(g, row, kernel_row);
          visit(offset, in_channel < 0 ? -1 : first + in_channel, kx);
          offset += g.out_width;
        }
      }
    }
  }
}

template <class T>
void fill_columns(const ConvGeometry& g, const RowBlock& block, const T* image, T* columns) {
  for_each_segment(g, block, [&](std::int64_t offset, std::int64_t row, std::int64_t kx) {
    T* segment = columns + offset;
    if (row < 0) {
      std::fill_n(segment, g.out_width, T(0));
      return;
    }
    const Inside inside = inside_columns(g, kx);
    const T* source = image + row + kx * g.dilation_width - g.padding_width;
    std::fill_n(segment, inside.first, T(0));
    if (g.stride_width == 1) {
      std::copy(source + inside.first, source + inside.last, segment + inside.first);
    } else {
      for (std::int64_t x = inside.first; x < inside.last; ++x) {
        segment[x] = source[x * g.stride_width];
      }
    }
    std::fill_n(segment + inside.last, g.out_width - inside.last, T(0));
  });
}

template <class T>
void add_columns(const ConvGeometry& g, const RowBlock& block, const T* columns, T* image) {
  for_each_segment(g, block, [&](std::int64_t offset, std::int64_t row, std::int64_t kx) {
    if (row < 0) return;
    const Inside inside = inside_columns(g, kx);
    const T* segment = columns + offset;
    T* target = image + row + kx * g.dilation_width - g.padding_width;
    for (std::int64_t x = inside.first; x < inside.last; ++x) {
      target[x * g.stride_width] += segment[x];
    }
  });
}

// One group of one image: where its parts begin.
struct Part {
  std::int64_t input;
  std::int64_t output;
  std::int64_t weight;
};

template <class F>
void for_each_part(const ConvGeometry& g, F&& visit) {
  for (std::int64_t image = 0; image < g.batch; ++image) {
    for (std::int64_t group = 0; group < g.groups; ++group) {
      const std::int64_t part = image * g.groups + group;
      visit(Part{part * g.in_channels * g.in_pixels(), part * g.out_channels * g.out_pixels(),
                 group * g.out_channels * g.column_rows()});
    }
  }
}

template <class T>
class Convolution {
 public:
  explicit Convolution(const ConvGeometry& geometry) : g_(geometry) {}

  void forward(const T* input, const T* weight, T* out) {
    for_each_part(g_, [&](const Part& part) {
      const Matrix<T> filters{weight + part.weight, g_.column_rows(), false};
      for_each_row_block(g_, [&](const RowBlock& block) {
        const Matrix<T> columns = columns_of(input + part.input, block);
        host_gemm(g_.out_channels, pixels(block), g_.column_rows(), filters, columns, T(0),
                  out + part.output + first_pixel(block), g_.out_pixels());
      });
    });
  }

  void grad_input(const T* grad_out, const T* weight, T* grad_input) {
    for_each_part(g_, [&](const Part& part) {
      const Matrix<T> filters{weight + part.weight, g_.column_rows(), true};
      for_each_row_block(g_, [&](const RowBlock& block) {
        const Matrix<T> grad{grad_out + part.output + first_pixel(block), g_.out_pixels(), false};
        T* columns =
            g_.is_pointwise() ? grad_input + part.input + first_pixel(block) : scratch(block);
        host_gemm(g_.column_rows(), pixels(block), g_.out_channels, filters, grad, T(0), columns,
                  g_.is_pointwise() ? g_.out_pixels() : pixels(block));
        if (!g_.is_pointwise()) add_columns(g_, block, columns, grad_input + part.input);
      });
    });
  }

  void grad_weight(const T* grad_out, const T* input, T* grad_weight) {
    for_each_part(g_, [&](const Part& part) {
      for_each_row_block(g_, [&](const RowBlock& block) {
        const Matrix<T> grad{grad_out + part.output + first_pixel(block), g_.out_pixels(), false};
        Matrix<T> columns = columns_of(input + part.input, block);
        columns.is_transposed = true;
        host_gemm(g_.out_channels, g_.column_rows(), pixels(block), grad, columns, T(1),
                  grad_weight + part.weight, g_.column_rows());
      });
    });
  }

 private:
  std::int64_t pixels(const RowBlock& block) const { return block.rows * g_.out_width; }
  std::int64_t first_pixel(const RowBlock& block) const { return block.first * g_.out_width; }

  T* scratch(const RowBlock& block) {
    scratch_.resize(static_cast<std::size_t>(g_.column_rows() * pixels(block)));
    return scratch_.data();
  }

  Matrix<T> columns_of(const T* image, const RowBlock& block) {
    if (g_.is_pointwise()) return {image + first_pixel(block), g_.out_pixels(), false};
    T* columns = scratch(block);
    fill_columns(g_, block, image, columns);
    return {columns, pixels(block), false};
  }

  const ConvGeometry& g_;
  std::vector<T> scratch_;
};

template <class T>
void add_bias(const ConvGeometry& g, const T* bias, T* out) {
  const std::int64_t channels = g.groups * g.out_channels;
  for (std::int64_t plane = 0; plane < g.batch * channels; ++plane) {
    const T value = bias[plane % channels];
    for (std::int64_t i = 0; i < g.out_pixels(); ++i) *out++ += value;
  }
}

}  // namespace

bool ConvGeometry::is_pointwise() const {
  const auto is_one = [](std::int64_t size) { return size == 1; };
  const std::int64_t sizes[] = {kernel_depth, kernel_height, kernel_width,
                                stride_depth, stride_height, stride_width};
  return std::all_of(std::begin(sizes), std::end(sizes), is_one) && padding_depth == 0 &&
         padding_height == 0 && padding_width == 0;
}

void conv_forward(const ConvGeometry& geometry, const Tensor& input, const Tensor& weight,
                  const Tensor& bias, const Tensor& out) {
  if (!out.has_values()) return;
  visit_computed(out.dtype(), [&]<class T>(TypeTag<T>) {
    const HostInput<T> x(input);
    const HostInput<T> w(weight);
    HostOutput<T> target(out);
    Convolution<T>(geometry).forward(x.data(), w.data(), target.data());
    if (bias.defined()) {
      const HostInput<T> b(bias);
      add_bias(geometry, b.data(), target.data());
    }
    target.commit();
  });
}

void conv_grad_input(const ConvGeometry& geometry, const Tensor& grad_out, const Tensor& weight,
                     const Tensor& grad_input) {
  if (!grad_input.has_values()) return;
  visit_computed(grad_input.dtype(), [&]<class T>(TypeTag<T>) {
    const HostInput<T> grad(grad_out);
    const HostInput<T> w(weight);
    HostOutput<T> target(grad_input);
    target.fill_zero();
    Convolution<T>(geometry).grad_input(grad.data(), w.data(), target.data());
    target.commit();
  });
}

void conv_grad_weight(const ConvGeometry& geometry, const Tensor& grad_out, const Tensor& input,
                      const Tensor& grad_weight) {
  if (!grad_weight.has_values()) return;
  visit_computed(grad_weight.dtype(), [&]<class T>(TypeTag<T>) {
    const HostInput<T> grad(grad_out);
    const HostInput<T> x(input);
    HostOutput<T> target(grad_weight);
    target.fill_zero();
    Convolution<T>(geometry).grad_weight(grad.data(), x.data(), target.data());
    target.commit();
  });
}

}  // namespace ohm::ops
