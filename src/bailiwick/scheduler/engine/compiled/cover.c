/* One covering problem: the cheapest units that supply what the open node lacks.
 *
 * States (cost, what is still lacking, which units) are extended unit by unit. In one order of
 * (cost, set) throughout, a state goes when an earlier one lacks no more in any dimension, or when
 * its cost and a lower bound on the rest exceed the best plan. At most `width` states are kept, the
 * most promising ones; without that limit the search is exact. The bound is the strongest of: the
 * number of units still needed, the best value per dimension, and prices per dimension under
 * which no unit is a bargain (the dual of the problem with divisible units). */
#include "victims.h"
#include <string.h>

enum { POINT = 20 };               /* binary places of prices */
#define PRICE_MAX (1ll << 38)

typedef struct {                   /* what is lacking, in which dimensions */
    int dims, cpu, pieces, prices, shift[NEEDS], kind[NEEDS];
    int64_t cost, need[NEEDS], scaled[NEEDS], price[PRICES][NEEDS];
    int64_t step, least, fraction;
} Cover;

/* Whether set a comes before set b: it holds the lowest slot that only one of them holds. */
static int before(const uint64_t *a, const uint64_t *b, int32_t words) {
    for (int32_t i = 0; i < words; i++) if (a[i] != b[i]) return a[i] > b[i];
    return 0;
}

static void offer(Victims *v, int64_t cost, const uint64_t *mask) {
    if (cost > limit_of(v)) return;
    if (v->best_node == v->node && cost == v->best_cost && !before(mask, v->best, v->words)) return;
    v->best_node = v->node; v->best_cost = cost;
    memcpy(v->best, mask, (size_t)v->words * sizeof *mask);
}

/* -- bounds ------------------------------------------------------------------------------------ */

static int64_t worth(const Piece *p, const int64_t *price, int dims) {
    int64_t sum = 0;
    for (int d = 0; d < dims; d++) sum += price[d] * p->scaled[d];
    return sum;
}

static int64_t bargain(const Piece *p, const int64_t *price, int dims) {
    int64_t gain = worth(p, price, dims) - (p->base << POINT);
    return gain > 0 ? gain : 0;
}

static int64_t whole(const Cover *c, int64_t value) {   /* the next sum of bases */
    return value > 0 ? ceil_div((value + (1ll << POINT) - 1) >> POINT, c->step) * c->step : 0;
}

/* The key at which keys up to it weigh as much as is wanted; together they do. */
static int64_t weighted_key(Ordered *o, int n, int64_t wanted) {
    while (n > 1) {
        int64_t pivot = o[n / 2].key, below = 0, equal = 0;
        int less = 0, more = n;
        for (int i = 0; i < more;) {
            Ordered k = o[i];
            if (k.key < pivot) { below += k.weight; o[i++] = o[less]; o[less++] = k; }
            else if (k.key > pivot) { o[i] = o[--more]; o[more] = k; }
            else { equal += k.weight; i++; }
        }
        if (below >= wanted) { n = less; continue; }
        if (below + equal >= wanted) return pivot;
        wanted -= below + equal;
        o += more; n -= more;
    }
    return n ? o[0].key : 0;
}

/* The best price in one dimension, the others given: where the need is just supplied. */
static int64_t best_price(Victims *v, const Cover *c, int d, const int64_t *price) {
    int n = 0;
    for (int i = 0; i < c->pieces; i++) {
        const Piece *p = &v->piece[i];
        if (!p->scaled[d]) continue;
        int64_t rest = (p->base << POINT) - worth(p, price, c->dims) + price[d] * p->scaled[d];
        v->order[n++] = (Ordered){ rest > 0 ? rest / p->scaled[d] : 0, p->scaled[d] };
    }
    int64_t found = weighted_key(v->order, n, c->scaled[d]);
    return found < PRICE_MAX ? found : PRICE_MAX;
}

static int64_t root_value(const Victims *v, const Cover *c, const int64_t *price) {
    int64_t value = 0;
    for (int d = 0; d < c->dims; d++) value += price[d] * c->scaled[d];
    for (int i = 0; i < c->pieces; i++) value -= bargain(&v->piece[i], price, c->dims);
    return value;
}

