#!/usr/bin/env bash
# run.sh NODE TEST.mjs: skips (77) where there is no browser to test in.
set -euo pipefail
CHROMIUM=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || true)}
if [[ -z $CHROMIUM ]]; then
  echo "skipped: no chromium here; ./dev setup browser installs it"
  exit 77
fi
export CHROMIUM
exec "$1" --test "$2"
