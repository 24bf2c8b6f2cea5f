# Recordings are stored compressed, as tests/golden/NAME.tar.xz, and pinned by tests/golden/SHA256SUMS.
# Tests read a recording as the folder build/PRESET/tests/golden/NAME: the archive's files, and links
# to those that lie readable in tests/golden/NAME. tests/comparisons/golden_archives.py writes them.

# ohm_check_hash(GOLDEN NAME PINNED): stops when the archive is not the one that was pinned.
function(ohm_check_hash golden name pinned)
  file(SHA256 ${golden}/${name}.tar.xz digest)
  if(NOT digest STREQUAL pinned)
    message(FATAL_ERROR "${golden}/${name}.tar.xz does not match ${golden}/SHA256SUMS: its hash is "
                        "${digest}, pinned is ${pinned}")
  endif()
endfunction()

# ohm_unpack_recording(GOLDEN NAME PINNED FOLDER): again only when the archive has changed.
function(ohm_unpack_recording golden name pinned folder)
  ohm_check_hash(${golden} ${name} ${pinned})
  set(stamp ${folder}.sha256)
  set(unpacked "")
  if(EXISTS ${stamp})
    file(READ ${stamp} unpacked)
  endif()
  if(NOT unpacked STREQUAL pinned)
    file(REMOVE_RECURSE ${folder})
    file(ARCHIVE_EXTRACT INPUT ${golden}/${name}.tar.xz DESTINATION ${folder} TOUCH)
    file(WRITE ${stamp} ${pinned})
  endif()
endfunction()

# ohm_link_readable_files(READABLE FOLDER): links in FOLDER to the files in READABLE, and no others.
function(ohm_link_readable_files readable folder)
  file(GLOB_RECURSE present ${folder}/*)
  foreach(path IN LISTS present)
    if(IS_SYMLINK ${path})
      file(REMOVE ${path})
    endif()
  endforeach()
  file(GLOB_RECURSE files RELATIVE ${readable} ${readable}/*)
  foreach(file IN LISTS files)
    cmake_path(GET file PARENT_PATH parent)
    file(MAKE_DIRECTORY ${folder}/${parent})
    file(CREATE_LINK ${readable}/${file} ${folder}/${file} SYMBOLIC)
  endforeach()
endfunction()

# ohm_unpack_recordings(GOLDEN FOLDER): all that are pinned.
function(ohm_unpack_recordings golden folder)
  file(STRINGS ${golden}/SHA256SUMS lines)
  foreach(line IN LISTS lines)
    string(REGEX MATCH "^([0-9a-f]+)  (.*)\\.tar\\.xz$" _ ${line})
    set(name ${CMAKE_MATCH_2})
    ohm_unpack_recording(${golden} ${name} ${CMAKE_MATCH_1} ${folder}/${name})
    ohm_link_readable_files(${golden}/${name} ${folder}/${name})
    if(NOT CMAKE_SCRIPT_MODE_FILE)
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${golden}/${name}.tar.xz)
    endif()
  endforeach()
  if(NOT CMAKE_SCRIPT_MODE_FILE)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${golden}/SHA256SUMS)
  endif()
endfunction()

# cmake -D GOLDEN=... -D FOLDER=... -P golden.cmake
if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  ohm_unpack_recordings(${GOLDEN} ${FOLDER})
endif()
