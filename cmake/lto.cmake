# Link-time optimisation: the work of a call is spread over small functions of many files.
option(RR_LTO "optimise across files (GCC)" OFF)
if(RR_LTO AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
  # Fat objects: the archive also has code for linkers without this optimisation.
  add_compile_options(-flto=auto -ffat-lto-objects)
  add_link_options(-flto=auto)
endif()
