# wheelsmith_exec_stub(OUT): the relative-exec stub (src/rocm/stub/exec_stub.c) as a static program without a C library.
# OUT is set to the argument for wheelsmith_embed, which makes it the constant exec_stub.

function(wheelsmith_exec_stub out)
  add_executable(wheelsmith_exec_stub src/rocm/stub/exec_stub.c)
  set_target_properties(wheelsmith_exec_stub PROPERTIES OUTPUT_NAME exec_stub LINK_LIBRARIES "" POSITION_INDEPENDENT_CODE OFF
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/hook)
  target_compile_options(wheelsmith_exec_stub PRIVATE -Os -g0 -Wall -Wextra -ffreestanding -fno-builtin -fno-stack-protector
    -fno-pie -fno-asynchronous-unwind-tables $<$<C_COMPILER_ID:GNU>:-fno-tree-loop-distribute-patterns>
    -U_FORTIFY_SOURCE     $<$<BOOL:${WHEELSMITH_WERROR}>:-Werror>)
  target_link_options(wheelsmith_exec_stub PRIVATE -nostdlib -static -no-pie -Wl,--build-id=none -Wl,-z,noseparate-code
    -Wl,-z,noexecstack -Wl,-s)
  set(${out} exec_stub=$<TARGET_FILE:wheelsmith_exec_stub> PARENT_SCOPE)
endfunction()
