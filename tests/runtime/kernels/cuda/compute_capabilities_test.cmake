# cmake -P: what nvidia-smi answers, and the compute capabilities in it.
include(${CMAKE_CURRENT_LIST_DIR}/../../../../runtime/kernels/cuda/compute_capabilities.cmake)

function(expect answer expected)
  ohm_compute_capabilities("${answer}" found)
  if(NOT "${found}" STREQUAL "${expected}")
    message(SEND_ERROR "'${answer}': '${found}' instead of '${expected}'")
  endif()
endfunction()

expect("" "")
expect("9.0\n" "90")
expect("8.0\n8.0\n12.1\r\n" "80;121")
expect("Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 580.65\n" "")
expect("580.65\n" "")
expect("[N/A]\n 7.5 \n" "75")
