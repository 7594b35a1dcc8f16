# wheelsmith_embed(MODULE FILE OUT): the text file src/MODULE/data/x-y.toml becomes
#   extern const std::string_view wheelsmith::MODULE::data::x_y_toml;
# which the code that uses it declares; src/MODULE/data/folder/x.py becomes folder_x_py. OUT is set to the generated source.

set(wheelsmith_embed_script ${CMAKE_CURRENT_LIST_DIR}/embed_file.cmake)

function(wheelsmith_embed module file out)
  file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR}/src/${module}/data ${file})
  string(REGEX REPLACE "[^A-Za-z0-9]" "_" symbol ${path})
  set(generated ${PROJECT_BINARY_DIR}/generated/${module}_${symbol}.cc)
  add_custom_command(OUTPUT ${generated}
    COMMAND ${CMAKE_COMMAND} -DINPUT=${file} -DOUTPUT=${generated} -DMODULE=${module} -DSYMBOL=${symbol}
            -P ${wheelsmith_embed_script}
    DEPENDS ${file} ${wheelsmith_embed_script} VERBATIM)
  set(${out} ${generated} PARENT_SCOPE)
endfunction()
