#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# install.sh [-u] BUILD DESTDIR PREFIX - puts Millrace into place, or with -u takes it away.
#
# Nothing under /etc/millrace is ever overwritten or removed: a file that is
# there already stays, and the new one is put beside it as NAME.new when they
# differ.  Nothing is started and no user is made here: that is said at the end.
set -eu
cd "$(dirname "$0")/.."
remove=
if [ "${1:-}" = -u ]; then
	remove=1
	shift
fi
if [ $# -ne 3 ]; then
	echo "usage: install.sh [-u] BUILD DESTDIR PREFIX" >&2
	exit 2
fi
B=$1 D=$2 P=$3
case $P in
/*) ;;
*) echo "install.sh: PREFIX must be an absolute path, not \"$P\"" >&2; exit 2 ;;
esac

# put MODE FROM TO: install one file, or remove it.
put() {
	if [ "$remove" ]; then
		rm -f "$D$3"
	else
		install -D -m "$1" "$2" "$D$3"
	fi
}

# keep FROM TO: a file that belongs to the operator once it is there.
keep() {
	[ -z "$remove" ] || return 0
	if [ ! -e "$D$2" ]; then
		install -D -m 644 "$1" "$D$2"
	elif ! cmp -s "$1" "$D$2"; then
		install -m 644 "$1" "$D$2.new"
		echo "$D$2 is kept; the new one is $D$2.new"
	fi
}

for f in millraced millctl; do
	if [ -z "$remove" ] && [ ! -x "$B/$f" ]; then
		echo "install.sh: $B/$f is not built" >&2
		exit 1
	fi
done
put 755 "$B/millraced" "$P/sbin/millraced"
put 755 "$B/millctl" "$P/bin/millctl"

unit=$(mktemp)
trap 'rm -f "$unit"' EXIT
sed "s|@PREFIX@|$P|g" tools/packaging/millrace.service >"$unit"
put 644 "$unit" "$P/lib/systemd/system/millrace.service"
put 644 tools/packaging/millrace.sysusers "$P/lib/sysusers.d/millrace.conf"
put 644 tools/packaging/millrace.tmpfiles "$P/lib/tmpfiles.d/millrace.conf"
for f in docs/man/*.[1-8]; do
	put 644 "$f" "$P/share/man/man${f##*.}/${f##*/}"
done
keep tools/packaging/millrace.yaml /etc/millrace/millrace.yaml
keep tools/packaging/lists/starter.txt /etc/millrace/lists/starter.txt

if [ -z "$remove" ] && [ -z "$D" ]; then
	cat <<-'EOF'
	Installed.  To make the user and its folders, and to start:
	  systemd-sysusers && systemd-tmpfiles --create millrace.conf
	  systemctl daemon-reload && systemctl enable --now millrace
	EOF
fi
