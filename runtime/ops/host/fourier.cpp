#include "runtime/ops/host/fourier.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ohm::ops {
namespace {

using Element = std::complex<double>;

std::int64_t smallest_factor(std::int64_t n) {
  for (std::int64_t factor = 2; factor * factor <= n; ++factor) {
    if (n % factor == 0) return factor;
  }
  return n;
}

/// The transforms of lines of one length.
class LineTransform {
 public:
  LineTransform(std::int64_t size, bool is_inverse) : size_(size) {
    for (std::int64_t k = 0; k < size; ++k) {
      const double turn =
          2.0 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(size);
      roots_.push_back(std::polar(1.0, is_inverse ? turn : -turn));
    }
  }

  void operator()(const Element* in, Element* out) const { run(in, 1, out, size_); }

 private:
  /// Of `count` elements of `in`, `stride` apart: the transforms of every factor-th of them, put
  /// together.
  void run(const Element* in, std::int64_t stride, Element* out, std::int64_t count) const {
    if (count == 1) {
      *out = *in;
      return;
    }
    const std::int64_t factor = smallest_factor(count);
    const std::int64_t part = count / factor;
    for (std::int64_t r = 0; r < factor; ++r) {
      run(in + r * stride, stride * factor, out + r * part, part);
    }
    const std::int64_t step = size_ / count;
    std::vector<Element> terms(static_cast<std::size_t>(factor));
    for (std::int64_t k = 0; k < part; ++k) {
      for (std::int64_t r = 0; r < factor; ++r) {
        terms[static_cast<std::size_t>(r)] = out[r * part + k] * root(r * k * step);
      }
      for (std::int64_t q = 0; q < factor; ++q) {
        Element sum;
        for (std::int64_t r = 0; r < factor; ++r) {
          sum += terms[static_cast<std::size_t>(r)] * root(r * q * part * step);
        }
        out[q * part + k] = sum;
      }
    }
  }

  const Element& root(std::int64_t turns) const {
    return roots_[static_cast<std::size_t>(turns % size_)];
  }

  std::int64_t size_;
  std::vector<Element> roots_;
};

/// How often the elements of a line follow each other, and how many lines there are outside.
struct Lines {
  std::int64_t outer = 1;
  std::int64_t size = 1;
  std::int64_t inner = 1;

  Lines(const Shape& sizes, int dim) : size(sizes[dim]) {
    for (int i = 0; i < dim; ++i) outer *= sizes[i];
    for (int i = dim + 1; i < sizes.dims(); ++i) inner *= sizes[i];
  }
};

/// The array with lines of another length, each made of the old one by fn(line, element).
template <class F>
FourierArray with_lines(const FourierArray& array, int dim, std::int64_t size, F fn) {
  const Lines old(array.sizes, dim);
  FourierArray result{array.sizes, {}};
  result.sizes[dim] = size;
  result.values.reserve(static_cast<std::size_t>(old.outer * size * old.inner));
  for (std::int64_t outer = 0; outer < old.outer; ++outer) {
    for (std::int64_t k = 0; k < size; ++k) {
      for (std::int64_t inner = 0; inner < old.inner; ++inner) {
        const auto element = [&](std::int64_t i) {
          return array.values[static_cast<std::size_t>((outer * old.size + i) * old.inner + inner)];
        };
        result.values.push_back(fn(element, k));
      }
    }
  }
  return result;
}

}  // namespace

void transform_lines(FourierArray& array, int dim, bool is_inverse) {
  const Lines lines(array.sizes, dim);
  const LineTransform transform(lines.size, is_inverse);
  std::vector<Element> line(static_cast<std::size_t>(lines.size));
  std::vector<Element> result(line.size());
  for (std::int64_t outer = 0; outer < lines.outer; ++outer) {
    for (std::int64_t inner = 0; inner < lines.inner; ++inner) {
      Element* const first = array.values.data() + outer * lines.size * lines.inner + inner;
      for (std::int64_t k = 0; k < lines.size; ++k) {
        line[static_cast<std::size_t>(k)] = first[k * lines.inner];
      }
      transform(line.data(), result.data());
      for (std::int64_t k = 0; k < lines.size; ++k) {
        first[k * lines.inner] = result[static_cast<std::size_t>(k)];
      }
    }
  }
}

FourierArray halved(const FourierArray& array, int dim) {
  return with_lines(array, dim, array.sizes[dim] / 2 + 1,
                    [](const auto& element, std::int64_t k) { return element(k); });
}

FourierArray mirrored(const FourierArray& array, int dim, std::int64_t size) {
  return with_lines(array, dim, size, [size](const auto& element, std::int64_t k) {
    const bool has_no_partner = k == 0 || 2 * k == size;
    if (has_no_partner) return Element(element(k).real());
    return 2 * k < size ? element(k) : std::conj(element(size - k));
  });
}

}  // namespace ohm::ops
