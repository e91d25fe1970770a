/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* What the trace program and its loader (src/trace.rs) share. */
#pragma once

#include <linux/types.h>

enum sample_kind {
	SAMPLE_SEGMENT = 0,	/* a segment arrived; values are those it found */
	SAMPLE_RETRANSMIT = 1,	/* value: total retransmissions so far */
	SAMPLE_STATE = 2,	/* value: the new TCP state */
	SAMPLE_CONGESTION = 3,	/* value: the new congestion state */
	SAMPLE_SENT = 4,	/* a segment leaves in a state in which SAMPLE_SEGMENT is silent */
};

struct sample {
	__u64 time_ns;		/* CLOCK_MONOTONIC */
	__u64 socket;		/* socket cookie */
	__u32 netns;		/* inode of the network namespace */
	__u32 kind;
	__u32 value;		/* meaning by kind */
	__u16 local_port;
	__u16 remote_port;
	__u32 cwnd;		/* segments */
	__u32 ssthresh;		/* segments; 0x7fffffff when never set */
	__u32 mss;		/* bytes */
	__u32 rwnd;		/* bytes */
	__u32 srtt_us8;		/* microseconds times 8 */
	__u32 rto_ticks;	/* jiffies */
	__u32 packets_out;	/* segments: sent and not yet acknowledged */
	__u32 sacked_out;
	__u32 lost_out;
	__u32 retrans_out;
	__u32 snd_una;
	__u32 snd_nxt;
	__u32 congestion_state;
	__u32 reserved;
};
