#include "harness/engine/kernel_verification.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>

#include "harness/engine/cuda_cards.h"
#include "harness/engine/message_archive.h"
#include "harness/engine/worker_pool.h"
#include "runtime/ops/kernels/kernel_module.h"
#include "runtime/ops/kernels/pointwise_twins.h"
#include "runtime/tensor/philox.h"

namespace ohm::engine {

template <class Archive, class T>
requires std::is_same_v<std::remove_const_t<T>, KernelVerification>
void fields(Archive& archive, T& kernel) {
  archive(kernel.kernel, kernel.values, kernel.different, kernel.largest_error);
}

namespace {

using ops::kernels::PointwiseKernel;

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

/// Numbers of all sizes that activations tell apart, and those that are none.
template <class T>
std::vector<T> operand(std::uint64_t seed) {
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

template <class T>
KernelVerification compare(const PointwiseKernel& kernel, const cuda::Card& card,
                           const ops::kernels::KernelModule& module) {
  const std::vector<T> a = operand<T>(1);
  const std::vector<T> b = operand<T>(2);
  std::vector<T> expected(kValues);
  std::vector<T> found(kValues);
  kernel.twin(expected.data(), a.data(), b.data(), kValues);
  const CardArray on_card_a(card, kValues * sizeof(T));
  const CardArray on_card_b(card, kValues * sizeof(T));
  const CardArray out(card, kValues * sizeof(T));
  on_card_a.write(a.data());
  on_card_b.write(b.data());
  std::vector<cuda::Pointer> operands = {on_card_a.address()};
  if (kernel.operands == 2) operands.push_back(on_card_b.address());
  module.launch(kernel.symbol(), out.address(), operands, kValues);
  card.synchronize();
  out.read(found.data());

  KernelVerification verified;
  verified.kernel = std::string(kernel.name).append(" ").append(name_of(kernel.dtype));
  verified.values = kValues;
  for (std::size_t i = 0; i < kValues; ++i) {
    const auto host = convert_element<double>(expected[i]);
    const auto on_card = convert_element<double>(found[i]);
    if (!is_close(on_card, host, tolerance_of(kernel.dtype))) ++verified.different;
    const double error = std::abs(on_card - host) / (std::abs(host) + 1);
    if (std::isfinite(error)) verified.largest_error = std::max(verified.largest_error, error);
  }
  return verified;
}

KernelVerifications compare_all(const CudaLibraries& libraries) {
  KernelVerifications all;
  try {
    CudaCards cards(libraries);
    const std::shared_ptr<const cuda::Card> card = cards.card(0);
    const ops::kernels::KernelModule module(card);
    for (const PointwiseKernel& kernel : ops::kernels::pointwise_kernels()) {
      visit_floating(kernel.dtype, [&]<class T>(TypeTag<T>) {
        all.kernels.push_back(compare<T>(kernel, *card, module));
      });
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
