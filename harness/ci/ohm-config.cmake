# find_package(ohm) in a project of your own:
#
#   enable_testing()
#   find_package(ohm REQUIRED)
#   ohm_add_scenario_test(leak SCENARIO tests/leak.lua)
#
# ohm_add_scenario_test(TEST SCENARIO FILE|NAME [ARGUMENTS ...] [REQUIRE_BASELINE])
#
# A test that runs `ohm run FILE ARGUMENTS...` and fails as it does: a problem that is not
# reproduced, a limit that does not hold, a baseline that is exceeded. FILE is relative to the
# source folder that calls; NAME is a scenario that comes with ohm. REQUIRE_BASELINE fails without a
# baseline beside the file, too. JUnit XML is written to ohm/TEST.xml in the build folder. Where a
# device or a feature is unavailable the test counts as skipped. OHM_EXECUTABLE names the program
# where it is not on the path.

get_filename_component(_ohm_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
find_program(OHM_EXECUTABLE ohm HINTS "${_ohm_prefix}/bin"
             DOC "The program that runs scenarios of ohm_add_scenario_test")
if(NOT OHM_EXECUTABLE)
  set(ohm_FOUND FALSE)
  set(ohm_NOT_FOUND_MESSAGE "the program is neither in ${_ohm_prefix}/bin nor on the path; set OHM_EXECUTABLE")
  return()
endif()

function(ohm_add_scenario_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "REQUIRE_BASELINE" "SCENARIO" "ARGUMENTS")
  if(NOT arg_SCENARIO)
    message(FATAL_ERROR "ohm_add_scenario_test(${name}): SCENARIO is missing")
  endif()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "ohm_add_scenario_test(${name}): \"${arg_UNPARSED_ARGUMENTS}\" is not known; "
                        "options of ohm run stand after ARGUMENTS")
  endif()
  cmake_path(ABSOLUTE_PATH arg_SCENARIO BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
             OUTPUT_VARIABLE path)
  if(EXISTS "${path}")
    cmake_path(GET path PARENT_PATH folder)
    cmake_path(GET path FILENAME file)
  elseif(arg_SCENARIO MATCHES "^[a-z][a-z0-9_]*$")
    set(folder "${CMAKE_CURRENT_SOURCE_DIR}")
    set(file "${arg_SCENARIO}")
  else()
    message(FATAL_ERROR "ohm_add_scenario_test(${name}): there is no ${path}")
  endif()
  set(report "${CMAKE_CURRENT_BINARY_DIR}/ohm/${name}.xml")
  file(MAKE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/ohm")
  set(baseline "")
  if(arg_REQUIRE_BASELINE)
    set(baseline --require-baseline)
  endif()
  add_test(NAME ${name}
    COMMAND "${OHM_EXECUTABLE}" run "${file}" ${baseline} --report "junit=${report}" ${arg_ARGUMENTS}
    WORKING_DIRECTORY "${folder}")
  # The exit code of ohm for "unavailable here".
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 6 LABELS ohm)
endfunction()
