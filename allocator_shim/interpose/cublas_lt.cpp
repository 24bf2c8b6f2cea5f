// cuBLASLt: descriptors keep the attributes that programs set, and give them back.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "allocator_shim/interpose/call_library.h"
#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/objects.h"

using namespace ohm::interpose;

namespace {

constexpr int kNoLtValue = invalid_argument_of(CallLibrary::cublas);
constexpr std::size_t kMostAttributes = 64;

/// Of a product, a matrix, preferences, a transformation. Attributes are numbers or pointers.
struct LtDescriptor {
  std::array<std::uint64_t, kMostAttributes> values;
  std::array<std::uint8_t, kMostAttributes> bytes;  ///< 0: it was not set
};

/// cublasLtMatrixLayoutAttribute_t.
enum LayoutAttribute : int {
  kLayoutType,
  kLayoutOrder,
  kLayoutRows,
  kLayoutColumns,
  kLayoutLeading,
  kLayoutBatches
};

template <typename Value>
void set_attribute_of(LtDescriptor& descriptor, int attribute, Value value) {
  const auto index = static_cast<std::size_t>(attribute);
  std::memcpy(&descriptor.values.at(index), &value, sizeof(value));
  descriptor.bytes.at(index) = sizeof(value);
}

bool is_attribute_value(int attribute, const void* value, std::size_t bytes) {
  return attribute >= 0 && static_cast<std::size_t>(attribute) < kMostAttributes &&
         value != nullptr && bytes > 0 && bytes <= sizeof(std::uint64_t);
}

/// What a program has in memory of its own (cublasLtMatmulDescInit) is not kept.
int set_lt_attribute(LtDescriptor* descriptor, int attribute, const void* value,
                     std::size_t bytes) {
  if (descriptor == nullptr || !is_attribute_value(attribute, value, bytes)) return kNoLtValue;
  if (!is_object(descriptor)) return kLibrarySuccess;
  const auto index = static_cast<std::size_t>(attribute);
  descriptor->values.at(index) = 0;
  std::memcpy(&descriptor->values.at(index), value, bytes);
  descriptor->bytes.at(index) = static_cast<std::uint8_t>(bytes);
  return kLibrarySuccess;
}

/// One that was not set is 0. With room for nothing, it is only asked how large it is.
int tell_lt_attribute(const LtDescriptor* descriptor, int attribute, void* value, std::size_t bytes,
                      std::size_t* written) {
  const bool is_known = is_object(descriptor) && attribute >= 0 &&
                        static_cast<std::size_t>(attribute) < kMostAttributes;
  if (!is_known) return kNoLtValue;
  const auto index = static_cast<std::size_t>(attribute);
  const std::size_t known = descriptor->bytes.at(index);
  if (bytes == 0) {
    if (written == nullptr) return kNoLtValue;
    *written = known;
    return kLibrarySuccess;
  }
  if (value == nullptr || bytes > sizeof(std::uint64_t) || (known != 0 && bytes < known)) {
    return kNoLtValue;
  }
  std::memcpy(value, &descriptor->values.at(index), bytes);
  if (written != nullptr) *written = known != 0 ? known : bytes;
  return kLibrarySuccess;
}

int clear_descriptor(void* descriptor, std::size_t bytes) {
  if (descriptor == nullptr) return kNoLtValue;
  std::memset(descriptor, 0, bytes);
  return kLibrarySuccess;
}

}  // namespace

OHM_EXPORTED int cublasLtMatrixLayoutCreate(void** layout, int type, std::uint64_t rows,
                                            std::uint64_t columns, std::int64_t leading) {
  OHM_LIBRARY_CALL(int);
  constexpr int kAllocationFailed = 3;
  if (layout == nullptr) return kNoLtValue;
  auto* const made = static_cast<LtDescriptor*>(create_object());
  if (made == nullptr) return kAllocationFailed;
  set_attribute_of(*made, kLayoutType, type);
  set_attribute_of(*made, kLayoutOrder, 0);
  set_attribute_of(*made, kLayoutRows, rows);
  set_attribute_of(*made, kLayoutColumns, columns);
  set_attribute_of(*made, kLayoutLeading, leading);
  set_attribute_of(*made, kLayoutBatches, 1);
  *layout = made;
  return kLibrarySuccess;
}

