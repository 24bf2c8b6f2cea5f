// cuFFT: plans, which are numbers, and its version. Transforms compute nothing, and workspaces are
// modelled as 0.
#include <algorithm>
#include <array>
#include <atomic>
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

// Numbers of cufftResult.
constexpr int kInvalidPlan = 1;
constexpr int kNoRoomForPlan = 2;
constexpr int kInvalidFftType = 3;
constexpr int kInvalidFftValue = 4;
constexpr int kInvalidFftSize = 8;

struct FftPlan {
  Stream* stream = nullptr;
  bool is_made = false;  ///< false: nothing was planned
};

constexpr std::size_t kMostPlans = std::size_t{1} << 16U;
HandlePool<FftPlan> fft_plans;
/// By their numbers, which begin with 1.
std::array<std::atomic<FftPlan*>, kMostPlans> numbered_plans;

/// nullptr: there is none of this number.
FftPlan* plan_of(int number) {
  if (number < 1 || static_cast<std::size_t>(number) > kMostPlans) return nullptr;
  return numbered_plans.at(static_cast<std::size_t>(number - 1));
}

int create_plan(int& number) {
  FftPlan* const made = fft_plans.create();
  for (std::size_t i = 0; made != nullptr && i < kMostPlans; ++i) {
    FftPlan* none = nullptr;
    if (!numbered_plans.at(i).compare_exchange_strong(none, made)) continue;
    number = static_cast<int>(i) + 1;
    return kLibrarySuccess;
  }
  fft_plans.destroy(made);
  return kNoRoomForPlan;
}

int destroy_plan(int number) {
  FftPlan* const plan = plan_of(number);
  if (plan == nullptr) return kInvalidPlan;
  numbered_plans.at(static_cast<std::size_t>(number - 1)) = nullptr;
  fft_plans.destroy(plan);
  return kLibrarySuccess;
}

/// cufftType: real and complex, in single and double precision.
bool is_fft_type(int type) {
  constexpr std::array kTypes = {0x2a, 0x2c, 0x29, 0x6a, 0x6c, 0x69};
  return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
}

/// What is to be planned: dimensions, and how many transforms.
template <typename Number>
struct FftShape {
  int rank;
  const Number* sizes;
  Number batch;

  int check() const {
    constexpr int kMostDims = 3;
    if (rank < 1 || rank > kMostDims || sizes == nullptr) return kInvalidFftValue;
    const bool has_sizes =
        batch > 0 && std::all_of(sizes, sizes + rank, [](Number size) { return size > 0; });
    return has_sizes ? kLibrarySuccess : kInvalidFftSize;
  }
};

/// How much memory it takes beside its operands: none, as the real library's figure is not known.
int size_of_plan(int status, std::size_t* bytes) {
  if (status != kLibrarySuccess) return status;
  if (bytes == nullptr) return kInvalidFftValue;
  note_assumption(Assumption::cufft_workspace);
  *bytes = 0;
  return kLibrarySuccess;
}

template <typename Number>
int make_plan(int number, const FftShape<Number>& shape, std::size_t* bytes) {
  FftPlan* const plan = plan_of(number);
  if (plan == nullptr) return kInvalidPlan;
  const int status = size_of_plan(shape.check(), bytes);
  if (status == kLibrarySuccess) plan->is_made = true;
  return status;
}

template <typename Number>
int make_typed_plan(int number, const FftShape<Number>& shape, int type, std::size_t* bytes) {
  if (bytes == nullptr) return kInvalidFftValue;
  if (!is_fft_type(type)) return kInvalidFftType;
  return make_plan(number, shape, bytes);
}

/// Creates a plan and makes it.
int create_made_plan(int* number, const FftShape<int>& shape, int type) {
  if (number == nullptr) return kInvalidFftValue;
  int made = 0;
  int status = create_plan(made);
  if (status != kLibrarySuccess) return status;
  std::size_t bytes = 0;
  status = make_typed_plan(made, shape, type, &bytes);
  if (status == kLibrarySuccess) {
    *number = made;
  } else {
    destroy_plan(made);
  }
  return status;
}

template <typename Number>
int estimate(const FftShape<Number>& shape, int type, std::size_t* bytes) {
  if (bytes == nullptr) return kInvalidFftValue;
  return is_fft_type(type) ? size_of_plan(shape.check(), bytes) : kInvalidFftType;
}

template <typename Number>
int estimate_for(int number, const FftShape<Number>& shape, int type, std::size_t* bytes) {
  return plan_of(number) == nullptr ? kInvalidPlan : estimate(shape, type, bytes);
}

int transform(int number, const void* from, const void* to) {
  const FftPlan* const plan = plan_of(number);
  if (plan == nullptr || !plan->is_made) return kInvalidPlan;
  if (from == nullptr || to == nullptr) return kInvalidFftValue;
  note_work(plan->stream);
  return kLibrarySuccess;
}

