// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* A congestion control that counts ACKs, as the stacks of the divacks' time
 * did: slow start opens the window by one segment per ACK that acknowledges
 * anything new, avoidance by 1/cwnd (Ciminieri 2013, section 6.3.2; RFC 2581
 * before RFC 3465). The kernel's own congestion controls count whole segments,
 * so divided ACKs leave them unmoved.
 *
 * The window grows in in_ack_event, which sees every ACK, and cong_avoid does
 * nothing; without cong_control the kernel keeps recovery (PRR), undo and the
 * reaction to timeouts. */
#include "lasthop.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
#include "kernel_types.h"

/* Grow only while the window is what limits the sender (RFC 7661's concern;
 * tcp_is_cwnd_limited in the kernel). Off in the source's sender. */
const volatile __u8 only_when_limited = 0;

struct tcp_congestion_ops {
	char name[16];		/* first: the loader writes it there */
	void (*init)(struct sock *sk);
	__u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
	void (*in_ack_event)(struct sock *sk, __u32 flags);
	__u32 (*undo_cwnd)(struct sock *sk);
};

/* Lives in icsk_ca_priv. An ACK can come before init: the handshake's last. */
struct memory {
	__u32 una;
	__u32 ready;
};

#define memory_of(tp) ((struct memory *)(tp)->inet_conn.icsk_ca_priv)

static __always_inline struct tcp_sock *tcp_of(struct sock *sk)
{
	return (struct tcp_sock *)sk;
}

SEC("struct_ops/init")
void BPF_PROG(per_ack_init, struct sock *sk)
{
	struct tcp_sock *tp = tcp_of(sk);
	struct memory *memory = memory_of(tp);

	memory->una = tp->snd_una;
	memory->ready = 1;
}

SEC("struct_ops/ssthresh")
__u32 BPF_PROG(per_ack_ssthresh, struct sock *sk)
{
	__u32 half = tcp_of(sk)->snd_cwnd / 2;

	return half > 2 ? half : 2;
}

SEC("struct_ops/cong_avoid")
void BPF_PROG(per_ack_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
}

static __always_inline int is_limited(struct tcp_sock *tp)
{
	if (BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited))
		return 1;
	return tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out;
}

SEC("struct_ops/in_ack_event")
void BPF_PROG(per_ack_in_ack_event, struct sock *sk, __u32 flags)
{
	struct tcp_sock *tp = tcp_of(sk);
	struct memory *memory = memory_of(tp);
	__u32 cwnd, count;
	__s32 new_bytes;
	int state;

	if (!memory->ready)
		return;
	new_bytes = (__s32)(tp->snd_una - memory->una);
	memory->una = tp->snd_una;
	if (new_bytes <= 0)
		return;
	state = BPF_CORE_READ_BITFIELD(&tp->inet_conn, icsk_ca_state);
	/* There the window belongs to the kernel's rate reduction. */
	if (state == TCP_CA_CWR || state == TCP_CA_Recovery)
		return;
	if (only_when_limited && !is_limited(tp))
		return;
	cwnd = tp->snd_cwnd;
	if (cwnd >= tp->snd_cwnd_clamp)
		return;
	if (cwnd < tp->snd_ssthresh) {
		tp->snd_cwnd = cwnd + 1;
		return;
	}
	count = tp->snd_cwnd_cnt + 1;
	if (count >= cwnd) {
		count = 0;
		tp->snd_cwnd = cwnd + 1;
	}
	tp->snd_cwnd_cnt = count;
}

SEC("struct_ops/undo_cwnd")
__u32 BPF_PROG(per_ack_undo_cwnd, struct sock *sk)
{
	struct tcp_sock *tp = tcp_of(sk);

	return tp->snd_cwnd > tp->prior_cwnd ? tp->snd_cwnd : tp->prior_cwnd;
}

SEC(".struct_ops.link")
struct tcp_congestion_ops per_ack = {
	.name = "lasthop_peracks",
	.init = (void *)per_ack_init,
	.ssthresh = (void *)per_ack_ssthresh,
	.cong_avoid = (void *)per_ack_cong_avoid,
	.in_ack_event = (void *)per_ack_in_ack_event,
	.undo_cwnd = (void *)per_ack_undo_cwnd,
};

_Static_assert(__builtin_offsetof(struct tcp_congestion_ops, name) == 0, "the loader writes the name at offset 0");
_Static_assert(sizeof(struct memory) <= sizeof(((struct inet_connection_sock *)0)->icsk_ca_priv), "fits icsk_ca_priv");