/* Prices for each dimension alone, then for all together; 0: the bound exceeds the limit. */
static int set_prices(Victims *v, Cover *c) {
    int best = 0; int64_t top = -1;
    for (int d = 0; d < c->dims; d++) {
        c->price[d][d] = best_price(v, c, d, c->price[d]);
        int64_t value = root_value(v, c, c->price[d]);
        if (value > top) { top = value; best = d; }
    }
    c->prices = c->dims;
    if (c->cost + whole(c, top) > limit_of(v)) return 0;
    if (c->dims == 1) return 1;
    int64_t *joint = c->price[c->prices++];
    memcpy(joint, c->price[best], sizeof c->price[best]);
    for (int round = 0; round < 2 * c->dims; round++)
        joint[round % c->dims] = best_price(v, c, round % c->dims, joint);
    return c->cost + whole(c, root_value(v, c, joint)) <= limit_of(v);
}

/* What covering the need with pieces from i on costs at least. */
static int64_t lacking(const Victims *v, const Cover *c, int i, const int64_t *need) {
    const Tail *t = &v->tail[i];
    int64_t value = 0, scaled[NEEDS];
    for (int d = 0; d < c->dims; d++) {
        scaled[d] = need[d] >> c->shift[d];
        if (need[d] <= 0) continue;
        if (t->sum[d] < need[d]) return INFINITE;
        int64_t times = scaled[d] > t->most[d] ? ceil_div(scaled[d], t->most[d]) : 1;
        if (t->base * times << POINT > value) value = t->base * times << POINT;
        if (t->ratio[d] * scaled[d] > value) value = t->ratio[d] * scaled[d];
    }
    for (int k = 0; k < c->prices; k++) {
        int64_t sum = -t->gain[k];
        for (int d = 0; d < c->dims; d++) sum += c->price[k][d] * scaled[d];
        if (sum > value) value = sum;
    }
    int64_t base = whole(c, value);
    if (c->cpu < 0 || need[c->cpu] <= 0) return base;
    int64_t cores = need[c->cpu] - base / t->base * c->fraction;
    return base + (cores > 0 ? ceil_div(cores, 1000) : 0);
}

/* -- the search -------------------------------------------------------------------------------- */

/* Best value first; then what each tail of that order still offers. */
static void order_pieces(Victims *v, Cover *c) {
    int n = c->pieces;
    Piece *moved = (Piece *)v->tail;   /* a tail is no smaller than a piece */
    for (int i = 0; i < n; i++) {
        int64_t value = worth(&v->piece[i], c->price[c->prices - 1], c->dims) >> 12;
        v->order[i] = (Ordered){ (v->piece[i].base << 32) / (value + 1), i };
        moved[i] = v->piece[i];
    }
    sort_keys(v->order, n);
    for (int i = 0; i < n; i++) v->piece[i] = moved[v->order[i].weight];
    Tail t = { .base = INFINITE };
    for (int d = 0; d < NEEDS; d++) t.ratio[d] = PRICE_MAX;
    v->tail[n] = t;
    for (int i = n - 1; i >= 0; v->tail[i--] = t) {
        const Piece *p = &v->piece[i];
        if (p->base < t.base) t.base = p->base;
        for (int k = 0; k < c->prices; k++) t.gain[k] += bargain(p, c->price[k], c->dims);
        for (int d = 0; d < c->dims; d++) {
            t.sum[d] += p->amount[d];
            if (!p->scaled[d]) continue;
            if (p->scaled[d] > t.most[d]) t.most[d] = p->scaled[d];
            int64_t ratio = (p->base << POINT) / p->scaled[d];
            if (ratio < t.ratio[d]) t.ratio[d] = ratio;
        }
    }
}

