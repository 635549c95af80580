/* When and where a shape will have room, if every lease ends at its expiry; the twin of rooms.py.
 *
 * Of a shape and a node the steps are kept: how many members fit now, and from which time on how
 * many more. They are good as long as nothing was taken or given back on the node and no lease on
 * it has another term. So a question costs the nodes that changed, and one look at each other. */
#include "module.h"
#include <stdlib.h>
#include <string.h>

#define SHAPES_MAX 32              /* shapes whose steps are kept */
#define MEMBERS_MAX (1 << 30)

typedef struct { int64_t at, members; } Step;
typedef struct { uint32_t key; int32_t count, room; Step *step; } Steps;
typedef struct { int32_t shape, nodes; uint64_t asked; Steps *node; } Kept;
typedef struct { int64_t amount[3], device[DEVICES]; } Free;

struct Rooms {
    Kept kept[SHAPES_MAX];
    uint64_t serial;
    int32_t *order; int32_t order_room;   /* slots of one node's leases by expiry; or nodes */
};

static void forget(Kept *k) {
    for (int32_t x = 0; x < k->nodes; x++) free(k->node[x].step);
    free(k->node);
    *k = (Kept){ .shape = -1 };
}

void rooms_clear(Engine *e) {
    if (!e->rooms) return;
    for (int i = 0; i < SHAPES_MAX; i++) forget(&e->rooms->kept[i]);
    free(e->rooms->order);
    free(e->rooms);
    e->rooms = NULL;
}

void rooms_drop(Engine *e, int32_t shape) {
    for (int i = 0; e->rooms && i < SHAPES_MAX; i++)
        if (e->rooms->kept[i].shape == shape) forget(&e->rooms->kept[i]);
}

/* Where the steps of a shape are kept, with a place for every node; NULL without memory. */
static Kept *kept_of(Engine *e, int32_t shape) {
    if (!e->rooms) {
        if (!(e->rooms = calloc(1, sizeof *e->rooms))) return NULL;
        for (int i = 0; i < SHAPES_MAX; i++) e->rooms->kept[i].shape = -1;
    }
    Rooms *r = e->rooms;
    Kept *k = &r->kept[0];
    for (int i = 0; i < SHAPES_MAX && k->shape != shape; i++)
        if (r->kept[i].shape == shape || r->kept[i].asked < k->asked) k = &r->kept[i];
    if (k->shape != shape) forget(k);
    if (k->nodes < e->nodes) {
        Steps *p = realloc(k->node, (size_t)e->node_room * sizeof *p);
        if (!p) return NULL;
        memset(p + k->nodes, 0, (size_t)(e->node_room - k->nodes) * sizeof *p);
        k->node = p; k->nodes = e->node_room;
    }
    k->shape = shape;
    k->asked = ++r->serial;
    return k;
}

static int order_grow(Rooms *r, int32_t room) {
    if (room <= r->order_room) return 1;
    void *p = realloc(r->order, (size_t)room * 2 * sizeof *r->order);
    if (!p) return 0;
    r->order = p; r->order_room = room * 2;
    return 1;
}

static Free free_on(const Engine *e, const Node *n) {
    Free f = { .amount = { n->cpu, n->mem, n->block } };
    for (int i = 0; i < e->cls[n->cls].devices; i++) f.device[i] = n->device[i];
    return f;
}

static void give_back(const Engine *e, const Lease *l, Free *f) {
    const Shape *s = &e->shape[l->shape];
    f->amount[0] += s->cpu; f->amount[1] += s->mem; f->amount[2] += s->block;
    for (unsigned left = l->devices; left; left &= left - 1)
        f->device[__builtin_ctz(left)] += s->milli;
}

static int64_t fitting(const Class *c, const Shape *s, const Free *f) {
    const int64_t need[3] = { s->cpu, s->mem, s->block };
    int64_t least = MEMBERS_MAX, slots = 0;
    for (int d = 0; d < 3; d++)
        if (need[d] && f->amount[d] / need[d] < least) least = f->amount[d] / need[d];
    if (!s->count) return least;
    for (int i = 0; i < c->devices; i++)
        if (s->kinds >> c->kind[i] & 1) slots += f->device[i] / s->milli;
    return slots / s->count < least ? slots / s->count : least;
}

