#!/bin/sh
# Compiles the BPF programs of bpf/ into objects/. Needed only after a change of
# their source: the objects are committed, so that users need no clang.
#
#   CLANG=clang-19 LLVM_STRIP=llvm-strip-19 ./build-objects.sh [OUTPUT-DIRECTORY]
#
# Any clang from 14 on will do. The headers of libbpf are those of the
# libbpf-sys crate this workspace links.
set -eu
cd "$(dirname "$0")"
output=${1:-objects}

newest() { # the named tool, or its newest versioned form
	for version in "" -21 -20 -19 -18 -17 -16 -15 -14; do
		if command -v "$1$version" >/dev/null 2>&1; then
			echo "$1$version"
			return
		fi
	done
	echo "build-objects.sh: $1 not found (Debian, Ubuntu: apt install clang llvm)" >&2
	exit 1
}
clang=${CLANG:-$(newest clang)}
strip=${LLVM_STRIP:-$(newest llvm-strip)}

manifest=$("${CARGO:-cargo}" metadata --format-version 1 |
	grep -o '"manifest_path":"[^"]*/libbpf-sys-[^"]*/Cargo.toml"' | head -n 1 | cut -d '"' -f 4)
headers=$(mktemp -d)
trap 'rm -rf "$headers"' EXIT
ln -s "$(dirname "$manifest")/libbpf/src" "$headers/bpf"

# The hash that tests/objects.rs recomputes: every file of bpf/ in byte order,
# each as its name, a newline and its content.
sum=$(cd bpf && for file in $(LC_ALL=C ls); do
	echo "$file"
	cat "$file"
done | sha256sum | cut -d ' ' -f 1)

mkdir -p "$output"
for source in bpf/*.bpf.c; do
	object=$output/$(basename "$source" .c).o
	"$clang" -target bpf -mcpu=v3 -O2 -g -Wall -Werror \
		-fdebug-prefix-map="$PWD=." -fdebug-prefix-map="$headers=." \
		-DLASTHOP_SOURCE_SHA256="\"$sum\"" \
		-I "$headers" -I "/usr/include/$(uname -m)-linux-gnu" \
		-c "$source" -o "$object"
	"$strip" -g "$object" # BTF, which the kernel needs, stays
done
(cd "$output" && {
	echo '{'
	echo "  \"compiler\": \"$("$clang" --version | head -n 1)\","
	echo "  \"sources\": \"$sum\","
	echo '  "objects": {'
	comma=
	for object in *.bpf.o; do
		printf '%s    "%s": "%s"' "$comma" "$object" "$(sha256sum "$object" | cut -d ' ' -f 1)"
		comma=',
'
	done
	printf '\n  }\n}\n'
} >manifest.json)