/* A first plan: in order until all is covered, then without what proves superfluous. */
static void offer_greedy(Victims *v, const Cover *c) {
    uint64_t *mask = v->mask[0];
    int64_t left[NEEDS], cost = c->cost;
    int last = 0;
    memcpy(left, c->need, sizeof left);
    for (int open = 1; open && last < c->pieces; last++) {
        int useful = 0;
        open = 0;
        for (int d = 0; d < c->dims; d++) useful |= left[d] > 0 && v->piece[last].amount[d] > 0;
        v->picked[last] = (uint8_t)useful;
        for (int d = 0; d < c->dims; d++) {
            if (useful) left[d] -= v->piece[last].amount[d];
            open |= left[d] > 0;
        }
    }
    memcpy(mask, v->start, (size_t)v->words * sizeof *mask);
    for (;;) {
        int dear = -1, spare = 1;
        for (int i = 0; i < last; i++)
            if (v->picked[i] && (dear < 0 || v->piece[i].cost > v->piece[dear].cost)) dear = i;
        if (dear < 0) break;
        v->picked[dear] = 0;
        for (int d = 0; d < c->dims; d++) spare &= left[d] + v->piece[dear].amount[d] <= 0;
        for (int d = 0; spare && d < c->dims; d++) left[d] += v->piece[dear].amount[d];
        if (spare) continue;
        add_rank(mask, v->unit[v->piece[dear].unit].rank);
        cost += v->piece[dear].cost;
    }
    offer(v, cost, mask);
}

static int dominated(Victims *v, const Cover *c, const State *kept, int count, const State *s) {
    for (int k = 0; k < count; k++) {
        int no_more = 1;
        for (int d = 0; d < c->dims; d++) no_more &= kept[k].need[d] <= s->need[d];
        v->steps++;
        if (no_more) return 1;
    }
    return 0;
}

/* The most promising states, as many as the width, in the order they are in. */
static int thin_out(Victims *v, State *state, uint64_t *mask, int count, int width) {
    size_t words = (size_t)v->words;
    for (int k = 0; k < count; k++) v->rated[k] = (Ordered){ state[k].bound, 1 };
    int64_t worst = weighted_key(v->rated, count, width);
    int kept = 0, ties = width;
    for (int k = 0; k < count; k++) ties -= state[k].bound < worst;
    for (int k = 0; k < count; k++) {
        if (state[k].bound > worst || (state[k].bound == worst && ties-- <= 0)) continue;
        state[kept] = state[k];
        memmove(mask + (size_t)kept++ * words, mask + (size_t)k * words, words * sizeof *mask);
    }
    return kept;
}

/* One piece taken or left by every state; returns how many states there are then. */
static int extend(Victims *v, const Cover *c, int i, int now, int count) {
    size_t words = (size_t)v->words, width = words * sizeof(uint64_t);
    const Piece *p = &v->piece[i];
    int32_t rank = v->unit[p->unit].rank;
    const State *from = v->state[now];
    State *to = v->state[now ^ 1];
    const uint64_t *mask = v->mask[now];
    int kept = 0, leave = 0, take = 0;
    while (take < count) {
        uint64_t *out = v->mask[now ^ 1] + (size_t)kept * words;
        int64_t taken = from[take].cost + p->cost;
        int taking = leave == count || taken < from[leave].cost;
        memcpy(out, mask + (size_t)take * words, width);
        add_rank(out, rank);
        if (!taking && taken == from[leave].cost)
            taking = before(out, mask + (size_t)leave * words, v->words);
        State s = from[taking ? take : leave];
        int open = !taking;
        v->steps++;
        if (taking) {
            take++;
            s.cost = taken;
            for (int d = 0; d < c->dims; d++) {
                s.need[d] = s.need[d] > p->amount[d] ? s.need[d] - p->amount[d] : 0;
                open |= s.need[d] > 0;
            }
            if (!open) offer(v, s.cost, out);
        } else memcpy(out, mask + (size_t)leave++ * words, width);
        if (!open) continue;
        s.bound = s.cost + lacking(v, c, i + 1, s.need);
        if (s.bound > limit_of(v) || dominated(v, c, to, kept, &s)) continue;
        to[kept++] = s;
        if (kept == STATES || v->steps > STEPS) { v->truncated = 1; return 0; }
    }
    return kept;
}

static void search_states(Victims *v, const Cover *c) {
    int count = 1;
    v->state[0][0].cost = c->cost;
    memcpy(v->state[0][0].need, c->need, sizeof c->need);
    memcpy(v->mask[0], v->start, (size_t)v->words * sizeof(uint64_t));
    for (int i = 0; i < c->pieces && count; i++) {
        int to = ~i & 1;
        count = extend(v, c, i, i & 1, count);
        if (count <= v->width) continue;
        count = thin_out(v, v->state[to], v->mask[to], count, v->width);
        v->thinned = 1;
    }
}

