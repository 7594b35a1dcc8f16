# wheelsmith_embed(MODULE OUT DATA… FILES symbol=file…): text files of src/MODULE/data become constants of the program,
# src/MODULE/data/x-y.toml
#   extern const std::string_view wheelsmith::MODULE::data::x_y_toml;
# which the code that uses it declares; src/MODULE/data/folder/x.py becomes folder_x_py. FILES are made by the build and
# come with their names. OUT is set to the generated source, one for a module.

set(wheelsmith_embed_script ${CMAKE_CURRENT_LIST_DIR}/embed_files.cmake)

function(wheelsmith_embed module out)
  cmake_parse_arguments(arg "" "" "FILES" ${ARGN})
  set(list "")
  foreach(file IN LISTS arg_UNPARSED_ARGUMENTS)
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR}/src/${module}/data ${file})
    string(REGEX REPLACE "[^A-Za-z0-9]" "_" symbol ${path})
    string(APPEND list "${symbol}=${file}\n")
  endforeach()
  set(made)
  foreach(pair IN LISTS arg_FILES)
    string(APPEND list "${pair}\n")
    string(REGEX REPLACE "^[^=]*=" "" file ${pair})
    list(APPEND made ${file})
  endforeach()
  set(generated ${PROJECT_BINARY_DIR}/generated/${module}_data.cc)
  set(names ${PROJECT_BINARY_DIR}/generated/${module}_data.txt)
  file(GENERATE OUTPUT ${names} CONTENT "${list}")
  add_custom_command(OUTPUT ${generated}
    COMMAND ${CMAKE_COMMAND} -DMODULE=${module} -DFILES=${names} -DOUTPUT=${generated} -P ${wheelsmith_embed_script}
    DEPENDS ${names} ${arg_UNPARSED_ARGUMENTS} ${made} ${wheelsmith_embed_script} VERBATIM
    COMMENT "Embedding the data of ${module}")
  set(${out} ${generated} PARENT_SCOPE)
endfunction()
