// cuSPARSE: descriptors of vectors and dense matrices, and the settings of older calls.
#include <cstdint>

#include "allocator_shim/interpose/cusparse_descriptors.h"
#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/objects.h"

using namespace ohm::interpose;

namespace {

struct SparseVector {
  std::int64_t size, nonzeros;
  void* indices;
  void* values;
  SparseTypes types;
};

struct DenseMatrix {
  std::int64_t rows, columns, leading;
  void* values;
  int value_type, order;
  int more_batches;
  std::int64_t batch_stride;

  std::int64_t lines() const;
};

struct DenseVector {
  std::int64_t size;
  void* values;
  int value_type;
};

constexpr int kColumnOrder = 1;
constexpr int kRowOrder = 2;

/// Each of the leading dimension's length.
std::int64_t DenseMatrix::lines() const { return order == kColumnOrder ? columns : rows; }

/// cusparseMatDescr_t.
struct MatrixSettings {
  int type, fill_mode, diagonal_type, base;
};

/// A setting that is a number up to `last`.
int set_setting(MatrixSettings* settings, int MatrixSettings::*member, int value, int last) {
  if (value < 0 || value > last) return kInvalidSparseValue;
  return set_member(settings, member, value);
}

int setting_of(const MatrixSettings* settings, int MatrixSettings::*member) {
  return is_object(settings) ? settings->*member : 0;
}

}  // namespace

OHM_EXPORTED int cusparseCreateSpVec(void** vector, std::int64_t size, std::int64_t nonzeros,
                                     void* indices, void* values, int index_type, int base,
                                     int value_type) {
  OHM_LIBRARY_CALL(int);
  const SparseTypes types = {index_type, index_type, base, value_type};
  const bool is_right = vector != nullptr && nonzeros >= 0 && nonzeros <= size;
  if (!is_right || !types.are_right()) return kInvalidSparseValue;
  return create_sparse(vector, SparseVector{size, nonzeros, indices, values, types});
}

OHM_EXPORTED int cusparseSpVecGet(const SparseVector* vector, std::int64_t* size,
                                  std::int64_t* nonzeros, void** indices, void** values,
                                  int* index_type, int* base, int* value_type) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(vector)) return kInvalidSparseValue;
  tell(vector->size, size);
  tell(vector->nonzeros, nonzeros);
  tell(vector->indices, indices);
  tell(vector->values, values);
  tell(vector->types.indices, index_type);
  tell(vector->types.base, base);
  tell(vector->types.values, value_type);
  return kLibrarySuccess;
}

OHM_EXPORTED int cusparseSpVecGetIndexBase(const SparseVector* vector, int* base) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(vector) || base == nullptr) return kInvalidSparseValue;
  *base = vector->types.base;
  return kLibrarySuccess;
}

OHM_EXPORTED int cusparseSpVecGetValues(const SparseVector* vector, void** values) {
  OHM_LIBRARY_CALL(int);
  return tell_member(vector, &SparseVector::values, values);
}

OHM_EXPORTED int cusparseSpVecSetValues(SparseVector* vector, void* values) {
  OHM_LIBRARY_CALL(int);
  return set_member(vector, &SparseVector::values, values);
}

OHM_EXPORTED int cusparseCreateDnMat(void** matrix, std::int64_t rows, std::int64_t columns,
                                     std::int64_t leading, void* values, int value_type,
                                     int order) {
  OHM_LIBRARY_CALL(int);
  const bool is_order = order == kColumnOrder || order == kRowOrder;
  if (matrix == nullptr || rows < 0 || columns < 0 || !is_order) return kInvalidSparseValue;
  if (leading < (order == kColumnOrder ? rows : columns)) return kInvalidSparseValue;
  return create_sparse(matrix,
                       DenseMatrix{rows, columns, leading, values, value_type, order, 0, 0});
}

OHM_EXPORTED int cusparseDnMatGet(const DenseMatrix* matrix, std::int64_t* rows,
                                  std::int64_t* columns, std::int64_t* leading, void** values,
                                  int* value_type, int* order) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(matrix)) return kInvalidSparseValue;
  tell(matrix->rows, rows);
  tell(matrix->columns, columns);
  tell(matrix->leading, leading);
  tell(matrix->values, values);
  tell(matrix->value_type, value_type);
  tell(matrix->order, order);
  return kLibrarySuccess;
}

OHM_EXPORTED int cusparseDnMatGetValues(const DenseMatrix* matrix, void** values) {
  OHM_LIBRARY_CALL(int);
  return tell_member(matrix, &DenseMatrix::values, values);
}

