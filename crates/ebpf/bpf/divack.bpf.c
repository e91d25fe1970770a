// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* Divided acknowledgements at the receiver's interface.
 *
 * Where the receiver's stack sends an ACK numbered A, A-n, ..., A-1, A leave
 * (Ciminieri 2013, equation 6.1). The rules are those of the user-space agent
 * `divacks`, packet for packet; a test compares the two.
 *
 * Only byte helpers touch the packet: checksum updates, stores and clones
 * invalidate packet pointers. */
#include "lasthop.h"
#include <bpf/bpf_endian.h>
#include "divack.h"

#define ETHERTYPE_IPV4 0x0800
#define ETHERTYPE_IPV6 0x86dd
#define IPPROTO_TCP 6

#define FLAG_FIN 0x01
#define FLAG_SYN 0x02
#define FLAG_RST 0x04
#define FLAG_ACK 0x10

/* Offsets within the TCP header. */
#define TCP_ACK_NUMBER 8
#define TCP_CHECKSUM 16

/* No window is larger (RFC 7323 section 2.3): an ACK that advances further
 * belongs to a connection whose start was missed. */
#define MAX_ADVANCE (1 << 30)

/* Let the packet go on to the next program, qdisc or device. Direct action
 * and tcx spell it with the same number. */
#define PASS (-1)

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct settings);
} settings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct counters);
} counters SEC(".maps");

/* Keyed by the ACKs' own source and destination. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct flow_key);
	__type(value, struct flow);
} flows SEC(".maps");

/* Divacks of each connection whose ACKs were divided. Apart from its state,
 * which a new connection of the same ports resets and a crowd of others evicts.
 * When full, further connections count in the counters only. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, struct flow_key);
	__type(value, struct tally);
} tallies SEC(".maps");

/* The fields of a TCP packet the decision rests on. */
struct view {
	struct flow_key key;
	__u32 tcp;		/* offset of the TCP header */
	__u32 ack;
	__u32 payload_bytes;
	__u8 flags;
};

struct tcp_header {
	__be16 source;
	__be16 destination;
	__be32 seq;
	__be32 ack;
	__u8 header_words;	/* in the upper four bits */
	__u8 flags;
};

static __always_inline int parse_ipv4(struct __sk_buff *skb, __u32 at, struct view *view, __u32 *tcp_bytes)
{
	struct {
		__u8 version_words;
		__u8 tos;
		__be16 total_bytes;
		__be16 id;
		__be16 fragment;
		__u8 ttl;
		__u8 protocol;
		__be16 checksum;
		__u8 source[4];
		__u8 destination[4];
	} ip;
	__u32 header, total;

	if (bpf_skb_load_bytes(skb, at, &ip, sizeof(ip)))
		return -1;
	/* Neither a first fragment (more to follow) nor a later one (offset). */
	if (ip.version_words >> 4 != 4 || ip.protocol != IPPROTO_TCP || ip.fragment & bpf_htons(0x3fff))
		return -1;
	header = (ip.version_words & 0xf) * 4;
	total = bpf_ntohs(ip.total_bytes);
	if (!total)		/* a packet for segmentation offload beyond 64 KiB */
		total = skb->len - at;
	if (header < sizeof(ip) || total < header)
		return -1;
	/* IPv4-mapped, so that no IPv6 flow has the same key. */
	view->key.source[10] = view->key.source[11] = 0xff;
	view->key.destination[10] = view->key.destination[11] = 0xff;
	__builtin_memcpy(view->key.source + 12, ip.source, 4);
	__builtin_memcpy(view->key.destination + 12, ip.destination, 4);
	view->tcp = at + header;
	*tcp_bytes = total - header;
	return 0;
}

