/* What a node's leases could give back, and at which cost.
 *
 * For each priority of the preemptor and each plain amount a profile holds the most that victims
 * of a total base up to a budget could give, were leases divisible. That is a concave function of
 * the budget, so between two budgets the line through the two before bounds it from above.
 *
 * A profile is made from all leases of the node. After that it is kept a bound, not exact: what
 * ends stays counted, what comes (or ripens) is pending and is added when next looked at. */
#include "victims.h"
#include <string.h>

enum { SCALE = 26, ADDED = 16 };   /* bits of an amount; leases added before a new profile is due */

/* The last stands for "any": what all victims give. */
static const int64_t BUDGET[BUDGETS] = { 500, 1000, 1500, 2000, 3000, 4000, 6000, 8000, 12000,
                                         16000, 24000, 32000, 48000, 80000, 160000, INFINITE };

typedef struct { int32_t amount[3], base, priority; } Part;

static int64_t capacity(const Class *c, int d) { return d ? d > 1 ? c->block : c->mem : c->cpu; }

/* Parts in the order of amount per base. */
static int order_parts(const Part *part, int n, int d, Ordered *order) {
    int count = 0;
    for (int i = 0; i < n; i++)
        if (part[i].amount[d])
            order[count++] = (Ordered){ -(((int64_t)part[i].amount[d] << 20) / part[i].base), i };
    sort_keys(order, count);
    return count;
}

/* What each budget buys at most; one more, because the order is exact to 2^-20 per base only. */
static void fill_reach(Profile *f, const Part *part, const Ordered *order, int n, int d) {
    int64_t spent[3] = { 0 }, have[3] = { 0 };
    int at[3] = { 0 };
    for (int i = 0; i < n; i++) {
        const Part *q = &part[order[i].weight];
        for (int p = q->priority; p < 3; p++) {
            for (; BUDGET[at[p]] <= spent[p] + q->base; at[p]++)
                f->below[p].reach[d][at[p]] = (int32_t)(1 + have[p]
                    + ceil_div((BUDGET[at[p]] - spent[p]) * q->amount[d], q->base));
            spent[p] += q->base; have[p] += q->amount[d];
        }
    }
    for (int p = 0; p < 3; p++)
        while (at[p] < BUDGETS) f->below[p].reach[d][at[p]++] = (int32_t)have[p];
}

/* The lease counts for every preemptor that outranks it; all but its plain amounts. */
static void note_lease(Profile *f, const Lease *l, const Shape *s, const Part *part) {
    int64_t size = size_cost(s) < 1 << 20 ? size_cost(s) : 1 << 20;
    int32_t base = part->base, cost = (base + (int32_t)size) / (s->count ? s->count : 1);
    for (Offer *o = &f->below[l->priority]; o < &f->below[3]; o++) {
        if (base < o->least) o->least = base;
        if (base % 1000) o->step = 500;
        if (s->cpu % 1000 > o->fraction) o->fraction = (int32_t)(s->cpu % 1000);
        for EACH_BIT(i, s->milli ? l->devices : 0u) {
            o->milli[i] += (int16_t)s->milli;
            o->clear[i] += cost;
            o->cores[i] += part->amount[0];
            if (cost < o->cheap[i]) o->cheap[i] = cost;
            if (64 * cost / s->milli < o->rate[i]) o->rate[i] = 64 * cost / s->milli;
        }
    }
}

static void note_evictable(Profile *f, const Lease *l, const Shape *s) {
    for EACH_BIT(i, (unsigned)l->devices) {
        for (int p = l->priority; p < 4; p++) f->held[p][i] += (int16_t)s->milli;
        if (l->gang >= 0) f->gang_milli[i] += (int16_t)s->milli;
    }
    if (l->gang < 0) return;
    f->gangs++;
    f->gang_amount[0] += s->cpu; f->gang_amount[1] += s->mem; f->gang_amount[2] += s->block;
}

