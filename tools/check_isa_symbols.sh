#!/usr/bin/env bash
# check_isa_symbols.sh NM OBJECT...
#
# Fails if an object compiled for AVX2 or AVX-512 defines a symbol that the linker may merge with one of the same name
# elsewhere (weak functions W w, weak data V v, unique u): the whole program could then end up with, say, an AVX2 copy
# of an inline function from a standard header, and crash on older processors. Names inside an instruction set's own
# namespace cannot meet others. Also allowed are two helpers the compilers add for exceptions: a pointer, and a call
# of std::terminate.
set -euo pipefail

nm=${1:?usage: check_isa_symbols.sh NM OBJECT...}
shift
(($# > 0)) || { echo "check_isa_symbols: no objects given" >&2; exit 2; }

own='N_AVX2|N_AVX3|isa_avx2|isa_avx512|DW\.ref\.__gxx_personality_v0|__clang_call_terminate'
bad=0
for object in "$@"; do
  symbols=$("$nm" --defined-only "$object" | awk -v own="$own" 'NF == 3 && $2 ~ /^[WwVvu]$/ && $3 !~ own { print $3 }')
  if [[ -n $symbols ]]; then
    bad=1
    printf '%s defines symbols that other objects may share:\n' "$(basename -- "$object")" >&2
    c++filt <<<"$symbols" | sed 's/^/  /' >&2
  fi
done
exit "$bad"