/* Sorts slots by expiry: runs are short and come nearly sorted or reversed, so a merge sort. */
static void sort_slots(const Engine *e, int32_t *slot, int32_t *spare, int32_t count) {
    for (int32_t width = 1; width < count; width *= 2) {
        for (int32_t low = 0; low < count; low += 2 * width) {
            int32_t middle = low + width < count ? low + width : count;
            int32_t high = middle + width < count ? middle + width : count;
            for (int32_t a = low, b = middle, to = low; to < high; to++)
                spare[to] = a < middle && (b >= high || e->lease[slot[a]].expires
                                           <= e->lease[slot[b]].expires) ? slot[a++] : slot[b++];
        }
        memcpy(slot, spare, (size_t)count * sizeof *slot);
    }
}

static int step_add(Steps *s, int64_t at, int64_t members) {
    if (s->count == s->room) {
        int32_t room = s->room ? 2 * s->room : 4;
        void *p = realloc(s->step, (size_t)room * sizeof *s->step);
        if (!p) return 0;
        s->step = p; s->room = room;
    }
    s->step[s->count++] = (Step){ at, members };
    return 1;
}

/* Bring the steps of one node up to date; 0 without memory. */
static int look(Engine *e, const Shape *shape, int32_t x, Steps *s) {
    const Node *n = &e->node[x];
    uint32_t key = n->version + n->terms + 1;   /* 0 is for steps that never were */
    if (s->key == key) return 1;
    const Class *c = &e->cls[n->cls];
    int32_t count = 0;
    if (!order_grow(e->rooms, 2 * n->leases)) return 0;
    int32_t *slot = e->rooms->order;
    for (int32_t i = n->first_lease; i >= 0; i = e->lease[i].next) slot[count++] = i;
    sort_slots(e, slot, slot + count, count);
    Free f = free_on(e, n);
    s->key = 0; s->count = 0;
    if (!step_add(s, INT64_MIN, fitting(c, shape, &f))) return 0;
    for (int32_t i = 0; i < count;) {
        int64_t expires = e->lease[slot[i]].expires;
        for (; i < count && e->lease[slot[i]].expires == expires; i++)
            give_back(e, &e->lease[slot[i]], &f);
        int64_t members = fitting(c, shape, &f);
        if (members != s->step[s->count - 1].members && !step_add(s, expires, members)) return 0;
    }
    s->key = key;
    return 1;
}

static int counts(const Engine *e, int32_t x, const uint8_t *mask) {
    return e->node[x].alive && e->node[x].eligible && allowed(mask, x);
}

static int64_t members_at(const Steps *s, int64_t at) {
    int32_t low = 0, high = s->count - 1;   /* the last step that is not after at */
    while (low < high) {
        int32_t middle = (low + high + 1) / 2;
        if (s->step[middle].at <= at) low = middle; else high = middle - 1;
    }
    return s->step[low].members;
}

static Kept *look_all(Engine *e, int32_t shape, const uint8_t *mask) {
    Kept *k = kept_of(e, shape);
    for (int32_t x = 0; k && x < e->nodes; x++)
        if (counts(e, x, mask) && !look(e, &e->shape[shape], x, &k->node[x])) k = NULL;
    return k;
}

static int enough(const Engine *e, const Kept *k, const uint8_t *mask, int64_t need, int64_t at) {
    for (int32_t x = 0; need > 0 && x < e->nodes; x++)
        if (counts(e, x, mask)) need -= members_at(&k->node[x], at);
    return need <= 0;
}

/* The first time for one member is the least of the nodes' own. */
static int64_t first_of_one(const Engine *e, const Kept *k, const uint8_t *mask) {
    int64_t first = INT64_MAX;
    for (int32_t x = 0; x < e->nodes; x++) {
        if (!counts(e, x, mask)) continue;
        const Steps *s = &k->node[x];
        int32_t i = s->step[0].members ? 0 : 1;
        if (i < s->count && s->step[i].at < first) first = s->step[i].at;
    }
    return first;
}

