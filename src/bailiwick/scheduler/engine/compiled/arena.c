/* The tables: nodes, classes of equal hardware, request shapes, accounts, leases, change log. */
#include "engine.h"
#include <stdlib.h>
#include <string.h>

/* Room for one more record; the array doubles. */
static int grow(void **array, int32_t used, int32_t *room, size_t size) {
    if (used < *room) return 1;
    int32_t wanted = *room ? *room * 2 : 64;
    void *p = realloc(*array, (size_t)wanted * size);
    if (!p) return 0;
    memset((char *)p + (size_t)*room * size, 0, (size_t)(wanted - *room) * size);
    *array = p;
    *room = wanted;
    return 1;
}

int engine_start(Engine *e) {
    memset(e, 0, sizeof *e);
    e->node_free = e->shape_free = e->lease_free = -1;
    e->learn_at = INT64_MAX;
    e->epoch[0] = e->epoch[1] = 1;
    return add_account(e, -1) == 0;   /* account 0: the operator's own, no quota */
}

void engine_clear(Engine *e) {
    victims_clear(e);
    rooms_clear(e);
    for (int32_t i = 0; i < e->classes; i++) {
        Class *c = &e->cls[i];
        free(c->member); free(c->cpu_free); free(c->mem_mib); free(c->whole); free(c->top);
    }
    for (int32_t i = 0; i < e->shapes; i++) drop_cache(e, &e->shape[i]);
    free(e->node); free(e->reclaim); free(e->cls); free(e->shape); free(e->account);
    free(e->lease); free(e->beside); free(e->expiry_min); free(e->expiry_group);
    free(e->head); free(e->bitmap); free(e->stamp);
    free(e->group); free(e->item);
    memset(e, 0, sizeof *e);
}

int32_t add_class(Engine *e, const int64_t cap[3], int devices, const uint8_t *kind,
                  const uint8_t *fabric) {
    if (!grow((void **)&e->cls, e->classes, &e->class_room, sizeof(Class))) return -1;
    Class *c = &e->cls[e->classes];
    memset(c, 0, sizeof *c);
    c->cpu = cap[0]; c->mem = cap[1]; c->block = cap[2]; c->devices = devices;
    for (int i = 0; i < devices; i++) {
        c->kind[i] = kind[i];
        c->kinds |= 1ull << kind[i];
        if (!fabric) continue;
        c->fabric[fabric[i]] |= (uint16_t)(1u << i);
        if (fabric[i] >= c->fabrics) c->fabrics = fabric[i] + 1;
    }
    for (int d = 0; d < 3; d++) c->step[d] = cap[d] ? (double)BUCKETS / (double)cap[d] : 0.0;
    c->step[3] = devices ? (double)BUCKETS / (double)devices : 0.0;
    return e->classes++;
}

static int mirror_room(Class *c) {
    if (c->count < c->room) return 1;
    int32_t room = c->room ? c->room * 2 : 64;
    size_t n = (size_t)room;
    void *a = realloc(c->member, n * 4); if (a) c->member = a;
    void *b = realloc(c->cpu_free, n * 4); if (b) c->cpu_free = b;
    void *m = realloc(c->mem_mib, n * 4); if (m) c->mem_mib = m;
    void *w = realloc(c->whole, n * 2); if (w) c->whole = w;
    void *t = realloc(c->top, n * 2); if (t) c->top = t;
    if (!a || !b || !m || !w || !t) return 0;
    c->room = room;
    return 1;
}

/* Bring the node's derived fields and its mirror up to date and tell every index. */
static void node_changed(Engine *e, int32_t x) {
    Node *n = &e->node[x];
    Class *c = &e->cls[n->cls];
    int32_t idle = 0; int16_t whole = 0, top = 0;
    for (int i = 0; i < c->devices; i++) {
        int16_t free_milli = n->device[i];
        idle += free_milli;
        whole += free_milli == MILLI;
        if (free_milli > top) top = free_milli;
    }
    n->idle = idle; n->whole = whole; n->top = top;
    int32_t p = n->position;
    if (n->alive) {
        int open = n->eligible;   /* a closed node mirrors as offering less than nothing */
        c->cpu_free[p] = open ? (int32_t)n->cpu : -1;
        c->mem_mib[p] = open ? (int32_t)(n->mem >> 20) : -1;
        c->whole[p] = open ? whole : -1;
        c->top[p] = open ? top : -1;
    }
    n->version++;
    e->log[e->log_end++ & (LOG_SIZE - 1)] = x;
    node_moved(e, x);
}

