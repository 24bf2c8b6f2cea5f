#include "harness/engine/kernel_verification.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>

#include "harness/engine/cuda_cards.h"
#include "harness/engine/message_archive.h"
#include "harness/engine/worker_pool.h"
#include "runtime/ops/kernels/kernel_module.h"
#include "runtime/ops/kernels/loop_twins.h"
#include "runtime/tensor/card_backend.h"
#include "runtime/tensor/philox.h"

namespace ohm::engine {

template <class Archive, class T>
requires std::is_same_v<std::remove_const_t<T>, KernelVerification>
void fields(Archive& archive, T& kernel) {
  archive(kernel.kernel, kernel.values, kernel.different, kernel.largest_error);
}

namespace {

using ops::kernels::LoopKernel;

/// Not a multiple of what a thread takes at once: the kernels' tails are part of it.
constexpr std::size_t kValues = 10'007;

/// As torch.testing.assert_close has it: relative and absolute.
struct Tolerance {
  double relative;
  double absolute;
};

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
  for (std::uint64_t i = values.size(); i < kValues; ++i) {
    const double uniform = uniform_from_word(philox_word(seed, 0, i));
    values.push_back(convert_element<T>(20.0 * uniform - 10.0));
  }
  return values;
}

bool is_close(double card, double host, const Tolerance& tolerance) {
  if (std::isnan(card) || std::isnan(host)) return std::isnan(card) && std::isnan(host);
  if (std::isinf(card) || std::isinf(host)) return card == host;
  return std::abs(card - host) <= tolerance.absolute + tolerance.relative * std::abs(host);
}

/// Memory of a card for one array.
class CardArray {
 public:
  CardArray(const cuda::Card& card, std::size_t bytes) : card_(card), bytes_(bytes) {
    card.driver().check(card.current().memory_allocate(&address_, bytes), "cuMemAlloc_v2");
  }
  ~CardArray() {
    if (card_.driver().is_usable()) card_.driver().functions().memory_free(address_);
  }
  CardArray(const CardArray&) = delete;
  CardArray& operator=(const CardArray&) = delete;

  cuda::Pointer address() const { return address_; }
  void write(const void* values) const {
    card_.driver().check(card_.current().copy_to_device(address_, values, bytes_),
                         "cuMemcpyHtoD_v2");
  }
  void read(void* values) const {
    card_.driver().check(card_.current().copy_from_device(values, address_, bytes_),
                         "cuMemcpyDtoH_v2");
  }

 private:
  const cuda::Card& card_;
  std::size_t bytes_;
  cuda::Pointer address_ = 0;
};

/// What one comparison runs over: a loop with arrays of its own for the operands.
struct Arrays {
  Arrays(const cuda::Card& on, const LoopKernel& of, DType loop_dtype)
      : card(on), kernel(of), dtype(loop_dtype) {}

  const cuda::Card& card;
  const LoopKernel& kernel;
  DType dtype;
  CardLoop loop;
  std::vector<std::vector<std::byte>> host;  ///< the output first
  std::vector<std::unique_ptr<CardArray>> on_card;
};

void add_array(Arrays& arrays, DType dtype, std::uint64_t seed, CardOperand& operand) {
  operand.dtype = dtype;
  visit_dtype(dtype, [&]<class T>(TypeTag<T>) {
    const std::vector<T> values = operand_values<T>(seed);
    std::vector<std::byte> bytes(kValues * sizeof(T));
    for (std::size_t i = 0; i < kValues; ++i) {
      const T value = values[i];
      std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof value);
    }
    arrays.host.push_back(std::move(bytes));
  });
  const std::vector<std::byte>& values = arrays.host.back();
  arrays.on_card.push_back(std::make_unique<CardArray>(arrays.card, values.size()));
  arrays.on_card.back()->write(values.data());
}

/// Row-major, all of one dtype.
void make_flat(Arrays& arrays) {
  CardLoop& loop = arrays.loop;
  loop.count = kValues;
  loop.dims = 1;
  loop.sizes[0] = kValues;
  loop.is_flat = is_floating(arrays.dtype) && arrays.kernel.inputs > 0;
  loop.out.strides[0] = 1;
  for (CardOperand& operand : loop.in) operand.strides[0] = 1;
}

/// A transposed output of another dtype; inputs of other dtypes, one of them broadcast, the last
/// one a number where there are three.
void make_strided(Arrays& arrays) {
  constexpr std::int64_t kRows = 97;
  constexpr std::int64_t kColumns = 103;
  static_assert(kRows * kColumns <= kValues);
  CardLoop& loop = arrays.loop;
  loop.count = kRows * kColumns;
  loop.dims = 2;
  loop.sizes[0] = kRows;
  loop.sizes[1] = kColumns;
  const std::array<std::array<std::int64_t, 2>, CardLoop::kMostInputs> strides = {
      {{kColumns, 1}, {0, 1}, {0, 0}}};
  loop.out.strides[0] = 1;
  loop.out.strides[1] = kRows;
  for (std::size_t i = 0; i < strides.size(); ++i) {
    std::copy(strides[i].begin(), strides[i].end(), loop.in[i].strides);
  }
  loop.in[2].is_number = true;
  loop.in[2].number = 1.5;
}

