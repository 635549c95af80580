/* Victim search: the cheapest leases on one node whose eviction makes a shape fit there.
 *
 * ../victims.py states the rules and is the reference; this is the same search, step by step:
 *  1. every node gets a lower bound from the profile of its leases (profile.c);
 *  2. nodes are opened in order of (bound, handle) until no bound can win;
 *  3. inside a node each choice of devices leaves a covering problem (cover.c). */
#include "victims.h"
#include <stdlib.h>
#include <string.h>

/* Follow the chains of several nodes at once, so that their cache misses overlap. */
static void warm(const Engine *e, const Candidate *c, int count) {
    int32_t at[WARM]; int live = 0;
    for (int i = 0; i < count; i++) { at[i] = e->node[c[i].node].first_lease; live |= at[i] >= 0; }
    while (live) {
        live = 0;
        for (int i = 0; i < count; i++)
            if (at[i] >= 0) {
                __builtin_prefetch(&e->lease[at[i]].checkpoint);   /* may lie in the next line */
                at[i] = e->lease[at[i]].next;
                live |= at[i] >= 0;
            }
    }
}

/* -- one node -------------------------------------------------------------------------------- */

static void add_lease(Victims *v, Unit *u, const Lease *l, const Shape *s) {
    const int64_t amount[3] = { s->cpu, s->mem, s->block };
    for (int d = 0; d < 3; d++) { u->amount[d] += amount[d]; v->total[d] += amount[d]; }
    for EACH_BIT(i, s->milli ? l->devices : 0u) {
        u->devices |= 1u << i;
        u->share[i] += (int16_t)s->milli;
        v->share[i] += s->milli;
    }
}

/* The legal units of the node, newest lease first. */
static void collect(Engine *e, Victims *v, int32_t x) {
    v->node = x; v->units = v->members = 0;
    memset(v->total, 0, sizeof v->total);
    memset(v->share, 0, sizeof v->share);
    for (int32_t i = e->node[x].first_lease; i >= 0; i = e->lease[i].next) {
        const Lease *l = &e->lease[i];
        const Shape *s = &e->shape[l->shape];
        Gang *g = l->gang >= 0 ? gang_judged(e, v, l->gang) : NULL;
        if ((g ? g->verdict : verdict(v, l)) != LEGAL) continue;
        int known = g && g->node == x;
        int32_t at = known ? g->unit : v->units++;
        Unit *u = &v->unit[at];
        if (!known) {
            *u = (Unit){ .slot = i, .base = g ? g->base : base_of(v, l) };
            u->cost = g ? g->cost : u->base + size_cost(s);
            if (g) { g->node = x; g->unit = at; }
        }
        if (i < u->slot) u->slot = i;
        add_lease(v, u, l, s);
        v->member[v->members] = i; v->owner[v->members++] = at;
    }
}

void sort_keys(Ordered *o, int n) {
    static const int gaps[] = { 1750, 701, 301, 132, 57, 23, 10, 4, 1 };
    for (int g = 0; g < (int)(sizeof gaps / sizeof *gaps); g++)
        for (int gap = gaps[g], i = gap; i < n; i++) {
            Ordered k = o[i];
            int j = i;
            for (; j >= gap && (k.key != o[j - gap].key ? k.key < o[j - gap].key
                                                        : k.weight < o[j - gap].weight); j -= gap)
                o[j] = o[j - gap];
            o[j] = k;
        }
}

void rank_units(Victims *v) {
    for (int i = 0; i < v->units; i++) v->order[i] = (Ordered){ v->unit[i].slot, i };
    sort_keys(v->order, v->units);
    for (int r = 0; r < v->units; r++) v->unit[v->order[r].weight].rank = r;
    v->words = v->units / 64 + 1;
    v->ranked = 1;
}

