/* Which leases form a gang: id -> members, by open addressing.
 *
 * The index is built when a search first needs it and follows every lease from then on. Without
 * memory it is dropped, and built at the next need: taking a lease never fails for its sake. */
#include "victims.h"
#include <stdlib.h>

static Gang *gang_find(Victims *v, int32_t id) {
    uint32_t last = (uint32_t)v->gang_room - 1, at = (uint32_t)id * 2654435769u & last;
    while (v->gang[at].id >= 0 && v->gang[at].id != id) at = (at + 1) & last;
    return &v->gang[at];
}

void gang_forget(Victims *v) {
    for (int32_t i = 0; i < v->gang_room; i++) free(v->gang[i].slot);
    free(v->gang);
    v->gang = NULL;
    v->gang_room = v->gang_used = 0;
}

/* A new table; gangs without members are left behind. */
static int gang_resize(Victims *v, int32_t room) {
    Gang *old = v->gang, *new = room > 0 ? calloc((size_t)room, sizeof *new) : NULL;
    int32_t count = v->gang_room;
    if (!new) return 0;
    for (int32_t i = 0; i < room; i++) new[i].id = -1;
    v->gang = new; v->gang_room = room; v->gang_used = 0;
    for (int32_t i = 0; i < count; i++) {
        if (old[i].id < 0) continue;
        if (!old[i].count) { free(old[i].slot); continue; }
        *gang_find(v, old[i].id) = old[i];
        v->gang_used++;
    }
    free(old);
    return 1;
}

static int gang_add(Victims *v, int32_t id, int32_t slot) {
    if (2 * v->gang_used >= v->gang_room && gang_find(v, id)->id < 0) {
        int32_t live = 0;
        for (int32_t i = 0; i < v->gang_room; i++) live += v->gang[i].count > 0;
        if (!gang_resize(v, 4 * live >= v->gang_room ? 2 * v->gang_room : v->gang_room)) return 0;
    }
    Gang *g = gang_find(v, id);
    if (g->id < 0) { g->id = id; v->gang_used++; }
    if (g->count == g->room) {
        int32_t room = g->room ? 2 * g->room : 8;
        void *p = realloc(g->slot, (size_t)room * sizeof *g->slot);
        if (!p) return 0;
        g->slot = p; g->room = room;
    }
    g->slot[g->count++] = slot;
    return 1;
}

/* A gang's lease comes or goes. */
void gang_note(Engine *e, int32_t id, int32_t slot, int comes) {
    Victims *v = e->victims;
    if (!v || !v->gang) return;
    if (comes) { if (!gang_add(v, id, slot)) gang_forget(v); return; }
    Gang *g = gang_find(v, id);
    int32_t i = 0;
    while (g->slot[i] != slot) i++;
    g->slot[i] = g->slot[--g->count];
}

int gang_build(Engine *e, Victims *v) {
    if (v->gang) return 1;
    int ok = gang_resize(v, 64);
    for (int32_t i = 0; ok && i < e->leases; i++)
        if (e->lease[i].node >= 0 && e->lease[i].gang >= 0) ok = gang_add(v, e->lease[i].gang, i);
    if (!ok) gang_forget(v);
    return ok;
}

/* One cost for the gang, and one verdict: the first rule that any member breaks. */
Gang *gang_judged(Engine *e, Victims *v, int32_t id) {
    Gang *g = gang_find(v, id);
    if (g->serial == v->serial) return g;
    g->serial = v->serial; g->verdict = LEGAL; g->base = g->cost = 0; g->node = -1;
    for (int32_t i = 0; i < g->count; i++) {
        const Lease *l = &e->lease[g->slot[i]];
        int first = verdict(v, l);
        if (first < g->verdict) g->verdict = first;
        g->base += base_of(v, l);
        g->cost += base_of(v, l) + size_cost(&e->shape[l->shape]);
    }
    return g;
}
