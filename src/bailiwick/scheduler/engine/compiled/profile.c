/* What a node's leases could give back, and at which cost.
 *
 * For each level of victims and each plain amount a profile holds the most that those below it,
 * of a total base up to a budget, could give, were leases divisible. That is a concave function of
 * the budget, so between two budgets the line through the two before bounds it from above.
 *
 * A profile is made from all leases of the node. After that it is kept a bound, not exact: what
 * ends stays counted, what comes (or ripens) is pending and is added when next looked at. */
#include "victims.h"
#include <string.h>

enum { SCALE = 26, ADDED = 16 };   /* bits of an amount; leases added before a new profile is due */
enum { LOOSE = 1000 };             /* a reach is too large by up to one part in so many, and two */

/* The last stands for "any": what all victims give. */
static const int64_t BUDGET[BUDGETS] = { 500, 1000, 1500, 2000, 3000, 4000, 6000, 8000, 12000,
                                         16000, 24000, 32000, 48000, 80000, 160000, INFINITE };

typedef struct { int32_t amount[3], base, level; } Part;

static int64_t capacity(const Class *c, int d) { return d ? d > 1 ? c->block : c->mem : c->cpu; }

/* Amount per base, least first, as a number of 16 bits: its length and 10 more binary places. */
static uint32_t value_of(const Part *p, int d) {
    int64_t value = ((int64_t)p->amount[d] << 20) / p->base;
    int length = 64 - __builtin_clzll((uint64_t)value | 1);
    return UINT16_MAX - (uint32_t)(length << 10 | (value << 11 >> length & 1023));
}

/* The indices of parts with any of the amount, best value first to one part in 1024. */
static int order_parts(const Part *part, int n, int d, Ordered *order) {
    Ordered *half = order + n;
    int count = 0, low[257] = { 0 }, high[257] = { 0 };
    for (int i = 0; i < n; i++) {
        if (!part[i].amount[d]) continue;
        uint32_t value = value_of(&part[i], d);
        order[count++] = (Ordered){ value, i };
        low[(value & 255) + 1]++; high[(value >> 8) + 1]++;
    }
    for (int i = 0; i < 256; i++) { low[i + 1] += low[i]; high[i + 1] += high[i]; }
    for (int i = 0; i < count; i++) half[low[order[i].key & 255]++] = order[i];
    for (int i = 0; i < count; i++) order[high[half[i].key >> 8]++] = half[i];
    return count;
}

/* What each budget buys at most, and a little more for what the order left out. */
static void fill_reach(Victims *v, int32_t x, const Part *part, int n, int d) {
    int64_t spent[3] = { 0 }, have[3] = { 0 };
    int at[3] = { 0 };
    for (int i = 0; i < n; i++) {
        const Part *q = &part[v->order[i].weight];
        for (int p = q->level; p < 3; p++) {
            for (; BUDGET[at[p]] <= spent[p] + q->base; at[p]++) {
                int64_t left = BUDGET[at[p]] - spent[p];
                int64_t most = have[p] + ceil_div(left * q->amount[d], q->base);
                v->reach[p][d][x].at[at[p]] = (int32_t)(most + most / LOOSE + 2);
            }
            spent[p] += q->base; have[p] += q->amount[d];
        }
    }
    for (int p = 0; p < 3; p++)
        while (at[p] < BUDGETS) v->reach[p][d][x].at[at[p]++] = (int32_t)have[p];
}

/* The lease counts wherever its level is below; all but its plain amounts. */
static void note_lease(Victims *v, const Lease *l, const Shape *s, const Part *part) {
    int64_t size = size_cost(s) < 1 << 20 ? size_cost(s) : 1 << 20;
    int32_t base = part->base, cost = (base + (int32_t)size) / (s->count ? s->count : 1);
    for (int p = level_of(l); p < 3; p++) {
        Terms *t = &v->terms[p][l->node];
        Rack *k = &v->rack[p][l->node];
        if (base < t->least) t->least = base;
        if (base % 1000) t->step = 500;
        if (s->cpu % 1000 > t->fraction) t->fraction = (int32_t)(s->cpu % 1000);
        for EACH_BIT(i, s->milli ? l->devices : 0u) {
            k->milli[i] += (int16_t)s->milli;
            k->clear[i] += cost;
            k->cores[i] += part->amount[0];
            if (cost < k->cheap[i]) k->cheap[i] = cost;
            if (64 * cost / s->milli < k->rate[i]) k->rate[i] = 64 * cost / s->milli;
        }
    }
}

static void note_held(Held *h, const Lease *l, const Shape *s, int sign) {
    for EACH_BIT(i, (unsigned)l->devices) {
        for (int p = level_of(l); p < 4; p++) h->milli[p][i] += (int16_t)(sign * s->milli);
        if (l->gang >= 0) h->gang_milli[i] += (int16_t)(sign * s->milli);
    }
    if (l->gang < 0) return;
    h->gangs += sign;
    h->gang_amount[0] += sign * s->cpu;
    h->gang_amount[1] += sign * s->mem;
    h->gang_amount[2] += sign * s->block;
}