void compare_outputs(const Arrays& arrays, KernelVerification& verified) {
  const DType dtype = arrays.loop.out.dtype;
  std::vector<std::byte> found(arrays.host[0].size());
  arrays.on_card[0]->read(found.data());
  visit_dtype(dtype, [&]<class T>(TypeTag<T>) {
    for (std::size_t i = 0; i < kValues; ++i) {
      const auto value_of = [i](const std::vector<std::byte>& bytes) {
        T value{};
        std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
        return convert_element<double>(value);
      };
      const double host = value_of(arrays.host[0]);
      const double card = value_of(found);
      if (!is_close(card, host, tolerance_of(dtype, arrays.dtype))) ++verified.different;
      const double error = std::abs(card - host) / (std::abs(host) + 1);
      if (std::isfinite(error)) verified.largest_error = std::max(verified.largest_error, error);
    }
  });
  verified.values += kValues;
}

/// Of one form of loop: `out` and `in` are the dtypes that the operands are stored in.
template <class Make>
void compare(const cuda::Card& card, const CardKernels& kernels, const LoopKernel& kernel,
             DType dtype, DType out, DType in, Make make, KernelVerification& verified) {
  Arrays arrays(card, kernel, dtype);
  CardLoop& loop = arrays.loop;
  loop.dtype = dtype;
  make(arrays);
  add_array(arrays, out, 0, loop.out);
  for (int i = 0; i < kernel.inputs; ++i) {
    add_array(arrays, in, static_cast<std::uint64_t>(i) + 1, loop.in[i]);
  }
  CardLoop on_host = loop;
  const auto address = [&](std::size_t i, CardOperand& there, CardOperand& here) {
    there.address = arrays.on_card[i]->address();
    here.address = reinterpret_cast<std::uintptr_t>(arrays.host[i].data());
  };
  address(0, loop.out, on_host.out);
  for (std::size_t i = 0; i < static_cast<std::size_t>(kernel.inputs); ++i) {
    address(i + 1, loop.in[i], on_host.in[i]);
  }
  kernels.launch(kernel.formula.data(), loop, kernel.parameters);
  card.synchronize();
  kernel.twin(on_host, kernel.parameters);
  compare_outputs(arrays, verified);
}

/// The loops that a kernel is for.
std::vector<DType> dtypes_of(const LoopKernel& kernel) {
  if (kernel.dtype == DType::int64) {
    return {DType::boolean, DType::uint8, DType::int32, DType::int64};
  }
  if (kernel.dtype == DType::float64 || kernel.inputs == 0) return {kernel.dtype};
  return {DType::float16, DType::bfloat16, DType::float32};
}

KernelVerifications compare_all(const CudaLibraries& libraries) {
  KernelVerifications all;
  try {
    CudaCards cards(libraries);
    const CardBackend card = cards.backend(0);
    for (const LoopKernel& kernel : ops::kernels::loop_kernels()) {
      for (const DType dtype : dtypes_of(kernel)) {
        KernelVerification verified;
        verified.kernel = std::string(kernel.formula).append(" ").append(name_of(dtype));
        compare(*card.card, *card.kernels, kernel, dtype, dtype, dtype, make_flat, verified);
        compare(*card.card, *card.kernels, kernel, dtype, DType::float32, DType::float64,
                make_strided, verified);
        all.kernels.push_back(verified);
      }
    }
  } catch (const std::runtime_error& error) {
    all.error = error.what();
  }
  return all;
}

}  // namespace

bool KernelVerifications::agree() const {
  return error.empty() && std::all_of(kernels.begin(), kernels.end(),
                                      [](const auto& kernel) { return kernel.different == 0; });
}

KernelVerifications verify_kernels(const CudaLibraries& libraries) {
  KernelVerifications all;
  if (ops::kernels::kernel_image().empty()) return all;
  WorkerPool pool({});
  const auto work = [&] {
    const KernelVerifications compared = compare_all(libraries);
    MessageWriter writer;
    writer(compared.kernels, compared.error);
    return writer.take();
  };
  pool.submit(0, work, [&](const WorkResult& result) {
    if (result.end == WorkEnd::message) {
      MessageReader(result.message)(all.kernels, all.error);
    } else {
      all.error = "the process that ran them was " + result.how_it_ended + ": " + result.output;
    }
  });
  pool.run([] { return true; });
  return all;
}

}  // namespace ohm::engine