static void total_add(Engine *e, const Node *n, int sign) {
    e->free_total[0] += sign * n->cpu; e->free_total[1] += sign * n->mem;
    e->free_total[2] += sign * n->block; e->free_total[3] += sign * n->idle;
}

int32_t add_node(Engine *e, int32_t cls) {
    Class *c = &e->cls[cls];
    if (!mirror_room(c)) return -1;
    int32_t x = e->node_free;
    uint32_t version = 0, terms = 0;
    if (x >= 0) {
        e->node_free = e->node[x].first_lease;
        version = e->node[x].version; terms = e->node[x].terms;
    } else {
        int32_t room = e->node_room;
        if (!grow((void **)&e->node, e->nodes, &e->node_room, sizeof(Node))) return -1;
        if (room != e->node_room) {
            void *r = realloc(e->reclaim, (size_t)e->node_room * sizeof *e->reclaim);
            void *s = realloc(e->stamp, (size_t)e->node_room * sizeof *e->stamp);
            if (r) e->reclaim = r;
            if (s) { e->stamp = s; memset(e->stamp, 0, (size_t)e->node_room * sizeof *e->stamp); }
            if (!r || !s) return -1;
        }
        x = e->nodes++;
    }
    Node *n = &e->node[x];
    memset(n, 0, sizeof *n);
    memset(&e->reclaim[x], 0, sizeof e->reclaim[x]);
    n->version = version; n->terms = terms; n->usable_epoch = 0;
    n->cpu = c->cpu; n->mem = c->mem; n->block = c->block; n->cls = cls;
    for (int i = 0; i < c->devices; i++) n->device[i] = MILLI;
    n->first_lease = -1; n->alive = 1; n->eligible = 0;
    for (int i = 0; i < 3; i++) n->link[i].bucket = -1;
    n->position = c->count++;
    c->member[n->position] = x;
    node_changed(e, x);
    return x;
}

void remove_node(Engine *e, int32_t x) {
    Node *n = &e->node[x];
    Class *c = &e->cls[n->cls];
    set_eligible(e, x, 0);
    n->alive = 0;
    int32_t hole = n->position, last = --c->count;
    if (hole != last) {
        c->member[hole] = c->member[last]; c->cpu_free[hole] = c->cpu_free[last];
        c->mem_mib[hole] = c->mem_mib[last]; c->whole[hole] = c->whole[last];
        c->top[hole] = c->top[last];
        e->node[c->member[hole]].position = hole;
    }
    node_changed(e, x);
    bestfit_sync(e);   /* its links must not survive into the next node with this handle */
    n->first_lease = e->node_free;
    e->node_free = x;
}

void set_eligible(Engine *e, int32_t x, int eligible) {
    Node *n = &e->node[x];
    if (n->eligible == eligible) return;
    if (!eligible) total_add(e, n, -1);
    n->eligible = (uint8_t)eligible;
    if (eligible) total_add(e, n, 1);
    node_changed(e, x);
}

int32_t add_shape(Engine *e, const Shape *given) {
    int32_t i = e->shape_free;
    if (i >= 0) e->shape_free = e->shape[i].refs;
    else {
        if (!grow((void **)&e->shape, e->shapes, &e->shape_room, sizeof(Shape))) return -1;
        i = e->shapes++;
    }
    e->shape[i] = *given;
    e->shape[i].live = 1;
    e->shape[i].denied_at = -1;
    return i;
}

void free_shape(Engine *e, int32_t i) {
    Shape *s = &e->shape[i];
    drop_cache(e, s);
    rooms_drop(e, i);
    memset(s, 0, sizeof *s);
    s->refs = e->shape_free;
    e->shape_free = i;
}

int32_t add_account(Engine *e, int32_t row) {
    if (!grow((void **)&e->account, e->accounts, &e->account_room, sizeof(Account))) return -1;
    e->account[e->accounts].row = row;
    e->account[e->accounts].first = -1;
    return e->accounts++;
}

