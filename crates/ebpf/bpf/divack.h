/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* What the divack program and its loader (src/divack.rs) share. */
#pragma once

#include <linux/types.h>

/* Divacks of one ACK leave in one go, with interrupts' bottom halves held off:
 * about 0.1 ms for 64. More would delay everything else the processor does. */
#define MAX_COUNT 64

struct settings {
	__u64 max_count;	/* divacks a connection may send, when controlled */
	__u64 immediate_ns;	/* an ACK later than this after data is not divided; 0: all are */
	__u32 count;		/* divacks before each full ACK */
	__u32 controlled;	/* whether max_count applies */
	__u32 l2_bytes;		/* link-layer header: 14 on Ethernet, 0 on TUN */
	__u32 reserved;
};

struct counters {
	__u64 divided_acks;	/* divacks sent */
	__u64 divisions;	/* ACKs divided */
	__u64 clone_errors;	/* divacks that could not be made or were refused by the device */
};

struct flow_key {
	__u8 source[16];	/* IPv4 addresses in their IPv6-mapped form */
	__u8 destination[16];
	__be16 source_port;
	__be16 destination_port;
};

struct tally {
	__u64 divided_acks;	/* divacks sent for a flow, over all its connections */
};

struct flow {
	__u64 sent;		/* divacks sent */
	__u64 data_arrived_ns;	/* when data last arrived, CLOCK_MONOTONIC; 0: never */
	__u32 highest_ack;	/* highest number seen leave, valid once acked is set */
	__u32 acked;
};
