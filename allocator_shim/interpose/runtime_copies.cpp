// CUDA's runtime: copies and fills, and what code of the device calls its variables.
#include <cstddef>

#include "allocator_shim/interpose/copies.h"
#include "allocator_shim/interpose/device_variables.h"
#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/status.h"

using namespace ohm::interpose;

namespace {

constexpr int kDirections = static_cast<int>(Direction::unified) + 1;

/// Calls do(direction) where there is one of this number.
template <typename Do>
Status in_direction(int kind, Do&& act) {
  if (kind < 0 || kind >= kDirections) return noted(Status::invalid_copy_direction);
  return noted(act(static_cast<Direction>(kind)));
}

Status check_peers(int to_device, int from_device) {
  const bool are_there = gpus().has(to_device) && gpus().has(from_device);
  return are_there ? Status::success : Status::invalid_device;
}

}  // namespace

OHM_EXPORTED Status cudaMemcpy(void* to, const void* from, std::size_t bytes, int kind) {
  OHM_RUNTIME_CALL;
  return in_direction(kind, [&](Direction way) {
    return waited_for(way, [&] { return copy(to, from, bytes, way); });
  });
}

OHM_EXPORTED Status cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, int kind,
                                    Stream* stream) {
  OHM_RUNTIME_CALL;
  return in_direction(kind, [&](Direction way) { return copy_on(stream, to, from, bytes, way); });
}

OHM_EXPORTED Status cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                        std::size_t bytes, Stream* stream) {
  OHM_RUNTIME_CALL;
  const Status peers = check_peers(to_device, from_device);
  if (peers != Status::success) return noted(peers);
  return noted(
      on_stream(stream, [=] { return copy(to, from, bytes, Direction::device_to_device); }));
}

OHM_EXPORTED Status cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                                   std::size_t bytes) {
  OHM_RUNTIME_CALL;
  return cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, nullptr);
}

OHM_EXPORTED Status cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from,
                                 std::size_t from_pitch, std::size_t width, std::size_t height,
                                 int kind) {
  OHM_RUNTIME_CALL;
  return in_direction(kind, [&](Direction way) {
    return waited_for(
        way, [&] { return copy_rows(to, to_pitch, from, from_pitch, width, height, way); });
  });
}

OHM_EXPORTED Status cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                                      std::size_t from_pitch, std::size_t width, std::size_t height,
                                      int kind, Stream* stream) {
  OHM_RUNTIME_CALL;
  return in_direction(kind, [&](Direction way) {
    return on_stream(stream,
                     [=] { return copy_rows(to, to_pitch, from, from_pitch, width, height, way); });
  });
}

OHM_EXPORTED Status cudaMemset(void* to, int byte, std::size_t bytes) {
  OHM_RUNTIME_CALL;
  return noted(on_stream(
      nullptr, [=] { return fill(to, byte, bytes); }, NodeType::fill));
}

OHM_EXPORTED Status cudaMemsetAsync(void* to, int byte, std::size_t bytes, Stream* stream) {
  OHM_RUNTIME_CALL;
  return noted(on_stream(
      stream, [=] { return fill(to, byte, bytes); }, NodeType::fill));
}

OHM_EXPORTED Status cudaMemset2D(void* to, std::size_t pitch, int byte, std::size_t width,
                                 std::size_t height) {
  OHM_RUNTIME_CALL;
  return noted(on_stream(
      nullptr, [=] { return fill_rows(to, pitch, byte, width, height); }, NodeType::fill));
}

OHM_EXPORTED Status cudaMemset2DAsync(void* to, std::size_t pitch, int byte, std::size_t width,
                                      std::size_t height, Stream* stream) {
  OHM_RUNTIME_CALL;
  return noted(on_stream(
      stream, [=] { return fill_rows(to, pitch, byte, width, height); }, NodeType::fill));
}

OHM_EXPORTED void __cudaRegisterVar(void** /*image*/, char* symbol, char* /*device_address*/,
                                    const char* /*name*/, int /*is_extern*/, std::size_t bytes,
                                    int /*is_constant*/, int /*is_global*/) {
  register_variable(symbol, bytes);
}

OHM_EXPORTED void __cudaRegisterManagedVar(void** /*image*/, void** place, char* /*device_address*/,
                                           const char* /*name*/, int /*is_extern*/,
                                           std::size_t bytes, int /*is_constant*/,
                                           int /*is_global*/) {
  register_managed_variable(place, bytes);
}

/// Host code calls it before it uses a managed variable.
OHM_EXPORTED char __cudaInitModule(void** /*image*/) {
  adopt_managed_variables();
  return 1;
}

OHM_EXPORTED Status cudaGetSymbolAddress(void** address, const void* symbol) {
  OHM_RUNTIME_CALL;
  if (address == nullptr) return noted(Status::invalid_value);
  const auto variable = find_variable(symbol);
  if (!variable) return noted(Status::invalid_symbol);
  *address = variable->address;
  return Status::success;
}

OHM_EXPORTED Status cudaGetSymbolSize(std::size_t* bytes, const void* symbol) {
  OHM_RUNTIME_CALL;
  if (bytes == nullptr) return noted(Status::invalid_value);
  const auto variable = find_variable(symbol);
  if (!variable) return noted(Status::invalid_symbol);
  *bytes = variable->bytes;
  return Status::success;
}

namespace {

/// Where a part of a variable is; nullptr: it has no such part.
std::byte* part_of(const DeviceVariable& variable, std::size_t offset, std::size_t bytes) {
  const bool fits = offset <= variable.bytes && bytes <= variable.bytes - offset;
  return fits ? variable.address + offset : nullptr;
}

Status copy_to_symbol(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                      Direction direction) {
  const auto variable = find_variable(symbol);
  if (!variable) return Status::invalid_symbol;
  const bool is_to_device =
      direction != Direction::host_to_host && direction != Direction::device_to_host;
  if (!is_to_device) return Status::invalid_copy_direction;
  return copy(part_of(*variable, offset, bytes), from, bytes, direction);
}

Status copy_from_symbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                        Direction direction) {
  const auto variable = find_variable(symbol);
  if (!variable) return Status::invalid_symbol;
  const bool is_from_device =
      direction != Direction::host_to_host && direction != Direction::host_to_device;
  if (!is_from_device) return Status::invalid_copy_direction;
  return copy(to, part_of(*variable, offset, bytes), bytes, direction);
}

}  // namespace

OHM_EXPORTED Status cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes,
                                       std::size_t offset, int kind) {
  OHM_RUNTIME_CALL;
  return in_direction(kind, [&](Direction way) {
    return waited_for(way, [&] { return copy_to_symbol(symbol, from, bytes, offset, way); });
  });
}

OHM_EXPORTED Status cudaMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t bytes,
                                            std::size_t offset, int kind, Stream* stream) {
  OHM_RUNTIME_CALL;
  return in_direction(kind, [&](Direction way) {
    return on_stream(stream, [=] { return copy_to_symbol(symbol, from, bytes, offset, way); });
  });
}

OHM_EXPORTED Status cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes,
                                         std::size_t offset, int kind) {
  OHM_RUNTIME_CALL;
  return in_direction(kind, [&](Direction way) {
    return waited_for(way, [&] { return copy_from_symbol(to, symbol, bytes, offset, way); });
  });
}

OHM_EXPORTED Status cudaMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t bytes,
                                              std::size_t offset, int kind, Stream* stream) {
  OHM_RUNTIME_CALL;
  return in_direction(kind, [&](Direction way) {
    return on_stream(stream, [=] { return copy_from_symbol(to, symbol, bytes, offset, way); });
  });
}