int fits(const Engine *e, const Node *n, const Shape *s) {
    if (!n->eligible || n->cpu < s->cpu || n->mem < s->mem || n->block < s->block) return 0;
    if (!s->count) return 1;
    if (s->milli == MILLI ? n->whole < s->count : n->top < s->milli) return 0;
    const Class *c = &e->cls[n->cls];
    if (!(c->kinds & ~s->kinds)) return 1;
    int found = 0;
    for (int i = 0; i < c->devices; i++)
        found += n->device[i] >= s->milli && (s->kinds >> c->kind[i] & 1);
    return found >= s->count;
}

static unsigned usable_devices(const Class *c, const Node *n, const Shape *s) {
    unsigned found = 0;
    for (int i = 0; i < c->devices; i++)
        found |= (unsigned)(n->device[i] >= s->milli && (s->kinds >> c->kind[i] & 1)) << i;
    return found;
}

int fits_within(const Engine *e, const Node *n, const Shape *s, unsigned within) {
    if (!fits(e, n, s)) return 0;
    if (!s->count || within == ALL_DEVICES) return 1;
    unsigned found = usable_devices(&e->cls[n->cls], n, s) & within;
    return __builtin_popcount(found) >= s->count;
}

static unsigned lowest(unsigned mask, int count) {
    unsigned rest = mask;
    for (; rest && count; count--) rest &= rest - 1;
    return mask & ~rest;
}

/* The smallest fabric that suffices; until one does, all of the largest. The first of equals. */
static unsigned of_few_fabrics(const Class *c, unsigned usable, int left) {
    unsigned chosen = 0;
    while (usable && left > 0) {
        unsigned best = 0;
        int size = 0;
        for (int f = 0; f < c->fabrics; f++) {
            int count = __builtin_popcount(usable & c->fabric[f]);
            int better = count >= left ? size < left || count < size : size < left && count > size;
            if (better) { best = usable & c->fabric[f]; size = count; }
        }
        chosen |= lowest(best, left);
        usable &= ~best;
        left -= size;
    }
    return chosen;
}

/* The devices a lease gets: the tightest that holds a share, or wholly free ones; those are the
 * first, or where the machine has several fabrics: of as few as possible. */
unsigned choose_devices(const Engine *e, const Node *n, const Shape *s, unsigned within) {
    const Class *c = &e->cls[n->cls];
    unsigned chosen = 0;
    int left = s->count, best = -1;
    if (c->fabrics && s->milli == MILLI)
        return of_few_fabrics(c, usable_devices(c, n, s) & within, left);
    for (int i = 0; i < c->devices && left; i++) {
        if (n->device[i] < s->milli || !(s->kinds >> c->kind[i] & within >> i & 1)) continue;
        if (s->milli == MILLI) { chosen |= 1u << i; left--; }
        else if (best < 0 || n->device[i] < n->device[best]) best = i;
    }
    return best >= 0 ? 1u << best : chosen;
}

int is_spread(const Class *c, unsigned devices) {
    int count = 0;
    for (int f = 0; f < c->fabrics; f++) count += (devices & c->fabric[f]) != 0;
    return count > 1;
}

void reclaim_add(Engine *e, const Lease *l, int sign) {
    if (!evictable(l)) return;
    const Shape *s = &e->shape[l->shape];
    Reclaim *r = &e->reclaim[l->node][level_of(l)];
    if (e->node[l->node].profiled) profile_note(e, l, sign);
    r->cpu += sign * s->cpu; r->mem += sign * s->mem; r->block += sign * s->block;
    r->gpu += sign * s->count * s->milli; r->count += sign;
}

static void shape_need(const Shape *s, int64_t need[Q_DIMS]) {
    need[0] = s->cpu; need[1] = s->mem; need[2] = s->block;
    need[3] = (int64_t)s->count * s->milli; need[Q_VRAM] = s->vram; need[5] = 1;
}

/* What these devices of a machine count for in GPU memory, held by that share. */
static int64_t vram_of(const Engine *e, const Class *c, unsigned devices, int32_t milli) {
    int64_t sum = 0;
    for (unsigned left = devices; left; left &= left - 1)
        sum += (e->vram_of_kind[c->kind[__builtin_ctz(left)]] * milli + MILLI - 1) / MILLI;
    return sum;
}

