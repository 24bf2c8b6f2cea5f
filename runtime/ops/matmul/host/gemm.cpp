#include "runtime/ops/matmul/host/gemm.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "runtime/base/strided.h"
#include "runtime/base/wrapping.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/ops/matmul/host/blas_library.h"

namespace ohm::ops {
namespace {

bool is_row_readable(std::int64_t columns, std::int64_t row_stride, std::int64_t column_stride) {
  return column_stride == 1 && row_stride >= std::max<std::int64_t>(1, columns);
}

blasint blas_size(std::int64_t size) {
  if (size > std::numeric_limits<blasint>::max()) {
    throw std::invalid_argument(
        "[gemm] a matrix dimension does not fit the BLAS library's integer");
  }
  return static_cast<blasint>(size);
}

CBLAS_TRANSPOSE transposition(bool is_transposed) {
  return is_transposed ? CblasTrans : CblasNoTrans;
}

// A prepared matrix (one of a batch, by offset) as T values, converted where it stores another.
template <class T>
class MatrixView {
 public:
  explicit MatrixView(const Tensor& matrix)
      : rows_(matrix.shape()[matrix.dims() - 2]), columns_(matrix.shape().back()) {
    const MatrixLayout2d layout = library_layout(matrix).value();
    view_.leading_dimension = layout.leading_dimension;
    view_.is_transposed = layout.is_transposed;
    if (matrix.dims() == 3) batch_stride_ = matrix.strides()[0];
    read(matrix);
  }

  Matrix<T> at(std::int64_t batch) const {
    Matrix<T> matrix = view_;
    matrix.values += batch * batch_stride_;
    return matrix;
  }

 private:
  void read(const Tensor& matrix) {
    visit_dtype(matrix.dtype(), [&]<class Stored>(TypeTag<Stored>) {
      if constexpr (std::is_same_v<Stored, T>) {
        view_.values = matrix.data<const T>();
      } else {
        const std::int64_t batches = matrix.dims() == 3 ? matrix.shape()[0] : 1;
        converted_.reserve(static_cast<std::size_t>(matrix.numel()));
        for_each_offset(matrix.shape(), matrix.strides(), [&](std::int64_t offset) {
          converted_.push_back(convert_element<T>(matrix.data<const Stored>()[offset]));
        });
        view_ = {converted_.data(), std::max<std::int64_t>(1, columns_), false};
        batch_stride_ = batches > 1 ? rows_ * columns_ : 0;
      }
    });
  }