int transform_to(int number, const void* from, const void* to, int direction) {
  constexpr int kForward = -1;
  constexpr int kInverse = 1;
  const bool is_direction = direction == kForward || direction == kInverse;
  if (plan_of(number) != nullptr && !is_direction) return kInvalidFftValue;
  return transform(number, from, to);
}

int check_plan(int number) { return plan_of(number) == nullptr ? kInvalidPlan : kLibrarySuccess; }

}  // namespace

OHM_EXPORTED int cufftCreate(int* plan) {
  OHM_LIBRARY_CALL(int);
  return plan == nullptr ? kInvalidFftValue : create_plan(*plan);
}

OHM_EXPORTED int cufftDestroy(int plan) {
  OHM_LIBRARY_CALL(int);
  return destroy_plan(plan);
}

OHM_EXPORTED int cufftPlan1d(int* plan, int nx, int type, int batch) {
  OHM_LIBRARY_CALL(int);
  return create_made_plan(plan, {1, &nx, batch}, type);
}

OHM_EXPORTED int cufftPlan2d(int* plan, int nx, int ny, int type) {
  OHM_LIBRARY_CALL(int);
  const std::array sizes = {nx, ny};
  return create_made_plan(plan, {2, sizes.data(), 1}, type);
}

OHM_EXPORTED int cufftPlan3d(int* plan, int nx, int ny, int nz, int type) {
  OHM_LIBRARY_CALL(int);
  const std::array sizes = {nx, ny, nz};
  return create_made_plan(plan, {3, sizes.data(), 1}, type);
}

OHM_EXPORTED int cufftPlanMany(int* plan, int rank, const int* sizes, int* /*from_sizes*/,
                               int /*from_stride*/, int /*from_distance*/, int* /*to_sizes*/,
                               int /*to_stride*/, int /*to_distance*/, int type, int batch) {
  OHM_LIBRARY_CALL(int);
  return create_made_plan(plan, {rank, sizes, batch}, type);
}

OHM_EXPORTED int cufftMakePlan1d(int plan, int nx, int type, int batch, std::size_t* bytes) {
  OHM_LIBRARY_CALL(int);
  return make_typed_plan<int>(plan, {1, &nx, batch}, type, bytes);
}

OHM_EXPORTED int cufftMakePlan2d(int plan, int nx, int ny, int type, std::size_t* bytes) {
  OHM_LIBRARY_CALL(int);
  const std::array sizes = {nx, ny};
  return make_typed_plan<int>(plan, {2, sizes.data(), 1}, type, bytes);
}

OHM_EXPORTED int cufftMakePlan3d(int plan, int nx, int ny, int nz, int type, std::size_t* bytes) {
  OHM_LIBRARY_CALL(int);
  const std::array sizes = {nx, ny, nz};
  return make_typed_plan<int>(plan, {3, sizes.data(), 1}, type, bytes);
}

OHM_EXPORTED int cufftMakePlanMany(int plan, int rank, const int* sizes, int* /*from_sizes*/,
                                   int /*from_stride*/, int /*from_distance*/, int* /*to_sizes*/,
                                   int /*to_stride*/, int /*to_distance*/, int type, int batch,
                                   std::size_t* bytes) {
  OHM_LIBRARY_CALL(int);
  return make_typed_plan<int>(plan, {rank, sizes, batch}, type, bytes);
}

OHM_EXPORTED int cufftMakePlanMany64(int plan, int rank, const long long* sizes,
                                     long long* /*from_sizes*/, long long /*from_stride*/,
                                     long long /*from_distance*/, long long* /*to_sizes*/,
                                     long long /*to_stride*/, long long /*to_distance*/, int type,
                                     long long batch, std::size_t* bytes) {
  OHM_LIBRARY_CALL(int);
  return make_typed_plan<long long>(plan, {rank, sizes, batch}, type, bytes);
}

OHM_EXPORTED int cufftXtMakePlanMany(int plan, int rank, const long long* sizes,
                                     long long* /*from_sizes*/, long long /*from_stride*/,
                                     long long /*from_distance*/, int /*from_type*/,
                                     long long* /*to_sizes*/, long long /*to_stride*/,
                                     long long /*to_distance*/, int /*to_type*/, long long batch,
                                     std::size_t* bytes, int /*execution_type*/) {
  OHM_LIBRARY_CALL(int);
  return make_plan<long long>(plan, {rank, sizes, batch}, bytes);
}

OHM_EXPORTED int cufftEstimate1d(int nx, int type, int batch, std::size_t* bytes) {
  OHM_LIBRARY_CALL(int);
  return estimate<int>({1, &nx, batch}, type, bytes);
}

OHM_EXPORTED int cufftEstimate2d(int nx, int ny, int type, std::size_t* bytes) {
  OHM_LIBRARY_CALL(int);
  const std::array sizes = {nx, ny};
  return estimate<int>({2, sizes.data(), 1}, type, bytes);
}

