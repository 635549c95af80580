/* Strategies that score every node: Weighted and FragmentationAware.
 *
 * A score depends on the request's shape, the node's state and tables that change rarely (an
 * epoch). So scores are cached per (shape, node), with the best of each block of 64 nodes beside
 * them; a question rescores only the nodes in the change log since the shape was last asked.
 * Decisions are those of a plain pass over all nodes: highest score, lowest handle. */
#include "engine.h"
#include <stdlib.h>
#include <string.h>

#define ONE 65536                     /* fixed point of workload weights, kappa and pressure */
#define STEP (40ll * ONE)             /* scores closer than 40 milli are equal: first node wins */
#define STRAND 3
#define PRESSURE 3
#define SCORE_MAX 32000

/* Weighted GPU milli that requests drawn from the learned workload could use on such a node. */
static int64_t usable_milli(const Engine *e, const Class *c, int64_t cpu, const int16_t *device) {
    int64_t total = 0;
    for (int32_t i = 0; i < e->groups; i++) {
        const Group *g = &e->group[i];
        if (!(c->kinds & g->kinds)) continue;
        if (e->item[g->first].cpu > cpu) continue;
        int count = 0, milli = 0;
        if (c->kinds & ~g->kinds) {
            for (int d = 0; d < c->devices; d++) {
                int ok = device[d] >= g->m && (g->kinds >> c->kind[d] & 1);
                count += ok; milli += ok ? device[d] : 0;
            }
        } else {
            for (int d = 0; d < c->devices; d++) {
                int ok = device[d] >= g->m;
                count += ok; milli += ok ? device[d] : 0;
            }
        }
        if (count < g->n) continue;
        int64_t weight = 0;
        for (int32_t t = g->first; t < g->last && e->item[t].cpu <= cpu; t++)
            weight = e->item[t].weight;
        total += weight * milli;
    }
    return total;
}

static int64_t stranded(const Engine *e, int64_t idle, int64_t cpu) {
    int64_t s = idle * ONE - cpu * e->inverse_kappa;
    return s > 0 ? s : 0;
}

static int clamp_score(int64_t v) {
    return v > SCORE_MAX ? SCORE_MAX : v < -SCORE_MAX ? -SCORE_MAX : (int)v;
}

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }

/* Gain of leaving the node with this CPU and these devices, before pressure and rounding. */
static int64_t gain(const Engine *e, const Node *n, const Class *c, int64_t cpu,
                    const int16_t *device, int64_t idle) {
    int64_t freed = (n->idle - idle) * ONE - (n->usable - usable_milli(e, c, cpu, device));
    return freed + STRAND * (stranded(e, n->idle, n->cpu) - stranded(e, idle, cpu));
}

static int score_fragmentation(Engine *e, const Shape *s, Node *n, unsigned within,
                               unsigned *devices) {
    const Class *c = &e->cls[n->cls];
    if (n->usable_version != n->version || n->usable_epoch != e->epoch[1]) {
        n->usable = usable_milli(e, c, n->cpu, n->device);
        n->usable_version = n->version; n->usable_epoch = e->epoch[1];
    }
    int16_t after[DEVICES];
    memcpy(after, n->device, sizeof after);
    int64_t cpu = n->cpu - s->cpu, best = INT64_MIN;
    if (s->count && s->milli < MILLI) {
        for (int i = 0; i < c->devices; i++) {
            if (n->device[i] < s->milli) continue;
            if (!(s->kinds >> c->kind[i] & within >> i & 1)) continue;
            int same = 0;   /* a device in the same state of the same kind scores the same */
            for (int j = 0; j < i && !same; j++)
                same = n->device[j] == n->device[i] && c->kind[j] == c->kind[i]
                    && (within >> j & 1);
            if (same) continue;
            after[i] -= (int16_t)s->milli;
            int64_t v = gain(e, n, c, cpu, after, n->idle - s->milli)
                      - PRESSURE * e->pressure[c->kind[i]] * s->milli;
            after[i] += (int16_t)s->milli;
            if (v > best) { best = v; *devices = 1u << i; }
        }
    } else {
        unsigned chosen = s->count ? choose_devices(e, n, s, within) : 0;
        int64_t pressure = 0;
        for (unsigned left = chosen; left; left &= left - 1) {
            int i = __builtin_ctz(left);
            after[i] = 0;
            pressure += e->pressure[c->kind[i]] * MILLI;
        }
        best = gain(e, n, c, cpu, after, n->idle - (int64_t)s->count * s->milli)
             - PRESSURE * pressure;
        *devices = chosen;
    }
    /* As long as others serve as well, work without a GPU keeps off machines that have one, and
     * work with several keeps off machines where they would be of several fabrics. */
    int aside = (!s->count && c->devices) + (c->fabrics && is_spread(c, *devices));
    return clamp_score(floor_div(best + STEP / 2, STEP) - aside);
}

static int score_weighted(Engine *e, const Shape *s, const Node *n, unsigned within,
                          unsigned *devices) {
    const Class *c = &e->cls[n->cls];
    int64_t sum = 0;
    if (c->cpu) sum += e->weight[0] * ((n->cpu - s->cpu) * 1024 / c->cpu);
    if (c->mem) sum += e->weight[1] * ((n->mem - s->mem) * 1024 / c->mem);
    if (c->block) sum += e->weight[2] * ((n->block - s->block) * 1024 / c->block);
    if (c->devices)
        sum += e->weight[3] * ((n->idle - (int64_t)s->count * s->milli) * 1024
                               / (c->devices * MILLI));
    *devices = s->count ? choose_devices(e, n, s, within) : 0;
    return clamp_score(floor_div(-sum, 256) - (c->fabrics && is_spread(c, *devices)));
}

