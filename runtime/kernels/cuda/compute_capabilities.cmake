# The compute capabilities that nvidia-smi answered with: "90;80" of a line for each card. Words
# about a driver that does not work have numbers too.
function(ohm_compute_capabilities answer out)
  set(capabilities "")
  string(REGEX REPLACE "[\r\n]+" ";" lines "${answer}")
  foreach(line IN LISTS lines)
    if(line MATCHES "^ *([0-9]+)\\.([0-9]) *$")
      list(APPEND capabilities ${CMAKE_MATCH_1}${CMAKE_MATCH_2})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES capabilities)
  set(${out} "${capabilities}" PARENT_SCOPE)
endfunction()
