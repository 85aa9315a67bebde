#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# deps.sh PACKAGE... - installs those Debian packages that are missing; asks apt once, and not at all when none is.
#
# A service that comes with one of them is neither started nor enabled: some are
# servers that the tests start for themselves, and port 53 may be somebody's.  What
# was installed before stays as it was.
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
# Debian asks this file whether a service may be started; 101 is no.
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
	trap 'rm -f $policy' EXIT
	trap 'exit 1' INT TERM HUP
	printf '#!/bin/sh\nexit 101\n' >$policy
	chmod 755 $policy
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086
apt-get install -y -qq --no-install-recommends $missing
# shellcheck disable=SC2086
units=$(dpkg -L $missing | sed -nE 's#.*/systemd/system/([^/@]*[.](service|socket|target|timer))$#\1#p' | sort -u)
if [ -n "$units" ] && command -v systemctl >/dev/null; then
	# shellcheck disable=SC2086
	systemctl disable $units
fi