/* Whether quota takes the memory of the very devices that were chosen. */
static int bears_vram(const Engine *e, int32_t row, int32_t x, unsigned devices, int32_t milli) {
    int64_t more = vram_of(e, &e->cls[e->node[x].cls], devices, milli);
    for (; more && row >= 0; row = (int32_t)e->quota[(int64_t)row * Q_WIDTH + Q_PARENT]) {
        const int64_t *q = e->quota + (int64_t)row * Q_WIDTH + Q_VRAM;
        if (q[Q_USED] + more > q[Q_LIMIT]) return 0;
    }
    return 1;
}

static int quota_check(const Engine *e, int32_t row, const Shape *s) {
    int64_t need[Q_DIMS];
    shape_need(s, need);
    for (; row >= 0; row = (int32_t)e->quota[(int64_t)row * Q_WIDTH + Q_PARENT]) {
        const int64_t *q = e->quota + (int64_t)row * Q_WIDTH;
        if (q[Q_FLAGS] & Q_FLAG_ASK) return ASK_PYTHON;
        for (int d = 0; d < Q_DIMS; d++)
            if (need[d] > 0 && q[Q_USED + d] + need[d] > q[Q_LIMIT + d]) return OVER_QUOTA;
        if (!(q[Q_FLAGS] & Q_FLAG_GENERATIONS) || !s->count) continue;
        int g = s->generation;
        if (g < 0 || q[Q_GEN_USED + g] + need[3] > q[Q_GEN_LIMIT + g]) return OVER_QUOTA;
    }
    return 0;
}

void quota_charge(Engine *e, int32_t row, const Shape *s, const Lease *l, int sign) {
    int64_t need[Q_DIMS];
    const Class *c = &e->cls[e->node[l->node].cls];
    shape_need(s, need);
    need[Q_VRAM] = vram_of(e, c, l->devices, s->milli);
    for (; row >= 0; row = (int32_t)e->quota[(int64_t)row * Q_WIDTH + Q_PARENT]) {
        int64_t *q = e->quota + (int64_t)row * Q_WIDTH;
        for (int d = 0; d < Q_DIMS; d++) q[Q_USED + d] += sign * need[d];
        for (unsigned left = l->devices; left; left &= left - 1)
            q[Q_GEN_USED + e->generation_of_kind[c->kind[__builtin_ctz(left)]]] += sign * s->milli;
    }
}

static void node_take(Engine *e, int32_t x, const Shape *s, unsigned devices, int sign) {
    Node *n = &e->node[x];
    if (n->eligible) total_add(e, n, -1);
    n->cpu -= sign * s->cpu; n->mem -= sign * s->mem; n->block -= sign * s->block;
    for (unsigned left = devices; left; left &= left - 1)
        n->device[__builtin_ctz(left)] -= (int16_t)(sign * s->milli);
    node_changed(e, x);
    if (n->eligible) total_add(e, n, 1);
}

/* What is free changes by these amounts; 0 if that would leave what the node can have. */
int shift(Engine *e, int32_t x, const int64_t more[3], int devices, const int64_t *milli) {
    Node *n = &e->node[x];
    const Class *c = &e->cls[n->cls];
    const int64_t free_now[3] = { n->cpu, n->mem, n->block };
    const int64_t most[3] = { c->cpu, c->mem, c->block };
    for (int d = 0; d < 3; d++)
        if (more[d] < -free_now[d] || more[d] > most[d] - free_now[d]) return 0;
    if (devices > c->devices) return 0;
    for (int i = 0; i < devices; i++)
        if (milli[i] < -n->device[i] || milli[i] > MILLI - n->device[i]) return 0;
    if (n->eligible) total_add(e, n, -1);
    n->cpu += more[0]; n->mem += more[1]; n->block += more[2];
    for (int i = 0; i < devices; i++) n->device[i] += (int16_t)milli[i];
    node_changed(e, x);
    if (n->eligible) total_add(e, n, 1);
    return 1;
}

static int32_t lease_slot(Engine *e) {
    int32_t i = e->lease_free;
    if (i >= 0) {
        e->lease_free = e->lease[i].next;
        return i;
    }
    int32_t room = e->lease_room;
    if (!grow((void **)&e->lease, e->leases, &e->lease_room, sizeof(Lease))) return -1;
    if (room != e->lease_room) {
        if (!expiry_grow(e, room)) return -1;
        void *p = realloc(e->beside, (size_t)e->lease_room * sizeof *e->beside);
        if (!p) return -1;
        e->beside = p;
    }
    return e->leases++;
}