static Part part_of(const Class *c, const Lease *l, const Shape *s, int64_t base) {
    const int64_t amount[3] = { s->cpu, s->mem, s->block };
    Part p = { .base = (int32_t)base, .priority = l->priority };
    for (int d = 0; d < 3; d++)
        p.amount[d] = (int32_t)scaled_up(amount[d], shift_of(capacity(c, d), SCALE));
    return p;
}

static int64_t ripe_at(const Victims *v, const Lease *l) {
    return plus(v->q->now, minus(l->granted, v->ripe));
}

void profile_node(Engine *e, Victims *v, int32_t x) {
    Profile *f = &v->profile[x];
    const Class *c = &e->cls[e->node[x].cls];
    Part *part = (Part *)v->tail;      /* scratch: free while no node is open */
    int n = 0;
    memset(f, 0, sizeof *f);
    for (Offer *o = f->below; o < &f->below[3]; o++) {
        o->least = INT32_MAX; o->step = 1000;
        for (int i = 0; i < c->devices; i++) o->cheap[i] = o->rate[i] = INT32_MAX;
    }
    f->from = v->q->now; f->until = f->last = f->ripens = INT64_MAX;
    for (int32_t i = e->node[x].first_lease; i >= 0; i = e->lease[i].next) {
        const Lease *l = &e->lease[i];
        const Shape *s = &e->shape[l->shape];
        if (!evictable(l)) continue;
        note_evictable(f, l, s);
        if (l->priority > 2 || l->depth >= v->q->depth_max) continue;
        if (l->granted > v->ripe) {
            int64_t at = ripe_at(v, l);
            if (at < f->ripens) f->ripens = at;
            if (f->pendings < PENDING) f->pending[f->pendings++] = i;
            else if (at < f->last) f->last = at;
            continue;
        }
        if (l->checkpoint >= v->recent) {
            int64_t fresh = minus(l->checkpoint, v->recent);
            int64_t at = plus(plus(v->q->now, fresh), 1);
            if (at < f->until) f->until = at;
        }
        part[n] = part_of(c, l, s, base_of(v, l));
        note_lease(f, l, s, &part[n++]);
    }
    if (f->ripens < f->until) f->until = f->ripens;
    for (int d = 0; d < 3; d++) fill_reach(f, part, v->order, order_parts(part, n, d, v->order), d);
    e->node[x].profiled = EXACT;
}

/* A lease of a profiled node comes or goes. */
void profile_note(Engine *e, const Lease *l, int comes) {
    Profile *f = &e->victims->profile[l->node];
    int32_t slot = (int32_t)(l - e->lease), k = 0;
    e->node[l->node].profiled = BOUND;
    if (!comes) return;
    f->ripens = INT64_MIN;
    while (k < f->pendings && f->pending[k] != slot) k++;
    if (k == PENDING || ++f->added > ADDED) e->node[l->node].profiled = 0;
    else if (k == f->pendings) f->pending[f->pendings++] = slot;
}

/* Whether the profile still bounds its node; pending leases that now count are added. */
int profile_holds(Engine *e, Victims *v, int32_t x) {
    Profile *f = &v->profile[x];
    const VictimQuery *q = v->q;
    if (!e->node[x].profiled || f->from > q->now || f->last <= q->now) return 0;
    if (f->ripens > q->now) return 1;
    int32_t kept = 0;
    f->ripens = INT64_MAX;
    for (int32_t k = 0; k < f->pendings; k++) {
        const Lease *l = &e->lease[f->pending[k]];
        const Shape *s = &e->shape[l->shape];
        if (l->node != x || !evictable(l) || l->priority > 2 || l->depth >= q->depth_max) continue;
        if (l->granted > v->ripe) {
            int64_t at = ripe_at(v, l);
            if (at < f->ripens) f->ripens = at;
            f->pending[kept++] = f->pending[k];
            continue;
        }
        Part p = part_of(&e->cls[e->node[x].cls], l, s, base_of(v, l));
        note_lease(f, l, s, &p);
        for (int i = l->priority; i < 3; i++)
            for (int d = 0; d < 3; d++)
                for (int b = 0; b < BUDGETS; b++)
                    f->below[i].reach[d][b] += BUDGET[b] >= p.base ? p.amount[d]
                        : (int32_t)ceil_div(BUDGET[b] * p.amount[d], p.base);
    }
    f->pendings = kept;
    e->node[x].profiled = BOUND;
    return 1;
}

