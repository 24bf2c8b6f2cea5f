// cuSPARSE: descriptors of sparse matrices, which say what they were made of.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "allocator_shim/interpose/cusparse_descriptors.h"
#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/known_values.h"
#include "allocator_shim/interpose/objects.h"

using namespace ohm::interpose;

namespace {

/// cusparseFormat_t.
enum class SparseFormat : int { csr = 1, csc = 2, coo = 3 };

/// Rows and columns are lists of indices, of which one may be compressed to offsets.
struct SparseMatrix {
  SparseFormat format;
  std::int64_t rows, columns, nonzeros;
  void* offsets;  ///< those of the rows with coo
  void* indices;
  void* values;
  SparseTypes types;
  int more_batches = 0;  ///< besides the first
  int fill_mode = 0;
  int diagonal_type = 0;
};

int create_matrix(void** place, const SparseMatrix& matrix) {
  const bool has_sizes = matrix.rows >= 0 && matrix.columns >= 0 && matrix.nonzeros >= 0;
  if (place == nullptr || !has_sizes || !matrix.types.are_right()) return kInvalidSparseValue;
  std::int64_t places = 0;
  const bool is_full =
      !__builtin_mul_overflow(matrix.rows, matrix.columns, &places) && matrix.nonzeros > places;
  const bool is_compressed = (matrix.format == SparseFormat::csr && matrix.rows > 0) ||
                             (matrix.format == SparseFormat::csc && matrix.columns > 0);
  if (is_full || (is_compressed && matrix.offsets == nullptr)) return kInvalidSparseValue;
  return create_sparse(place, matrix);
}

/// Where it tells all of a matrix of this format.
struct SparsePlaces {
  std::int64_t *rows, *columns, *nonzeros;
  void **offsets, **indices, **values;
  int *offset_type, *index_type, *base, *value_type;
};

int tell_matrix(const SparseMatrix* matrix, SparseFormat format, const SparsePlaces& places) {
  if (!is_object(matrix) || matrix->format != format) return kInvalidSparseValue;
  tell(matrix->rows, places.rows);
  tell(matrix->columns, places.columns);
  tell(matrix->nonzeros, places.nonzeros);
  tell(matrix->offsets, places.offsets);
  tell(matrix->indices, places.indices);
  tell(matrix->values, places.values);
  tell(matrix->types.offsets, places.offset_type);
  tell(matrix->types.indices, places.index_type);
  tell(matrix->types.base, places.base);
  tell(matrix->types.values, places.value_type);
  return kLibrarySuccess;
}

int set_lists(SparseMatrix* matrix, SparseFormat format, void* offsets, void* indices,
              void* values) {
  if (!is_object(matrix) || matrix->format != format) return kInvalidSparseValue;
  matrix->offsets = offsets;
  matrix->indices = indices;
  matrix->values = values;
  return kLibrarySuccess;
}

int set_batches(SparseMatrix* matrix, SparseFormat format, int batches) {
  const bool is_right = is_object(matrix) && matrix->format == format && batches > 0;
  if (!is_right) return kInvalidSparseValue;
  matrix->more_batches = batches - 1;
  return kLibrarySuccess;
}

/// A setting of a matrix by its number; nullptr: there is none.
int* attribute_of(SparseMatrix* matrix, int attribute) {
  constexpr int kFillMode = 0;
  constexpr int kDiagonalType = 1;
  if (!is_object(matrix)) return nullptr;
  if (attribute == kFillMode) return &matrix->fill_mode;
  return attribute == kDiagonalType ? &matrix->diagonal_type : nullptr;
}

}  // namespace

OHM_EXPORTED int cusparseCreateCsr(void** matrix, std::int64_t rows, std::int64_t columns,
                                   std::int64_t nonzeros, void* offsets, void* indices,
                                   void* values, int offset_type, int index_type, int base,
                                   int value_type) {
  OHM_LIBRARY_CALL(int);
  return create_matrix(matrix, {SparseFormat::csr,
                                rows,
                                columns,
                                nonzeros,
                                offsets,
                                indices,
                                values,
                                {offset_type, index_type, base, value_type}});
}