/* Every choice of `count` among the candidate devices, each wholly cleared. */
static void clear_devices(Victims *v, const int *candidate, int found, int count) {
    int64_t weight[DEVICES] = { 0 };
    unsigned all = 0;
    for (int i = 0; i < found; i++) all |= 1u << candidate[i];
    for (int i = 0; i < v->units; i++) {
        unsigned on = v->unit[i].devices & all;
        for EACH_BIT(j, on) weight[j] += v->unit[i].cost / __builtin_popcount(on);
    }
    for (unsigned s = (1u << count) - 1; s < 1u << found && !v->truncated;) {
        unsigned cleared = 0;
        int64_t cost = 0;
        for EACH_BIT(i, s) { cleared |= 1u << candidate[i]; cost += weight[candidate[i]]; }
        if (cost <= limit_of(v)) {
            cost = 0;
            for (int i = 0; i < v->units; i++) {
                v->chosen[i] = (v->unit[i].devices & cleared) != 0;
                if (v->chosen[i]) cost += v->unit[i].cost;
            }
            if (cost <= limit_of(v)) cover(v, -1, 0);
        }
        unsigned low = s & -s, ripple = s + low;   /* the next number with as many bits */
        s = (((s ^ ripple) >> 2) / low) | ripple;
    }
}

/* Whether the shape fits on the open node without the chosen units. */
static int fits_without(const Engine *e, const Victims *v) {
    const Node *n = &e->node[v->node];
    const Class *c = &e->cls[n->cls];
    const Shape *s = v->shape;
    int64_t need[3] = { v->need[0], v->need[1], v->need[2] };
    int32_t device[DEVICES], found = 0;
    for (int i = 0; i < DEVICES; i++) device[i] = n->device[i];
    for (int i = 0; i < v->units; i++) {
        if (!v->chosen[i]) continue;
        for (int d = 0; d < 3; d++) need[d] -= v->unit[i].amount[d];
        for EACH_BIT(k, v->unit[i].devices) device[k] += v->unit[i].share[k];
    }
    for (int i = 0; i < c->devices; i++)
        found += device[i] >= s->milli && (s->kinds >> c->kind[i] & 1);
    return need[0] <= 0 && need[1] <= 0 && need[2] <= 0 && found >= s->count;
}

/* A plan cut short puts back what it does not need, the dearest first. */
static void put_back(const Engine *e, Victims *v) {
    memset(v->picked, 0, (size_t)v->units);
    for (;;) {
        int dear = -1;
        for (int i = 0; i < v->units; i++)
            if (v->chosen[i] && !v->picked[i]
                && (dear < 0 || v->unit[i].cost > v->unit[dear].cost
                    || (v->unit[i].cost == v->unit[dear].cost
                        && v->unit[i].rank > v->unit[dear].rank))) dear = i;
        if (dear < 0) return;
        v->picked[dear] = 1;
        v->chosen[dear] = 0;
        if (fits_without(e, v)) v->best_cost -= v->unit[dear].cost;
        else v->chosen[dear] = 1;
    }
}

/* The best plan, found on the open node, as slots. */
static void keep_plan(const Engine *e, Victims *v) {
    for (int i = 0; i < v->units; i++) v->chosen[i] = (uint8_t)has_rank(v->best, v->unit[i].rank);
    if (v->truncated) put_back(e, v);
    v->slots = 0;
    for (int i = 0; i < v->members; i++) {
        int32_t at = v->slots;
        if (!v->chosen[v->owner[i]]) continue;
        for (; at && v->slot[at - 1] > v->member[i]; at--) v->slot[at] = v->slot[at - 1];
        v->slot[at] = v->member[i];
        v->slots++;
    }
}

