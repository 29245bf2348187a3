add_compile_options(
  -Wall -Wextra -Wvla -Wmissing-prototypes -Wstrict-prototypes -Wpointer-arith
  -Wshadow -Wundef -Wno-unused-parameter -Wno-missing-field-initializers -fno-strict-overflow)
option(RR_WERROR "warnings are errors" OFF)
if(RR_WERROR)
  add_compile_options(-Werror)
endif()
