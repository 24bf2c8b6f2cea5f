// CUDA's runtime: textures and surfaces. Kernels compute nothing, so all that they hold is what
// programs ask about them; what they are made of is checked.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "allocator_shim/interpose/arrays.h"
#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/handle_pool.h"
#include "allocator_shim/interpose/status.h"

using namespace ohm::interpose;

namespace {

/// What of cudaResourceDesc is common to the versions of CUDA: in that of 13 flags follow.
struct Resource {
  enum class Type : int { array, mipmapped_array, linear, pitched } type;
  union {
    Array* array;
    MipmappedArray* mipmapped_array;
    struct {
      void* pointer;
      ChannelFormat format;
      std::size_t bytes;
    } linear;
    struct {
      void* pointer;
      ChannelFormat format;
      std::size_t width, height, pitch;
    } pitched;
  };
};

/// cudaTextureDesc and cudaResourceViewDesc, which are only given back.
using TextureSettings = std::array<std::uint32_t, 18>;
using ResourceView = std::array<std::uint64_t, 14>;

struct Texture {
  Resource resource = {};
  TextureSettings settings = {};
  std::optional<ResourceView> view;
};
struct Surface {
  Resource resource = {};
};
using TextureHandle = std::uint64_t;

HandlePool<Texture>& textures() {
  static HandlePool<Texture> pool;
  return pool;
}

HandlePool<Surface>& surfaces() {
  static HandlePool<Surface> pool;
  return pool;
}

template <typename Object>
Object* object_of(TextureHandle handle) {
  return reinterpret_cast<Object*>(handle);
}

template <typename Object>
TextureHandle handle_of(const Object* object) {
  return reinterpret_cast<TextureHandle>(object);
}

bool is_device_memory(const void* pointer, std::size_t bytes) {
  const Place place = gpus().place_of(pointer, bytes);
  return bytes > 0 && (place == Place::device || place == Place::managed);
}

Status check(const Resource& resource) {
  switch (resource.type) {
    case Resource::Type::array:
      return arrays().is_alive(resource.array) ? Status::success : Status::invalid_value;
    case Resource::Type::linear: {
      const auto& memory = resource.linear;
      return is_device_memory(memory.pointer, memory.bytes) ? Status::success
                                                            : Status::invalid_value;
    }
    case Resource::Type::pitched: {
      const auto& memory = resource.pitched;
      std::size_t bytes = 0;
      if (__builtin_mul_overflow(memory.pitch, memory.height, &bytes)) return Status::invalid_value;
      return is_device_memory(memory.pointer, bytes) ? Status::success : Status::invalid_value;
    }
    case Resource::Type::mipmapped_array:
      return mipmapped_arrays().is_alive(resource.mipmapped_array) ? Status::success
                                                                   : Status::invalid_value;
  }
  return Status::invalid_value;
}

/// A texture or a surface of what was checked.
template <typename Object>
Status create(HandlePool<Object>& pool, TextureHandle* handle, const Object& made_of) {
  const Object* const made = pool.create(made_of);
  if (made == nullptr) return noted(Status::out_of_memory);
  *handle = handle_of(made);
  return Status::success;
}

template <typename Object>
Status destroy(HandlePool<Object>& pool, TextureHandle handle) {
  return noted(pool.destroy(object_of<Object>(handle)) ? Status::success : Status::invalid_value);
}

template <typename Object>
Status resource_of(HandlePool<Object>& pool, Resource* resource, TextureHandle handle) {
  const auto* const object = object_of<Object>(handle);
  if (resource == nullptr || !pool.is_alive(object)) return noted(Status::invalid_value);
  *resource = object->resource;
  return Status::success;
}

}  // namespace

OHM_EXPORTED Status cudaCreateTextureObject(TextureHandle* handle, const Resource* resource,
                                            const TextureSettings* settings,
                                            const ResourceView* view) {
  OHM_RUNTIME_CALL;
  if (handle == nullptr || resource == nullptr || settings == nullptr) {
    return noted(Status::invalid_value);
  }
  const Status status = check(*resource);
  if (status != Status::success) return noted(status);
  return create(textures(), handle,
                {*resource, *settings, view != nullptr ? std::optional(*view) : std::nullopt});
}

OHM_EXPORTED Status cudaDestroyTextureObject(TextureHandle handle) {
  OHM_RUNTIME_CALL;
  return destroy(textures(), handle);
}

OHM_EXPORTED Status cudaGetTextureObjectResourceDesc(Resource* resource, TextureHandle handle) {
  OHM_RUNTIME_CALL;
  return resource_of(textures(), resource, handle);
}

OHM_EXPORTED Status cudaGetTextureObjectTextureDesc(TextureSettings* settings,
                                                    TextureHandle handle) {
  OHM_RUNTIME_CALL;
  const auto* const texture = object_of<Texture>(handle);
  if (settings == nullptr || !textures().is_alive(texture)) return noted(Status::invalid_value);
  *settings = texture->settings;
  return Status::success;
}

OHM_EXPORTED Status cudaGetTextureObjectResourceViewDesc(ResourceView* view, TextureHandle handle) {
  OHM_RUNTIME_CALL;
  const auto* const texture = object_of<Texture>(handle);
  if (view == nullptr || !textures().is_alive(texture) || !texture->view) {
    return noted(Status::invalid_value);
  }
  *view = *texture->view;
  return Status::success;
}

OHM_EXPORTED Status cudaCreateSurfaceObject(TextureHandle* handle, const Resource* resource) {
  OHM_RUNTIME_CALL;
  if (handle == nullptr || resource == nullptr) return noted(Status::invalid_value);
  const bool is_writable = resource->type == Resource::Type::array &&
                           arrays().is_alive(resource->array) &&
                           (resource->array->flags & kArraySurface) != 0;
  if (!is_writable) return noted(Status::invalid_value);
  return create(surfaces(), handle, {*resource});
}

OHM_EXPORTED Status cudaDestroySurfaceObject(TextureHandle handle) {
  OHM_RUNTIME_CALL;
  return destroy(surfaces(), handle);
}

OHM_EXPORTED Status cudaGetSurfaceObjectResourceDesc(Resource* resource, TextureHandle handle) {
  OHM_RUNTIME_CALL;
  return resource_of(surfaces(), resource, handle);
}