/* Every choice of devices leaves one covering problem. */
static void choose_victims(const Engine *e, Victims *v) {
    const Node *n = &e->node[v->node];
    const Class *c = &e->cls[n->cls];
    const Shape *s = v->shape;
    int candidate[DEVICES], found = 0, wanted = s->count;
    for (int i = 0; i < c->devices; i++) {
        if (!s->count || !(s->kinds >> c->kind[i] & 1)) continue;
        if (n->device[i] >= s->milli) wanted--;
        else if (n->device[i] + v->share[i] >= s->milli) candidate[found++] = i;
    }
    memset(v->chosen, 0, (size_t)v->units);
    if (wanted > found) return;
    if (wanted <= 0) cover(v, -1, 0);
    else if (!plain_amounts_can_win(v)) return;
    else if (s->milli == MILLI) clear_devices(v, candidate, found, wanted);
    else for (int i = 0; i < found && !v->truncated; i++)
        cover(v, candidate[i], s->milli - n->device[candidate[i]]);
}

/* First the most promising states only, for a good plan to measure all others by. */
static void open_node(Engine *e, Victims *v, int32_t x) {
    const Node *n = &e->node[x];
    int32_t was = v->best_node;
    int64_t was_cost = v->best_cost;
    collect(e, v, x);
    v->need[0] = v->shape->cpu - n->cpu;
    v->need[1] = v->shape->mem - n->mem;
    v->need[2] = v->shape->block - n->block;
    for (int d = 0; d < 3; d++) if (v->need[d] > v->total[d]) return;
    v->ranked = v->thinned = 0;
    v->width = NARROW;
    choose_victims(e, v);
    v->width = STATES;
    if (v->thinned && !v->truncated) choose_victims(e, v);
    if (v->best_node == x && (was != x || v->best_cost != was_cost)) keep_plan(e, v);
}

/* -- the search ------------------------------------------------------------------------------ */

static int candidate_before(Candidate a, Candidate b) {
    return a.bound != b.bound ? a.bound < b.bound : a.node < b.node;
}

static void sift_down(Victims *v) {
    Candidate *heap = v->heap, moving = heap[0];
    int32_t at = 0;
    for (int32_t child; (child = 2 * at + 1) < v->heap_count; at = child) {
        child += child + 1 < v->heap_count && candidate_before(heap[child + 1], heap[child]);
        if (!candidate_before(heap[child], moving)) break;
        heap[at] = heap[child];
    }
    heap[at] = moving;
}

/* Whether the empty machine could take the shape: whole devices, or a share of one. */
static int can_ever(const Class *c, const Shape *s) {
    int found = 0;
    for (int i = 0; i < c->devices; i++) found += s->kinds >> c->kind[i] & 1;
    return c->cpu >= s->cpu && c->mem >= s->mem && c->block >= s->block && found >= s->count
        && (s->count < 2 || s->milli == MILLI);
}

static int is_open(const Engine *e, const VictimQuery *q, int32_t x) {
    return e->node[x].eligible && x != q->exclude && allowed(q->mask, x);
}

/* Free and evictable of the lower levels together cover the plain amounts. */
static int sums_cover(const Engine *e, const Shape *s, int32_t x, int64_t below) {
    const Node *n = &e->node[x];
    int64_t cpu = n->cpu, mem = n->mem, block = n->block;
    for (int p = 0; p < below; p++) {
        const Reclaim *r = &e->reclaim[x][p];
        cpu += r->cpu; mem += r->mem; block += r->block;
    }
    return cpu >= s->cpu && mem >= s->mem && block >= s->block;
}

static void push(Victims *v, Candidate c) {
    int32_t at = v->heap_count;
    if (c.bound >= INFINITE) return;
    v->heap_count++;
    for (; at && candidate_before(c, v->heap[(at - 1) / 2]); at = (at - 1) / 2)
        v->heap[at] = v->heap[(at - 1) / 2];
    v->heap[at] = c;
}

static void push_anew(Engine *e, Victims *v, const Candidate *c, int count) {
    warm(e, c, count);
    for (int i = 0; i < count; i++) {
        int32_t x = c[i].node;
        profile_node(e, v, x);
        if (v->could[e->node[x].cls] && is_open(e, v->q, x))
            push(v, (Candidate){ lower_bound(e, v, x), x, 1 });
    }
}