static Part part_of(const Class *c, const Lease *l, const Shape *s, int64_t base) {
    const int64_t amount[3] = { s->cpu, s->mem, s->block };
    Part p = { .base = (int32_t)base, .level = level_of(l) };
    for (int d = 0; d < 3; d++)
        p.amount[d] = (int32_t)scaled_up(amount[d], shift_of(capacity(c, d), SCALE));
    return p;
}

static int64_t ripe_at(const Victims *v, const Lease *l) {
    return plus(v->q->now, minus(l->granted, v->ripe));
}

static void start_profile(Victims *v, int32_t x, int devices) {
    v->span[x] = (Span){ v->q->now, INT64_MAX, INT64_MAX, INT64_MAX };
    memset(&v->held[x], 0, sizeof v->held[x]);
    for (int p = 0; p < 3; p++) {
        Rack *k = &v->rack[p][x];
        v->terms[p][x] = (Terms){ INT32_MAX, 1000, 0 };
        if (!devices) continue;
        memset(k, 0, sizeof *k);
        for (int i = 0; i < devices; i++) k->cheap[i] = k->rate[i] = INT32_MAX;
    }
}

void profile_node(Engine *e, Victims *v, int32_t x) {
    const Class *c = &e->cls[e->node[x].cls];
    Span *span = &v->span[x];
    Held *h = &v->held[x];
    Part *part = (Part *)v->tail;      /* scratch: free while no node is open */
    int n = 0;
    start_profile(v, x, c->devices);
    for (int32_t i = e->node[x].first_lease; i >= 0; i = e->lease[i].next) {
        const Lease *l = &e->lease[i];
        const Shape *s = &e->shape[l->shape];
        if (!evictable(l)) continue;
        note_held(h, l, s, 1);
        if (level_of(l) > 2 || l->depth >= v->q->depth_max) continue;
        if (l->granted > v->ripe) {
            int64_t at = ripe_at(v, l);
            if (at < span->ripens) span->ripens = at;
            if (h->pendings < PENDING) h->pending[h->pendings++] = i;
            else if (at < span->last) span->last = at;
            continue;
        }
        if (l->checkpoint >= v->recent) {
            int64_t fresh = minus(l->checkpoint, v->recent);
            int64_t at = plus(plus(v->q->now, fresh), 1);
            if (at < span->until) span->until = at;
        }
        part[n] = part_of(c, l, s, base_of(v, l));
        note_lease(v, l, s, &part[n++]);
    }
    if (span->ripens < span->until) span->until = span->ripens;
    for (int d = 0; d < 3; d++) fill_reach(v, x, part, order_parts(part, n, d, v->order), d);
    e->node[x].profiled = EXACT;
}

/* An evictable lease of a profiled node comes or goes. */
void profile_note(Engine *e, const Lease *l, int sign) {
    Victims *v = e->victims;
    Held *h = &v->held[l->node];
    uint8_t *profiled = &e->node[l->node].profiled;
    int32_t slot = (int32_t)(l - e->lease), k = 0;
    note_held(h, l, &e->shape[l->shape], sign);
    if (*profiled == HELD) return;
    *profiled = BOUND;
    if (sign < 0) return;
    v->span[l->node].ripens = INT64_MIN;
    while (k < h->pendings && h->pending[k] != slot) k++;
    if (k == PENDING || ++h->added > ADDED) *profiled = HELD;
    else if (k == h->pendings) h->pending[h->pendings++] = slot;
}

/* Pending leases whose time has come are counted in. */
static void settle(Engine *e, Victims *v, int32_t x) {
    Span *span = &v->span[x];
    Held *h = &v->held[x];
    int32_t kept = 0;
    span->ripens = INT64_MAX;
    for (int32_t k = 0; k < h->pendings; k++) {
        const Lease *l = &e->lease[h->pending[k]];
        const Shape *s = &e->shape[l->shape];
        if (l->node != x || !evictable(l) || level_of(l) > 2) continue;
        if (l->depth >= v->q->depth_max) continue;
        if (l->granted > v->ripe) {
            int64_t at = ripe_at(v, l);
            if (at < span->ripens) span->ripens = at;
            h->pending[kept++] = h->pending[k];
            continue;
        }
        Part part = part_of(&e->cls[e->node[x].cls], l, s, base_of(v, l));
        note_lease(v, l, s, &part);
        for (int p = level_of(l); p < 3; p++)
            for (int d = 0; d < 3; d++)
                for (int b = 0; b < BUDGETS; b++)
                    v->reach[p][d][x].at[b] += BUDGET[b] >= part.base ? part.amount[d]
                        : (int32_t)ceil_div(BUDGET[b] * part.amount[d], part.base);
    }
    h->pendings = kept;
    e->node[x].profiled = BOUND;
}

