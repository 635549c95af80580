/* When and where a shape will have room, if every lease ends at its expiry; the twin of rooms.py.
 *
 * Of a shape and a node the steps are kept: how many members fit now, and from which time on how
 * many more. They are good as long as nothing was taken or given back on the node and no lease on
 * it has another term. Beside them stands, in one row for all nodes, from when on one member fits:
 * a question costs the nodes that changed, and a glance along that row. */
#include "module.h"
#include <stdlib.h>
#include <string.h>

#define SHAPES_MAX 32              /* shapes whose steps are kept */
#define MEMBERS_MAX (1 << 30)

typedef struct { int64_t at, members; } Step;
typedef struct { uint32_t key; int32_t count, room; Step *step; } Steps;
typedef struct {
    int32_t shape, nodes;
    uint64_t asked, seen;          /* seen: position in the log of nodes that moved */
    Steps *node;
    int64_t *first;                /* when one member fits; INT64_MAX for never, or a closed node */
} Kept;
typedef struct { int64_t amount[3], device[DEVICES]; } Free;

struct Rooms {
    Kept kept[SHAPES_MAX];
    uint64_t serial;
    int32_t *order; int32_t order_room;   /* slots of one node's leases by expiry; or nodes */
};

static void forget(Kept *k) {
    for (int32_t x = 0; x < k->nodes; x++) free(k->node[x].step);
    free(k->node); free(k->first);
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

static Rooms *rooms_of(Engine *e) {
    if (!e->rooms && (e->rooms = calloc(1, sizeof *e->rooms)))
        for (int i = 0; i < SHAPES_MAX; i++) e->rooms->kept[i].shape = -1;
    return e->rooms;
}

/* Where the steps of a shape are kept, with a place for every node; NULL without memory. */
static Kept *kept_of(Engine *e, int32_t shape) {
    Rooms *r = rooms_of(e);
    if (!r) return NULL;
    Kept *k = &r->kept[0];
    for (int i = 0; i < SHAPES_MAX && k->shape != shape; i++)
        if (r->kept[i].shape == shape || r->kept[i].asked < k->asked) k = &r->kept[i];
    if (k->shape != shape) forget(k);
    if (k->nodes < e->nodes) {
        Steps *p = realloc(k->node, (size_t)e->node_room * sizeof *p);
        if (p) k->node = p;
        int64_t *q = realloc(k->first, (size_t)e->node_room * sizeof *q);
        if (q) k->first = q;
        if (!p || !q) return NULL;
        memset(p + k->nodes, 0, (size_t)(e->node_room - k->nodes) * sizeof *p);
        for (int32_t x = k->nodes; x < e->node_room; x++) q[x] = INT64_MAX;
        k->nodes = e->node_room;
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

static int64_t times(int64_t free, int64_t need) { return free > 0 ? free / need : 0; }

static int64_t fitting(const Class *c, const Shape *s, const Free *f) {
    const int64_t need[3] = { s->cpu, s->mem, s->block };
    int64_t least = MEMBERS_MAX, slots = 0;
    for (int d = 0; d < 3; d++)
        if (need[d] && times(f->amount[d], need[d]) < least) least = times(f->amount[d], need[d]);
    if (!s->count) return least;
    for (int i = 0; i < c->devices; i++)
        if (s->kinds >> c->kind[i] & 1) slots += times(f->device[i], s->milli);
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

/* The slots of a node's leases by expiry, in the row that is kept for it; NULL without memory. */
static int32_t *slots_of(Engine *e, const Node *n, int32_t *count) {
    if (!order_grow(e->rooms, 2 * n->leases + 2)) return NULL;
    int32_t *slot = e->rooms->order;
    *count = 0;
    int32_t first = n->alive ? n->first_lease : -1;   /* else it is the next vacant handle */
    for (int32_t i = first; i >= 0; i = e->lease[i].next) slot[(*count)++] = i;
    sort_slots(e, slot, slot + *count, *count);
    return slot;
}

/* Bring the steps of one node up to date; 0 without memory. */
static int look(Engine *e, Kept *k, int32_t x) {
    const Node *n = &e->node[x];
    const Shape *shape = &e->shape[k->shape];
    Steps *s = &k->node[x];
    uint32_t key = n->version + n->terms + 1;   /* 0 is for steps that never were */
    if (s->key == key) return 1;
    const Class *c = &e->cls[n->cls];
    int32_t count, *slot = slots_of(e, n, &count);
    if (!slot) return 0;
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
    int32_t i = s->step[0].members ? 0 : 1;
    int is_open = n->alive && n->eligible && i < s->count;
    k->first[x] = is_open ? s->step[i].at : INT64_MAX;
    return 1;
}

static int64_t members_at(const Steps *s, int64_t at) {
    int32_t low = 0, high = s->count - 1;   /* the last step that is not after at */
    while (low < high) {
        int32_t middle = (low + high + 1) / 2;
        if (s->step[middle].at <= at) low = middle; else high = middle - 1;
    }
    return s->step[low].members;
}

/* The steps of all nodes, each as it is now; NULL without memory. */
static Kept *look_all(Engine *e, int32_t shape) {
    Kept *k = kept_of(e, shape);
    if (!k) return NULL;
    uint64_t lag = e->moved_end - k->seen;
    int is_near = k->seen && lag <= MOVED_SIZE && lag <= (uint64_t)e->nodes;
    for (uint64_t i = 0; i < (is_near ? lag : (uint64_t)e->nodes); i++) {
        int32_t x = is_near ? e->moved[(k->seen + i) & (MOVED_SIZE - 1)] : (int32_t)i;
        if (!look(e, k, x)) return NULL;
    }
    k->seen = e->moved_end;
    return k;
}

static int enough(const Engine *e, const Kept *k, const uint8_t *mask, int64_t need, int64_t at) {
    for (int32_t x = 0; need > 0 && x < e->nodes; x++)
        if (k->first[x] <= at && allowed(mask, x)) need -= members_at(&k->node[x], at);
    return need <= 0;
}

/* The first time for one member is the least of the nodes' own. */
static int64_t first_of_one(const Engine *e, const Kept *k, const uint8_t *mask) {
    int64_t first = INT64_MAX;
    for (int32_t x = 0; x < e->nodes; x++)
        if (k->first[x] < first && allowed(mask, x)) first = k->first[x];
    return first;
}

/* room_time(shape, need, mask, now, until) -> the earliest time at which so many members fit */
METHOD(py_room_time) {
    int64_t a[2], when[2]; Py_buffer view; const uint8_t *mask;
    Engine *e = &self->e;
    if (n < 5) { PyErr_SetString(PyExc_TypeError, "expected 5 arguments"); return NULL; }
    if (!integers(args, n, 2, a) || !integers(args + 3, 2, 2, when)) return NULL;
    if (!shape_ok(e, a[0]) || !mask_of(e, args[2], &view, &mask)) return NULL;
    const Kept *k = look_all(e, (int32_t)a[0]);
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
    const Kept *k = look_all(e, (int32_t)a[0]);
    PyObject *out = k ? PyList_New(0) : PyErr_NoMemory();
    /* Most first, of equals the lower handle. A pass for each node that is told: they are few. */
    int64_t before = INT64_MAX;
    int32_t after = -1;
    while (out && a[1] > 0) {
        int64_t most = 0;
        int32_t best = -1;
        for (int32_t x = 0; x < e->nodes; x++) {
            if (k->first[x] > when[0] || !allowed(mask, x)) continue;
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

typedef struct { int64_t at; Free change; } Shift;

/* One row (at, cpu, mem, block, milli of each device...) put in its place among the others. */
static int shift_read(PyObject *row, Shift *all, Py_ssize_t count) {
    Shift one = { 0 };
    Py_ssize_t width = PyTuple_Check(row) ? PyTuple_GET_SIZE(row) : 0;
    if (width < 4 || width > 4 + DEVICES) {
        PyErr_SetString(PyExc_TypeError, "expected rows of a time and amounts");
        return 0;
    }
    for (Py_ssize_t i = 0; i < width; i++) {
        int64_t value = PyLong_AsLongLong(PyTuple_GET_ITEM(row, i));
        if (value == -1 && PyErr_Occurred()) return 0;
        if (i == 0) one.at = value;
        else if (i < 4) one.change.amount[i - 1] = value;
        else one.change.device[i - 4] = value;
    }
    while (count > 0 && all[count - 1].at > one.at) { all[count] = all[count - 1]; count--; }
    all[count] = one;
    return 1;
}

static void free_add(Free *f, const Free *more) {
    for (int d = 0; d < 3; d++) f->amount[d] += more->amount[d];
    for (int i = 0; i < DEVICES; i++) f->device[i] += more->device[i];
}

static int tell_step(PyObject *out, int64_t at, int64_t members) {
    PyObject *row = Py_BuildValue("LL", at, members);
    int is_done = row && PyList_Append(out, row) == 0;
    Py_XDECREF(row);
    return is_done;
}

/* The steps of one node for a shape, while these rows come beside its leases' ends. */
static int tell_steps(Engine *e, const int64_t a[3], const Shift *row, Py_ssize_t rows,
                      PyObject *out) {
    const Node *n = &e->node[a[1]];
    const Class *c = &e->cls[n->cls];
    int32_t count, *slot = slots_of(e, n, &count);
    if (!slot) { PyErr_NoMemory(); return 0; }
    Free f = free_on(e, n);
    int64_t members = fitting(c, &e->shape[a[0]], &f);
    if (!tell_step(out, INT64_MIN, members)) return 0;
    for (int32_t i = 0, j = 0; i < count || j < rows;) {
        int64_t at = i < count ? e->lease[slot[i]].expires : INT64_MAX;
        if (j < rows && row[j].at < at) at = row[j].at;
        if (at > a[2]) break;
        for (; i < count && e->lease[slot[i]].expires == at; i++)
            give_back(e, &e->lease[slot[i]], &f);
        for (; j < rows && row[j].at == at; j++) free_add(&f, &row[j].change);
        int64_t now = fitting(c, &e->shape[a[0]], &f);
        if (now != members && !tell_step(out, at, now)) return 0;
        members = now;
    }
    return 1;
}

/* room_steps(shape, node, until, rows) -> (time, members) whenever another number of them fits */
METHOD(py_room_steps) {
    int64_t a[3];
    Engine *e = &self->e;
    if (n < 4 || !PyList_Check(args[3])) {
        PyErr_SetString(PyExc_TypeError, "expected 4 arguments, the last a list");
        return NULL;
    }
    if (!integers(args, n, 3, a) || !shape_ok(e, a[0]) || !node_ok(e, a[1])) return NULL;
    if (!rooms_of(e)) return PyErr_NoMemory();
    Py_ssize_t rows = PyList_GET_SIZE(args[3]);
    Shift *row = calloc((size_t)rows + 1, sizeof *row);
    PyObject *out = row ? PyList_New(0) : PyErr_NoMemory();
    for (Py_ssize_t i = 0; out && i < rows; i++)
        if (!shift_read(PyList_GET_ITEM(args[3], i), row, i)) Py_CLEAR(out);
    if (out && !tell_steps(e, a, row, rows, out)) Py_CLEAR(out);
    free(row);
    return out;
}
