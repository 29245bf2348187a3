# Programs of rpcgen, for tests and measurements.
find_program(RPCGEN rpcgen REQUIRED)

# rpc_program(DIR NAME [OPTION OF RPCGEN]...).  rpcgen does not overwrite.
function(rpc_program dir x)
  set(out)
  set(gen ${CMAKE_CURRENT_BINARY_DIR}/gen)
  file(MAKE_DIRECTORY ${gen})
  # One rule copies: the four that read the copy may run at the same time.
  add_custom_command(OUTPUT ${gen}/${x}.x
    COMMAND ${CMAKE_COMMAND} -E copy ${dir}/${x}.x ${gen}/${x}.x
    DEPENDS ${dir}/${x}.x VERBATIM)
  foreach(kind "-h .h" "-c _xdr.c" "-l _clnt.c" "-m _svc.c")
    separate_arguments(kind)
    list(GET kind 0 option)
    list(GET kind 1 suffix)
    add_custom_command(OUTPUT ${gen}/${x}${suffix}
      COMMAND ${CMAKE_COMMAND} -E rm -f ${x}${suffix}
      COMMAND ${RPCGEN} -C ${ARGN} ${option} -o ${x}${suffix} ${x}.x
      WORKING_DIRECTORY ${gen} DEPENDS ${gen}/${x}.x VERBATIM)
    list(APPEND out ${gen}/${x}${suffix})
  endforeach()
  add_library(rpc_${x} STATIC ${out})
  target_compile_options(rpc_${x} PRIVATE -w)
  target_include_directories(rpc_${x} SYSTEM PUBLIC ${gen})
  target_link_libraries(rpc_${x} PUBLIC PkgConfig::TIRPC)
endfunction()
