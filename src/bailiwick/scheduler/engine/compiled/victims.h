/* What the files of the victim search share: victims.c, profile.c, cover.c and gangs.c. */
#ifndef BAILIWICK_VICTIMS_H
#define BAILIWICK_VICTIMS_H

#include "engine.h"

enum { NEEDS = 4, BUDGETS = 16, PRICES = 5, PENDING = 12, WARM = 8,
       NARROW = 32, STATES = 4096, STEPS = 1000000 };
enum { HELD = 1, BOUND, EXACT };   /* what holds of a node's profile, if anything: Held, bounds */
enum { NEVER_FITS, CLOSED, UNTOUCHABLE, OUTRANKED, TOO_YOUNG, TOO_DEEP, LEGAL };
#define INFINITE (INT64_MAX / 4)
#define EACH_BIT(i, bits) (unsigned left_ = (bits), i = 0; \
                           left_ && (i = (unsigned)__builtin_ctz(left_), 1); left_ &= left_ - 1)

typedef struct {                   /* all leases of one gang, and what this search makes of it */
    int32_t id, count, room, *slot;
    uint32_t serial;               /* the search that judged it */
    int verdict;
    int64_t base, cost;
    int32_t node, unit;            /* its unit on the node being opened */
} Gang;

/* What bounds a node without looking at its leases, column by column: a search reads few of them.
 * All but Span and Held are kept for victims below level 1, 2, 3. */
typedef struct {
    int64_t from, until, last;     /* exact from .. until; from there to last still a bound */
    int64_t ripens;                /* when the first pending lease is to be counted in */
} Span;
typedef struct {
    int32_t least, step, fraction; /* least base; its unit; most milli-cores beyond whole cores */
} Terms;
typedef struct { int32_t at[BUDGETS]; } Reach;   /* most of one amount, for so much base */
typedef struct {
    int16_t milli[DEVICES];        /* of each device, what victims hold */
    int32_t clear[DEVICES];        /* what clearing the device costs at least (if exact) */
    int32_t cheap[DEVICES];        /* what one lease on it costs at least, */
    int32_t rate[DEVICES];         /* and 64 of its milli; */
    int32_t cores[DEVICES];        /* what all of them hold of the cpu */
} Rack;
typedef struct {
    int32_t added, pendings, pending[PENDING];   /* leases counted in since; to be counted in */
    int32_t gangs;                 /* evictable leases in gangs, */
    int64_t gang_amount[3];        /* which may turn out not to be: what they hold */
    int16_t gang_milli[DEVICES];
    int16_t milli[4][DEVICES];     /* what evictable leases hold, of level 0, up to 1, 2, 3 */
} Held;

typedef struct {                   /* a lease, or all members of a gang on the node */
    int64_t cost, base, amount[3];
    int32_t slot, rank;            /* its lowest slot; its place in the order of slots */
    unsigned devices;
    int16_t share[DEVICES];
} Unit;

typedef struct {                   /* a unit in one covering problem */
    int64_t cost, base, amount[NEEDS];
    int32_t scaled[NEEDS], unit;
} Piece;

typedef struct {                   /* what the pieces from one on still offer */
    int64_t sum[NEEDS], base, gain[PRICES], ratio[NEEDS];
    int32_t most[NEEDS];
} Tail;

typedef struct { int64_t cost, bound, need[NEEDS]; } State;
typedef struct { int64_t bound; int32_t node, exact; } Candidate;
typedef struct { int64_t key; int32_t weight; } Ordered;   /* the weight may be an index */

struct Victims {
    Gang *gang;         int32_t gang_room, gang_used;
    Span *span;         Held *held; Terms *terms[3]; Rack *rack[3]; Reach *reach[3][3];
    Candidate *heap;    int32_t node_room, heap_count; uint8_t *could; int32_t class_room;
    int64_t run_min, fresh, depth_max;   /* for which the profiles hold */
    Unit *unit;         Piece *piece; Tail *tail; Ordered *order, *rated;
    int32_t *member, *owner, *slot, unit_room;
    uint8_t *chosen, *picked;      /* units that go in any case; pieces of a first plan */
    State *state[2];    uint64_t *mask[2], *start, *best; int32_t words;
    /* the search in progress */
    const VictimQuery *q; const Shape *shape; uint32_t serial;
    int64_t ripe, recent;          /* victims were granted by then; fresh checkpoints since then */
    int64_t best_cost, steps, need[3], total[3];   /* lacking on the open node; legal there */
    int32_t best_node, node, units, members, slots, share[DEVICES];
    int ranked, width, thinned, truncated;
};

/* Sums and differences of times, which never leave the range nor become "never". */
static inline int64_t minus(int64_t a, int64_t b) {
    int64_t r;
    if (__builtin_sub_overflow(a, b, &r)) return b > 0 ? INT64_MIN + 1 : INT64_MAX;
    return r > INT64_MIN ? r : INT64_MIN + 1;
}

static inline int64_t plus(int64_t a, int64_t b) { return minus(a, minus(0, b)); }

static inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

static inline int shift_of(int64_t most, int bits) {   /* so that most >> shift has so many bits */
    int length = most > 0 ? 64 - __builtin_clzll((uint64_t)most) : 0;
    return length > bits ? length - bits : 0;
}

static inline int64_t scaled_up(int64_t amount, int shift) {
    return (amount + (1ll << shift) - 1) >> shift;
}

/* Sets of units as bits: the unit with the lowest slot is the highest bit of the first word. */
static inline int has_rank(const uint64_t *mask, int r) {
    return mask[r >> 6] >> (63 - (r & 63)) & 1;
}

static inline void add_rank(uint64_t *mask, int r) { mask[r >> 6] |= 1ull << (63 - (r & 63)); }

static inline int verdict(const Victims *v, const Lease *l) {
    if (!evictable(l)) return UNTOUCHABLE;
    if (!(v->q->evictable >> (4 * l->lease_class + l->priority) & 1)) return OUTRANKED;
    if (l->granted > v->ripe) return TOO_YOUNG;
    return l->depth < v->q->depth_max ? LEGAL : TOO_DEEP;
}

static inline int64_t base_of(const Victims *v, const Lease *l) {
    int64_t base = l->lease_class == CLASS_SPOT ? 1000 * (1 + l->priority)
                                                : 10000 << 2 * l->priority;
    return l->checkpoint >= v->recent ? base / 2 : base;
}

static inline int64_t size_cost(const Shape *s) {
    return (int64_t)s->count * s->milli / 10 + s->cpu / 1000;
}

/* What a plan on the open node may cost at most: equal cost goes to the lower handle. */
static inline int64_t limit_of(const Victims *v) {
    return v->best_node < 0 ? INFINITE : v->best_cost - (v->best_node < v->node);
}

/* victims.c */
void sort_keys(Ordered *order, int n);
void rank_units(Victims *v);

/* gangs.c */
int gang_build(Engine *e, Victims *v);
void gang_forget(Victims *v);
Gang *gang_judged(Engine *e, Victims *v, int32_t id);

/* profile.c */
int profile_holds(Engine *e, Victims *v, int32_t x);
void profile_node(Engine *e, Victims *v, int32_t x);
int64_t lower_bound(const Engine *e, const Victims *v, int32_t x);

/* cover.c */
int plain_amounts_can_win(Victims *v);
void cover(Victims *v, int share, int64_t gap);

#endif
