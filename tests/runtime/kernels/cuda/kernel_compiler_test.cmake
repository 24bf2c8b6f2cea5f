# cmake -P, with a FOLDER to write to: a host compiler that nvcc refuses leaves the kernels out, with
# nvcc's words, and what includes this goes on.
include(${CMAKE_CURRENT_LIST_DIR}/../../../../runtime/kernels/cuda/kernel_compiler.cmake)

file(REMOVE_RECURSE ${FOLDER})
set(nvcc ${FOLDER}/nvcc)
set(options -std=c++20 -O3)
# Takes g++ alone, as a toolkit does of the versions that it knows; says what it was asked.
file(WRITE ${nvcc} [=[#!/bin/sh
echo "$@" > "${0}.asked"
case "$*" in
  *"-ccbin g++ "*) exit 0 ;;
esac
echo "host_config.h:143: #error -- unsupported GNU version!" >&2
exit 1
]=])
file(CHMOD ${nvcc} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)

function(expect command host_compiler expected)
  ohm_why_no_kernels("${command}" ${host_compiler} ${FOLDER} why)
  if(NOT "${why}" STREQUAL "${expected}")
    message(SEND_ERROR "'${command}' with ${host_compiler}: '${why}' instead of '${expected}'")
  endif()
endfunction()

expect("${nvcc};${options}" g++ "")
file(READ ${nvcc}.asked asked)
set(probe ${FOLDER}/nvcc_probe.cu)
if(NOT asked STREQUAL "-std=c++20 -O3 -ccbin g++ -c -o ${probe}.o ${probe}\n")
  message(SEND_ERROR "nvcc was asked: ${asked}")
endif()
expect("${nvcc};${options}" g++-99
       "nvcc does not take g++-99: host_config.h:143: #error -- unsupported GNU version!")
expect("" g++ "no CUDA toolkit was found")
