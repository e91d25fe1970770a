// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* The kernel's TCP state, at every segment that arrives and at every
 * retransmission and change of state, into a ring buffer.
 *
 * tp_btf tracepoints need neither tracefs nor kprobes. tcp_probe fires before
 * the segment is processed, and only in ESTABLISHED: a sender that has sent its
 * FIN is no longer seen there. */
#include "lasthop.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_tracing.h>
#include "kernel_types.h"
#include "tcp_trace.h"

#define AF_INET 2
#define AF_INET6 10
#define TCP_ESTABLISHED 1

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

/* Not taken from the socket's state field: the state tracepoint fires before
 * it changes. */
static __always_inline void record(const struct sock *sk, __u32 kind, __u32 value)
{
	const struct sock_common *common = &sk->__sk_common;
	__u32 netns = common->skc_net.net->ns.inum;
	__u16 local = common->skc_num, remote = bpf_ntohs(common->skc_dport);
	struct sample *sample;
	struct tcp_sock *tp;

	if (only.port && local != only.port && remote != only.port)
		return;
	if (only.namespaces && !bpf_map_lookup_elem(&namespaces, &netns))
		return;
	tp = (void *)bpf_skc_to_tcp_sock((void *)sk);
	if (!tp)
		return;
	sample = bpf_ringbuf_reserve(&samples, sizeof(*sample), 0);
	if (!sample) {
		__sync_fetch_and_add(&lost, 1);
		return;
	}
	sample->time_ns = bpf_ktime_get_ns();
	sample->socket = bpf_get_socket_cookie((void *)sk);
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

SEC("tp_btf/tcp_probe")
int BPF_PROG(trace_segment, struct sock *sk)
{
	record(sk, SAMPLE_SEGMENT, 0);
	return 0;
}

SEC("tp_btf/tcp_retransmit_skb")
int BPF_PROG(trace_retransmit, const struct sock *sk)
{
	record(sk, SAMPLE_RETRANSMIT, 0);
	return 0;
}

SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(trace_state, const struct sock *sk, int old, int new)
{
	if (sk->sk_protocol == IPPROTO_TCP)
		record(sk, SAMPLE_STATE, new);
	return 0;
}

SEC("tp_btf/tcp_cong_state_set")
int BPF_PROG(trace_congestion, struct sock *sk, __u8 state)
{
	record(sk, SAMPLE_CONGESTION, state);
	return 0;
}
