/* Best fit by tightest-dimension lists.
 *
 * A node stands in the list of (its class, the dimension where its free fraction is smallest), in
 * the bucket of that fraction. A request enters each list at its own need in that dimension. Past
 * the largest of its needs every node of the list is certain to fit, so after a few misses the
 * search jumps there. One candidate per list is compared by the exact key. Only when no list has
 * one does a scan of the mirrors decide, so a denial is exact. */
#include "engine.h"
#include <stdlib.h>
#include <string.h>

#define MISSES 16
enum { SET_PLAIN = 0, SET_WHOLE = 1, SET_SHARE = 2, WORDS = BUCKETS / 64 + 1 };

/* What stays free on the node, as parts of a large reference machine (128 cores, 1 TiB, 8 GPUs,
 * 16 TiB block) with weights 25, 25, 40, 10; the request is the same for all, so it drops out. */
int64_t best_fit_key(const Node *n) {
    return n->cpu * 2147483 + (n->mem >> 20) * 262144 + n->idle * 54975581ll
         + (n->block >> 30) * 6710886;
}

static uint64_t *words_of(Engine *e, int32_t list) { return e->bitmap + (size_t)list * WORDS; }

static void link_in(Engine *e, int32_t x, int set, int32_t bucket) {
    Link *k = &e->node[x].link[set];
    int32_t first = e->head[bucket];
    *k = (Link){ bucket, first, -1 };
    e->head[bucket] = x;
    if (first >= 0) { e->node[first].link[set].prev = x; return; }
    uint64_t *words = words_of(e, bucket / BUCKETS);
    int b = bucket % BUCKETS;
    words[b >> 6] |= 1ull << (b & 63);
    words[WORDS - 1] |= 1ull << (b >> 6);
}

static void link_out(Engine *e, int32_t x, int set) {
    Link *k = &e->node[x].link[set];
    if (k->next >= 0) e->node[k->next].link[set].prev = k->prev;
    if (k->prev >= 0) e->node[k->prev].link[set].next = k->next;
    else {
        e->head[k->bucket] = k->next;
        if (k->next < 0) {
            uint64_t *words = words_of(e, k->bucket / BUCKETS);
            int b = k->bucket % BUCKETS;
            words[b >> 6] &= ~(1ull << (b & 63));
            if (!words[b >> 6]) words[WORDS - 1] &= ~(1ull << (b >> 6));
        }
    }
    k->bucket = -1;
}

static void move(Engine *e, int32_t x, int set, int32_t bucket) {
    Link *k = &e->node[x].link[set];
    if (k->bucket == bucket) return;
    if (k->bucket >= 0) link_out(e, x, set);
    if (bucket >= 0) link_in(e, x, set, bucket);
}

static int32_t bucket_at(int32_t cls, int set, int dim, double fraction) {
    int32_t b = fraction >= BUCKETS - 1 ? BUCKETS - 1 : (int32_t)fraction;
    return ((cls * 3 + set) * 4 + dim) * BUCKETS + b;
}

static void reindex(Engine *e, int32_t x) {
    Node *n = &e->node[x];
    if (!n->eligible) {
        for (int set = 0; set < 3; set++) move(e, x, set, -1);
        return;
    }
    const Class *c = &e->cls[n->cls];
    const int64_t have[3] = { n->cpu, n->mem, n->block };
    double least = BUCKETS; int dim = 0;
    for (int d = 0; d < 3; d++) {
        if (c->step[d] == 0.0) continue;
        double f = (double)have[d] * c->step[d];
        if (f < least) { least = f; dim = d; }
    }
    move(e, x, SET_PLAIN, bucket_at(n->cls, SET_PLAIN, dim, least));
    if (!c->devices) return;
    double whole = n->whole * c->step[3], top = n->top * ((double)BUCKETS / MILLI);
    move(e, x, SET_WHOLE, whole <= least ? bucket_at(n->cls, SET_WHOLE, 3, whole)
                                         : bucket_at(n->cls, SET_WHOLE, dim, least));
    move(e, x, SET_SHARE, top <= least ? bucket_at(n->cls, SET_SHARE, 3, top)
                                       : bucket_at(n->cls, SET_SHARE, dim, least));
}

/* Catch up with the change log, or build everything anew. 0 when memory ran out. */
static int refresh(Engine *e) {
    if (e->lists_live && e->list_classes == e->classes && e->log_end - e->lists_seen <= LOG_SIZE) {
        for (; e->lists_seen < e->log_end; e->lists_seen++)
            reindex(e, e->log[e->lists_seen & (LOG_SIZE - 1)]);
        return 1;
    }
    size_t lists = (size_t)e->classes * LISTS;
    free(e->head); free(e->bitmap);
    e->head = malloc(lists * BUCKETS * sizeof(int32_t));
    e->bitmap = calloc(lists * WORDS, sizeof(uint64_t));
    e->lists_live = 0;
    if (!e->head || !e->bitmap) return 0;
    memset(e->head, 0xff, lists * BUCKETS * sizeof(int32_t));
    for (int32_t x = 0; x < e->nodes; x++)
        for (int set = 0; set < 3; set++) e->node[x].link[set].bucket = -1;
    for (int32_t x = e->nodes - 1; x >= 0; x--) reindex(e, x);
    e->lists_seen = e->log_end; e->list_classes = e->classes; e->lists_live = 1;
    return 1;
}

