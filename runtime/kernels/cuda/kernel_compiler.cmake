# Why the kernels cannot be compiled; empty where they can. `nvcc` is the command with its options,
# or nothing where there is no toolkit; `folder` takes what is tried. A toolkit takes host compilers
# up to some version alone, and says so only when it is run: the build goes on without kernels.
function(ohm_why_no_kernels nvcc host_compiler folder out)
  set(${out} "" PARENT_SCOPE)
  if(NOT nvcc)
    set(${out} "no CUDA toolkit was found" PARENT_SCOPE)
    return()
  endif()
  set(probe ${folder}/nvcc_probe.cu)
  file(WRITE ${probe} "#include <cstddef>\n")
  execute_process(COMMAND ${nvcc} -ccbin ${host_compiler} -c -o ${probe}.o ${probe}
                  RESULT_VARIABLE failed OUTPUT_VARIABLE words ERROR_VARIABLE words)
  if(failed)
    string(STRIP "${words}" words)
    set(${out} "nvcc does not take ${host_compiler}: ${words}" PARENT_SCOPE)
  endif()
endfunction()