OHM_EXPORTED int cusparseDnMatSetValues(DenseMatrix* matrix, void* values) {
  OHM_LIBRARY_CALL(int);
  return set_member(matrix, &DenseMatrix::values, values);
}

OHM_EXPORTED int cusparseDnMatSetStridedBatch(DenseMatrix* matrix, int batches,
                                              std::int64_t stride) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(matrix) || batches < 1) return kInvalidSparseValue;
  // Several may be one matrix.
  if (stride != 0 && stride < matrix->leading * matrix->lines()) return kInvalidSparseValue;
  matrix->more_batches = batches - 1;
  matrix->batch_stride = stride;
  return kLibrarySuccess;
}

OHM_EXPORTED int cusparseDnMatGetStridedBatch(const DenseMatrix* matrix, int* batches,
                                              std::int64_t* stride) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(matrix) || batches == nullptr || stride == nullptr) return kInvalidSparseValue;
  *batches = matrix->more_batches + 1;
  *stride = matrix->batch_stride;
  return kLibrarySuccess;
}

OHM_EXPORTED int cusparseCreateDnVec(void** vector, std::int64_t size, void* values,
                                     int value_type) {
  OHM_LIBRARY_CALL(int);
  if (vector == nullptr || size < 0) return kInvalidSparseValue;
  return create_sparse(vector, DenseVector{size, values, value_type});
}

OHM_EXPORTED int cusparseDnVecGet(const DenseVector* vector, std::int64_t* size, void** values,
                                  int* value_type) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(vector)) return kInvalidSparseValue;
  tell(vector->size, size);
  tell(vector->values, values);
  tell(vector->value_type, value_type);
  return kLibrarySuccess;
}

OHM_EXPORTED int cusparseDnVecGetValues(const DenseVector* vector, void** values) {
  OHM_LIBRARY_CALL(int);
  return tell_member(vector, &DenseVector::values, values);
}

OHM_EXPORTED int cusparseDnVecSetValues(DenseVector* vector, void* values) {
  OHM_LIBRARY_CALL(int);
  return set_member(vector, &DenseVector::values, values);
}

OHM_EXPORTED int cusparseSetMatType(MatrixSettings* settings, int type) {
  OHM_LIBRARY_CALL(int);
  constexpr int kLastType = 3;
  return set_setting(settings, &MatrixSettings::type, type, kLastType);
}

OHM_EXPORTED int cusparseSetMatFillMode(MatrixSettings* settings, int mode) {
  OHM_LIBRARY_CALL(int);
  return set_setting(settings, &MatrixSettings::fill_mode, mode, 1);
}

OHM_EXPORTED int cusparseSetMatDiagType(MatrixSettings* settings, int type) {
  OHM_LIBRARY_CALL(int);
  return set_setting(settings, &MatrixSettings::diagonal_type, type, 1);
}

OHM_EXPORTED int cusparseSetMatIndexBase(MatrixSettings* settings, int base) {
  OHM_LIBRARY_CALL(int);
  return set_setting(settings, &MatrixSettings::base, base, 1);
}

// These return what they are asked for, and have no status.
OHM_EXPORTED int cusparseGetMatType(const MatrixSettings* settings) {
  return setting_of(settings, &MatrixSettings::type);
}

OHM_EXPORTED int cusparseGetMatFillMode(const MatrixSettings* settings) {
  return setting_of(settings, &MatrixSettings::fill_mode);
}

OHM_EXPORTED int cusparseGetMatDiagType(const MatrixSettings* settings) {
  return setting_of(settings, &MatrixSettings::diagonal_type);
}

OHM_EXPORTED int cusparseGetMatIndexBase(const MatrixSettings* settings) {
  return setting_of(settings, &MatrixSettings::base);
}

OHM_EXPORTED int cusparseCreateConstDnMat(void** matrix, std::int64_t rows, std::int64_t columns,
                                          std::int64_t leading, void* values, int value_type,
                                          int order) {
  OHM_LIBRARY_CALL(int);
  return cusparseCreateDnMat(matrix, rows, columns, leading, values, value_type, order);
}

OHM_EXPORTED int cusparseCreateConstDnVec(void** vector, std::int64_t size, void* values,
                                          int value_type) {
  OHM_LIBRARY_CALL(int);
  return cusparseCreateDnVec(vector, size, values, value_type);
}

OHM_EXPORTED int cusparseCreateConstSpVec(void** vector, std::int64_t size, std::int64_t nonzeros,
                                          void* indices, void* values, int index_type, int base,
                                          int value_type) {
  OHM_LIBRARY_CALL(int);
  return cusparseCreateSpVec(vector, size, nonzeros, indices, values, index_type, base, value_type);
}