OHM_EXPORTED int cufftEstimate3d(int nx, int ny, int nz, int type, std::size_t* bytes) {
  OHM_LIBRARY_CALL(int);
  const std::array sizes = {nx, ny, nz};
  return estimate<int>({3, sizes.data(), 1}, type, bytes);
}

OHM_EXPORTED int cufftEstimateMany(int rank, const int* sizes, int* /*from_sizes*/,
                                   int /*from_stride*/, int /*from_distance*/, int* /*to_sizes*/,
                                   int /*to_stride*/, int /*to_distance*/, int type, int batch,
                                   std::size_t* bytes) {
  OHM_LIBRARY_CALL(int);
  return estimate<int>({rank, sizes, batch}, type, bytes);
}

OHM_EXPORTED int cufftGetSize1d(int plan, int nx, int type, int batch, std::size_t* bytes) {
  OHM_LIBRARY_CALL(int);
  return estimate_for<int>(plan, {1, &nx, batch}, type, bytes);
}

OHM_EXPORTED int cufftGetSize2d(int plan, int nx, int ny, int type, std::size_t* bytes) {
  OHM_LIBRARY_CALL(int);
  const std::array sizes = {nx, ny};
  return estimate_for<int>(plan, {2, sizes.data(), 1}, type, bytes);
}

OHM_EXPORTED int cufftGetSize3d(int plan, int nx, int ny, int nz, int type, std::size_t* bytes) {
  OHM_LIBRARY_CALL(int);
  const std::array sizes = {nx, ny, nz};
  return estimate_for<int>(plan, {3, sizes.data(), 1}, type, bytes);
}

OHM_EXPORTED int cufftGetSizeMany(int plan, int rank, const int* sizes, int* /*from_sizes*/,
                                  int /*from_stride*/, int /*from_distance*/, int* /*to_sizes*/,
                                  int /*to_stride*/, int /*to_distance*/, int type, int batch,
                                  std::size_t* bytes) {
  OHM_LIBRARY_CALL(int);
  return estimate_for<int>(plan, {rank, sizes, batch}, type, bytes);
}

OHM_EXPORTED int cufftGetSize(int plan, std::size_t* bytes) {
  OHM_LIBRARY_CALL(int);
  const FftPlan* const known = plan_of(plan);
  const bool is_made = known != nullptr && known->is_made;
  return size_of_plan(is_made ? kLibrarySuccess : kInvalidPlan, bytes);
}

OHM_EXPORTED int cufftSetStream(int plan, Stream* stream) {
  OHM_LIBRARY_CALL(int);
  FftPlan* const known = plan_of(plan);
  if (known == nullptr) return kInvalidPlan;
  known->stream = stream;
  return kLibrarySuccess;
}

OHM_EXPORTED int cufftSetWorkArea(int plan, void* /*area*/) {
  OHM_LIBRARY_CALL(int);
  return check_plan(plan);
}

OHM_EXPORTED int cufftSetAutoAllocation(int plan, int /*is_automatic*/) {
  OHM_LIBRARY_CALL(int);
  return check_plan(plan);
}

OHM_EXPORTED int cufftExecC2C(int plan, void* from, void* to, int direction) {
  OHM_LIBRARY_CALL(int);
  return transform_to(plan, from, to, direction);
}

OHM_EXPORTED int cufftExecZ2Z(int plan, void* from, void* to, int direction) {
  OHM_LIBRARY_CALL(int);
  return transform_to(plan, from, to, direction);
}

OHM_EXPORTED int cufftXtExec(int plan, void* from, void* to, int /*direction*/) {
  OHM_LIBRARY_CALL(int);
  return transform(plan, from, to);
}

OHM_EXPORTED int cufftExecR2C(int plan, void* from, void* to) {
  OHM_LIBRARY_CALL(int);
  return transform(plan, from, to);
}

OHM_EXPORTED int cufftExecC2R(int plan, void* from, void* to) {
  OHM_LIBRARY_CALL(int);
  return transform(plan, from, to);
}

OHM_EXPORTED int cufftExecD2Z(int plan, void* from, void* to) {
  OHM_LIBRARY_CALL(int);
  return transform(plan, from, to);
}

OHM_EXPORTED int cufftExecZ2D(int plan, void* from, void* to) {
  OHM_LIBRARY_CALL(int);
  return transform(plan, from, to);
}

OHM_EXPORTED int cufftGetProperty(int property, int* value) {
  const auto part = part_of_version(toolkit_of_process().cufft, property);
  if (!part || value == nullptr) return kInvalidFftValue;
  *value = *part;
  return kLibrarySuccess;
}

OHM_EXPORTED int cufftGetVersion(int* version) {
  if (version == nullptr) return kInvalidFftValue;
  *version = toolkit_of_process().cufft;
  return kLibrarySuccess;
}
