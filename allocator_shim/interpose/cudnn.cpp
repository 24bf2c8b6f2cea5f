// cuDNN: versions, streams, algorithms. Workspaces are modelled as 0.
#include <algorithm>
#include <array>
#include <cstddef>

#include "allocator_shim/interpose/cudnn_tensor.h"
#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/objects.h"
#include "allocator_shim/interpose/toolkit_version.h"
#include "allocator_shim/interpose/wheel_requirements.h"

using namespace ohm::interpose;

namespace {

/// The one algorithm that every search finds, with all that cudnnConvolution...AlgoPerf_t says.
struct AlgorithmResult {
  int algorithm;
  int status;
  float milliseconds;
  std::size_t bytes;
  int determinism;
  int math_type;
  std::array<int, 3> reserved;
};

int find_algorithms(int wanted, int* count, AlgorithmResult* results) {
  if (wanted < 1 || count == nullptr || results == nullptr) return kCudnnBadParameter;
  note_assumption(Assumption::cudnn_workspace);
  constexpr int kDeterministic = 1;
  // Algorithm 1 exists in each direction.
  *count = 1;
  results[0] = {1, kLibrarySuccess, 1.0F, 0, kDeterministic, 0, {}};
  return kLibrarySuccess;
}

/// PyTorch asks for it to choose kernels: it is told the one that it would have on a machine with a
/// card.
LibraryVersion version_of_process() {
  const int known = toolkit_of_process().cudnn;
  return cudnn_of_loaded_torch().value_or(
      LibraryVersion{known / 10'000, known % 10'000 / 100, known % 100});
}

}  // namespace

OHM_EXPORTED std::size_t cudnnGetVersion() {
  // In thousands up to version 8, in ten thousands from 9 on.
  constexpr int kFirstOfTenThousands = 9;
  const auto [major, minor, patch] = version_of_process();
  const int unit = major >= kFirstOfTenThousands ? 10'000 : 1'000;
  const int version = major * unit + minor * 100 + patch;
  return static_cast<std::size_t>(version);
}

OHM_EXPORTED std::size_t cudnnGetCudartVersion() {
  return static_cast<std::size_t>(toolkit_of_process().cuda);
}

OHM_EXPORTED int cudnnGetProperty(int property, int* value) {
  OHM_LIBRARY_CALL(int);
  const LibraryVersion version = version_of_process();
  const bool is_part = property >= 0 && static_cast<std::size_t>(property) < version.size();
  if (value == nullptr || !is_part) return kCudnnBadParameter;
  *value = version.at(static_cast<std::size_t>(property));
  return kLibrarySuccess;
}

OHM_EXPORTED void cudnnGetLastErrorString(char* text, std::size_t length) {
  if (text != nullptr && length > 0) *text = '\0';
}

OHM_EXPORTED int cudnnSetStream(LibraryHandle* handle, Stream* stream) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(handle)) return kCudnnBadParameter;
  handle->stream = stream;
  return kLibrarySuccess;
}

OHM_EXPORTED int cudnnGetStream(LibraryHandle* handle, Stream** stream) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(handle) || stream == nullptr) return kCudnnBadParameter;
  *stream = handle->stream;
  return kLibrarySuccess;
}

OHM_EXPORTED int cudnnGetConvolutionForwardAlgorithm_v7(void* /*handle*/, void* /*x*/, void* /*w*/,
                                                        void* /*convolution*/, void* /*y*/,
                                                        int wanted, int* count,
                                                        AlgorithmResult* results) {
  OHM_LIBRARY_CALL(int);
  return find_algorithms(wanted, count, results);
}

OHM_EXPORTED int cudnnGetConvolutionBackwardDataAlgorithm_v7(void* /*handle*/, void* /*w*/,
                                                             void* /*dy*/, void* /*convolution*/,
                                                             void* /*dx*/, int wanted, int* count,
                                                             AlgorithmResult* results) {
  OHM_LIBRARY_CALL(int);
  return find_algorithms(wanted, count, results);
}

OHM_EXPORTED int cudnnGetConvolutionBackwardFilterAlgorithm_v7(void* /*handle*/, void* /*x*/,
                                                               void* /*dy*/, void* /*convolution*/,
                                                               void* /*dw*/, int wanted, int* count,
                                                               AlgorithmResult* results) {
  OHM_LIBRARY_CALL(int);
  return find_algorithms(wanted, count, results);
}

OHM_EXPORTED int cudnnFindConvolutionForwardAlgorithmEx(
    void* /*handle*/, void* /*x_descriptor*/, const void* /*x*/, void* /*w_descriptor*/,
    const void* /*w*/, void* /*convolution*/, void* /*y_descriptor*/, void* /*y*/, int wanted,
    int* count, AlgorithmResult* results, void* /*workspace*/, std::size_t /*bytes*/) {
  OHM_LIBRARY_CALL(int);
  return find_algorithms(wanted, count, results);
}

OHM_EXPORTED int cudnnFindConvolutionBackwardDataAlgorithmEx(
    void* /*handle*/, void* /*w_descriptor*/, const void* /*w*/, void* /*dy_descriptor*/,
    const void* /*dy*/, void* /*convolution*/, void* /*dx_descriptor*/, void* /*dx*/, int wanted,
    int* count, AlgorithmResult* results, void* /*workspace*/, std::size_t /*bytes*/) {
  OHM_LIBRARY_CALL(int);
  return find_algorithms(wanted, count, results);
}

OHM_EXPORTED int cudnnFindConvolutionBackwardFilterAlgorithmEx(
    void* /*handle*/, void* /*x_descriptor*/, const void* /*x*/, void* /*dy_descriptor*/,
    const void* /*dy*/, void* /*convolution*/, void* /*dw_descriptor*/, void* /*dw*/, int wanted,
    int* count, AlgorithmResult* results, void* /*workspace*/, std::size_t /*bytes*/) {
  OHM_LIBRARY_CALL(int);
  return find_algorithms(wanted, count, results);
}

OHM_EXPORTED int cudnnFindConvolutionForwardAlgorithm(void* /*handle*/, void* /*x*/, void* /*w*/,
                                                      void* /*convolution*/, void* /*y*/,
                                                      int wanted, int* count,
                                                      AlgorithmResult* results) {
  OHM_LIBRARY_CALL(int);
  return find_algorithms(wanted, count, results);
}

OHM_EXPORTED int cudnnFindConvolutionBackwardDataAlgorithm(void* /*handle*/, void* /*w*/,
                                                           void* /*dy*/, void* /*convolution*/,
                                                           void* /*dx*/, int wanted, int* count,
                                                           AlgorithmResult* results) {
  OHM_LIBRARY_CALL(int);
  return find_algorithms(wanted, count, results);
}

OHM_EXPORTED int cudnnFindConvolutionBackwardFilterAlgorithm(void* /*handle*/, void* /*x*/,
                                                             void* /*dy*/, void* /*convolution*/,
                                                             void* /*dw*/, int wanted, int* count,
                                                             AlgorithmResult* results) {
  OHM_LIBRARY_CALL(int);
  return find_algorithms(wanted, count, results);
}
