# find_package(quaver): the target quaver::quaver, a static library, and quaver::shared where there is one.
#
# For a board, QUAVER_CORE names the library: a folder of lib, such as cortex-m4f. A toolchain file sets it.
get_filename_component(_quaver_root "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

if(QUAVER_CORE)
  set(_quaver_library "${_quaver_root}/lib/${QUAVER_CORE}")
elseif(CMAKE_SYSTEM_NAME STREQUAL "Generic")
  set(quaver_FOUND FALSE)
  file(GLOB _quaver_cores RELATIVE "${_quaver_root}/lib" "${_quaver_root}/lib/*/libquaver.a")
  set(quaver_NOT_FOUND_MESSAGE "set QUAVER_CORE to the library of the core; there are: ${_quaver_cores}")
  return()
else()
  set(_quaver_library "${_quaver_root}/lib/@HOST@")
  string(TOLOWER "${CMAKE_SYSTEM_PROCESSOR}-${CMAKE_SYSTEM_NAME}" _quaver_host)
  if(NOT _quaver_host STREQUAL "@HOST_PROCESSOR@-@HOST_SYSTEM@")
    set(quaver_FOUND FALSE)
    set(quaver_NOT_FOUND_MESSAGE "the package has no library for ${_quaver_host}; build one with cargo xtask dist")
    return()
  endif()
endif()

if(NOT EXISTS "${_quaver_library}/libquaver.a")
  set(quaver_FOUND FALSE)
  set(quaver_NOT_FOUND_MESSAGE "there is no ${_quaver_library}/libquaver.a")
  return()
endif()

if(NOT TARGET quaver::quaver)
  add_library(quaver::quaver STATIC IMPORTED)
  set_target_properties(quaver::quaver PROPERTIES
    IMPORTED_LOCATION "${_quaver_library}/libquaver.a"
    INTERFACE_INCLUDE_DIRECTORIES "${_quaver_root}/include")
endif()
if(EXISTS "${_quaver_library}/libquaver.so" AND NOT TARGET quaver::shared)
  add_library(quaver::shared SHARED IMPORTED)
  set_target_properties(quaver::shared PROPERTIES
    IMPORTED_LOCATION "${_quaver_library}/libquaver.so"
    IMPORTED_NO_SONAME TRUE
    INTERFACE_INCLUDE_DIRECTORIES "${_quaver_root}/include")
endif()
set(quaver_FOUND TRUE)
