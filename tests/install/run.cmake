# Installs the build tree BUILD_DIR into a fresh prefix, builds this folder against it and runs the result.
set(work ${BUILD_DIR}/install_test)
file(REMOVE_RECURSE ${work})

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${work}/prefix)
run(${CMAKE_COMMAND} -G ${GENERATOR} -S ${CMAKE_CURRENT_LIST_DIR} -B ${work}/build
    -D CMAKE_PREFIX_PATH=${work}/prefix -D CMAKE_CXX_COMPILER=${CXX} -D CMAKE_BUILD_TYPE=Release)
run(${CMAKE_COMMAND} --build ${work}/build)

execute_process(COMMAND ${work}/build/consumer ${CMAKE_CURRENT_LIST_DIR}/../../data/sunspots.csv
                OUTPUT_VARIABLE printed OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
if(NOT printed MATCHES "^[0-9.]+, within [0-9.e-]+ of the exact GP$")
  message(FATAL_ERROR "the consumer printed \"${printed}\"")
endif()

foreach(file share/man/man1/bandgp.1 share/bash-completion/completions/bandgp share/zsh/site-functions/_bandgp
             share/fish/vendor_completions.d/bandgp.fish)
  file(READ ${work}/prefix/${file} text LIMIT 1000)
  if(NOT text MATCHES "bandgp")
    message(FATAL_ERROR "${file} is not what it should be")
  endif()
endforeach()

file(GLOB_RECURSE package_files ${work}/prefix/*.cmake)
foreach(file IN LISTS package_files)
  file(STRINGS ${file} leaked REGEX "${BUILD_DIR}")
  if(leaked)
    message(FATAL_ERROR "${file} names the build tree: ${leaked}")
  endif()
endforeach()