static __always_inline int parse_ipv6(struct __sk_buff *skb, __u32 at, struct view *view, __u32 *tcp_bytes)
{
	struct {
		__be32 version_class_label;
		__be16 payload_bytes;
		__u8 next;
		__u8 hop_limit;
		__u8 source[16];
		__u8 destination[16];
	} ip;
	__u32 left;
	__u8 next;

	if (bpf_skb_load_bytes(skb, at, &ip, sizeof(ip)))
		return -1;
	if (bpf_ntohl(ip.version_class_label) >> 28 != 6)
		return -1;
	left = bpf_ntohs(ip.payload_bytes);
	if (!left)
		left = skb->len - at - sizeof(ip);
	__builtin_memcpy(view->key.source, ip.source, 16);
	__builtin_memcpy(view->key.destination, ip.destination, 16);
	next = ip.next;
	at += sizeof(ip);
	/* Hop-by-hop, routing, fragment and destination headers, at most four. */
	for (int i = 0; i < 4 && (next == 0 || next == 43 || next == 44 || next == 60); i++) {
		struct {
			__u8 next;
			__u8 words;	/* of 8 bytes, the first not counted; 0 in a fragment header */
			__be16 fragment;
		} option;
		__u32 bytes;

		if (bpf_skb_load_bytes(skb, at, &option, sizeof(option)))
			return -1;
		/* Only a whole packet, which may say that it is its only fragment. */
		if (next == 44 && (option.words || option.fragment & bpf_htons(0xfff9)))
			return -1;
		bytes = (option.words + 1) * 8;
		if (bytes > left)
			return -1;
		next = option.next;
		at += bytes;
		left -= bytes;
	}
	if (next != IPPROTO_TCP)
		return -1;
	view->tcp = at;
	*tcp_bytes = left;
	return 0;
}

static __always_inline int parse(struct __sk_buff *skb, __u32 l2_bytes, struct view *view)
{
	struct tcp_header tcp;
	__u32 tcp_bytes = 0, header;
	int failed;

	__builtin_memset(view, 0, sizeof(*view));
	if (skb->protocol == bpf_htons(ETHERTYPE_IPV4))
		failed = parse_ipv4(skb, l2_bytes, view, &tcp_bytes);
	else if (skb->protocol == bpf_htons(ETHERTYPE_IPV6))
		failed = parse_ipv6(skb, l2_bytes, view, &tcp_bytes);
	else
		return -1;
	if (failed || bpf_skb_load_bytes(skb, view->tcp, &tcp, sizeof(tcp)))
		return -1;
	header = (tcp.header_words >> 4) * 4;
	if (header < 20 || header > tcp_bytes)
		return -1;
	view->key.source_port = tcp.source;
	view->key.destination_port = tcp.destination;
	view->ack = bpf_ntohl(tcp.ack);
	view->payload_bytes = tcp_bytes - header;
	view->flags = tcp.flags;
	return 0;
}

/* The state of a flow, made when there is none. */
static __always_inline struct flow *flow_of(const struct flow_key *key)
{
	struct flow *flow = bpf_map_lookup_elem(&flows, key);

	if (!flow) {
		struct flow fresh = {};

		bpf_map_update_elem(&flows, key, &fresh, BPF_NOEXIST);
		flow = bpf_map_lookup_elem(&flows, key);
	}
	return flow;
}

/* The count of a flow, made when there is none; null when there is no room. */
static __always_inline struct tally *tally_of(const struct flow_key *key)
{
	struct tally *tally = bpf_map_lookup_elem(&tallies, key);

	if (!tally) {
		struct tally fresh = {};

		bpf_map_update_elem(&tallies, key, &fresh, BPF_NOEXIST);
		tally = bpf_map_lookup_elem(&tallies, key);
	}
	return tally;
}

/* How many divacks go before this packet. Sets the flow's highest ACK before
 * any clone leaves: a clone passes this program too, finds its number not new,
 * and is let through. That is the only guard against recursion needed, and no
 * packet mark is touched. */
static __always_inline __u32 pieces_of(const struct settings *set, struct flow *flow, const struct view *view)
{
	__s32 new_bytes;
	__u32 pieces;

	if (view->flags & (FLAG_SYN | FLAG_RST))
		__builtin_memset(flow, 0, sizeof(*flow));
	if (!(view->flags & FLAG_ACK) || view->flags & FLAG_RST)
		return 0;
	if (!flow->acked) {
		flow->acked = 1;
		flow->highest_ack = view->ack;
		return 0;
	}
	new_bytes = (__s32)(view->ack - flow->highest_ack);
	if (new_bytes <= 0)
		return 0;
	flow->highest_ack = view->ack;
	if (new_bytes > MAX_ADVANCE || view->payload_bytes || view->flags & (FLAG_SYN | FLAG_FIN))
		return 0;
	if (set->immediate_ns &&
	    (!flow->data_arrived_ns || bpf_ktime_get_ns() - flow->data_arrived_ns > set->immediate_ns))
		return 0;
	pieces = set->count < MAX_COUNT ? set->count : MAX_COUNT;
	/* The lowest divack must still acknowledge something new. */
	if (pieces > (__u32)new_bytes - 1)
		pieces = new_bytes - 1;
	if (set->controlled) {
		__u64 left = set->max_count > flow->sent ? set->max_count - flow->sent : 0;

		if (pieces > left)
			pieces = left;
	}
	flow->sent += pieces;
	return pieces;
}