/* room_time(shape, need, mask, now, until) -> the earliest time at which so many members fit */
METHOD(py_room_time) {
    int64_t a[2], when[2]; Py_buffer view; const uint8_t *mask;
    Engine *e = &self->e;
    if (n < 5) { PyErr_SetString(PyExc_TypeError, "expected 5 arguments"); return NULL; }
    if (!integers(args, n, 2, a) || !integers(args + 3, 2, 2, when)) return NULL;
    if (!shape_ok(e, a[0]) || !mask_of(e, args[2], &view, &mask)) return NULL;
    const Kept *k = look_all(e, (int32_t)a[0], mask);
    int64_t low = when[0], high = when[1], is_there = 0;
    if (k && a[1] == 1) {
        int64_t first = first_of_one(e, k, mask);
        if (first > low) low = first;
        is_there = low <= high;
    } else if (k && low <= high && enough(e, k, mask, a[1], high)) {
        is_there = 1;
        while (low < high) {
            int64_t middle = low + (high - low) / 2;
            if (enough(e, k, mask, a[1], middle)) high = middle; else low = middle + 1;
        }
    }
    if (view.obj) PyBuffer_Release(&view);
    if (!k) return PyErr_NoMemory();
    if (!is_there) Py_RETURN_NONE;
    return PyLong_FromLongLong(low);
}

/* room_nodes(shape, need, mask, at) -> (node, members) where most fit, until there are enough */
METHOD(py_room_nodes) {
    int64_t a[2], when[1]; Py_buffer view; const uint8_t *mask;
    Engine *e = &self->e;
    if (n < 4) { PyErr_SetString(PyExc_TypeError, "expected 4 arguments"); return NULL; }
    if (!integers(args, n, 2, a) || !integers(args + 3, 1, 1, when)) return NULL;
    if (!shape_ok(e, a[0]) || !mask_of(e, args[2], &view, &mask)) return NULL;
    const Kept *k = look_all(e, (int32_t)a[0], mask);
    PyObject *out = k ? PyList_New(0) : PyErr_NoMemory();
    /* Most first, of equals the lower handle. A pass for each node that is told: they are few. */
    int64_t before = INT64_MAX;
    int32_t after = -1;
    while (out && a[1] > 0) {
        int64_t most = 0;
        int32_t best = -1;
        for (int32_t x = 0; x < e->nodes; x++) {
            if (!counts(e, x, mask)) continue;
            int64_t members = members_at(&k->node[x], when[0]);
            int is_told = members > before || (members == before && x <= after);
            if (!is_told && members > most) { most = members; best = x; }
        }
        if (best < 0) break;
        PyObject *row = Py_BuildValue("iL", best, most);
        if (!row || PyList_Append(out, row) < 0) Py_CLEAR(out);
        Py_XDECREF(row);
        before = most; after = best;
        a[1] -= most;
    }
    if (view.obj) PyBuffer_Release(&view);
    return out;
}

/* room_on(node, at) -> what is free there once all that ends by then has ended */
METHOD(py_room_on) {
    int64_t a[2];
    const Engine *e = &self->e;
    if (!integers(args, n, 2, a) || !node_ok(e, a[0])) return NULL;
    const Node *x = &e->node[a[0]];
    Free f = free_on(e, x);
    for (int32_t i = x->first_lease; i >= 0; i = e->lease[i].next)
        if (e->lease[i].expires <= a[1]) give_back(e, &e->lease[i], &f);
    int devices = e->cls[x->cls].devices;
    PyObject *milli = PyTuple_New(devices);
    for (int i = 0; milli && i < devices; i++)
        PyTuple_SET_ITEM(milli, i, PyLong_FromLongLong(f.device[i]));
    if (!milli) return NULL;
    return Py_BuildValue("LLLN", f.amount[0], f.amount[1], f.amount[2], milli);
}

/* ends_on(node, until) -> (expiry, lease, shape, devices) of the leases that end by then,
 * the newest first */
METHOD(py_ends_on) {
    int64_t a[2];
    const Engine *e = &self->e;
    if (!integers(args, n, 2, a) || !node_ok(e, a[0])) return NULL;
    PyObject *out = PyList_New(0);
    for (int32_t i = e->node[a[0]].first_lease; out && i >= 0; i = e->lease[i].next) {
        const Lease *l = &e->lease[i];
        if (l->expires > a[1]) continue;
        int64_t id = (int64_t)l->reuse << 32 | i;
        PyObject *row = Py_BuildValue("LLii", l->expires, id, l->shape, l->devices);
        if (!row || PyList_Append(out, row) < 0) Py_CLEAR(out);
        Py_XDECREF(row);
    }
    return out;
}
