// Status codes of CUDA's runtime and driver, which share their numbers. Other libraries have
// numbers of their own; 0 is success in all of them.
#pragma once

namespace ohm::interpose {

/// Those that the stand-in returns; status.def has all.
enum class Status : int {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  not_initialized = 3,
  invalid_configuration = 9,
  invalid_pitch = 12,
  invalid_symbol = 13,
  invalid_channel = 20,
  invalid_copy_direction = 21,
  invalid_device_function = 98,
  no_device = 100,
  invalid_device = 101,
  invalid_image = 200,
  invalid_context = 201,
  ecc_uncorrectable = 214,
  unsupported_limit = 215,
  invalid_ptx = 218,
  file_not_found = 301,
  operating_system = 304,
  invalid_handle = 400,
  illegal_state = 401,
  not_found = 500,
  not_ready = 600,
  illegal_address = 700,
  launch_timeout = 702,
  peer_access_already_enabled = 704,
  peer_access_not_enabled = 705,
  host_memory_already_registered = 712,
  host_memory_not_registered = 713,
  launch_failure = 719,
  cooperative_launch_too_large = 720,
  not_permitted = 800,
  not_supported = 801,
  capture_not_allowed = 900,
  capture_invalidated = 901,
  capture_unmatched = 903,
  capture_unjoined = 904,
  capture_implicit = 906,
  captured_event = 907,
  update_failure = 910,
  unknown = 999,
};

/// As cudaGetErrorName and cudaGetErrorString have it, in CUDA's words.
const char* name_of(Status status);
const char* text_of(Status status);
/// As cuGetErrorName has it; nullptr: the driver has no such code.
const char* driver_name_of(Status status);
/// nullptr: the driver has no such code.
const char* driver_text_of(Status status);

/// Keeps a failure for cudaGetLastError, per thread, unless it is a call of the driver. Gives it
/// back.
Status noted(Status status);
Status last_error();
void forget_last_error();

}  // namespace ohm::interpose
