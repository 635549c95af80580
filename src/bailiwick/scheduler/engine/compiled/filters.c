/* What denials and explanations count: nodes that could serve, and the filters nodes fall at. */
#include "module.h"
#include <stdlib.h>

enum { KIND = 0, LABELS, POLICY, CPU, MEMORY, BLOCK_STORAGE, GPU, FITTING, FILTERS };

static int falls_at(const Engine *e, const Node *k, const Shape *s, unsigned within) {
    if (k->cpu < s->cpu) return CPU;
    if (k->mem < s->mem) return MEMORY;
    if (k->block < s->block) return BLOCK_STORAGE;
    const Class *c = &e->cls[k->cls];
    int usable = 0;
    for (int i = 0; s->count && i < c->devices; i++)
        usable += k->device[i] >= s->milli && s->kinds >> c->kind[i] & within >> i & 1;
    return usable < s->count ? GPU : FITTING;
}

/* filter_counts(shape, labels, permitted, limits) -> open nodes by the first filter they fail, and
 * those that fit */
METHOD(py_filter_counts) {
    int64_t a[1]; Py_buffer views[3]; const uint8_t *labels, *permitted; Limits limits;
    const Engine *e = &self->e;
    int32_t count[FILTERS] = { 0 };
    if (n < 3 || !integers(args, n, 1, a) || !shape_ok(e, a[0])) return NULL;
    if (!mask_of(e, args[1], &views[0], &labels)) return NULL;
    if (!mask_of(e, args[2], &views[1], &permitted)) {
        if (views[0].obj) PyBuffer_Release(&views[0]);
        return NULL;
    }
    if (!limits_of(n > 3 ? args[3] : Py_None, &views[2], &limits)) {
        for (int i = 0; i < 2; i++)
            if (views[i].obj) PyBuffer_Release(&views[i]);
        return NULL;
    }
    const Shape *s = &e->shape[a[0]];
    for (int32_t x = 0; x < e->nodes; x++) {
        const Node *k = &e->node[x];
        if (!k->alive || !k->eligible) continue;
        int at = s->count && !(e->cls[k->cls].kinds & s->kinds) ? KIND
               : !allowed(labels, x) ? LABELS
               : !allowed(permitted, x) ? POLICY
               : falls_at(e, k, s, devices_within(&limits, x));
        count[at]++;
    }
    for (int i = 0; i < 3; i++)
        if (views[i].obj) PyBuffer_Release(&views[i]);
    return Py_BuildValue("iiiiiiii", count[KIND], count[LABELS], count[POLICY], count[CPU],
                         count[MEMORY], count[BLOCK_STORAGE], count[GPU], count[FITTING]);
}

static int could_hold(const Class *c, const Shape *s) {
    int serving = 0;
    for (int i = 0; i < c->devices; i++) serving += s->kinds >> c->kind[i] & 1;
    return c->cpu >= s->cpu && c->mem >= s->mem && c->block >= s->block && serving >= s->count;
}

/* survey(shape, mask) -> nodes with the devices, those open; nodes large enough, those open; and
 * what is free on open nodes with the devices */
METHOD(py_survey) {
    int64_t a[1], sum[4] = { 0 }; Py_buffer view; const uint8_t *mask;
    const Engine *e = &self->e;
    int32_t nodes = 0, taking = 0, able = 0, able_open = 0;
    if (n < 2 || !integers(args, n, 1, a) || !shape_ok(e, a[0])) return NULL;
    if (!mask_of(e, args[1], &view, &mask)) return NULL;
    const Shape *s = &e->shape[a[0]];
    for (int32_t x = 0; x < e->nodes; x++) {
        const Node *k = &e->node[x];
        const Class *c = &e->cls[k->cls];
        if (!k->alive || (s->count && !(c->kinds & s->kinds)) || !allowed(mask, x)) continue;
        int is_able = could_hold(c, s);
        nodes++; able += is_able;
        if (!k->eligible) continue;
        taking++; able_open += is_able;
        sum[0] += k->cpu; sum[1] += k->mem; sum[2] += k->block;
        for (int i = 0; i < c->devices; i++)
            if (s->kinds >> c->kind[i] & 1) sum[3] += k->device[i];
    }
    if (view.obj) PyBuffer_Release(&view);
    return Py_BuildValue("iiiiLLLL", nodes, taking, able, able_open,
                         sum[0], sum[1], sum[2], sum[3]);
}

static int last_first(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x < y) - (x > y);
}

/* The slots of all leases under these accounts, the last first; NULL without memory. */
static int32_t *slots_under(const Engine *e, const uint8_t *accounts, int64_t count) {
    int32_t *slot = malloc((size_t)(count + 1) * sizeof *slot), found = 0;
    for (int32_t i = 0; slot && i < e->accounts; i++) {
        if (!accounts[i >> 3]) { i |= 7; continue; }
        if (!allowed(accounts, i)) continue;
        for (int32_t l = e->account[i].first; l >= 0; l = e->beside[l].next) slot[found++] = l;
    }
    if (slot) qsort(slot, (size_t)found, sizeof *slot, last_first);
    return slot;
}

static int tell_lease(const Engine *e, int32_t slot, PyObject *out) {
    PyObject *id = PyLong_FromLongLong(((int64_t)e->lease[slot].reuse << 32) | slot);
    int is_told = id && PyList_Append(out, id) == 0;
    Py_XDECREF(id);
    return is_told;
}

/* leases_of(accounts, limit) -> ids of leases under accounts whose bits are set, last slot first.
 * Who holds a large part of all soon has enough from the end; the leases of others are listed. */
METHOD(py_leases_of) {
    int64_t a[1]; Py_buffer view;
    const Engine *e = &self->e;
    if (n < 2 || !integers(args + 1, n - 1, 1, a)) return NULL;
    if (PyObject_GetBuffer(args[0], &view, PyBUF_SIMPLE) < 0) return NULL;
    const uint8_t *accounts = view.buf;
    PyObject *out = NULL;
    int64_t count = 0;
    if (view.len * 8 < e->accounts)
        PyErr_SetString(PyExc_ValueError, "mask is shorter than the number of accounts");
    else out = PyList_New(0);
    for (int32_t i = 0; out && i < e->accounts; i++) {
        if (!accounts[i >> 3]) { i |= 7; continue; }
        if (allowed(accounts, i)) count += e->account[i].refs;
    }
    int is_few = out && (double)count * (double)count <= (double)a[0] * e->leases;
    int32_t *slot = is_few ? slots_under(e, accounts, count) : NULL;
    for (int64_t i = 0; slot && out && i < count && i < a[0]; i++)
        if (!tell_lease(e, slot[i], out)) Py_CLEAR(out);
    for (int32_t i = e->leases - 1; !slot && out && i >= 0 && PyList_GET_SIZE(out) < a[0]; i--) {
        const Lease *l = &e->lease[i];
        if (l->node >= 0 && allowed(accounts, l->account) && !tell_lease(e, i, out)) Py_CLEAR(out);
    }
    free(slot);
    PyBuffer_Release(&view);
    return out;
}