/* What will be read a few nodes from now. */
static void prefetch(const Engine *e, const Victims *v, int32_t x) {
    int p = v->q->below ? v->q->below - 1 : 0;
    const Rack *k = &v->rack[p][x];
    const void *line[] = { &e->node[x], &e->node[x].alive, &v->span[x], &v->reach[p][0][x],
                           &v->reach[p][1][x], k, k->clear, k->rate };
    for (int i = 0; i < (v->shape->count ? 8 : 5); i++) __builtin_prefetch(line[i]);
}

/* Bounds of all open nodes; profiles that hold no longer are made anew, a few nodes at a time. */
static void bound_nodes(Engine *e, Victims *v) {
    const VictimQuery *q = v->q;
    int same = v->run_min == q->run_min && v->fresh == q->fresh && v->depth_max == q->depth_max;
    Candidate cold[WARM];
    int stale = 0;
    v->run_min = q->run_min; v->fresh = q->fresh; v->depth_max = q->depth_max;
    for (int32_t x = 0; x < e->nodes; x++) {
        Node *n = &e->node[x];
        if (x + WARM < e->nodes) prefetch(e, v, x + WARM);
        if (!same && n->profiled) n->profiled = HELD;
        if (!n->profiled && n->eligible) {
            cold[stale++].node = x;
        } else if (v->could[n->cls] && is_open(e, q, x)) {
            if (profile_holds(e, v, x)) {   /* exact: a new one would give no stricter bound */
                int exact = n->profiled == EXACT && v->span[x].until > q->now;
                push(v, (Candidate){ lower_bound(e, v, x), x, exact });
            } else if (sums_cover(e, v->shape, x, q->below)) {
                cold[stale++].node = x;
            }
        }
        if (stale < WARM && x + 1 < e->nodes) continue;
        push_anew(e, v, cold, stale);
        stale = 0;
    }
}

static int can_win(const Victims *v, Candidate c) {
    return v->best_node < 0 || c.bound < v->best_cost
        || (c.bound == v->best_cost && c.node < v->best_node);
}

/* Nodes in order of (exact bound, handle), until none can win. */
static void search(Engine *e, Victims *v) {
    Candidate next[WARM];
    v->best_node = -1; v->best_cost = INFINITE;
    v->steps = v->truncated = v->slots = v->heap_count = 0;
    for (int32_t i = 0; i < e->classes; i++) v->could[i] = (uint8_t)can_ever(&e->cls[i], v->shape);
    bound_nodes(e, v);
    while (v->heap_count && !v->truncated && can_win(v, v->heap[0])) {
        int count = 0, exact = v->heap[0].exact;
        for (; count < WARM && v->heap_count && v->heap[0].exact == exact; count++) {
            if (!can_win(v, v->heap[0])) break;
            next[count] = v->heap[0];
            v->heap[0] = v->heap[--v->heap_count];
            sift_down(v);
        }
        if (!exact) { push_anew(e, v, next, count); continue; }
        if (count > 1) warm(e, next, count);
        for (int i = 0; i < count && !v->truncated && can_win(v, next[i]); i++)
            open_node(e, v, next[i].node);
    }
}

/* -- why not --------------------------------------------------------------------------------- */

/* Whether all evictable leases below a level make room; gangs count in, or not at all. */
static int room_below(const Engine *e, const Victims *v, int32_t x, int below, int gangs) {
    const Node *n = &e->node[x];
    const Class *c = &e->cls[n->cls];
    const Shape *s = v->shape;
    const Held *h = &v->held[x];
    int64_t have[3] = { n->cpu, n->mem, n->block };
    int found = 0;
    for (int p = 0; p < below; p++) {
        const Reclaim *r = &e->reclaim[x][p];
        have[0] += r->cpu; have[1] += r->mem; have[2] += r->block;
    }
    for (int d = 0; d < 3 && !gangs; d++) have[d] -= h->gang_amount[d];
    for (int i = 0; i < c->devices; i++) {
        int milli = n->device[i] + (below ? h->milli[below - 1][i] : 0);
        if (!gangs) milli -= h->gang_milli[i];
        found += milli >= s->milli && (s->kinds >> c->kind[i] & 1);
    }
    return have[0] >= s->cpu && have[1] >= s->mem && have[2] >= s->block && found >= s->count;
}

