# Runs the example project as its users would: configures it, runs its tests, then breaks its
# scenario and requires the test to fail.
#
# cmake -D OHM=program -D CONFIG=folder of ohm-config.cmake -D SOURCE=example -D WORK=folder -P ...

function(run expected)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if((expected STREQUAL "passes" AND NOT code EQUAL 0) OR (expected STREQUAL "fails" AND code EQUAL 0))
    message(FATAL_ERROR "${ARGN}: exit ${code}, but it ${expected}\n${out}")
  endif()
  set(output "${out}" PARENT_SCOPE)
endfunction()

function(expect text part)
  string(FIND "${text}" "${part}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "\"${part}\" is not in\n${text}")
  endif()
endfunction()

file(REMOVE_RECURSE "${WORK}")
file(COPY "${SOURCE}/" DESTINATION "${WORK}/source")
set(configure "${CMAKE_COMMAND}" -S "${WORK}/source" -B "${WORK}/build" "-Dohm_DIR=${CONFIG}"
              "-DOHM_EXECUTABLE=${OHM}")
set(test "${CMAKE_CTEST_COMMAND}" --test-dir "${WORK}/build" --output-on-failure)

run(passes ${configure})
run(passes ${test})
expect("${output}" "100% tests passed, 0 tests failed out of 3")
file(READ "${WORK}/build/ohm/sum_of_losses.xml" junit)
expect("${junit}" "tests=\"2\" failures=\"0\"")

# The fix is lost: item() is forgotten.
file(READ "${WORK}/source/sum_of_losses.lua" scenario)
string(REPLACE "l:item()" "l" scenario "${scenario}")
file(WRITE "${WORK}/source/sum_of_losses.lua" "${scenario}")
run(fails ${test})
expect("${output}" "growth_bytes_per_step == 0")

# Mistakes in a call are told when the project is configured.
file(APPEND "${WORK}/source/CMakeLists.txt" "ohm_add_scenario_test(lost SCENARIO lost.lua)\n")
run(fails ${configure})
expect("${output}" "there is no")