/* Higher is better; UNFIT when the node cannot take the request. */
int score_node(Engine *e, int strategy, const Shape *s, int32_t x, unsigned within,
               unsigned *devices) {
    Node *n = &e->node[x];
    if (within == ALL_DEVICES ? !fits(e, n, s) : !fits_within(e, n, s, within)) return UNFIT;
    e->rescored++;
    return strategy == WEIGHTED ? score_weighted(e, s, n, within, devices)
                                : score_fragmentation(e, s, n, within, devices);
}

void drop_cache(Engine *e, Shape *s) {
    for (int i = 0; i < 2; i++) {
        if (!s->cache[i].score) continue;
        free(s->cache[i].score);
        memset(&s->cache[i], 0, sizeof s->cache[i]);
        e->caches--;
    }
}

static void drop_oldest_cache(Engine *e) {
    Shape *oldest = NULL;
    for (int32_t i = 0; i < e->shapes; i++) {
        Shape *s = &e->shape[i];
        if (!s->cache[0].score && !s->cache[1].score) continue;
        if (!oldest || s->asked < oldest->asked) oldest = s;
    }
    if (oldest) drop_cache(e, oldest);
}

static int16_t block_head(const Cache *k, int32_t block, int32_t nodes) {
    int32_t from = block * BLOCK, to = from + BLOCK < nodes ? from + BLOCK : nodes;
    int16_t head = UNFIT;
    for (int32_t x = from; x < to; x++) if (k->score[x] > head) head = k->score[x];
    return head;
}

static void build_cache(Engine *e, int strategy, const Shape *s, Cache *k) {
    unsigned devices = 0;
    for (int32_t x = 0; x < e->nodes; x++)
        k->score[x] = (int16_t)score_node(e, strategy, s, x, ALL_DEVICES, &devices);
    for (int32_t b = 0; b * BLOCK < e->nodes; b++) k->head[b] = block_head(k, b, e->nodes);
}

static void update_cache(Engine *e, int strategy, const Shape *s, Cache *k) {
    unsigned devices = 0;
    uint32_t serial = ++e->stamp_serial;
    for (uint64_t p = k->seen; p < e->log_end; p++) {
        int32_t x = e->log[p & (LOG_SIZE - 1)];
        if (e->stamp[x] == serial) continue;
        e->stamp[x] = serial;
        int16_t was = k->score[x];
        int16_t is = (int16_t)score_node(e, strategy, s, x, ALL_DEVICES, &devices);
        int32_t block = x / BLOCK;
        k->score[x] = is;
        if (is > k->head[block]) k->head[block] = is;
        else if (was == k->head[block] && is < was) k->head[block] = block_head(k, block, e->nodes);
    }
}

/* The fresh cache of this shape, or NULL when there is no memory for one. */
static Cache *fresh_cache(Engine *e, int strategy, Shape *s) {
    Cache *k = &s->cache[strategy == FRAGMENTATION_AWARE];
    uint32_t epoch = e->epoch[strategy == FRAGMENTATION_AWARE];
    uint64_t lag = e->log_end - k->seen;
    if (k->score && k->room >= e->nodes && k->epoch == epoch
        && lag <= LOG_SIZE && lag <= (uint64_t)e->nodes) {
        update_cache(e, strategy, s, k);
    } else {
        if (!k->score || k->room < e->nodes) {
            if (k->score) { free(k->score); e->caches--; memset(k, 0, sizeof *k); }
            while (e->caches >= CACHES) drop_oldest_cache(e);
            int32_t blocks = (e->node_room + BLOCK - 1) / BLOCK;
            k->score = malloc((size_t)(e->node_room + blocks) * sizeof(int16_t));
            if (!k->score) return NULL;
            k->head = k->score + e->node_room;
            k->room = e->node_room;
            e->caches++;
        }
        build_cache(e, strategy, s, k);
        k->epoch = epoch;
    }
    k->seen = e->log_end;
    return k;
}

static int32_t best_cached(const Engine *e, const Cache *k, const uint8_t *mask) {
    int32_t blocks = (e->nodes + BLOCK - 1) / BLOCK, best = -1;
    int16_t top = UNFIT;
    if (!mask) {
        for (int32_t b = 0; b < blocks; b++) top = k->head[b] > top ? k->head[b] : top;
        if (top == UNFIT) return -1;
        int32_t b = 0;
        while (k->head[b] != top) b++;
        int32_t x = b * BLOCK;
        while (k->score[x] != top) x++;
        return x;
    }
    for (int32_t b = 0; b < blocks; b++) {
        if (k->head[b] <= top) continue;
        int32_t to = (b + 1) * BLOCK < e->nodes ? (b + 1) * BLOCK : e->nodes;
        for (int32_t x = b * BLOCK; x < to; x++)
            if (k->score[x] > top && allowed(mask, x)) { top = k->score[x]; best = x; }
    }
    return best;
}

/* A shape asked for the first time is answered by one pass and leaves no cache behind. */
static int32_t scan_scored(Engine *e, int strategy, const Shape *s, const uint8_t *mask) {
    int32_t best = -1; int top = UNFIT; unsigned devices = 0;
    for (int32_t x = 0; x < e->nodes; x++) {
        if (!allowed(mask, x)) continue;
        int score = score_node(e, strategy, s, x, ALL_DEVICES, &devices);
        if (score > top) { top = score; best = x; }
    }
    return best;
}

int32_t find_scored(Engine *e, int strategy, Shape *s, const uint8_t *mask) {
    s->asked = ++e->ask_serial;
    if (!s->asks) { s->asks = 1; return scan_scored(e, strategy, s, mask); }
    Cache *k = fresh_cache(e, strategy, s);
    return k ? best_cached(e, k, mask) : scan_scored(e, strategy, s, mask);
}
