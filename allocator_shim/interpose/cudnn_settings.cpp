// cuDNN: descriptors that hold what an operation is told, and give it back.
#include "allocator_shim/interpose/cudnn_tensor.h"
#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/objects.h"

using namespace ohm::interpose;

namespace {

struct ActivationDescriptor {
  int mode;
  int nan_propagation;
  double coefficient;
  double swish_beta;
};

struct OpTensorDescriptor {
  int operation;
  int compute_type;
  int nan_propagation;
};

struct ReduceTensorDescriptor {
  int operation;
  int compute_type;
  int nan_propagation;
  int indices;
  int index_type;
};

struct LrnDescriptor {
  unsigned width;
  double alpha;
  double beta;
  double k;
};

bool is_number_up_to(int value, int last) { return value >= 0 && value <= last; }

}  // namespace

OHM_EXPORTED int cudnnSetActivationDescriptor(ActivationDescriptor* activation, int mode,
                                              int nan_propagation, double coefficient) {
  OHM_LIBRARY_CALL(int);
  constexpr int kSwish = 6;
  const bool is_right =
      is_object(activation) && is_number_up_to(mode, kSwish) && is_number_up_to(nan_propagation, 1);
  if (!is_right) return kCudnnBadParameter;
  activation->mode = mode;
  activation->nan_propagation = nan_propagation;
  activation->coefficient = coefficient;
  return kLibrarySuccess;
}

OHM_EXPORTED int cudnnGetActivationDescriptor(const ActivationDescriptor* activation, int* mode,
                                              int* nan_propagation, double* coefficient) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(activation)) return kCudnnBadParameter;
  tell(activation->mode, mode);
  tell(activation->nan_propagation, nan_propagation);
  tell(activation->coefficient, coefficient);
  return kLibrarySuccess;
}

OHM_EXPORTED int cudnnSetActivationDescriptorSwishBeta(ActivationDescriptor* activation,
                                                       double beta) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(activation)) return kCudnnBadParameter;
  activation->swish_beta = beta;
  return kLibrarySuccess;
}

OHM_EXPORTED int cudnnGetActivationDescriptorSwishBeta(const ActivationDescriptor* activation,
                                                       double* beta) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(activation) || beta == nullptr) return kCudnnBadParameter;
  *beta = activation->swish_beta;
  return kLibrarySuccess;
}

OHM_EXPORTED int cudnnSetOpTensorDescriptor(OpTensorDescriptor* descriptor, int operation,
                                            int compute_type, int nan_propagation) {
  OHM_LIBRARY_CALL(int);
  constexpr int kLastOperation = 5;
  const bool is_right = is_object(descriptor) && is_number_up_to(operation, kLastOperation) &&
                        is_tensor_type(compute_type) && is_number_up_to(nan_propagation, 1);
  if (!is_right) return kCudnnBadParameter;
  *descriptor = {operation, compute_type, nan_propagation};
  return kLibrarySuccess;
}

OHM_EXPORTED int cudnnGetOpTensorDescriptor(const OpTensorDescriptor* descriptor, int* operation,
                                            int* compute_type, int* nan_propagation) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(descriptor)) return kCudnnBadParameter;
  tell(descriptor->operation, operation);
  tell(descriptor->compute_type, compute_type);
  tell(descriptor->nan_propagation, nan_propagation);
  return kLibrarySuccess;
}

OHM_EXPORTED int cudnnSetReduceTensorDescriptor(ReduceTensorDescriptor* descriptor, int operation,
                                                int compute_type, int nan_propagation, int indices,
                                                int index_type) {
  OHM_LIBRARY_CALL(int);
  constexpr int kLastOperation = 8;
  constexpr int kLastIndexType = 3;
  const bool is_right = is_object(descriptor) && is_number_up_to(operation, kLastOperation) &&
                        is_tensor_type(compute_type) && is_number_up_to(nan_propagation, 1) &&
                        is_number_up_to(indices, 1) && is_number_up_to(index_type, kLastIndexType);
  if (!is_right) return kCudnnBadParameter;
  *descriptor = {operation, compute_type, nan_propagation, indices, index_type};
  return kLibrarySuccess;
}

OHM_EXPORTED int cudnnGetReduceTensorDescriptor(const ReduceTensorDescriptor* descriptor,
                                                int* operation, int* compute_type,
                                                int* nan_propagation, int* indices,
                                                int* index_type) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(descriptor)) return kCudnnBadParameter;
  tell(descriptor->operation, operation);
  tell(descriptor->compute_type, compute_type);
  tell(descriptor->nan_propagation, nan_propagation);
  tell(descriptor->indices, indices);
  tell(descriptor->index_type, index_type);
  return kLibrarySuccess;
}

OHM_EXPORTED int cudnnSetLRNDescriptor(LrnDescriptor* descriptor, unsigned width, double alpha,
                                       double beta, double k) {
  OHM_LIBRARY_CALL(int);
  // CUDNN_LRN_MIN_N and its like.
  constexpr unsigned kMostWidth = 16;
  constexpr double kLeastBeta = 0.01;
  constexpr double kLeastK = 1e-5;
  const bool is_right = is_object(descriptor) && width >= 1 && width <= kMostWidth &&
                        beta >= kLeastBeta && k >= kLeastK;
  if (!is_right) return kCudnnBadParameter;
  *descriptor = {width, alpha, beta, k};
  return kLibrarySuccess;
}

OHM_EXPORTED int cudnnGetLRNDescriptor(const LrnDescriptor* descriptor, unsigned* width,
                                       double* alpha, double* beta, double* k) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(descriptor)) return kCudnnBadParameter;
  tell(descriptor->width, width);
  tell(descriptor->alpha, alpha);
  tell(descriptor->beta, beta);
  tell(descriptor->k, k);
  return kLibrarySuccess;
}