struct division {
	struct __sk_buff *skb;
	__u32 tcp;
	__u32 first;		/* number of the lowest divack */
	__u32 current;		/* number the packet carries now */
	/* Counted in the map, not here: the verifier would follow every sum. */
	struct counters *count;
	struct tally *tally;	/* null when there is no room for another flow */
};

/* No BPF_F_PSEUDO_HDR: the ACK number is not part of the pseudo header, so a
 * finished checksum is patched and one left to the device (CHECKSUM_PARTIAL,
 * the usual state here) stays as it is; both leave right. */
static __always_inline int set_ack(struct division *division, __u32 number)
{
	__be32 old = bpf_htonl(division->current), new = bpf_htonl(number);

	if (bpf_l4_csum_replace(division->skb, division->tcp + TCP_CHECKSUM, old, new, sizeof(new)))
		return -1;
	if (bpf_skb_store_bytes(division->skb, division->tcp + TCP_ACK_NUMBER, &new, sizeof(new), 0))
		return -1;
	division->current = number;
	return 0;
}

static long send_divack(__u32 index, void *context)
{
	struct division *division = context;

	if (set_ack(division, division->first + index) ||
	    bpf_clone_redirect(division->skb, division->skb->ifindex, 0)) {
		__sync_fetch_and_add(&division->count->clone_errors, 1);
		return 0;
	}
	__sync_fetch_and_add(&division->count->divided_acks, 1);
	if (division->tally)
		__sync_fetch_and_add(&division->tally->divided_acks, 1);
	return 0;
}

SEC("tcx/egress")
int divack_acks(struct __sk_buff *skb)
{
	struct division division = { .skb = skb };
	struct counters *count;
	struct settings *set;
	struct flow *flow;
	struct view view;
	__u32 zero = 0, pieces;

	set = bpf_map_lookup_elem(&settings, &zero);
	count = bpf_map_lookup_elem(&counters, &zero);
	if (!set || !count || parse(skb, set->l2_bytes, &view))
		return PASS;
	flow = flow_of(&view.key);
	if (!flow)
		return PASS;
	pieces = pieces_of(set, flow, &view);
	if (!pieces)
		return PASS;
	division.count = count;
	division.tally = tally_of(&view.key);
	division.tcp = view.tcp;
	division.first = view.ack - pieces;
	division.current = view.ack;
	bpf_loop(pieces, send_divack, &division, 0);
	if (set_ack(&division, view.ack))
		__sync_fetch_and_add(&count->clone_errors, 1);
	__sync_fetch_and_add(&count->divisions, 1);
	return PASS;
}

/* Notes when data arrives, so that an ACK of the delayed-ACK timer can be told
 * from one the stack sent at once. */
SEC("tcx/ingress")
int divack_data(struct __sk_buff *skb)
{
	struct settings *set;
	struct flow_key key;
	struct flow *flow;
	struct view view;
	__u32 zero = 0;

	set = bpf_map_lookup_elem(&settings, &zero);
	if (!set || !set->immediate_ns || parse(skb, set->l2_bytes, &view))
		return PASS;
	if (!view.payload_bytes && !(view.flags & (FLAG_SYN | FLAG_FIN)))
		return PASS;
	__builtin_memcpy(key.source, view.key.destination, sizeof(key.source));
	__builtin_memcpy(key.destination, view.key.source, sizeof(key.destination));
	key.source_port = view.key.destination_port;
	key.destination_port = view.key.source_port;
	flow = flow_of(&key);
	if (flow)
		flow->data_arrived_ns = bpf_ktime_get_ns();
	return PASS;
}