  std::int64_t rows_;
  std::int64_t columns_;
  Matrix<T> view_;
  std::int64_t batch_stride_ = 0;
  std::vector<T> converted_;
};

// The product of integer matrices: no library has it, and programs hardly use it.
void integer_product(const Tensor& a, const Tensor& b, const Tensor& out) {
  const Shape& shape = out.shape();
  const std::int64_t m = shape[shape.dims() - 2];
  const std::int64_t n = shape.back();
  const std::int64_t k = a.shape().back();
  const std::int64_t batches = shape.dims() == 3 ? shape[0] : 1;
  const HostInput<std::int64_t> left(a);
  const HostInput<std::int64_t> right(b);
  const auto matrix_of = [](const Tensor& tensor, const HostInput<std::int64_t>& values,
                            std::int64_t batch) {
    const bool has_batches = tensor.dims() == 3;
    return values.data() + (has_batches ? batch * tensor.shape()[1] * tensor.shape()[2] : 0);
  };
  visit_dtype(out.dtype(), [&]<class T>(TypeTag<T>) {
    T* target = out.data<T>();
    for (std::int64_t batch = 0; batch < batches; ++batch) {
      const std::int64_t* rows = matrix_of(a, left, batch);
      const std::int64_t* columns = matrix_of(b, right, batch);
      for (std::int64_t element = 0; element < m * n; ++element) {
        const std::int64_t* row = rows + element / n * k;
        const std::int64_t* column = columns + element % n;
        std::int64_t sum = 0;
        for (std::int64_t i = 0; i < k; ++i) {
          sum = wrapping_sum(sum, wrapping_product(row[i], column[i * n]));
        }
        *target++ = convert_element<T>(sum);
      }
    }
  });
}

// One library call a batch, in T; results of another dtype go through scratch.
template <class T>
void library_product(const Tensor& a, const Tensor& b, const Tensor& out, bool adds_to_out) {
  const int last = out.dims() - 1;
  const std::int64_t batches = out.dims() == 3 ? out.shape()[0] : 1;
  const std::int64_t m = out.shape()[last - 1];
  const std::int64_t n = out.shape()[last];
  const std::int64_t k = a.shape().back();
  const MatrixView<T> left(a);
  const MatrixView<T> right(b);
  visit_floating(out.dtype(), [&]<class Stored>(TypeTag<Stored>) {
    Stored* target = out.data<Stored>();
    for (std::int64_t batch = 0; batch < batches; ++batch, target += m * n) {
      const T beta = adds_to_out ? T(1) : T(0);
      if constexpr (std::is_same_v<Stored, T>) {
        host_gemm(m, n, k, left.at(batch), right.at(batch), beta, target, n);
      } else {
        std::vector<T> result(static_cast<std::size_t>(m * n));
        for (std::size_t i = 0; i < result.size(); ++i) result[i] = convert_element<T>(target[i]);
        host_gemm(m, n, k, left.at(batch), right.at(batch), beta, result.data(), n);
        for (std::size_t i = 0; i < result.size(); ++i) {
          target[i] = convert_element<Stored>(result[i]);
        }
      }
    }
  });
}

}  // namespace

std::optional<MatrixLayout2d> library_layout(const Tensor& matrix) {
  const std::int64_t row_stride = matrix.strides()[matrix.dims() - 2];
  const std::int64_t column_stride = matrix.strides().back();
  if (is_row_readable(matrix.size(-1), row_stride, column_stride)) return {{row_stride, false}};
  if (is_row_readable(matrix.size(-2), column_stride, row_stride)) return {{column_stride, true}};
  // Strides of dimensions of size 1 say nothing; batches with one of 0 are copied all the same.
  const bool is_plain = matrix.is_contiguous() && row_stride != 0 && column_stride != 0;
  if (is_plain || (matrix.dims() == 2 && matrix.is_contiguous())) {
    return {{std::max<std::int64_t>(1, matrix.size(-1)), false}};
  }
  if (matrix.dims() == 2 && matrix.is_dense()) {
    return {{std::max<std::int64_t>(1, matrix.size(-2)), true}};
  }
  return std::nullopt;
}

void host_gemm(std::int64_t m, std::int64_t n, std::int64_t k, const Matrix<float>& a,
               const Matrix<float>& b, float beta, float* result, std::int64_t row_stride) {
  blas_library().sgemm(
      CblasRowMajor, transposition(a.is_transposed), transposition(b.is_transposed), blas_size(m),
      blas_size(n), blas_size(k), 1.0F, a.values, blas_size(a.leading_dimension), b.values,
      blas_size(b.leading_dimension), beta, result, std::max<blasint>(1, blas_size(row_stride)));
}

void host_gemm(std::int64_t m, std::int64_t n, std::int64_t k, const Matrix<double>& a,
               const Matrix<double>& b, double beta, double* result, std::int64_t row_stride) {
  blas_library().dgemm(
      CblasRowMajor, transposition(a.is_transposed), transposition(b.is_transposed), blas_size(m),
      blas_size(n), blas_size(k), 1.0, a.values, blas_size(a.leading_dimension), b.values,
      blas_size(b.leading_dimension), beta, result, std::max<blasint>(1, blas_size(row_stride)));
}

void host_matrix_product(const Tensor& a, const Tensor& b, const Tensor& out, bool adds_to_out) {
  if (!is_floating(out.dtype())) {
    integer_product(a, b, out);
  } else if (out.dtype() == DType::float64) {
    library_product<double>(a, b, out, adds_to_out);
  } else {
    library_product<float>(a, b, out, adds_to_out);
  }
}

}  // namespace ohm::ops
