# OHM_PORTABLE: every library but glibc is linked statically, and one build runs on all
# distributions. Included before the dependencies are looked for.
set(ZLIB_USE_STATIC_LIBS ON)
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)

# ohm_use_static_fmt(): sets ohm_fmt to a static library of fmt. Debian has only a shared one, and
# fmt's source in its headers.
function(ohm_use_static_fmt)
  get_target_property(type fmt::fmt TYPE)
  if(type STREQUAL "SHARED_LIBRARY")
    add_library(ohm_fmt STATIC ${PROJECT_SOURCE_DIR}/python/packaging/fmt_library.cpp)
    # With the definitions of the shared library ccache finds the objects of an ordinary build.
    target_compile_definitions(ohm_fmt PUBLIC
      $<TARGET_PROPERTY:fmt::fmt,INTERFACE_COMPILE_DEFINITIONS>)
    target_compile_features(ohm_fmt PUBLIC cxx_std_20)
    set(ohm_fmt ohm_fmt PARENT_SCOPE)
  endif()
endfunction()

# ohm_link_portably(TARGET): TARGET needs nothing but glibc, from version 2.28 on.
function(ohm_link_portably target)
  set(glibc ${PROJECT_SOURCE_DIR}/python/packaging/glibc.cpp)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    list(APPEND glibc ${PROJECT_SOURCE_DIR}/python/packaging/program_start.cpp)
  endif()
  target_sources(${target} PRIVATE ${glibc})
  # Functions that nothing calls are left out.
  set_source_files_properties(${glibc} PROPERTIES
    COMPILE_OPTIONS "-O2;-fno-builtin;-fno-exceptions;-ffunction-sections;-fdata-sections;-fvisibility=hidden"
    SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
  target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc LINKER:--gc-sections)
  # Threads and the loader were libraries of their own before glibc 2.34.
  target_link_libraries(${target} PRIVATE
    -Wl,--push-state,--no-as-needed -l:libpthread.so.0 -l:libdl.so.2 -Wl,--pop-state)
endfunction()

# ohm_ship_openblas(PROGRAM): the two functions of OpenBLAS that PROGRAM opens at run time. They have
# a folder of their own: PROGRAM must not find the stand-ins of CUDA's libraries.
function(ohm_ship_openblas program)
  file(WRITE ${PROJECT_BINARY_DIR}/openblas.cpp "")
  add_library(ohm_openblas SHARED ${PROJECT_BINARY_DIR}/openblas.cpp)
  set_target_properties(ohm_openblas PROPERTIES OUTPUT_NAME openblas SOVERSION 0
                        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/blas)
  target_link_options(ohm_openblas PRIVATE -Wl,-u,cblas_sgemm -Wl,-u,cblas_dgemm
    -Wl,--version-script=${PROJECT_SOURCE_DIR}/python/packaging/openblas.map)
  target_link_libraries(ohm_openblas PRIVATE PkgConfig::OPENBLAS Threads::Threads)
  ohm_link_portably(ohm_openblas)
  add_dependencies(${program} ohm_openblas)
  set(folder ${CMAKE_INSTALL_LIBDIR}/ohm/blas)
  install(TARGETS ohm_openblas LIBRARY DESTINATION ${folder} NAMELINK_SKIP)
  cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_LIBDIR BASE_DIRECTORY ${CMAKE_INSTALL_FULL_BINDIR}
             OUTPUT_VARIABLE libraries)
  set_target_properties(${program} PROPERTIES BUILD_RPATH ${PROJECT_BINARY_DIR}/blas
                        INSTALL_RPATH "$ORIGIN/${libraries}/ohm/blas")
endfunction()

# ohm_ship_licenses(): the licenses of the linked libraries, from Debian's packages.
function(ohm_ship_licenses)
  foreach(package IN ITEMS libfmt-dev liblua5.4-dev libopenblas-dev zlib1g-dev nlohmann-json3-dev
                           libcli11-dev)
    if(EXISTS /usr/share/doc/${package}/copyright)
      install(FILES /usr/share/doc/${package}/copyright RENAME ${package}
              DESTINATION ${CMAKE_INSTALL_DOCDIR}/licenses)
    endif()
  endforeach()
endfunction()