OHM_EXPORTED int cublasLtMatmulDescCreate(void** descriptor, int compute_type, int scale_type) {
  OHM_LIBRARY_CALL(int);
  constexpr int kAllocationFailed = 3;
  constexpr int kComputeType = 0;
  constexpr int kScaleType = 1;
  if (descriptor == nullptr) return kNoLtValue;
  auto* const made = static_cast<LtDescriptor*>(create_object());
  if (made == nullptr) return kAllocationFailed;
  set_attribute_of(*made, kComputeType, compute_type);
  set_attribute_of(*made, kScaleType, scale_type);
  *descriptor = made;
  return kLibrarySuccess;
}

OHM_EXPORTED int cublasLtMatrixLayoutSetAttribute(LtDescriptor* descriptor, int attribute,
                                                  const void* value, std::size_t bytes) {
  OHM_LIBRARY_CALL(int);
  return set_lt_attribute(descriptor, attribute, value, bytes);
}

OHM_EXPORTED int cublasLtMatrixLayoutGetAttribute(const LtDescriptor* descriptor, int attribute,
                                                  void* value, std::size_t bytes,
                                                  std::size_t* written) {
  OHM_LIBRARY_CALL(int);
  return tell_lt_attribute(descriptor, attribute, value, bytes, written);
}

OHM_EXPORTED int cublasLtMatmulDescSetAttribute(LtDescriptor* descriptor, int attribute,
                                                const void* value, std::size_t bytes) {
  OHM_LIBRARY_CALL(int);
  return set_lt_attribute(descriptor, attribute, value, bytes);
}

OHM_EXPORTED int cublasLtMatmulDescGetAttribute(const LtDescriptor* descriptor, int attribute,
                                                void* value, std::size_t bytes,
                                                std::size_t* written) {
  OHM_LIBRARY_CALL(int);
  return tell_lt_attribute(descriptor, attribute, value, bytes, written);
}

OHM_EXPORTED int cublasLtMatmulPreferenceSetAttribute(LtDescriptor* descriptor, int attribute,
                                                      const void* value, std::size_t bytes) {
  OHM_LIBRARY_CALL(int);
  return set_lt_attribute(descriptor, attribute, value, bytes);
}

OHM_EXPORTED int cublasLtMatmulPreferenceGetAttribute(const LtDescriptor* descriptor, int attribute,
                                                      void* value, std::size_t bytes,
                                                      std::size_t* written) {
  OHM_LIBRARY_CALL(int);
  return tell_lt_attribute(descriptor, attribute, value, bytes, written);
}

OHM_EXPORTED int cublasLtMatrixTransformDescSetAttribute(LtDescriptor* descriptor, int attribute,
                                                         const void* value, std::size_t bytes) {
  OHM_LIBRARY_CALL(int);
  return set_lt_attribute(descriptor, attribute, value, bytes);
}

OHM_EXPORTED int cublasLtMatrixTransformDescGetAttribute(const LtDescriptor* descriptor,
                                                         int attribute, void* value,
                                                         std::size_t bytes, std::size_t* written) {
  OHM_LIBRARY_CALL(int);
  return tell_lt_attribute(descriptor, attribute, value, bytes, written);
}

OHM_EXPORTED int cublasLtMatrixLayoutInit_internal(void* descriptor, std::size_t bytes,
                                                   int /*type*/, std::uint64_t /*rows*/,
                                                   std::uint64_t /*columns*/,
                                                   std::int64_t /*leading*/) {
  OHM_LIBRARY_CALL(int);
  return clear_descriptor(descriptor, bytes);
}

OHM_EXPORTED int cublasLtMatmulDescInit_internal(void* descriptor, std::size_t bytes,
                                                 int /*compute_type*/, int /*scale_type*/) {
  OHM_LIBRARY_CALL(int);
  return clear_descriptor(descriptor, bytes);
}

OHM_EXPORTED int cublasLtMatmulPreferenceInit_internal(void* descriptor, std::size_t bytes) {
  OHM_LIBRARY_CALL(int);
  return clear_descriptor(descriptor, bytes);
}

OHM_EXPORTED int cublasLtMatrixTransformDescInit_internal(void* descriptor, std::size_t bytes,
                                                          int /*scale_type*/) {
  OHM_LIBRARY_CALL(int);
  return clear_descriptor(descriptor, bytes);
}
