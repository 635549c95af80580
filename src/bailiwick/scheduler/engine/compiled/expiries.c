/* Which leases have run out, without a look at those that have not; the twin of expiries.py.
 *
 * The slots of the leases are in blocks of BLOCK, the blocks in groups of BLOCK. Of each the
 * earliest expiry is kept, or something earlier: who is renewed or gone is not looked for. Whoever
 * finds a minimum that is over looks below it and puts it right. */
#include "module.h"
#include <stdlib.h>

static int minima(int64_t **of, int32_t before, int32_t after) {
    void *p = realloc(*of, (size_t)after * sizeof(int64_t));
    if (!p) return 0;
    *of = p;
    for (int32_t i = before; i < after; i++) (*of)[i] = INT64_MAX;
    return 1;
}

static int32_t parts(int32_t count) { return (count + BLOCK - 1) / BLOCK; }

/* The table of leases has grown. */
int expiry_grow(Engine *e, int32_t before) {
    int32_t from = parts(before), to = parts(e->lease_room);
    return minima(&e->expiry_min, from, to) && minima(&e->expiry_group, parts(from), parts(to));
}

void expiry_note(Engine *e, int32_t slot, int64_t expires) {
    int64_t *block = &e->expiry_min[slot / BLOCK], *group = &e->expiry_group[slot / BLOCK / BLOCK];
    if (expires < *block) *block = expires;
    if (expires < *group) *group = expires;
}

/* What has run out in one block goes into the list; 0 without memory. */
static int look(Engine *e, int32_t b, int64_t now, PyObject *out) {
    int64_t least = INT64_MAX;
    int32_t to = (b + 1) * BLOCK < e->leases ? (b + 1) * BLOCK : e->leases;
    for (int32_t i = b * BLOCK; i < to; i++) {
        const Lease *l = &e->lease[i];
        if (l->node < 0) continue;
        if (l->expires < least) least = l->expires;
        if (l->expires > now) continue;
        PyObject *id = PyLong_FromLongLong((int64_t)l->reuse << 32 | i);
        int ok = id && PyList_Append(out, id) == 0;
        Py_XDECREF(id);
        if (!ok) return 0;
    }
    e->expiry_min[b] = least;
    return 1;
}

/* expired(now, limit) -> ids of leases whose expiry is at or before now, in slot order */
METHOD(py_expired) {
    int64_t a[2];
    Engine *e = &self->e;
    if (!integers(args, n, 2, a)) return NULL;
    PyObject *out = PyList_New(0);
    int32_t blocks = parts(e->leases);
    for (int32_t g = 0; out && g < parts(blocks) && PyList_GET_SIZE(out) < a[1]; g++) {
        if (e->expiry_group[g] > a[0]) continue;
        int64_t least = INT64_MAX;
        int32_t to = (g + 1) * BLOCK < blocks ? (g + 1) * BLOCK : blocks;
        for (int32_t b = g * BLOCK; out && b < to; b++) {
            if (e->expiry_min[b] <= a[0] && PyList_GET_SIZE(out) < a[1] && !look(e, b, a[0], out))
                Py_CLEAR(out);
            if (e->expiry_min[b] < least) least = e->expiry_min[b];
        }
        e->expiry_group[g] = least;
    }
    return out;
}
