// cuRAND: generators, which keep their kind and generate nothing.
//
// What it accepts was asked of cuRAND 10.4: its generators of the host need no GPU. Those of a GPU
// follow the documentation where the host's accept more.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/objects.h"
#include "allocator_shim/interpose/toolkit_version.h"
#include "allocator_shim/interpose/work_in_flight.h"

using namespace ohm::interpose;

namespace {

// Numbers of curandStatus.
constexpr int kNotAGenerator = 101;
constexpr int kWrongGeneratorType = 103;
constexpr int kOutOfRange = 104;
constexpr int kWrongLength = 105;

// Numbers of curandRngType.
constexpr int kDefaultPseudo = 100;
constexpr int kXorwow = 101;
constexpr int kMrg32k3a = 121;
constexpr int kMtgp32 = 141;
constexpr int kMt19937 = 142;
constexpr int kPhilox = 161;
constexpr int kFirstQuasi = 200;
constexpr int kSobol64 = 203;
constexpr int kLastQuasi = 204;

struct RandomGenerator : LibraryHandle {
  int type;
  bool is_of_host;
  unsigned more_dimensions;  ///< of a quasirandom one, beside the first

  bool is_quasi() const { return type >= kFirstQuasi; }
  bool has_64_bits() const { return type >= kSobol64; }
  unsigned dimensions() const { return more_dimensions + 1; }
  /// Whether normal numbers come in pairs. On the host these are computed in another way.
  bool makes_pairs() const {
    const bool is_simple = type == kDefaultPseudo || type == kXorwow || type == kMrg32k3a;
    return !is_quasi() && (is_simple || !is_of_host);
  }
};

bool is_generator_type(int type) {
  constexpr std::array kPseudo = {kDefaultPseudo, kXorwow, kMrg32k3a, kMtgp32, kMt19937, kPhilox};
  return (type >= kFirstQuasi && type <= kLastQuasi) ||
         std::find(kPseudo.begin(), kPseudo.end(), type) != kPseudo.end();
}

int create_generator(void** place, int type, bool is_of_host) {
  if (place == nullptr) return kNotAGenerator;
  if (!is_generator_type(type)) return kWrongGeneratorType;
  auto* const made = static_cast<RandomGenerator*>(create_object());
  constexpr int kNoMemory = 102;
  if (made == nullptr) return kNoMemory;
  made->type = type;
  made->is_of_host = is_of_host;
  *place = made;
  return kLibrarySuccess;
}

/// Numbers of a length, of which a generator makes so many at once.
int generate(const RandomGenerator* generator, std::size_t count, std::size_t at_once = 1) {
  if (!is_object(generator)) return kNotAGenerator;
  if (generator->is_quasi() && count % generator->dimensions() != 0) return kWrongLength;
  if (count % at_once != 0) return kWrongLength;
  if (!generator->is_of_host) note_work(generator->stream);
  return kLibrarySuccess;
}

int generate_normal(const RandomGenerator* generator, std::size_t count) {
  constexpr std::size_t kPair = 2;
  const bool has_pairs = is_object(generator) && generator->makes_pairs();
  return generate(generator, count, has_pairs ? kPair : 1);
}

int generate_words(const RandomGenerator* generator, std::size_t count, bool are_long) {
  if (!is_object(generator)) return kNotAGenerator;
  if (generator->has_64_bits() != are_long) return kWrongGeneratorType;
  return generate(generator, count);
}

int generate_poisson(const RandomGenerator* generator, std::size_t count, double lambda) {
  constexpr double kMostLambda = 400'000;
  if (!is_object(generator)) return kNotAGenerator;
  if (!(lambda > 0) || lambda > kMostLambda) return kOutOfRange;
  return generate(generator, count);
}

int random_version() {
  // Of CUDA 12.9 and 13.
  constexpr int kOf12 = 10'310;
  constexpr int kOf13 = 10'400;
  return toolkit_of_process().cuda < kToolkit13.cuda ? kOf12 : kOf13;
}

}  // namespace

OHM_EXPORTED int curandCreateGenerator(void** generator, int type) {
  OHM_LIBRARY_CALL(int);
  note_assumption(Assumption::curand_generator);
  return create_generator(generator, type, false);
}

OHM_EXPORTED int curandCreateGeneratorHost(void** generator, int type) {
  OHM_LIBRARY_CALL(int);
  return create_generator(generator, type, true);
}

OHM_EXPORTED int curandDestroyGenerator(RandomGenerator* generator) {
  OHM_LIBRARY_CALL(int);
  return destroy_object(generator) ? kLibrarySuccess : kNotAGenerator;
}

OHM_EXPORTED int curandSetStream(RandomGenerator* generator, Stream* stream) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(generator)) return kNotAGenerator;
  generator->stream = stream;
  return kLibrarySuccess;
}