/* The least base that can give this much, or INFINITE. */
static int64_t base_for(const int32_t *reach, int64_t need) {
    if (reach[BUDGETS - 1] < need) return INFINITE;
    int k = 0;
    while (reach[k] < need) k++;
    if (!k) return 1;
    int64_t rise = k > 1 ? reach[k - 1] - reach[k - 2] : reach[0];
    int64_t step = k > 1 ? BUDGET[k - 1] - BUDGET[k - 2] : BUDGET[0];
    /* rise + 2: both ends are rounded up */
    return BUDGET[k - 1] + ceil_div((need - reach[k - 1]) * step, rise + 2);
}

/* Devices: the milli lacking at least, and what they cost; 0: they cannot be had. */
static int lacking_devices(const Engine *e, const Victims *v, int32_t x, int64_t out[2]) {
    const Node *n = &e->node[x];
    const Class *c = &e->cls[n->cls];
    const Shape *s = v->shape;
    const Offer *o = &v->profile[x].below[v->q->priority - 1];
    int32_t gap[DEVICES], wanted = s->count, found = 0;
    int64_t price[DEVICES];
    int64_t cores = s->cpu > n->cpu ? (s->cpu - n->cpu) >> shift_of(c->cpu, SCALE) : 0;
    int clears = s->milli == MILLI && n->profiled == EXACT;   /* the cost may have come down */
    for (int i = 0; i < c->devices; i++) {
        if (!(s->kinds >> c->kind[i] & 1)) continue;
        int32_t g = s->milli - n->device[i], at;
        if (g <= 0) { wanted--; continue; }
        if (o->milli[i] < g) continue;
        int64_t part = (int64_t)g * o->rate[i] / 64, cost = o->cheap[i] > part ? o->cheap[i] : part;
        if (clears) cost = o->clear[i];
        if (s->count == 1 && cores > o->cores[i])   /* what else must go, for its cores */
            cost += base_for(o->reach[0], cores - o->cores[i]);
        for (at = found; at && gap[at - 1] > g; at--) gap[at] = gap[at - 1];
        gap[at] = g;                   /* both lists ascend, each by itself */
        for (at = found++; at && price[at - 1] > cost; at--) price[at] = price[at - 1];
        price[at] = cost;
    }
    out[0] = out[1] = 0;
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
    if (!v->q->priority) return fits(e, n, s) ? 0 : INFINITE;
    if (s->count && !lacking_devices(e, v, x, lack)) return INFINITE;
    if (need[0] <= 0 && need[1] <= 0 && need[2] <= 0 && !lack[0]) return 0;
    const Offer *o = &v->profile[x].below[v->q->priority - 1];
    if (o->least == INT32_MAX) return INFINITE;
    for (int d = 0; d < 3; d++) {
        if (need[d] <= 0) continue;
        int64_t b = base_for(o->reach[d], need[d] >> shift_of(capacity(c, d), SCALE));
        if (b > base) base = b;
    }
    if (base >= INFINITE) return INFINITE;
    if (base < o->least) base = o->least;
    base = ceil_div(base, o->step) * o->step;
    int64_t victims = base / o->least, cores = need[0] - victims * o->fraction;
    int64_t bound = base + (cores > 0 ? ceil_div(cores, 1000) : 0);
    if (lack[0] > 9 * victims) bound += ceil_div(lack[0] - 9 * victims, 10);
    return bound > lack[1] ? bound : lack[1];
}
