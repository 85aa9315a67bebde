#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# layers.sh - prints every #include that departs from tools/layers.txt; silence is good.
set -eu
cd "$(dirname "$0")/.."
{
	grep -v '^#' tools/layers.txt | sed 's/^/T|/'
	find bpf maps userspace tools bench tests -name '*.[ch]' -print0 | sort -z |
		xargs -0 grep -HnE '^[[:space:]]*#[[:space:]]*include' | sed 's/^/I|/'
} | awk -F'|' '
function trim(s) { gsub(/^[ \t]+|[ \t]+$/, "", s); return s }
function room_of(path,  p, n) {
	n = split(path, p, "/")
	if (p[1] != "userspace") return p[1]
	return n == 2 ? path : p[1] "/" p[2]
}
# Headers of the C library and of POSIX are everybody`s.
function is_libc(h) {
	return h ~ /^(assert|ctype|dirent|errno|fcntl|getopt|glob|grp|ifaddrs|inttypes|limits|locale|malloc|math|netdb|poll|pthread|pwd|sched|semaphore|setjmp|signal|stdalign|stdarg|stdatomic|stdbool|stddef|stdint|stdio|stdlib|string|strings|syslog|termios|threads|time|unistd|wchar)\.h$/ ||
	       h ~ /^(arpa|net|netinet|netpacket)\// || (h ~ /^sys\// && h != "sys/capability.h")
}
function may(list, what,  a, n, i) {
	n = split(list, a, /[ \t]+/)
	for (i = 1; i <= n; i++)
		if (a[i] == "*" || (a[i] != "" && index(what, a[i]) == 1)) return 1
	return 0
}
function may_room(list, what,  a, n, i) {
	n = split(list, a, /[ \t]+/)
	for (i = 1; i <= n; i++)
		if (a[i] == "*" || a[i] == what) return 1
	return 0
}
$1 == "T" { r = trim($2); if (r != "") { rooms[r] = trim($3); foreign[r] = trim($4); known[r] = 1 } next }
{
	line = $0; sub(/^I\|/, "", line)
	split(line, f, ":"); path = f[1]; room = room_of(path)
	where = f[1] ":" f[2]
	if (!(room in known)) { if (room !~ /^userspace\//) print where ": the folder has no row in tools/layers.txt"; next }
	if (match(line, /<[^>]*>/)) {
		h = substr(line, RSTART + 1, RLENGTH - 2)
		if (room == "maps" || room == "bpf") { if (!may(foreign[room], h)) print where ": <" h "> is foreign to " room }
		else if (!is_libc(h) && !may(foreign[room], h)) print where ": <" h "> is foreign to " room
	} else if (match(line, /"[^"]*"/)) {
		h = substr(line, RSTART + 1, RLENGTH - 2)
		if (h ~ /\.skel\.h$/) target = "skel"
		else if (h ~ /\//) { target = h; sub(/\/.*/, "", target) }
		else { print where ": \"" h "\" is not written from the root of its world"; next }
		own = room; sub(/^userspace\//, "", own)
		if (target == "tests" || target == own) next
		if (!may_room(rooms[room], target)) print where ": " room " may not include " target
	}
}'
