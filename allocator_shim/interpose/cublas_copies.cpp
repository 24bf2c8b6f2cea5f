// cuBLAS: copies of vectors and matrices between the host and a GPU.
#include <cstddef>
#include <cstdint>

#include "allocator_shim/interpose/call_library.h"
#include "allocator_shim/interpose/copies.h"
#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/objects.h"

using namespace ohm::interpose;

namespace {

constexpr int kMappingError = 11;
constexpr int kInvalidCublasCopy = invalid_argument_of(CallLibrary::cublas);

/// Columns, one after the other; a vector's elements are such columns.
struct ColumnCopy {
  const void* from;
  void* to;
  std::size_t from_pitch, to_pitch, column_bytes, columns;

  Status copy_all(Direction way) const {
    const bool is_dense = from_pitch == column_bytes && to_pitch == column_bytes;
    if (is_dense) return copy(to, from, column_bytes * columns, way);
    return copy_rows(to, to_pitch, from, from_pitch, column_bytes, columns, way);
  }
};

int code_of_copy(Status status) {
  return status == Status::success ? kLibrarySuccess : kMappingError;
}

int copy_columns(const ColumnCopy& columns, Direction way) {
  return code_of_copy(waited_for(way, [&] { return columns.copy_all(way); }));
}

int copy_columns_on(Stream* stream, const ColumnCopy& columns, Direction way) {
  return code_of_copy(on_stream(stream, [columns, way] { return columns.copy_all(way); }));
}

/// Calls act(columns).
template <typename Act>
int with_vector(std::int64_t count, std::int64_t element_bytes, const void* from,
                std::int64_t from_step, void* to, std::int64_t to_step, Act act) {
  if (element_bytes <= 0 || from_step <= 0 || to_step <= 0) return kInvalidCublasCopy;
  if (count == 0) return kLibrarySuccess;
  if (count < 0) return kMappingError;
  const auto bytes = static_cast<std::size_t>(element_bytes);
  return act(ColumnCopy{from, to, static_cast<std::size_t>(from_step) * bytes,
                        static_cast<std::size_t>(to_step) * bytes, bytes,
                        static_cast<std::size_t>(count)});
}

template <typename Act>
int with_matrix(std::int64_t rows, std::int64_t columns, std::int64_t element_bytes,
                const void* from, std::int64_t from_rows, void* to, std::int64_t to_rows, Act act) {
  const bool is_right =
      rows >= 0 && columns >= 0 && element_bytes > 0 && from_rows > 0 && to_rows > 0;
  if (!is_right) return kInvalidCublasCopy;
  if (rows == 0 || columns == 0) return kLibrarySuccess;
  const auto bytes = static_cast<std::size_t>(element_bytes);
  return act(ColumnCopy{from, to, static_cast<std::size_t>(from_rows) * bytes,
                        static_cast<std::size_t>(to_rows) * bytes,
                        static_cast<std::size_t>(rows) * bytes, static_cast<std::size_t>(columns)});
}

}  // namespace

// Each copy has a name for each direction, with 32-bit and with 64-bit numbers, and on a stream.
#define OHM_VECTOR_COPY(name, Number, way)                                                      \
  OHM_EXPORTED int name(Number count, Number element_bytes, const void* from, Number from_step, \
                        void* to, Number to_step) {                                             \
    OHM_LIBRARY_CALL(int);                                                                      \
    return with_vector(count, element_bytes, from, from_step, to, to_step,                      \
                       [](const ColumnCopy& all) { return copy_columns(all, way); });           \
  }
#define OHM_VECTOR_COPY_ON(name, Number, way)                                                   \
  OHM_EXPORTED int name(Number count, Number element_bytes, const void* from, Number from_step, \
                        void* to, Number to_step, Stream* stream) {                             \
    OHM_LIBRARY_CALL(int);                                                                      \
    return with_vector(                                                                         \
        count, element_bytes, from, from_step, to, to_step,                                     \
        [stream](const ColumnCopy& all) { return copy_columns_on(stream, all, way); });         \
  }
#define OHM_MATRIX_COPY(name, Number, way)                                                   \
  OHM_EXPORTED int name(Number rows, Number columns, Number element_bytes, const void* from, \
                        Number from_rows, void* to, Number to_rows) {                        \
    OHM_LIBRARY_CALL(int);                                                                   \
    return with_matrix(rows, columns, element_bytes, from, from_rows, to, to_rows,           \
                       [](const ColumnCopy& all) { return copy_columns(all, way); });        \
  }
#define OHM_MATRIX_COPY_ON(name, Number, way)                                                \
  OHM_EXPORTED int name(Number rows, Number columns, Number element_bytes, const void* from, \
                        Number from_rows, void* to, Number to_rows, Stream* stream) {        \
    OHM_LIBRARY_CALL(int);                                                                   \
    return with_matrix(                                                                      \
        rows, columns, element_bytes, from, from_rows, to, to_rows,                          \
        [stream](const ColumnCopy& all) { return copy_columns_on(stream, all, way); });      \
  }

OHM_VECTOR_COPY(cublasSetVector, int, Direction::host_to_device)
OHM_VECTOR_COPY(cublasSetVector_64, std::int64_t, Direction::host_to_device)
OHM_VECTOR_COPY(cublasGetVector, int, Direction::device_to_host)
OHM_VECTOR_COPY(cublasGetVector_64, std::int64_t, Direction::device_to_host)
OHM_VECTOR_COPY_ON(cublasSetVectorAsync, int, Direction::host_to_device)
OHM_VECTOR_COPY_ON(cublasSetVectorAsync_64, std::int64_t, Direction::host_to_device)
OHM_VECTOR_COPY_ON(cublasGetVectorAsync, int, Direction::device_to_host)
OHM_VECTOR_COPY_ON(cublasGetVectorAsync_64, std::int64_t, Direction::device_to_host)
OHM_MATRIX_COPY(cublasSetMatrix, int, Direction::host_to_device)
OHM_MATRIX_COPY(cublasSetMatrix_64, std::int64_t, Direction::host_to_device)
OHM_MATRIX_COPY(cublasGetMatrix, int, Direction::device_to_host)
OHM_MATRIX_COPY(cublasGetMatrix_64, std::int64_t, Direction::device_to_host)
OHM_MATRIX_COPY_ON(cublasSetMatrixAsync, int, Direction::host_to_device)
OHM_MATRIX_COPY_ON(cublasSetMatrixAsync_64, std::int64_t, Direction::host_to_device)
OHM_MATRIX_COPY_ON(cublasGetMatrixAsync, int, Direction::device_to_host)
OHM_MATRIX_COPY_ON(cublasGetMatrixAsync_64, std::int64_t, Direction::device_to_host)