OHM_EXPORTED int cusparseCreateConstCsr(void** matrix, std::int64_t rows, std::int64_t columns,
                                        std::int64_t nonzeros, void* offsets, void* indices,
                                        void* values, int offset_type, int index_type, int base,
                                        int value_type) {
  OHM_LIBRARY_CALL(int);
  return cusparseCreateCsr(matrix, rows, columns, nonzeros, offsets, indices, values, offset_type,
                           index_type, base, value_type);
}

OHM_EXPORTED int cusparseCreateCsc(void** matrix, std::int64_t rows, std::int64_t columns,
                                   std::int64_t nonzeros, void* offsets, void* indices,
                                   void* values, int offset_type, int index_type, int base,
                                   int value_type) {
  OHM_LIBRARY_CALL(int);
  return create_matrix(matrix, {SparseFormat::csc,
                                rows,
                                columns,
                                nonzeros,
                                offsets,
                                indices,
                                values,
                                {offset_type, index_type, base, value_type}});
}

OHM_EXPORTED int cusparseCreateConstCsc(void** matrix, std::int64_t rows, std::int64_t columns,
                                        std::int64_t nonzeros, void* offsets, void* indices,
                                        void* values, int offset_type, int index_type, int base,
                                        int value_type) {
  OHM_LIBRARY_CALL(int);
  return cusparseCreateCsc(matrix, rows, columns, nonzeros, offsets, indices, values, offset_type,
                           index_type, base, value_type);
}

OHM_EXPORTED int cusparseCreateCoo(void** matrix, std::int64_t rows, std::int64_t columns,
                                   std::int64_t nonzeros, void* row_indices, void* indices,
                                   void* values, int index_type, int base, int value_type) {
  OHM_LIBRARY_CALL(int);
  return create_matrix(matrix, {SparseFormat::coo,
                                rows,
                                columns,
                                nonzeros,
                                row_indices,
                                indices,
                                values,
                                {index_type, index_type, base, value_type}});
}

OHM_EXPORTED int cusparseCreateConstCoo(void** matrix, std::int64_t rows, std::int64_t columns,
                                        std::int64_t nonzeros, void* row_indices, void* indices,
                                        void* values, int index_type, int base, int value_type) {
  OHM_LIBRARY_CALL(int);
  return cusparseCreateCoo(matrix, rows, columns, nonzeros, row_indices, indices, values,
                           index_type, base, value_type);
}

OHM_EXPORTED int cusparseCsrGet(const SparseMatrix* matrix, std::int64_t* rows,
                                std::int64_t* columns, std::int64_t* nonzeros, void** offsets,
                                void** indices, void** values, int* offset_type, int* index_type,
                                int* base, int* value_type) {
  OHM_LIBRARY_CALL(int);
  return tell_matrix(matrix, SparseFormat::csr,
                     {rows, columns, nonzeros, offsets, indices, values, offset_type, index_type,
                      base, value_type});
}

OHM_EXPORTED int cusparseCscGet(const SparseMatrix* matrix, std::int64_t* rows,
                                std::int64_t* columns, std::int64_t* nonzeros, void** offsets,
                                void** indices, void** values, int* offset_type, int* index_type,
                                int* base, int* value_type) {
  OHM_LIBRARY_CALL(int);
  return tell_matrix(matrix, SparseFormat::csc,
                     {rows, columns, nonzeros, offsets, indices, values, offset_type, index_type,
                      base, value_type});
}

OHM_EXPORTED int cusparseCooGet(const SparseMatrix* matrix, std::int64_t* rows,
                                std::int64_t* columns, std::int64_t* nonzeros, void** row_indices,
                                void** indices, void** values, int* index_type, int* base,
                                int* value_type) {
  OHM_LIBRARY_CALL(int);
  return tell_matrix(matrix, SparseFormat::coo,
                     {rows, columns, nonzeros, row_indices, indices, values, nullptr, index_type,
                      base, value_type});
}

OHM_EXPORTED int cusparseCsrSetPointers(SparseMatrix* matrix, void* offsets, void* indices,
                                        void* values) {
  OHM_LIBRARY_CALL(int);
  return set_lists(matrix, SparseFormat::csr, offsets, indices, values);
}

