# Each folder of a module is compiled as one unit, its tests as another: headers are read once per folder instead of
# once per source, which dominates the time of a full build. So names in anonymous namespaces are unique in a folder
# (tests/source_names.py); sources still include what they use (make check-sources). Use WHEELSMITH_UNITY=OFF while
# working on one source.

option(WHEELSMITH_UNITY "Compile each folder of a module as one unit" ON)

# A unit has at most this many sources: two cores stay busy to the end, and no unit takes a minute.
set(wheelsmith_unit_size 12)

# wheelsmith_use_unity(TARGET SOURCE…)
function(wheelsmith_use_unity target)
  if(NOT WHEELSMITH_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # GCC treats the unit as a header, and a source's own declarations as visible to others.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  set(folders)
  foreach(source IN LISTS ARGN)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/src OUTPUT_VARIABLE name)
    string(REPLACE "/" "_" name ${name})
    list(APPEND folders ${name})
    list(APPEND sources_${name} ${source})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(name IN LISTS folders)
    # Units of about the same size, each of neighbours by name.
    list(LENGTH sources_${name} count)
    math(EXPR units "(${count} + ${wheelsmith_unit_size} - 1) / ${wheelsmith_unit_size}")
    set(index 0)
    foreach(source IN LISTS sources_${name})
      math(EXPR unit "${index} * ${units} / ${count} + 1")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${name}_${unit})
      math(EXPR index "${index} + 1")
    endforeach()
  endforeach()
endfunction()
