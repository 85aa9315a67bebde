#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# deps.sh PACKAGE... - installs those Debian packages that are missing; asks apt once, and not at all when none is.
set -eu
missing=
for p in "$@"; do
	dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null | grep -qx installed || missing="$missing $p"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" -ne 0 ]; then
	echo "make deps: these packages are missing, and only root can install them:$missing" >&2
	exit 1
fi
echo "installing:$missing"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086
exec apt-get install -y -qq --no-install-recommends $missing