/* The first rule that keeps the node from making room, or LEGAL: a look at its leases is due. */
static int blocked_at_sight(const Engine *e, const Victims *v, int32_t x) {
    if (!v->could[e->node[x].cls]) return NEVER_FITS;
    if (!is_open(e, v->q, x)) return CLOSED;
    if (!sums_cover(e, v->shape, x, 4)) return UNTOUCHABLE;
    if (!e->node[x].profiled) return LEGAL;
    for (int rule = UNTOUCHABLE; rule <= OUTRANKED; rule++) {
        int below = rule == UNTOUCHABLE ? 4 : v->q->below;
        if (!room_below(e, v, x, below, 1)) return rule;
        if (v->held[x].gangs && !room_below(e, v, x, below, 0)) return LEGAL;
    }
    return LEGAL;
}

/* The first rule, in the order of the enum, without which the legal leases would make room. */
static int blocked_by(Engine *e, Victims *v, int32_t x) {
    const Node *n = &e->node[x];
    const Class *c = &e->cls[n->cls];
    const Shape *s = v->shape;
    int64_t have[3] = { n->cpu, n->mem, n->block }, held[LEGAL + 1][3] = { { 0 } };
    int32_t milli[DEVICES], on[LEGAL + 1][DEVICES] = { { 0 } };
    for (int i = 0; i < DEVICES; i++) milli[i] = n->device[i];
    for (int32_t i = n->first_lease; i >= 0; i = e->lease[i].next) {
        const Lease *l = &e->lease[i];
        const Shape *t = &e->shape[l->shape];
        int rule = l->gang >= 0 ? gang_judged(e, v, l->gang)->verdict : verdict(v, l);
        held[rule][0] += t->cpu; held[rule][1] += t->mem; held[rule][2] += t->block;
        for EACH_BIT(k, (unsigned)l->devices) on[rule][k] += t->milli;
    }
    for (int rule = LEGAL; rule > UNTOUCHABLE; rule--) {   /* one rule after the other relaxed */
        int found = 0;
        for (int d = 0; d < 3; d++) have[d] += held[rule][d];
        for (int i = 0; i < c->devices; i++) {
            milli[i] += on[rule][i];
            found += milli[i] >= s->milli && (s->kinds >> c->kind[i] & 1);
        }
        if (have[0] >= s->cpu && have[1] >= s->mem && have[2] >= s->block && found >= s->count)
            return rule;
    }
    return UNTOUCHABLE;
}

static void count_blocked(Engine *e, Victims *v, int32_t blocked[LEGAL]) {
    Candidate next[WARM];
    int count = 0;
    for (int32_t x = 0; x < e->nodes; x++) {
        int rule = e->node[x].alive ? blocked_at_sight(e, v, x) : LEGAL;
        if (rule < LEGAL) blocked[rule]++;
        else if (e->node[x].alive) next[count++].node = x;
        if (count < WARM && x + 1 < e->nodes) continue;
        warm(e, next, count);
        while (count) {
            int32_t y = next[--count].node;
            if (!e->node[y].profiled) profile_node(e, v, y);
            rule = blocked_at_sight(e, v, y);
            if (rule == LEGAL) rule = blocked_by(e, v, y);
            if (rule < LEGAL) blocked[rule]++;
        }
    }
}

/* -- memory and entry ------------------------------------------------------------------------ */

