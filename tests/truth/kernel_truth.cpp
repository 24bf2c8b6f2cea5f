#include "tests/truth/kernel_truth.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string_view>
#include <utility>

#include "runtime/base/philox.h"
#include "runtime/kernels/host/elementwise_twins.h"
#include "runtime/kernels/host/row_twins.h"

namespace ohm::truth {

namespace {

using kernels::ElementwiseKernel;
using kernels::RowKernel;

/// Not a multiple of what a thread takes at once: the kernels' tails are part of it.
constexpr std::size_t kValues = 10'007;

/// As torch.testing.assert_close has it.
Tolerance tolerance_of(DType dtype) {
  switch (dtype) {
    case DType::float16:
      return {1e-3, 1e-5};
    case DType::bfloat16:
      return {1.6e-2, 1e-5};
    case DType::float64:
      return {1e-7, 1e-7};
    default:
      return {1.3e-6, 1e-5};
  }
}

/// Of a result stored as `out` that was computed as a loop of `dtype` does.
Tolerance tolerance_of(DType out, DType dtype) {
  const Tolerance stored = tolerance_of(out);
  const Tolerance computed = tolerance_of(dtype);
  return stored.relative > computed.relative ? stored : computed;
}

/// Numbers of all sizes that activations tell apart, and those that are none.
template <class T>
std::vector<T> operand_values(std::uint64_t seed) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<T> values;
  for (const double special : {0.0, -0.0, 1.0, -1.0, 100.0, -100.0, kInfinity, -kInfinity,
                               std::numeric_limits<double>::quiet_NaN()}) {
    values.push_back(convert_element<T>(special));
  }
  std::mt19937_64 words(seed);
  while (values.size() < kValues) {
    const double uniform = uniform_from_word(static_cast<std::uint32_t>(words()));
    values.push_back(convert_element<T>(20.0 * uniform - 10.0));
  }
  return values;
}

/// Memory of a CUDA device for one array.
class DeviceArray {
 public:
  DeviceArray(const cuda::CudaDevice& device, std::size_t bytes) : device_(device), bytes_(bytes) {
    device.driver().check(device.current().memory_allocate(&address_, bytes), "cuMemAlloc_v2");
  }
  ~DeviceArray() {
    if (device_.driver().is_usable()) device_.driver().functions().memory_free(address_);
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  cuda::Pointer address() const { return address_; }
  void write(const void* values) const { device_.write(address_, values, bytes_); }
  void read(void* values) const { device_.read(values, address_, bytes_); }

 private:
  const cuda::CudaDevice& device_;
  std::size_t bytes_;
  cuda::Pointer address_ = 0;
};

/// What one comparison runs over: an array for each operand, on both sides.
class Arrays {
 public:
  explicit Arrays(const cuda::CudaDevice& device) : device_(device) {}

  /// Values of all sizes, or numbers below `indices`.
  void add(DType dtype, std::uint64_t indices = 0) {
    dtypes_.push_back(dtype);
    visit_dtype(dtype, [&]<class T>(TypeTag<T>) {
      const std::vector<T> values = operand_values<T>(host_.size());
      std::vector<std::byte>& bytes = host_.emplace_back(kValues * sizeof(T));
      for (std::size_t i = 0; i < kValues; ++i) {
        const T value =
            indices == 0 ? values[i] : convert_element<T>(static_cast<std::int64_t>(i % indices));
        std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof value);
      }
    });
    on_device_.push_back(std::make_unique<DeviceArray>(device_, host_.back().size()));
    on_device_.back()->write(host_.back().data());
  }
  DType dtype(std::size_t i) const { return dtypes_[i]; }
  std::uint64_t on_device(std::size_t i) const { return on_device_[i]->address(); }
  std::uint64_t on_host(std::size_t i) const {
    return reinterpret_cast<std::uintptr_t>(host_[i].data());
  }
  std::size_t count() const { return host_.size(); }
  /// The array, which both sides computed.
  void compare(std::size_t array, const Tolerance& tolerance, Row& verified) const {
    device_.synchronize();
    const std::vector<std::byte>& host_bytes = host_[array];
    std::vector<std::byte> found(host_bytes.size());
    on_device_[array]->read(found.data());
    for (std::size_t i = 0; i < kValues; ++i) {
      const double host = value(array, host_bytes, i);
      verified.compare(value(array, found, i), host, tolerance);
    }
  }
  /// The largest that is finite.
  double largest(std::size_t array) const {
    double largest = 0;
    for (std::size_t i = 0; i < kValues; ++i) {
      const double size = std::abs(value(array, host_[array], i));
      if (std::isfinite(size)) largest = std::max(largest, size);
    }
    return largest;
  }

 private:
  double value(std::size_t array, const std::vector<std::byte>& bytes, std::size_t i) const {
    return visit_dtype(dtypes_[array], [&]<class T>(TypeTag<T>) {
      T value{};
      std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
      return convert_element<double>(value);
    });
  }