/* The lease is held under an account from now on. */
void account_enter(Engine *e, int32_t slot, int32_t account) {
    Account *a = &e->account[account];
    e->lease[slot].account = account;
    e->beside[slot] = (Beside){ a->first, -1 };
    if (a->first >= 0) e->beside[a->first].prev = slot;
    a->first = slot;
    a->refs++;
}

void account_leave(Engine *e, int32_t slot) {
    Account *a = &e->account[e->lease[slot].account];
    Beside b = e->beside[slot];
    if (b.prev >= 0) e->beside[b.prev].next = b.next; else a->first = b.next;
    if (b.next >= 0) e->beside[b.next].prev = b.prev;
    a->refs--;
}

/* Write the lease and take its resources; the caller has checked that they are free. */
int64_t take(Engine *e, int32_t x, int32_t shape, int32_t account, int traits,
             const int64_t when[2], int32_t gang, unsigned devices) {
    int32_t i = lease_slot(e);
    if (i < 0) return NO_MEMORY;
    Lease *l = &e->lease[i];
    Node *n = &e->node[x];
    Shape *s = &e->shape[shape];
    int32_t reuse = l->reuse;
    *l = (Lease){ .node = x, .account = account, .shape = shape, .gang = gang,
                  .next = n->first_lease, .prev = -1, .devices = (uint16_t)devices,
                  .priority = (uint8_t)(traits & 15), .lease_class = (uint8_t)(traits >> 4 & 15),
                  .flags = (uint8_t)(traits >> 8 & 255), .depth = (uint8_t)(traits >> 16 & 255),
                  .generation = 1, .reuse = reuse,
                  .granted = when[0], .expires = when[1], .checkpoint = INT64_MIN };
    if (n->first_lease >= 0) e->lease[n->first_lease].prev = i;
    n->first_lease = i;
    n->leases++; e->lease_live++; s->refs++; account_enter(e, i, account);
    expiry_note(e, i, when[1]);
    node_take(e, x, s, devices, 1);
    quota_charge(e, e->account[account].row, s, l, 1);
    reclaim_add(e, l, 1);
    if (gang >= 0) gang_note(e, gang, i, 1);
    return ((int64_t)reuse << 32) | i;
}

Lease *lease_at(const Engine *e, int64_t id) {
    int64_t i = id & 0xffffffff;
    if (id < 0 || i >= e->leases) return NULL;
    Lease *l = &e->lease[i];
    return l->node >= 0 && l->reuse == (int32_t)(id >> 32) ? l : NULL;
}

int release(Engine *e, int64_t id) {
    Lease *l = lease_at(e, id);
    if (!l) return 0;
    Node *n = &e->node[l->node];
    Shape *s = &e->shape[l->shape];
    reclaim_add(e, l, -1);
    if (l->gang >= 0) gang_note(e, l->gang, (int32_t)(id & 0xffffffff), 0);
    quota_charge(e, e->account[l->account].row, s, l, -1);
    if (l->next >= 0) e->lease[l->next].prev = l->prev;
    if (l->prev >= 0) e->lease[l->prev].next = l->next;
    else n->first_lease = l->next;
    n->leases--; e->lease_live--; s->refs--; account_leave(e, (int32_t)(id & 0xffffffff));
    node_take(e, l->node, s, l->devices, -1);
    l->node = -1; l->expires = INT64_MAX;
    l->reuse = (l->reuse + 1) & 0x3fffffff;   /* an id stays below LEARN_FLAG */
    l->next = e->lease_free;
    e->lease_free = (int32_t)(id & 0xffffffff);
    return 1;
}

static int32_t find_round_robin(Engine *e, const Shape *s, const uint8_t *mask) {
    for (int32_t i = 0; i < e->nodes; i++) {
        int32_t x = (e->cursor + i) % e->nodes;
        if (fits(e, &e->node[x], s) && allowed(mask, x)) return x;
    }
    return -1;
}