static int resize(void *array, size_t count, size_t size) {
    void **at = array, *p = realloc(*at, count * size);
    if (p) *at = p;
    return p != NULL;
}

static int make_room(Engine *e, Victims *v) {
    int32_t units = 64;
    for (int32_t x = 0; x < e->nodes; x++) if (e->node[x].leases > units) units = e->node[x].leases;
    if (v->node_room < e->node_room) {
        size_t n = (size_t)e->node_room;
        v->node_room = 0;
        if (!resize(&v->span, n, sizeof *v->span) || !resize(&v->held, n, sizeof *v->held)
            || !resize(&v->heap, n, sizeof *v->heap)) return 0;
        for (int p = 0; p < 3; p++) {
            if (!resize(&v->terms[p], n, sizeof(Terms)) || !resize(&v->rack[p], n, sizeof(Rack)))
                return 0;
            for (int d = 0; d < 3; d++) if (!resize(&v->reach[p][d], n, sizeof(Reach))) return 0;
        }
        v->node_room = e->node_room;
    }
    if (v->class_room < e->class_room) {
        v->class_room = 0;
        if (!resize(&v->could, (size_t)e->class_room, 1)) return 0;
        v->class_room = e->class_room;
    }
    if (v->unit_room < units) {
        size_t n = (size_t)units + 1, words = (n + 63) / 64;
        v->unit_room = 0;
        if (!resize(&v->unit, n, sizeof *v->unit) || !resize(&v->piece, n, sizeof *v->piece)
            || !resize(&v->tail, n, sizeof *v->tail) || !resize(&v->order, 2 * n, sizeof *v->order)
            || !resize(&v->member, n, 4) || !resize(&v->owner, n, 4)
            || !resize(&v->slot, n, 4) || !resize(&v->chosen, n, 1) || !resize(&v->picked, n, 1)
            || !resize(&v->start, words, 8) || !resize(&v->best, words, 8)) return 0;
        for (int i = 0; i < 2; i++)
            if (!resize(&v->mask[i], words * STATES, 8)
                || !resize(&v->state[i], STATES, sizeof(State))) return 0;
        if (!resize(&v->rated, STATES, sizeof *v->rated)) return 0;
        v->unit_room = units;
    }
    return 1;
}

void victims_clear(Engine *e) {
    Victims *v = e->victims;
    if (!v) return;
    gang_forget(v);
    for (int p = 0; p < 3; p++) {
        free(v->terms[p]); free(v->rack[p]);
        for (int d = 0; d < 3; d++) free(v->reach[p][d]);
    }
    free(v->span); free(v->held); free(v->heap); free(v->could);
    free(v->unit); free(v->piece); free(v->tail);
    free(v->order); free(v->rated);
    free(v->member); free(v->owner); free(v->slot); free(v->chosen); free(v->picked);
    free(v->start); free(v->best);
    for (int i = 0; i < 2; i++) { free(v->mask[i]); free(v->state[i]); }
    free(v);
    e->victims = NULL;
}

/* 1: a plan; 0: none, and `blocked` says why; -1: no memory. */
int find_victims(Engine *e, const VictimQuery *q, VictimAnswer *a) {
    if (!e->victims) e->victims = calloc(1, sizeof *e->victims);
    Victims *v = e->victims;
    if (!v || !make_room(e, v) || !gang_build(e, v)) return -1;
    v->q = q; v->shape = &e->shape[q->shape]; v->serial++;
    v->ripe = minus(q->now, q->run_min);
    v->recent = minus(q->now, q->fresh);
    search(e, v);
    if (v->best_node >= 0) {
        *a = (VictimAnswer){ .cost = v->best_cost, .node = v->best_node, .count = v->slots,
                             .slot = v->slot, .exact = !v->truncated };
        return 1;
    }
    memset(a, 0, sizeof *a);
    count_blocked(e, v, a->blocked);
    return 0;
}
