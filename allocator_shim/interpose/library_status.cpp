// The texts of status codes, as NVIDIA's libraries have them.
#include <array>
#include <cstddef>

#include "allocator_shim/interpose/exported.h"

namespace {

struct StatusTexts {
  int code;
  const char* name;
  const char* text = "";  ///< empty where the library tells names alone
};

constexpr std::array kCublasTexts = {
    StatusTexts{0, "CUBLAS_STATUS_SUCCESS", "success"},
    StatusTexts{1, "CUBLAS_STATUS_NOT_INITIALIZED", "the library was not initialized"},
    StatusTexts{3, "CUBLAS_STATUS_ALLOC_FAILED", "the resource allocation failed"},
    StatusTexts{7, "CUBLAS_STATUS_INVALID_VALUE",
                "an unsupported value or parameter was passed to the function"},
    StatusTexts{8, "CUBLAS_STATUS_ARCH_MISMATCH",
                "the function requires an architectural feature absent from the device"},
    StatusTexts{11, "CUBLAS_STATUS_MAPPING_ERROR", "an access to GPU memory space failed"},
    StatusTexts{13, "CUBLAS_STATUS_EXECUTION_FAILED", "the function failed to launch on the GPU"},
    StatusTexts{14, "CUBLAS_STATUS_INTERNAL_ERROR", "an internal operation failed"},
    StatusTexts{15, "CUBLAS_STATUS_NOT_SUPPORTED", "the requested functionality is not supported"},
    StatusTexts{16, "CUBLAS_STATUS_LICENSE_ERROR", "the license check failed"},
};

constexpr std::array kCusparseTexts = {
    StatusTexts{0, "CUSPARSE_STATUS_SUCCESS", "success"},
    StatusTexts{1, "CUSPARSE_STATUS_NOT_INITIALIZED", "initialization error"},
    StatusTexts{2, "CUSPARSE_STATUS_ALLOC_FAILED", "out of memory"},
    StatusTexts{3, "CUSPARSE_STATUS_INVALID_VALUE", "invalid value"},
    StatusTexts{4, "CUSPARSE_STATUS_ARCH_MISMATCH", "architecture mismatch"},
    StatusTexts{5, "CUSPARSE_STATUS_MAPPING_ERROR", "texture memory mapping error"},
    StatusTexts{6, "CUSPARSE_STATUS_EXECUTION_FAILED", "kernel launch failure"},
    StatusTexts{7, "CUSPARSE_STATUS_INTERNAL_ERROR", "internal error"},
    StatusTexts{8, "CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED", "matrix type not supported"},
    StatusTexts{9, "CUSPARSE_STATUS_ZERO_PIVOT", "zero pivot"},
    StatusTexts{10, "CUSPARSE_STATUS_NOT_SUPPORTED", "operation not supported"},
    StatusTexts{11, "CUSPARSE_STATUS_INSUFFICIENT_RESOURCES", "insufficient resources"},
};

constexpr std::array kCudnnTexts = {
    StatusTexts{0, "CUDNN_STATUS_SUCCESS"},
    StatusTexts{1001, "CUDNN_STATUS_NOT_INITIALIZED"},
    StatusTexts{1002, "CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH"},
    StatusTexts{1003, "CUDNN_STATUS_SERIALIZATION_VERSION_MISMATCH"},
    StatusTexts{1004, "CUDNN_STATUS_DEPRECATED"},
    StatusTexts{1005, "CUDNN_STATUS_LICENSE_ERROR"},
    StatusTexts{1006, "CUDNN_STATUS_RUNTIME_IN_PROGRESS"},
    StatusTexts{1007, "CUDNN_STATUS_RUNTIME_FP_OVERFLOW"},
    StatusTexts{1008, "CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED"},
    StatusTexts{2000, "CUDNN_STATUS_BAD_PARAM"},
    StatusTexts{2002, "CUDNN_STATUS_BAD_PARAM_NULL_POINTER"},
    StatusTexts{2003, "CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER"},
    StatusTexts{2004, "CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED"},
    StatusTexts{2005, "CUDNN_STATUS_BAD_PARAM_OUT_OF_BOUND"},
    StatusTexts{2006, "CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT"},
    StatusTexts{2007, "CUDNN_STATUS_BAD_PARAM_STREAM_MISMATCH"},
    StatusTexts{2008, "CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH"},
    StatusTexts{2009, "CUDNN_STATUS_BAD_PARAM_DUPLICATED_ENTRIES"},
    StatusTexts{2010, "CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE"},
    StatusTexts{2011, "CUDNN_STATUS_BAD_PARAM_CUDA_GRAPH_MISMATCH"},
    StatusTexts{2012, "CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE"},
    StatusTexts{3000, "CUDNN_STATUS_NOT_SUPPORTED"},
    StatusTexts{3001, "CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN"},
    StatusTexts{3002, "CUDNN_STATUS_NOT_SUPPORTED_SHAPE"},
    StatusTexts{3003, "CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE"},
    StatusTexts{3004, "CUDNN_STATUS_NOT_SUPPORTED_LAYOUT"},
    StatusTexts{3005, "CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDA_DRIVER"},
    StatusTexts{3006, "CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDART"},
    StatusTexts{3007, "CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH"},
    StatusTexts{3008, "CUDNN_STATUS_NOT_SUPPORTED_RUNTIME_PREREQUISITE_MISSING"},
    StatusTexts{3009, "CUDNN_STATUS_NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE"},
    StatusTexts{3010, "CUDNN_STATUS_NOT_SUPPORTED_SHARED_MEMORY_INSUFFICIENT"},
    StatusTexts{3011, "CUDNN_STATUS_NOT_SUPPORTED_PADDING"},
    StatusTexts{3012, "CUDNN_STATUS_NOT_SUPPORTED_BAD_LAUNCH_PARAM"},
    StatusTexts{3013, "CUDNN_STATUS_NOT_SUPPORTED_CUDA_GRAPH_NATIVE_API"},
    StatusTexts{3014, "CUDNN_STATUS_NOT_SUPPORTED_INVALID_DYNAMIC_SHAPE"},
    StatusTexts{4000, "CUDNN_STATUS_INTERNAL_ERROR"},
    StatusTexts{4001, "CUDNN_STATUS_INTERNAL_ERROR_COMPILATION_FAILED"},
    StatusTexts{4002, "CUDNN_STATUS_INTERNAL_ERROR_UNEXPECTED_VALUE"},
    StatusTexts{4003, "CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED"},
    StatusTexts{4004, "CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED"},
    StatusTexts{4005, "CUDNN_STATUS_INTERNAL_ERROR_BAD_LAUNCH_PARAM"},
    StatusTexts{4006, "CUDNN_STATUS_INTERNAL_ERROR_TEXTURE_CREATION_FAILED"},
    StatusTexts{5000, "CUDNN_STATUS_EXECUTION_FAILED"},
    StatusTexts{5001, "CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER"},
    StatusTexts{5002, "CUDNN_STATUS_EXECUTION_FAILED_CUBLAS"},
    StatusTexts{5003, "CUDNN_STATUS_EXECUTION_FAILED_CUDART"},
    StatusTexts{5004, "CUDNN_STATUS_EXECUTION_FAILED_CURAND"},
};

constexpr std::array kNvrtcTexts = {
    StatusTexts{0, "NVRTC_SUCCESS"},
    StatusTexts{1, "NVRTC_ERROR_OUT_OF_MEMORY"},
    StatusTexts{2, "NVRTC_ERROR_PROGRAM_CREATION_FAILURE"},
    StatusTexts{3, "NVRTC_ERROR_INVALID_INPUT"},
    StatusTexts{4, "NVRTC_ERROR_INVALID_PROGRAM"},
    StatusTexts{5, "NVRTC_ERROR_INVALID_OPTION"},
    StatusTexts{6, "NVRTC_ERROR_COMPILATION"},
    StatusTexts{7, "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE"},
    StatusTexts{8, "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION"},
    StatusTexts{9, "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION"},
    StatusTexts{10, "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID"},
    StatusTexts{11, "NVRTC_ERROR_INTERNAL_ERROR"},
    StatusTexts{12, "NVRTC_ERROR_TIME_FILE_WRITE_FAILED"},
    StatusTexts{13, "NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED"},
    StatusTexts{14, "NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED"},
    StatusTexts{15, "NVRTC_ERROR_PCH_CREATE"},
    StatusTexts{16, "NVRTC_ERROR_CANCELLED"},
    StatusTexts{17, "NVRTC_ERROR_TIME_TRACE_FILE_WRITE_FAILED"},
};

/// The row of a code; nullptr: there is none.
template <std::size_t Count>
const StatusTexts* texts_of(const std::array<StatusTexts, Count>& rows, int code) {
  for (const StatusTexts& row : rows) {
    if (row.code == code) return &row;
  }
  return nullptr;
}

const char* name_or(const StatusTexts* row, const char* unknown) {
  return row == nullptr ? unknown : row->name;
}

const char* text_or(const StatusTexts* row, const char* unknown) {
  return row == nullptr ? unknown : row->text;
}

constexpr const char* kUnknownCublasStatus = "unrecognized status";
constexpr const char* kUnknownCusparseStatus = "unrecognized error code";

}  // namespace

OHM_EXPORTED const char* cublasGetStatusName(int status) {
  return name_or(texts_of(kCublasTexts, status), kUnknownCublasStatus);
}

OHM_EXPORTED const char* cublasGetStatusString(int status) {
  return text_or(texts_of(kCublasTexts, status), kUnknownCublasStatus);
}

OHM_EXPORTED const char* cublasLtGetStatusName(int status) { return cublasGetStatusName(status); }

OHM_EXPORTED const char* cublasLtGetStatusString(int status) {
  return cublasGetStatusString(status);
}

OHM_EXPORTED const char* cusparseGetErrorName(int status) {
  return name_or(texts_of(kCusparseTexts, status), kUnknownCusparseStatus);
}

OHM_EXPORTED const char* cusparseGetErrorString(int status) {
  return text_or(texts_of(kCusparseTexts, status), kUnknownCusparseStatus);
}

OHM_EXPORTED const char* cudnnGetErrorString(int status) {
  return name_or(texts_of(kCudnnTexts, status), "CUDNN_UNKNOWN_STATUS");
}

OHM_EXPORTED const char* nvrtcGetErrorString(int result) {
  return name_or(texts_of(kNvrtcTexts, result), "NVRTC_ERROR unknown");
}