OHM_EXPORTED int curandSetPseudoRandomGeneratorSeed(const RandomGenerator* generator,
                                                    unsigned long long /*seed*/) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(generator)) return kNotAGenerator;
  return generator->is_quasi() ? kWrongGeneratorType : kLibrarySuccess;
}

OHM_EXPORTED int curandSetQuasiRandomGeneratorDimensions(RandomGenerator* generator,
                                                         unsigned dimensions) {
  OHM_LIBRARY_CALL(int);
  constexpr unsigned kMostDimensions = 20'000;
  if (!is_object(generator)) return kNotAGenerator;
  if (!generator->is_quasi()) return kWrongGeneratorType;
  if (dimensions == 0 || dimensions > kMostDimensions) return kOutOfRange;
  generator->more_dimensions = dimensions - 1;
  return kLibrarySuccess;
}

OHM_EXPORTED int curandSetGeneratorOffset(const RandomGenerator* generator,
                                          unsigned long long /*offset*/) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(generator)) return kNotAGenerator;
  const bool is_twister = generator->type == kMtgp32 || generator->type == kMt19937;
  return is_twister ? kWrongGeneratorType : kLibrarySuccess;
}

OHM_EXPORTED int curandSetGeneratorOrdering(const RandomGenerator* generator, int ordering) {
  OHM_LIBRARY_CALL(int);
  constexpr int kFirstPseudoOrdering = 100;
  constexpr int kLastPseudoOrdering = 104;
  constexpr int kQuasiOrdering = 201;
  if (!is_object(generator)) return kNotAGenerator;
  const bool is_ordering =
      generator->is_quasi() ? ordering == kQuasiOrdering
                            : ordering >= kFirstPseudoOrdering && ordering <= kLastPseudoOrdering;
  return is_ordering ? kLibrarySuccess : kOutOfRange;
}

OHM_EXPORTED int curandGenerateSeeds(const RandomGenerator* generator) {
  OHM_LIBRARY_CALL(int);
  return is_object(generator) ? kLibrarySuccess : kNotAGenerator;
}

OHM_EXPORTED int curandGenerate(const RandomGenerator* generator, void* /*to*/, std::size_t count) {
  OHM_LIBRARY_CALL(int);
  return generate_words(generator, count, false);
}

OHM_EXPORTED int curandGenerateLongLong(const RandomGenerator* generator, void* /*to*/,
                                        std::size_t count) {
  OHM_LIBRARY_CALL(int);
  return generate_words(generator, count, true);
}

OHM_EXPORTED int curandGenerateUniform(const RandomGenerator* generator, void* /*to*/,
                                       std::size_t count) {
  OHM_LIBRARY_CALL(int);
  return generate(generator, count);
}

OHM_EXPORTED int curandGenerateUniformDouble(const RandomGenerator* generator, void* /*to*/,
                                             std::size_t count) {
  OHM_LIBRARY_CALL(int);
  return generate(generator, count);
}

OHM_EXPORTED int curandGenerateNormal(const RandomGenerator* generator, void* /*to*/,
                                      std::size_t count, float /*mean*/, float /*deviation*/) {
  OHM_LIBRARY_CALL(int);
  return generate_normal(generator, count);
}

OHM_EXPORTED int curandGenerateNormalDouble(const RandomGenerator* generator, void* /*to*/,
                                            std::size_t count, double /*mean*/,
                                            double /*deviation*/) {
  OHM_LIBRARY_CALL(int);
  return generate_normal(generator, count);
}

OHM_EXPORTED int curandGenerateLogNormal(const RandomGenerator* generator, void* /*to*/,
                                         std::size_t count, float /*mean*/, float /*deviation*/) {
  OHM_LIBRARY_CALL(int);
  return generate_normal(generator, count);
}

OHM_EXPORTED int curandGenerateLogNormalDouble(const RandomGenerator* generator, void* /*to*/,
                                               std::size_t count, double /*mean*/,
                                               double /*deviation*/) {
  OHM_LIBRARY_CALL(int);
  return generate_normal(generator, count);
}

OHM_EXPORTED int curandGeneratePoisson(const RandomGenerator* generator, void* /*to*/,
                                       std::size_t count, double lambda) {
  OHM_LIBRARY_CALL(int);
  return generate_poisson(generator, count, lambda);
}

OHM_EXPORTED int curandGeneratePoissonMethod(const RandomGenerator* generator, void* /*to*/,
                                             std::size_t count, double lambda, int /*method*/) {
  OHM_LIBRARY_CALL(int);
  return generate_poisson(generator, count, lambda);
}

OHM_EXPORTED int curandGetVersion(int* version) {
  if (version == nullptr) return kOutOfRange;
  *version = random_version();
  return kLibrarySuccess;
}

OHM_EXPORTED int curandGetProperty(int property, int* value) {
  const auto part = part_of_version(random_version(), property);
  if (!part || value == nullptr) return kOutOfRange;
  *value = *part;
  return kLibrarySuccess;
}
