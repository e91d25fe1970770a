/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* What every program here includes: the helpers, the mark of the source an
 * object was built from, and the licence the kernel asks for. */
#pragma once

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#ifndef LASTHOP_SOURCE_SHA256
#error "build with build-objects.sh, which marks the object with the hash of its sources"
#endif

/* Not a section libbpf knows, so it loads nothing: it is there to be compared
 * with the sources by a test. */
const char lasthop_source[] SEC(".lasthop.source") __attribute__((used)) =
	"lasthop-source-sha256=" LASTHOP_SOURCE_SHA256;

/* struct_ops, tp_btf and most helpers are for GPL-compatible programs only. */
char LICENSE[] SEC("license") = "Dual BSD/GPL";