/* Whether the profile still bounds its node. */
int profile_holds(Engine *e, Victims *v, int32_t x) {
    const Span *span = &v->span[x];
    if (e->node[x].profiled < BOUND || span->from > v->q->now || span->last <= v->q->now) return 0;
    if (span->ripens <= v->q->now) settle(e, v, x);
    return 1;
}

/* The least base that can give this much, or INFINITE. */
static int64_t base_for(const Reach *r, int32_t need) {
    const int32_t *reach = r->at;
    if (reach[BUDGETS - 1] < need) return INFINITE;
    int k = 0;
    for (int i = 0; i < BUDGETS; i++) k += reach[i] < need;   /* they ascend */
    if (!k) return 1;
    int64_t rise = k > 1 ? reach[k - 1] - reach[k - 2] + reach[k - 2] / LOOSE + 3 : reach[0];
    int64_t step = k > 1 ? BUDGET[k - 1] - BUDGET[k - 2] : BUDGET[0];
    return BUDGET[k - 1] + ceil_div((need - reach[k - 1]) * step, rise);
}

/* What freeing device i costs at least; a single one may need others to go for its cores. */
static int64_t device_cost(const Engine *e, const Victims *v, int32_t x, int i, int32_t gap) {
    const Node *n = &e->node[x];
    const Rack *k = &v->rack[v->q->below - 1][x];
    const Shape *s = v->shape;
    int64_t cost = (int64_t)gap * k->rate[i] / 64;
    if (k->cheap[i] > cost) cost = k->cheap[i];
    if (s->milli == MILLI && n->profiled == EXACT) cost = k->clear[i];   /* else it may be less */
    if (s->count > 1 || s->cpu <= n->cpu) return cost;
    int64_t cores = (s->cpu - n->cpu) >> shift_of(e->cls[n->cls].cpu, SCALE);
    if (cores <= k->cores[i]) return cost;
    return cost + base_for(&v->reach[v->q->below - 1][0][x], (int32_t)cores - k->cores[i]);
}

/* Devices: the milli lacking at least, and what they cost; 0: they cannot be had. */
static int lacking_devices(const Engine *e, const Victims *v, int32_t x, int64_t out[2]) {
    const Node *n = &e->node[x];
    const Class *c = &e->cls[n->cls];
    const Shape *s = v->shape;
    const Rack *k = &v->rack[v->q->below - 1][x];
    int32_t gap[DEVICES], wanted = s->count, found = 0;
    int64_t price[DEVICES];
    out[0] = out[1] = 0;
    for (int i = 0; i < c->devices; i++) {
        if (!(s->kinds >> c->kind[i] & 1)) continue;
        int32_t g = s->milli - n->device[i], at;
        if (g <= 0 && --wanted == 0) return 1;
        if (g <= 0 || k->milli[i] < g) continue;
        int64_t cost = device_cost(e, v, x, i, g);
        for (at = found; at && gap[at - 1] > g; at--) gap[at] = gap[at - 1];
        gap[at] = g;                   /* both lists ascend, each by itself */
        for (at = found++; at && price[at - 1] > cost; at--) price[at] = price[at - 1];
        price[at] = cost;
    }
    for (int i = 0; i < wanted && i < found; i++) { out[0] += gap[i]; out[1] += price[i]; }
    return found >= wanted;
}

/* No eviction on the node that makes the shape fit costs less; INFINITE: there is none. */
int64_t lower_bound(const Engine *e, const Victims *v, int32_t x) {
    const Node *n = &e->node[x];
    const Class *c = &e->cls[n->cls];
    const Shape *s = v->shape;
    const int64_t need[3] = { s->cpu - n->cpu, s->mem - n->mem, s->block - n->block };
    int64_t lack[2] = { 0, 0 }, base = 0;
    if (!v->q->below) return fits(e, n, s) ? 0 : INFINITE;
    if (s->count && !lacking_devices(e, v, x, lack)) return INFINITE;
    if (need[0] <= 0 && need[1] <= 0 && need[2] <= 0 && !lack[0]) return 0;
    const Terms *t = &v->terms[v->q->below - 1][x];
    if (t->least == INT32_MAX) return INFINITE;
    for (int d = 0; d < 3; d++) {
        if (need[d] <= 0) continue;
        int64_t scaled = need[d] >> shift_of(capacity(c, d), SCALE);
        int64_t b = base_for(&v->reach[v->q->below - 1][d][x], (int32_t)scaled);
        if (b > base) base = b;
    }
    if (base >= INFINITE) return INFINITE;
    if (base < t->least) base = t->least;
    base = ceil_div(base, t->step) * t->step;
    int64_t victims = base / t->least, cores = need[0] - victims * t->fraction;
    int64_t bound = base + (cores > 0 ? ceil_div(cores, 1000) : 0);
    if (lack[0] > 9 * victims) bound += ceil_div(lack[0] - 9 * victims, 10);
    return bound > lack[1] ? bound : lack[1];
}
