# Link-time optimisation: the work of a call is spread over small functions of many files.
option(RR_LTO "optimise across files (GCC)" OFF)
if(RR_LTO AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
  # Fat objects: the archive also has code for linkers without this optimisation.
  add_compile_options(-flto=auto -ffat-lto-objects)
  add_link_options(-flto=auto)
  # On x86, GCC clears and copies structs of some hundred octets by "rep stos" and "rep movs",
  # which take dozens of cycles to start.  The linker needs the options too: it makes the code.
  # The limit for copies is low, because it also holds for lengths that are not constant.
  include(CheckCCompilerFlag)
  set(rr_by_vectors -mmemset-strategy=vector_loop:512:noalign,libcall:-1:noalign
    -mmemcpy-strategy=vector_loop:192:noalign,libcall:-1:noalign)
  check_c_compiler_flag("${rr_by_vectors}" RR_HAS_MEM_STRATEGIES)
  if(RR_HAS_MEM_STRATEGIES)
    add_compile_options(${rr_by_vectors})
    add_link_options(${rr_by_vectors})
  endif()
endif()