/* After a proven denial only nodes that changed since can help. 1: still denied. */
static int still_denied(Engine *e, Shape *s) {
    if (s->denied_at < 0 || e->log_end - (uint64_t)s->denied_at > (uint64_t)e->nodes) return 0;
    if (e->log_end - (uint64_t)s->denied_at > LOG_SIZE) return 0;
    for (uint64_t p = (uint64_t)s->denied_at; p < e->log_end; p++)
        if (fits(e, &e->node[e->log[p & (LOG_SIZE - 1)]], s)) return 0;
    s->denied_at = (int64_t)e->log_end;
    return 1;
}

/* How a strategy likes a node: higher is better. */
static int64_t liking(Engine *e, int strategy, const Shape *s, int32_t x, unsigned within) {
    unsigned devices = 0;
    if (strategy == BEST_FIT) return -best_fit_key(&e->node[x]);
    if (strategy == ROUND_ROBIN) return -((x - e->cursor + e->nodes) % e->nodes);
    return score_node(e, strategy, s, x, within, &devices);
}

/* That node, or one of which only some devices may be used, if it is better. */
static int32_t best_limited(Engine *e, int strategy, const Shape *s, int32_t best,
                            const Limits *limits) {
    int64_t top = best >= 0 ? liking(e, strategy, s, best, ALL_DEVICES) : 0;
    for (int32_t i = 0; i < limits->rows; i++) {
        int64_t x = limits->row[2 * i];
        unsigned within = (unsigned)limits->row[2 * i + 1] & ALL_DEVICES;
        if (x < 0 || x >= e->nodes || !e->node[x].alive) continue;
        if (!fits_within(e, &e->node[x], s, within)) continue;
        int64_t found = liking(e, strategy, s, (int32_t)x, within);
        if (best >= 0 && (found < top || (found == top && x > best))) continue;
        best = (int32_t)x; top = found;
    }
    return best;
}

/* The devices that may be used on a node: all, unless it is in a row. */
unsigned devices_within(const Limits *limits, int32_t x) {
    int32_t low = 0, high = limits ? limits->rows : 0;
    while (low < high) {
        int32_t middle = (low + high) / 2;
        if (limits->row[2 * middle] < x) low = middle + 1; else high = middle;
    }
    int is_there = limits && low < limits->rows && limits->row[2 * low] == x;
    return is_there ? (unsigned)limits->row[2 * low + 1] & ALL_DEVICES : ALL_DEVICES;
}

/* The node this strategy would choose, or -1. Changes nothing but caches. */
int32_t find(Engine *e, int strategy, int32_t shape, const uint8_t *mask, const Limits *limits) {
    Shape *s = &e->shape[shape];
    if (!mask && still_denied(e, s)) return -1;
    int32_t x = strategy == BEST_FIT ? find_best_fit(e, s, mask)
              : strategy == ROUND_ROBIN ? find_round_robin(e, s, mask)
              : find_scored(e, strategy, s, mask);
    if (!mask) s->denied_at = x < 0 ? (int64_t)e->log_end : -1;
    return limits ? best_limited(e, strategy, s, x, limits) : x;
}

int64_t place(Engine *e, int strategy, int32_t shape, int32_t account, int traits,
              const int64_t when[2], int32_t gang, const uint8_t *mask, const Limits *limits) {
    Shape *s = &e->shape[shape];
    if (e->arrivals >= e->learn_at) return LEARN_FIRST;
    int no = quota_check(e, e->account[account].row, s);
    if (no) return no;
    if ((traits & 15) < e->headroom_priority) {
        int64_t need[Q_DIMS];
        shape_need(s, need);
        for (int d = 0; d < 4; d++)
            if (need[d] && e->free_total[d] - need[d] < e->headroom[d]) return NO_HEADROOM;
    }
    e->arrivals++; s->arrivals++;
    int32_t x = find(e, strategy, shape, mask, limits);
    if (x < 0) return NO_CAPACITY;
    unsigned devices = 0;
    if (s->count) {
        unsigned within = devices_within(limits, x);
        if (strategy == FRAGMENTATION_AWARE) score_node(e, strategy, s, x, within, &devices);
        else devices = choose_devices(e, &e->node[x], s, within);
        if (!bears_vram(e, e->account[account].row, x, devices, s->milli)) {
            e->arrivals--; s->arrivals--;
            return ASK_PYTHON;   /* devices with less memory may do */
        }
    }
    if (strategy == ROUND_ROBIN) e->cursor = x + 1 < e->nodes ? x + 1 : 0;
    return take(e, x, shape, account, traits, when, gang, devices);
}
