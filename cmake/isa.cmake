# Files named *.isa.cpp are the only ones compiled for more than the baseline processor. Each is compiled once per
# instruction set, as its own object library bandgp_isa_<name>, with BANDGP_ISA=<name> naming its namespace.

set(BANDGP_ISA_FLAGS_base "")
set(BANDGP_ISA_FLAGS_avx2 -mavx2 -mfma -mbmi -mbmi2 -mf16c)
set(BANDGP_ISA_FLAGS_avx512 -mavx512f -mavx512vl -mavx512dq -mavx512bw -mavx512cd ${BANDGP_ISA_FLAGS_avx2}
                            -mprefer-vector-width=512)

set(BANDGP_ISA_EXTRA_FLAGS "" CACHE STRING "Compiler flags of the files *.isa.cpp alone")

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$")
  set(BANDGP_ISAS base avx2 avx512)
else()
  set(BANDGP_ISAS base)
endif()

# bandgp_add_isa_objects(<library> <source>...): compiles the sources for every instruction set into the library.
function(bandgp_add_isa_objects library)
  if(BANDGP_ISAS STREQUAL "base")
    target_compile_definitions(${library} PRIVATE BANDGP_ONLY_BASE)
  endif()
  if(NOT ARGN)
    return()
  endif()
  foreach(isa IN LISTS BANDGP_ISAS)
    set(objects bandgp_isa_${isa})
    add_library(${objects} OBJECT ${ARGN})
    # These files are vectorised by hand. GCC 12's own vectoriser on top dropped whole loops of stores
    # (windows<4> of basis/grid_kernels.isa.cpp became an empty function; -fno-tree-pta helps as well).
    target_compile_options(${objects} PRIVATE ${BANDGP_ISA_FLAGS_${isa}} -fno-tree-vectorize ${BANDGP_ISA_EXTRA_FLAGS})
    # Highway takes its target from the flags. It would want AES and carry-less multiplication for AVX2; we use neither.
    target_compile_definitions(${objects} PRIVATE BANDGP_ISA=${isa} HWY_COMPILE_ONLY_STATIC HWY_DISABLE_PCLMUL_AES)
    target_include_directories(${objects} PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_include_directories(${objects} SYSTEM PRIVATE ${BANDGP_HWY_INCLUDE_DIR})
    target_sources(${library} PRIVATE $<TARGET_OBJECTS:${objects}>)
  endforeach()
endfunction()