  const cuda::CudaDevice& device_;
  // The output first.
  std::vector<DType> dtypes_;
  std::vector<std::vector<std::byte>> host_;
  std::vector<std::unique_ptr<DeviceArray>> on_device_;
};

// ---- element by element -------------------------------------------------------------------------

/// Row-major, all of one dtype.
ElementwiseLaunch flat_loop(const ElementwiseKernel& kernel, DType dtype) {
  ElementwiseLaunch loop;
  loop.count = kValues;
  loop.dims = 1;
  loop.sizes[0] = kValues;
  loop.is_flat = is_floating(dtype) && kernel.inputs > 0;
  loop.out.strides[0] = 1;
  for (ElementwiseOperand& operand : loop.in) operand.strides[0] = 1;
  return loop;
}

/// A transposed output, the second input broadcast, the third one a number.
ElementwiseLaunch strided_loop() {
  constexpr std::int64_t kRows = 97;
  constexpr std::int64_t kColumns = 103;
  static_assert(kRows * kColumns <= kValues);
  ElementwiseLaunch loop;
  loop.count = kRows * kColumns;
  loop.dims = 2;
  loop.sizes[0] = kRows;
  loop.sizes[1] = kColumns;
  loop.out.strides[0] = 1;
  loop.out.strides[1] = kRows;
  loop.in[0].strides[0] = kColumns;
  loop.in[0].strides[1] = 1;
  loop.in[1].strides[1] = 1;
  loop.in[2].is_number = true;
  loop.in[2].number = 1.5;
  return loop;
}

struct StoredAs {
  DType out;
  DType in;
};

void compare(const CudaBackend& backend, const ElementwiseKernel& kernel, ElementwiseLaunch loop,
             const StoredAs& stored, Row& verified) {
  Arrays arrays(*backend.device);
  arrays.add(stored.out);
  for (int i = 0; i < kernel.inputs; ++i) arrays.add(stored.in);
  loop.out.dtype = stored.out;
  ElementwiseLaunch on_host = loop;
  loop.out.address = arrays.on_device(0);
  on_host.out.address = arrays.on_host(0);
  for (int i = 0; i < kernel.inputs; ++i) {
    const std::size_t array = static_cast<std::size_t>(i) + 1;
    loop.in[i].dtype = on_host.in[i].dtype = stored.in;
    loop.in[i].address = arrays.on_device(array);
    on_host.in[i].address = arrays.on_host(array);
  }
  backend.kernels->launch(kernel.functor.data(), loop, kernel.parameters);
  kernel.twin(on_host, kernel.parameters);
  arrays.compare(0, tolerance_of(stored.out, loop.dtype), verified);
}

/// The dtypes that a kernel is for.
std::vector<DType> dtypes_of(DType kernel) {
  if (kernel == DType::int64) return {DType::boolean, DType::uint8, DType::int32, DType::int64};
  if (kernel == DType::float64) return {DType::float64};
  return {DType::float16, DType::bfloat16, DType::float32};
}

Row named(std::string_view functor, DType dtype) {
  Row verified;
  verified.name = std::string("kernel ").append(functor).append(" ").append(name_of(dtype));
  return verified;
}

void compare_loops(const CudaBackend& backend, std::vector<Row>& all) {
  for (const ElementwiseKernel& kernel : kernels::elementwise_kernels()) {
    // What is generated is computed in the same way whatever it is stored as.
    const std::vector<DType> dtypes =
        kernel.inputs == 0 ? std::vector<DType>{kernel.dtype} : dtypes_of(kernel.dtype);
    for (const DType dtype : dtypes) {
      Row verified = named(kernel.functor, dtype);
      ElementwiseLaunch flat = flat_loop(kernel, dtype);
      ElementwiseLaunch strided = strided_loop();
      flat.dtype = strided.dtype = dtype;
      compare(backend, kernel, flat, {dtype, dtype}, verified);
      compare(backend, kernel, strided, {DType::float32, DType::float64}, verified);
      all.push_back(std::move(verified));
    }
  }
}

// ---- row by row ---------------------------------------------------------------------------------

/// What each kernel makes of these rows lies within the arrays.
void compare(const CudaBackend& backend, const RowKernel& kernel, DType dtype, bool are_threads,
             Row& verified) {
  constexpr int kOperands = RowLaunch::kMostOperands;
  RowLaunch rows;
  rows.count = 37;
  rows.size = 259;
  rows.are_threads = are_threads;
  rows.operand_count = kOperands;
  RowLaunch on_host = rows;
  Arrays arrays(*backend.device);
  for (int i = 0; i < kOperands; ++i) {
    const bool is_index = i == kernel.indices;
    arrays.add(is_index ? DType::int64 : dtype, is_index ? rows.count : 0);
  }
  for (std::size_t i = 0; i < kOperands; ++i) {
    rows.operands[i] = {arrays.on_device(i), kValues, arrays.dtype(i)};
    on_host.operands[i] = {arrays.on_host(i), kValues, arrays.dtype(i)};
  }
  backend.kernels->launch(kernel.functor.data(), dtype, rows, kernel.parameters);
  kernel.twin(on_host, kernel.parameters);
  // A kernel may write several of them; those that it reads are as they were.
  for (std::size_t i = 0; i < arrays.count(); ++i) {
    // What is left of large numbers has their errors.
    Tolerance tolerance = tolerance_of(dtype);
    tolerance.absolute += tolerance.relative * arrays.largest(i);
    arrays.compare(i, tolerance, verified);
  }
}

void compare_rows(const CudaBackend& backend, std::vector<Row>& all) {
  for (const RowKernel& kernel : kernels::row_kernels()) {
    for (const DType dtype : dtypes_of(kernel.dtype)) {
      Row verified = named(kernel.functor, dtype);
      compare(backend, kernel, dtype, false, verified);
      compare(backend, kernel, dtype, true, verified);
      all.push_back(std::move(verified));
    }
  }
}

}  // namespace

std::vector<Row> kernel_truth(const CudaBackend& backend) {
  std::vector<Row> all;
  compare_loops(backend, all);
  compare_rows(backend, all);
  return all;
}

}  // namespace ohm::truth
