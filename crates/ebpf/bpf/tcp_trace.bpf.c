// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* The kernel's TCP state, at every segment that arrives and at every
 * retransmission and change of state, into a ring buffer.
 *
 * tp_btf tracepoints need neither tracefs nor kprobes. tcp_probe fires before
 * the segment is processed, and only in ESTABLISHED: a sender whose application
 * has closed, with most of a file still to send, is no longer seen there. From
 * then on it is watched where its segments leave. */
#include "lasthop.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_tracing.h>
#include "kernel_types.h"
#include "tcp_trace.h"

/* One variable: the loader writes it at the start of .rodata. */
const volatile struct {
	__u16 port;		/* local or remote; 0: any */
	__u8 namespaces;	/* whether only those in the map `namespaces` */
} only = {};

/* Samples that found the ring buffer full. */
__u64 lost = 0;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 22);
} samples SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);	/* inode */
	__type(value, __u8);
} namespaces SEC(".maps");

static __always_inline void record(const struct tcp_sock *tp, __u64 cookie, __u32 kind, __u32 value)
{
	const struct sock_common *common = &tp->inet_conn.icsk_inet.sk.__sk_common;
	__u32 netns = common->skc_net.net->ns.inum;
	__u16 local = common->skc_num, remote = bpf_ntohs(common->skc_dport);
	struct sample *sample;

	if (only.port && local != only.port && remote != only.port)
		return;
	if (only.namespaces && !bpf_map_lookup_elem(&namespaces, &netns))
		return;
	sample = bpf_ringbuf_reserve(&samples, sizeof(*sample), 0);
	if (!sample) {
		__sync_fetch_and_add(&lost, 1);
		return;
	}
	sample->time_ns = bpf_ktime_get_ns();
	sample->socket = cookie;
	sample->netns = netns;
	sample->kind = kind;
	sample->value = kind == SAMPLE_RETRANSMIT ? tp->total_retrans : value;
	sample->local_port = local;
	sample->remote_port = remote;
	sample->cwnd = tp->snd_cwnd;
	sample->ssthresh = tp->snd_ssthresh;
	sample->mss = tp->mss_cache;
	sample->rwnd = tp->snd_wnd;
	sample->srtt_us8 = tp->srtt_us;
	sample->rto_ticks = tp->inet_conn.icsk_rto;
	sample->packets_out = tp->packets_out;
	sample->sacked_out = tp->sacked_out;
	sample->lost_out = tp->lost_out;
	sample->retrans_out = tp->retrans_out;
	sample->snd_una = tp->snd_una;
	sample->snd_nxt = tp->snd_nxt;
	sample->congestion_state = BPF_CORE_READ_BITFIELD(&tp->inet_conn, icsk_ca_state);
	sample->reserved = 0;
	bpf_ringbuf_submit(sample, 0);
}

/* For sockets the verifier knows to be valid. */
static __always_inline void record_socket(const struct sock *sk, __u32 kind, __u32 value)
{
	const struct tcp_sock *tp = (void *)bpf_skc_to_tcp_sock((void *)sk);

	/* Null when it is no full TCP socket. */
	if (tp)
		record(tp, bpf_get_socket_cookie((void *)sk), kind, value);
}

SEC("tp_btf/tcp_probe")
int BPF_PROG(trace_segment, struct sock *sk)
{
	record_socket(sk, SAMPLE_SEGMENT, 0);
	return 0;
}

SEC("tp_btf/tcp_retransmit_skb")
int BPF_PROG(trace_retransmit, const struct sock *sk)
{
	record_socket(sk, SAMPLE_RETRANSMIT, 0);
	return 0;
}

SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(trace_state, const struct sock *sk, int old, int new)
{
	record_socket(sk, SAMPLE_STATE, new);
	return 0;
}

SEC("tp_btf/tcp_cong_state_set")
int BPF_PROG(trace_congestion, struct sock *sk, __u8 state)
{
	record_socket(sk, SAMPLE_CONGESTION, state);
	return 0;
}

SEC("tp_btf/net_dev_queue")
int BPF_PROG(trace_sent, struct sk_buff *skb)
{
	const struct sock *sk = skb->sk;
	const struct tcp_sock *tp;
	__u64 cookie;

	if (!sk || sk->sk_protocol != IPPROTO_TCP)
		return 0;
	switch (sk->__sk_common.skc_state) {
	case TCP_FIN_WAIT1:
	case TCP_CLOSE_WAIT:
	case TCP_LAST_ACK:
	case TCP_CLOSING:
		/* Full sockets, but the helper that says so takes no pointer found
		 * in a packet. */
		tp = bpf_core_cast(sk, struct tcp_sock);
		cookie = tp->inet_conn.icsk_inet.sk.__sk_common.skc_cookie.counter;
		/* One that no earlier sample named would have no beginning. */
		if (cookie)
			record(tp, cookie, SAMPLE_SENT, 0);
	}
	return 0;
}
