/* What denials and explanations count: nodes that could serve, and the filters nodes fall at. */
#include "module.h"

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

/* leases_of(accounts, limit) -> ids of leases under accounts whose bits are set, last slot first */
METHOD(py_leases_of) {
    int64_t a[1]; Py_buffer view;
    const Engine *e = &self->e;
    if (n < 2 || !integers(args + 1, n - 1, 1, a)) return NULL;
    if (PyObject_GetBuffer(args[0], &view, PyBUF_SIMPLE) < 0) return NULL;
    PyObject *found = NULL;
    if (view.len * 8 < e->accounts)
        PyErr_SetString(PyExc_ValueError, "mask is shorter than the number of accounts");
    else found = PyList_New(0);
    for (int32_t i = e->leases - 1; found && i >= 0 && PyList_GET_SIZE(found) < a[0]; i--) {
        const Lease *l = &e->lease[i];
        if (l->node < 0 || !allowed(view.buf, l->account)) continue;
        PyObject *id = PyLong_FromLongLong(((int64_t)l->reuse << 32) | i);
        if (!id || PyList_Append(found, id) < 0) Py_CLEAR(found);
        Py_XDECREF(id);
    }
    PyBuffer_Release(&view);
    return found;
}
