# Writes the man pages and the completions of PROGRAM to FOLDER, when it is installed. EMULATOR runs
# it where it is for another processor.
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})

# page(FILE WORDS...): what the program prints when it is called with these words.
function(page file)
  execute_process(COMMAND ${EMULATOR} ${PROGRAM} ${ARGN} OUTPUT_FILE ${FOLDER}/${file}
                  COMMAND_ERROR_IS_FATAL ANY)
endfunction()

foreach(shell IN ITEMS bash zsh fish)
  page(${shell} completion ${shell})
endforeach()
# The commands that the program itself offers.
execute_process(COMMAND ${EMULATOR} ${PROGRAM} completion -- ohm help "" OUTPUT_VARIABLE offers
                COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "(^|\n)[a-z-]+" commands "${offers}")
foreach(command IN LISTS commands)
  string(STRIP "${command}" command)
  page(ohm-${command}.1 help --man ${command})
endforeach()
page(ohm.1 help --man)
