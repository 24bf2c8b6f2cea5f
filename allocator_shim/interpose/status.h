// Status codes of CUDA's runtime and driver, which share their numbers. Other libraries have
// numbers of their own; 0 is success in all of them.
#pragma once

namespace ohm::interpose {

enum class Status : int {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  not_initialized = 3,
  no_device = 100,
  invalid_device = 101,
  invalid_handle = 400,
  not_found = 500,
  not_ready = 600,
  peer_access_already_enabled = 704,
  not_supported = 801,
  capture_not_allowed = 900,
  capture_invalidated = 901,
  unknown = 999,
};

/// As cudaGetErrorName and cudaGetErrorString have it, in CUDA's words.
const char* name_of(Status status);
const char* text_of(Status status);

/// Keeps a failure for cudaGetLastError, per thread. Gives it back.
Status noted(Status status);
Status last_error();
void forget_last_error();

}  // namespace ohm::interpose