OHM_EXPORTED int cusparseCscSetPointers(SparseMatrix* matrix, void* offsets, void* indices,
                                        void* values) {
  OHM_LIBRARY_CALL(int);
  return set_lists(matrix, SparseFormat::csc, offsets, indices, values);
}

OHM_EXPORTED int cusparseCooSetPointers(SparseMatrix* matrix, void* row_indices, void* indices,
                                        void* values) {
  OHM_LIBRARY_CALL(int);
  return set_lists(matrix, SparseFormat::coo, row_indices, indices, values);
}

OHM_EXPORTED int cusparseCsrSetStridedBatch(SparseMatrix* matrix, int batches,
                                            std::int64_t /*offset_stride*/,
                                            std::int64_t /*value_stride*/) {
  OHM_LIBRARY_CALL(int);
  return set_batches(matrix, SparseFormat::csr, batches);
}

OHM_EXPORTED int cusparseCooSetStridedBatch(SparseMatrix* matrix, int batches,
                                            std::int64_t /*stride*/) {
  OHM_LIBRARY_CALL(int);
  return set_batches(matrix, SparseFormat::coo, batches);
}

OHM_EXPORTED int cusparseSpMatGetSize(const SparseMatrix* matrix, std::int64_t* rows,
                                      std::int64_t* columns, std::int64_t* nonzeros) {
  OHM_LIBRARY_CALL(int);
  const bool are_places = rows != nullptr && columns != nullptr && nonzeros != nullptr;
  if (!is_object(matrix) || !are_places) return kInvalidSparseValue;
  *rows = matrix->rows;
  *columns = matrix->columns;
  *nonzeros = matrix->nonzeros;
  // Of a product that has no lists yet, cuSPARSE has counted the elements.
  if (matrix->indices == nullptr) follow_read(nonzeros, matrix, sizeof(*nonzeros));
  return kLibrarySuccess;
}

OHM_EXPORTED int cusparseSpMatGetFormat(const SparseMatrix* matrix, SparseFormat* format) {
  OHM_LIBRARY_CALL(int);
  return tell_member(matrix, &SparseMatrix::format, format);
}

OHM_EXPORTED int cusparseSpMatGetIndexBase(const SparseMatrix* matrix, int* base) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(matrix) || base == nullptr) return kInvalidSparseValue;
  *base = matrix->types.base;
  return kLibrarySuccess;
}

OHM_EXPORTED int cusparseSpMatGetValues(const SparseMatrix* matrix, void** values) {
  OHM_LIBRARY_CALL(int);
  return tell_member(matrix, &SparseMatrix::values, values);
}

OHM_EXPORTED int cusparseConstSpMatGetValues(const SparseMatrix* matrix, void** values) {
  OHM_LIBRARY_CALL(int);
  return tell_member(matrix, &SparseMatrix::values, values);
}

OHM_EXPORTED int cusparseSpMatSetValues(SparseMatrix* matrix, void* values) {
  OHM_LIBRARY_CALL(int);
  return set_member(matrix, &SparseMatrix::values, values);
}

OHM_EXPORTED int cusparseSpMatGetStridedBatch(const SparseMatrix* matrix, int* batches) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(matrix) || batches == nullptr) return kInvalidSparseValue;
  *batches = matrix->more_batches + 1;
  return kLibrarySuccess;
}

OHM_EXPORTED int cusparseSpMatGetAttribute(SparseMatrix* matrix, int attribute, void* data,
                                           std::size_t bytes) {
  OHM_LIBRARY_CALL(int);
  const int* const known = attribute_of(matrix, attribute);
  if (known == nullptr || data == nullptr || bytes != sizeof(*known)) return kInvalidSparseValue;
  std::memcpy(data, known, bytes);
  return kLibrarySuccess;
}

OHM_EXPORTED int cusparseSpMatSetAttribute(SparseMatrix* matrix, int attribute, const void* data,
                                           std::size_t bytes) {
  OHM_LIBRARY_CALL(int);
  int* const known = attribute_of(matrix, attribute);
  if (known == nullptr || data == nullptr || bytes != sizeof(*known)) return kInvalidSparseValue;
  std::memcpy(known, data, bytes);
  return kLibrarySuccess;
}
