# wheelsmith_exec_hook(OUT): the exec hook (src/governor/hook/exec_hook.c) as a shared library. OUT is set to the
# argument for wheelsmith_embed, which makes it the constant exec_hook_so. It is linked without any library of this
# machine, so that no symbol is versioned.

function(wheelsmith_exec_hook out)
  add_library(wheelsmith_dl_stub SHARED src/governor/hook/dl_stub.c)
  set_target_properties(wheelsmith_dl_stub PROPERTIES OUTPUT_NAME dl SOVERSION 2
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/hook)
  target_link_options(wheelsmith_dl_stub PRIVATE -nostdlib)
  add_library(wheelsmith_exec_hook MODULE src/governor/hook/exec_hook.c)
  set_target_properties(wheelsmith_exec_hook PROPERTIES PREFIX "" OUTPUT_NAME exec_hook
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/hook BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "" LINK_LIBRARIES "")
  target_include_directories(wheelsmith_exec_hook PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_options(wheelsmith_exec_hook PRIVATE -O2 -g0 -Wall -Wextra -fvisibility=hidden -fno-stack-protector
    -U_FORTIFY_SOURCE -fno-builtin $<$<BOOL:${WHEELSMITH_WERROR}>:-Werror>)
  target_link_options(wheelsmith_exec_hook PRIVATE -nostdlib -Wl,--no-as-needed $<TARGET_FILE:wheelsmith_dl_stub>
    -Wl,-z,lazy -Wl,--hash-style=both -Wl,-s)
  add_dependencies(wheelsmith_exec_hook wheelsmith_dl_stub)
  set(${out} exec_hook_so=$<TARGET_FILE:wheelsmith_exec_hook> PARENT_SCOPE)
endfunction()