void bestfit_sync(Engine *e) {
    if (e->lists_live) refresh(e);
}

/* The first non-empty bucket at or after b, or -1. */
static int next_bucket(const uint64_t *words, int b) {
    if (b >= BUCKETS) return -1;
    int w = b >> 6;
    uint64_t v = words[w] & (~0ull << (b & 63));
    if (v) return (w << 6) + __builtin_ctzll(v);
    if (++w >= WORDS - 1) return -1;
    v = words[WORDS - 1] & (~0ull << w);
    if (!v) return -1;
    w = __builtin_ctzll(v);
    return (w << 6) + __builtin_ctzll(words[w]);
}

static int class_could(const Class *c, const Shape *s) {
    return c->count && c->cpu >= s->cpu && c->mem >= s->mem && c->block >= s->block
        && (!s->count || ((c->kinds & s->kinds) && c->devices >= s->count));
}

/* The first fitting node of one list, from the bucket of its need; jumps to `sure` on misses. */
static int32_t probe(Engine *e, const Shape *s, int32_t list, int from, int sure,
                     const uint8_t *mask) {
    const uint64_t *words = words_of(e, list);
    int set = list % LISTS / 4, misses = 0;
    int b = next_bucket(words, from);
    while (b >= 0) {
        for (int32_t x = e->head[(int64_t)list * BUCKETS + b]; x >= 0;
             x = e->node[x].link[set].next) {
            e->probes++;
            if (fits(e, &e->node[x], s) && allowed(mask, x)) return x;
            if (++misses >= MISSES) break;
        }
        if (misses >= MISSES) {
            if (b >= sure) return -1;   /* only a mask or a mixed node is in the way: scan */
            b = sure - 1; misses = 0;
        }
        b = next_bucket(words, b + 1);
    }
    return -1;
}

int32_t find_best_fit(Engine *e, Shape *s, const uint8_t *mask) {
    if (!refresh(e)) return scan_best_fit(e, s, mask);
    int set = !s->count ? SET_PLAIN : s->milli == MILLI ? SET_WHOLE : SET_SHARE;
    int32_t best = -1; int64_t best_key = 0;
    for (int32_t i = 0; i < e->classes; i++) {
        const Class *c = &e->cls[i];
        if (!class_could(c, s)) continue;
        double need[4] = { (double)s->cpu * c->step[0], (double)s->mem * c->step[1],
                           (double)s->block * c->step[2], 0.0 };
        if (set == SET_WHOLE) need[3] = s->count * c->step[3];
        if (set == SET_SHARE) need[3] = s->milli * ((double)BUCKETS / MILLI);
        double most = 0.0;
        for (int d = 0; d < 4; d++) if (need[d] > most) most = need[d];
        int sure = most >= BUCKETS - 1 ? BUCKETS - 1 : (int)most + 1;
        for (int d = 0; d < 4; d++) {
            int32_t list = (i * 3 + set) * 4 + d;
            if (!words_of(e, list)[WORDS - 1]) continue;
            int from = need[d] >= BUCKETS - 1 ? BUCKETS - 1 : (int)need[d];
            int32_t x = probe(e, s, list, from, sure, mask);
            if (x < 0) continue;
            int64_t key = best_fit_key(&e->node[x]);
            if (best < 0 || key < best_key || (key == best_key && x < best)) {
                best = x; best_key = key;
            }
        }
    }
    return best >= 0 ? best : scan_best_fit(e, s, mask);
}

/* Exact: the fitting node with the least key, the lowest handle among equals. */
int32_t scan_best_fit(Engine *e, const Shape *s, const uint8_t *mask) {
    int32_t best = -1; int64_t best_key = 0;
    int32_t cpu = (int32_t)s->cpu, mem = (int32_t)(s->mem >> 20);
    int16_t whole = s->milli == MILLI ? (int16_t)s->count : 0;
    int16_t top = (int16_t)(s->count ? s->milli : 0);
    e->scans++;
    for (int32_t i = 0; i < e->classes; i++) {
        const Class *c = &e->cls[i];
        if (!class_could(c, s)) continue;
        for (int32_t from = 0; from < c->count; from += 256) {
            int32_t to = from + 256 < c->count ? from + 256 : c->count;
            int hits = 0;
            for (int32_t p = from; p < to; p++)
                hits += (c->cpu_free[p] >= cpu) & (c->mem_mib[p] >= mem)
                      & (c->whole[p] >= whole) & (c->top[p] >= top);
            for (int32_t p = from; hits && p < to; p++) {
                int32_t x = c->member[p];
                if (c->cpu_free[p] < cpu || c->whole[p] < whole || c->top[p] < top) continue;
                if (!fits(e, &e->node[x], s) || !allowed(mask, x)) continue;
                int64_t key = best_fit_key(&e->node[x]);
                if (best < 0 || key < best_key || (key == best_key && x < best)) {
                    best = x; best_key = key;
                }
            }
        }
    }
    return best;
}
