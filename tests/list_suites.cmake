# The ctest entries of a GoogleTest program, one for each suite:
#
#   cmake -D PROGRAM=runtime_tests -D LIST=suites.cmake -D FOLDER=. [-D LABELS=whole] -P list_suites.cmake
#
# A process takes longer to start than most tests take.
execute_process(COMMAND ${PROGRAM} --gtest_list_tests OUTPUT_VARIABLE listed RESULT_VARIABLE status
                WORKING_DIRECTORY ${FOLDER} TIMEOUT 60)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} does not list its tests: ${status}\n${listed}")
endif()
string(REGEX MATCHALL "(^|\n)[^ \n]+\\.( +#|\n)" suites "${listed}")
set(entries "")
foreach(line IN LISTS suites)
  string(REGEX REPLACE "^\n?([^ \n]+)\\..*" "\\1" suite "${line}")
  string(APPEND entries
         "add_test([=[${suite}]=] \"${PROGRAM}\" \"--gtest_filter=${suite}.*\" --gtest_brief=1)\n"
         "set_tests_properties([=[${suite}]=] PROPERTIES TIMEOUT 900 LABELS \"${LABELS}\""
         " WORKING_DIRECTORY \"${FOLDER}\")\n")
endforeach()
file(WRITE ${LIST} "${entries}")