/* -- setting it up ----------------------------------------------------------------------------- */

/* What is lacking without the units that go anyway. */
static void set_needs(const Victims *v, Cover *c, int share, int64_t gap) {
    int64_t need[NEEDS] = { v->need[0], v->need[1], v->need[2], share < 0 ? 0 : gap };
    for (int i = 0; i < v->units; i++) {
        if (!v->chosen[i]) continue;
        c->cost += v->unit[i].cost;
        for (int d = 0; d < 3; d++) need[d] -= v->unit[i].amount[d];
    }
    c->cpu = -1; c->step = 1000; c->least = INFINITE;
    for (int d = 0; d < NEEDS; d++) {
        if (need[d] <= 0) continue;
        int i = c->dims++;
        if (!d) c->cpu = i;
        c->kind[i] = d; c->need[i] = need[d];
        c->shift[i] = shift_of(need[d], POINT);
        c->scaled[i] = need[d] >> c->shift[i];
    }
}

/* The units that can help; 0: they do not suffice, or not within the limit. */
static int set_pieces(Victims *v, Cover *c, int share) {
    int64_t sum[NEEDS] = { 0 }, most[NEEDS] = { 0 }, limit = limit_of(v);
    int64_t least[NEEDS] = { INFINITE, INFINITE, INFINITE, INFINITE };
    for (int i = 0; i < v->units; i++) {
        const Unit *u = &v->unit[i];
        Piece *p = &v->piece[c->pieces];
        int64_t any = 0;
        if (v->chosen[i] || c->cost + u->cost > limit) continue;
        for (int d = 0; d < c->dims; d++) {
            int64_t a = c->kind[d] < 3 ? u->amount[c->kind[d]] : u->share[share];
            p->amount[d] = a < c->need[d] ? a : c->need[d];
            p->scaled[d] = (int32_t)scaled_up(p->amount[d], c->shift[d]);
            any |= a; sum[d] += p->amount[d];
            if (p->scaled[d] > most[d]) most[d] = p->scaled[d];
            if (a && u->base < least[d]) least[d] = u->base;
        }
        if (!any) continue;
        p->cost = u->cost; p->base = u->base; p->unit = i;
        c->pieces++;
        int64_t lost = u->amount[0] - 1000 * (u->cost - u->base);
        if (lost > c->fraction) c->fraction = lost;
        if (u->base < c->least) c->least = u->base;
        if (u->base % 1000) c->step = 500;
    }
    for (int d = 0; d < c->dims; d++) {
        if (sum[d] < c->need[d]) return 0;
        int64_t times = c->scaled[d] > most[d] ? ceil_div(c->scaled[d], most[d]) : 1;
        if (c->cost + times * least[d] > limit) return 0;
    }
    if (c->fraction > 1000 * c->least) c->cpu = -1;   /* one unit could lose more than it costs */
    return 1;
}

/* Units get their ranks only when a plan is in sight; `start` are the chosen ones. */
static void set_start(Victims *v) {
    if (!v->ranked) rank_units(v);
    memset(v->start, 0, (size_t)v->words * sizeof *v->start);
    for (int i = 0; i < v->units; i++) if (v->chosen[i]) add_rank(v->start, v->unit[i].rank);
}

/* Whether the plain amounts alone, without any device, may be had within the limit. */
int plain_amounts_can_win(Victims *v) {
    Cover c = { 0 };
    set_needs(v, &c, -1, 0);
    return !c.dims || (set_pieces(v, &c, -1) && set_prices(v, &c));
}

/* Complete a choice of devices: the `chosen` units go, device `share` (or -1) lacks `gap`. */
void cover(Victims *v, int share, int64_t gap) {
    Cover c = { 0 };
    set_needs(v, &c, share, gap);
    if (!c.dims) {
        set_start(v);
        offer(v, c.cost, v->start);
        return;
    }
    if (!set_pieces(v, &c, share) || !set_prices(v, &c)) return;
    set_start(v);
    order_pieces(v, &c);
    offer_greedy(v, &c);
    if (c.cost + lacking(v, &c, 0, c.need) <= limit_of(v)) search_states(v, &c);
}
