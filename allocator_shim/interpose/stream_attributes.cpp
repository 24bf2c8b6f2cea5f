// CUDA's runtime and driver: attributes of streams, which are given back as they were set.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/objects.h"
#include "allocator_shim/interpose/status.h"

using namespace ohm::interpose;

namespace {

/// cudaLaunchAttributeID, of those that streams have.
enum class StreamAttribute : int {
  access_policy = 1,
  synchronization_policy = 3,
  priority = 8,
  domain_map = 9,
  domain = 10
};

/// Where it is kept; nullopt: streams have none of this number.
std::optional<std::size_t> index_of(int attribute) {
  switch (static_cast<StreamAttribute>(attribute)) {
    case StreamAttribute::access_policy:
      return 0;
    case StreamAttribute::synchronization_policy:
      return 1;
    case StreamAttribute::domain_map:
      return 2;
    case StreamAttribute::domain:
      return 3;
    case StreamAttribute::priority:
      return 4;
  }
  return std::nullopt;
}

StreamAttributes initial_attributes() {
  constexpr std::uint32_t kAutomatic = 1;
  constexpr std::array<unsigned char, 2> kDomains = {0, 1};
  StreamAttributes made = {};
  std::memcpy(made.at(*index_of(static_cast<int>(StreamAttribute::synchronization_policy))).data(),
              &kAutomatic, sizeof(kAutomatic));
  std::memcpy(made.at(*index_of(static_cast<int>(StreamAttribute::domain_map))).data(),
              kDomains.data(), kDomains.size());
  return made;
}

/// Those of the default streams are one stream's.
StreamAttributes& attributes_of(Stream* stream) {
  static StreamAttributes of_default = initial_attributes();
  if (is_default(stream)) return of_default;
  if (!stream->attributes) stream->attributes = initial_attributes();
  return *stream->attributes;
}

Status get_attribute(Stream* stream, int attribute, void* value) {
  const auto index = index_of(attribute);
  if (!is_stream(stream)) return Status::invalid_handle;
  if (!index || value == nullptr) return Status::invalid_value;
  StreamAttributeValue known = attributes_of(stream).at(*index);
  if (static_cast<StreamAttribute>(attribute) == StreamAttribute::priority) {
    const int priority = is_default(stream) ? 0 : stream->priority;
    std::memcpy(known.data(), &priority, sizeof(priority));
  }
  std::memcpy(value, known.data(), sizeof(known));
  return Status::success;
}

Status set_attribute(Stream* stream, int attribute, const void* value) {
  const auto index = index_of(attribute);
  if (!is_stream(stream)) return Status::invalid_handle;
  if (!index || value == nullptr) return Status::invalid_value;
  StreamAttributeValue& known = attributes_of(stream).at(*index);
  std::memcpy(known.data(), value, sizeof(known));
  return Status::success;
}

Status copy_attributes(Stream* to, Stream* from) {
  if (!is_stream(to) || !is_stream(from)) return Status::invalid_handle;
  attributes_of(to) = attributes_of(from);
  return Status::success;
}

}  // namespace

OHM_EXPORTED Status cudaStreamGetAttribute(Stream* stream, int attribute, void* value) {
  OHM_RUNTIME_CALL;
  return noted(get_attribute(stream, attribute, value));
}

OHM_EXPORTED Status cudaStreamSetAttribute(Stream* stream, int attribute, const void* value) {
  OHM_RUNTIME_CALL;
  return noted(set_attribute(stream, attribute, value));
}

OHM_EXPORTED Status cudaStreamCopyAttributes(Stream* to, Stream* from) {
  OHM_RUNTIME_CALL;
  return noted(copy_attributes(to, from));
}

OHM_EXPORTED Status cuStreamGetAttribute(Stream* stream, int attribute, void* value) {
  OHM_CONTEXT_CALL;
  return get_attribute(stream, attribute, value);
}

OHM_EXPORTED Status cuStreamSetAttribute(Stream* stream, int attribute, const void* value) {
  OHM_CONTEXT_CALL;
  return set_attribute(stream, attribute, value);
}

OHM_EXPORTED Status cuStreamCopyAttributes(Stream* to, Stream* from) {
  OHM_CONTEXT_CALL;
  return copy_attributes(to, from);
}
