/* Python's view of the engine: argument checks, and nothing that decides.
 *
 * Every handle that comes from Python is checked here, so the other files may trust them. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include "engine.h"
#include "module.h"
#include <stdlib.h>
#include <string.h>

/* Reads n integers; on failure an exception is set and 0 returned. */
int integers(PyObject *const *args, Py_ssize_t given, int n, int64_t *out) {
    if (given < n) {
        PyErr_Format(PyExc_TypeError, "expected at least %d arguments, got %zd", n, given);
        return 0;
    }
    for (int i = 0; i < n; i++) {
        out[i] = PyLong_AsLongLong(args[i]);
        if (out[i] == -1 && PyErr_Occurred()) return 0;
    }
    return 1;
}

int bad(const char *what) {
    PyErr_Format(PyExc_IndexError, "no such %s", what);
    return 0;
}

int node_ok(const Engine *e, int64_t x) {
    return (x >= 0 && x < e->nodes && e->node[x].alive) || bad("node");
}

int shape_ok(const Engine *e, int64_t s) {
    return (s >= 0 && s < e->shapes && e->shape[s].live) || bad("shape");
}

static int account_ok(const Engine *e, int64_t a) {
    if (a < 0 || a >= e->accounts) return bad("account");
    return (e->account[a].row < e->quota_rows) || bad("quota row: attach the table first");
}

static int traits_ok(int64_t t) {
    return (t >= 0 && (t & 15) < 4 && (t >> 4 & 15) < 3 && t < 1 << 24) || bad("traits");
}

/* NULL for None; the bitmap must cover every node. */
int mask_of(const Engine *e, PyObject *o, Py_buffer *view, const uint8_t **mask) {
    *mask = NULL;
    view->obj = NULL;
    if (o == Py_None) return 1;
    if (PyObject_GetBuffer(o, view, PyBUF_SIMPLE) < 0) return 0;
    if (view->len * 8 < e->nodes) {
        PyBuffer_Release(view);
        PyErr_SetString(PyExc_ValueError, "mask is shorter than the number of nodes");
        return 0;
    }
    *mask = view->buf;
    return 1;
}

/* No rows for None; else pairs of 64-bit integers. */
int limits_of(PyObject *o, Py_buffer *view, Limits *limits) {
    *limits = (Limits){ NULL, 0 };
    view->obj = NULL;
    if (o == Py_None) return 1;
    if (PyObject_GetBuffer(o, view, PyBUF_SIMPLE) < 0) return 0;
    if (view->len % 16) {
        PyBuffer_Release(view);
        PyErr_SetString(PyExc_ValueError, "limits are rows of a node and its devices");
        return 0;
    }
    *limits = (Limits){ view->buf, (int32_t)(view->len / 16) };
    return 1;
}

static PyObject *handle(int64_t h) {
    return h < 0 ? PyErr_NoMemory() : PyLong_FromLongLong(h);
}

METHOD(py_add_kind) {
    int64_t a[3];
    if (!integers(args, n, 3, a)) return NULL;
    if (a[0] < 0 || a[0] >= KINDS || a[1] < 0 || a[1] >= 16) { bad("kind"); return NULL; }
    self->e.generation_of_kind[a[0]] = (int32_t)a[1];
    self->e.vram_of_kind[a[0]] = a[2];
    Py_RETURN_NONE;
}

METHOD(py_add_class) {
    int64_t a[3]; char *kinds; Py_ssize_t devices;
    if (!integers(args, n, 3, a)) return NULL;
    if (n < 4 || PyBytes_AsStringAndSize(args[3], &kinds, &devices) < 0) return NULL;
    if (devices > DEVICES) { bad("device"); return NULL; }
    for (int i = 0; i < devices; i++)
        if ((uint8_t)kinds[i] >= KINDS) { bad("kind"); return NULL; }
    char *fabrics = NULL; Py_ssize_t told = 0;
    if (n > 4 && PyBytes_AsStringAndSize(args[4], &fabrics, &told) < 0) return NULL;
    for (int i = 0; i < told; i++)
        if (told != devices || (uint8_t)fabrics[i] >= devices) { bad("fabric"); return NULL; }
    return handle(add_class(&self->e, a, (int)devices, (const uint8_t *)kinds,
                            told ? (const uint8_t *)fabrics : NULL));
}

METHOD(py_add_node) {
    int64_t a[1];
    if (!integers(args, n, 1, a)) return NULL;
    if (a[0] < 0 || a[0] >= self->e.classes) { bad("class"); return NULL; }
    return handle(add_node(&self->e, (int32_t)a[0]));
}

METHOD(py_remove_node) {
    int64_t a[1];
    if (!integers(args, n, 1, a) || !node_ok(&self->e, a[0])) return NULL;
    if (self->e.node[a[0]].leases) {
        PyErr_SetString(PyExc_ValueError, "the node still holds leases");
        return NULL;
    }
    remove_node(&self->e, (int32_t)a[0]);
    Py_RETURN_NONE;
}

METHOD(py_set_eligible) {
    int64_t a[2];
    if (!integers(args, n, 2, a) || !node_ok(&self->e, a[0])) return NULL;
    set_eligible(&self->e, (int32_t)a[0], a[1] != 0);
    Py_RETURN_NONE;
}

METHOD(py_node) {
    int64_t a[1];
    if (!integers(args, n, 1, a) || !node_ok(&self->e, a[0])) return NULL;
    const Node *x = &self->e.node[a[0]];
    int devices = self->e.cls[x->cls].devices;
    PyObject *free_milli = PyTuple_New(devices);
    for (int i = 0; free_milli && i < devices; i++)
        PyTuple_SET_ITEM(free_milli, i, PyLong_FromLong(x->device[i]));
    if (!free_milli) return NULL;
    return Py_BuildValue("iiLLLNi", x->cls, x->eligible, x->cpu, x->mem, x->block, free_milli,
                         x->leases);
}

METHOD(py_leases_on) {
    int64_t a[1];
    if (!integers(args, n, 1, a) || !node_ok(&self->e, a[0])) return NULL;
    PyObject *out = PyList_New(0);
    for (int32_t i = self->e.node[a[0]].first_lease; out && i >= 0; i = self->e.lease[i].next) {
        PyObject *id = PyLong_FromLongLong((int64_t)self->e.lease[i].reuse << 32 | i);
        if (!id || PyList_Append(out, id) < 0) Py_CLEAR(out);
        Py_XDECREF(id);
    }
    return out;
}

METHOD(py_add_shape) {
    int64_t a[6];
    if (!integers(args, n, 6, a)) return NULL;
    if (n < 8) { PyErr_SetString(PyExc_TypeError, "expected 8 arguments"); return NULL; }
    uint64_t kinds = PyLong_AsUnsignedLongLong(args[6]);
    long generation = PyErr_Occurred() ? -1 : PyLong_AsLong(args[7]);
    if (PyErr_Occurred()) return NULL;
    if (a[4] < 0 || a[4] > DEVICES || a[5] < 0 || a[5] > MILLI || generation > 15) {
        bad("shape");
        return NULL;
    }
    Shape s = { .cpu = a[0], .mem = a[1], .block = a[2], .vram = a[3], .count = (int32_t)a[4],
                .milli = (int32_t)a[5], .kinds = kinds, .generation = (int32_t)generation };
    return handle(add_shape(&self->e, &s));
}

METHOD(py_set_shape_kinds) {
    int64_t a[1];
    if (!integers(args, n, 1, a) || !shape_ok(&self->e, a[0]) || n < 2) return NULL;
    uint64_t kinds = PyLong_AsUnsignedLongLong(args[1]);
    if (PyErr_Occurred()) return NULL;
    Shape *s = &self->e.shape[a[0]];
    s->kinds = kinds;
    s->denied_at = -1;
    drop_cache(&self->e, s);
    rooms_drop(&self->e, (int32_t)a[0]);
    Py_RETURN_NONE;
}

METHOD(py_free_shape) {
    int64_t a[1];
    if (!integers(args, n, 1, a) || !shape_ok(&self->e, a[0])) return NULL;
    if (self->e.shape[a[0]].refs) {
        PyErr_SetString(PyExc_ValueError, "leases still use the shape");
        return NULL;
    }
    free_shape(&self->e, (int32_t)a[0]);
    Py_RETURN_NONE;
}

METHOD(py_shape_use) {
    int64_t a[1];
    if (!integers(args, n, 1, a) || !shape_ok(&self->e, a[0])) return NULL;
    const Shape *s = &self->e.shape[a[0]];
    return Py_BuildValue("iL", s->refs, s->arrivals);
}

/* shift(node, cpu, mem, block, milli...): what is free changes by that much */
METHOD(py_shift) {
    int64_t a[4 + DEVICES];
    if (n < 4 || n > 4 + DEVICES) { bad("number of amounts"); return NULL; }
    if (!integers(args, n, (int)n, a) || !node_ok(&self->e, a[0])) return NULL;
    if (shift(&self->e, (int32_t)a[0], a + 1, (int)n - 4, a + 4)) Py_RETURN_NONE;
    PyErr_SetString(PyExc_ValueError, "less than nothing or more than all would be free");
    return NULL;
}

METHOD(py_set_arrivals) {
    int64_t a[2];
    if (!integers(args, n, 2, a) || !shape_ok(&self->e, a[0])) return NULL;
    self->e.shape[a[0]].arrivals = a[1];
    Py_RETURN_NONE;
}

METHOD(py_add_account) {
    int64_t a[1];
    if (!integers(args, n, 1, a)) return NULL;
    return handle(add_account(&self->e, (int32_t)a[0]));
}

METHOD(py_set_account) {
    int64_t a[2];
    if (!integers(args, n, 2, a) || a[0] < 0 || a[0] >= self->e.accounts) return NULL;
    self->e.account[a[0]].row = (int32_t)a[1];
    Py_RETURN_NONE;
}

METHOD(py_account_refs) {
    int64_t a[1];
    if (!integers(args, n, 1, a)) return NULL;
    if (a[0] < 0 || a[0] >= self->e.accounts) { bad("account"); return NULL; }
    return PyLong_FromLong(self->e.account[a[0]].refs);
}

METHOD(py_attach_quota) {
    Py_buffer view;
    if (n < 1 || PyObject_GetBuffer(args[0], &view, PyBUF_WRITABLE) < 0) return NULL;
    if (self->quota.obj) PyBuffer_Release(&self->quota);
    self->quota = view;
    self->e.quota = view.buf;
    self->e.quota_rows = (int32_t)(view.len / 8 / Q_WIDTH);
    Py_RETURN_NONE;
}

METHOD(py_set_headroom) {
    int64_t a[5];
    if (!integers(args, n, 5, a)) return NULL;
    self->e.headroom_priority = (int32_t)a[0];
    memcpy(self->e.headroom, a + 1, sizeof self->e.headroom);
    Py_RETURN_NONE;
}

METHOD(py_free_totals) {
    (void)args; (void)n;
    const int64_t *t = self->e.free_total;
    return Py_BuildValue("LLLL", t[0], t[1], t[2], t[3]);
}

METHOD(py_set_weights) {
    if (!integers(args, n, 4, self->e.weight)) return NULL;
    self->e.epoch[0]++;
    Py_RETURN_NONE;
}

METHOD(py_learning) {
    int64_t a[2];
    if (n && !integers(args, n, 2, a)) return NULL;
    if (n) { self->e.arrivals = a[0]; self->e.learn_at = a[1]; }
    return Py_BuildValue("LL", self->e.arrivals, self->e.learn_at);
}

/* set_workload(inverse_kappa, pressure: 64 x int64, items: rows of n, m, kinds, cpu, weight) */
METHOD(py_set_workload) {
    Engine *e = &self->e;
    Py_buffer pressure, items;
    int64_t a[1];
    if (n < 3 || !integers(args, n, 1, a)) return NULL;
    if (PyObject_GetBuffer(args[1], &pressure, PyBUF_SIMPLE) < 0) return NULL;
    if (PyObject_GetBuffer(args[2], &items, PyBUF_SIMPLE) < 0) {
        PyBuffer_Release(&pressure);
        return NULL;
    }
    int32_t count = (int32_t)(items.len / 40), groups = 0;
    Group *group = calloc((size_t)count + 1, sizeof *group);
    Item *item = calloc((size_t)count + 1, sizeof *item);
    int ok = group && item && pressure.len == sizeof e->pressure;
    const int64_t *row = items.buf;
    for (int32_t i = 0; ok && i < count; i++, row += 5) {
        Group *g = groups ? &group[groups - 1] : NULL;
        if (!g || g->n != row[0] || g->m != row[1] || g->kinds != (uint64_t)row[2]) {
            g = &group[groups++];
            *g = (Group){ (int32_t)row[0], (int32_t)row[1], (uint64_t)row[2], i, i };
        }
        item[i] = (Item){ row[3], row[4] + (i > g->first ? item[i - 1].weight : 0) };
        g->last = i + 1;
    }
    if (ok) {
        free(e->group); free(e->item);
        e->group = group; e->item = item; e->groups = groups;
        e->inverse_kappa = a[0];
        memcpy(e->pressure, pressure.buf, sizeof e->pressure);
        e->epoch[1]++;
    } else {
        free(group); free(item);
        PyErr_SetString(PyExc_ValueError, "malformed workload tables");
    }
    PyBuffer_Release(&pressure); PyBuffer_Release(&items);
    if (!ok) return NULL;
    Py_RETURN_NONE;
}

METHOD(py_find) {
    int64_t a[2]; Py_buffer view, rows; const uint8_t *mask; Limits limits;
    if (!integers(args, n, 2, a) || !shape_ok(&self->e, a[1]) || n < 3) return NULL;
    if (!mask_of(&self->e, args[2], &view, &mask)) return NULL;
    if (!limits_of(n > 3 ? args[3] : Py_None, &rows, &limits)) {
        if (view.obj) PyBuffer_Release(&view);
        return NULL;
    }
    int32_t x = find(&self->e, (int)a[0], (int32_t)a[1], mask, limits.rows ? &limits : NULL);
    if (view.obj) PyBuffer_Release(&view);
    if (rows.obj) PyBuffer_Release(&rows);
    return PyLong_FromLong(x);
}

/* score(strategy, shape, node, within) -> (score, devices) or None when the node cannot take it */
METHOD(py_score) {
    int64_t a[3], within[1] = { ALL_DEVICES };
    Engine *e = &self->e;
    if (!integers(args, n, 3, a) || !shape_ok(e, a[1]) || !node_ok(e, a[2])) return NULL;
    if (n > 3 && !integers(args + 3, 1, 1, within)) return NULL;
    unsigned those = (unsigned)within[0] & ALL_DEVICES;
    const Shape *s = &e->shape[a[1]];
    const Node *x = &e->node[a[2]];
    unsigned devices = 0;
    int64_t score;
    if (!fits_within(e, x, s, those)) Py_RETURN_NONE;
    if (a[0] == WEIGHTED || a[0] == FRAGMENTATION_AWARE) {
        score = score_node(e, (int)a[0], s, (int32_t)a[2], those, &devices);
    } else {
        devices = s->count ? choose_devices(e, x, s, those) : 0;
        score = a[0] == BEST_FIT ? -best_fit_key(x)
                                 : -((a[2] - e->cursor + e->nodes) % e->nodes);
    }
    return Py_BuildValue("LI", score, devices);
}

METHOD(py_place) {
    int64_t a[7]; Py_buffer view, rows; const uint8_t *mask; Limits limits;
    Engine *e = &self->e;
    if (n < 8) { PyErr_SetString(PyExc_TypeError, "expected 8 arguments"); return NULL; }
    if (!integers(args, n, 7, a) || !shape_ok(e, a[1]) || !account_ok(e, a[2])) return NULL;
    if (!traits_ok(a[3]) || !mask_of(e, args[7], &view, &mask)) return NULL;
    if (!limits_of(n > 8 ? args[8] : Py_None, &rows, &limits)) {
        if (view.obj) PyBuffer_Release(&view);
        return NULL;
    }
    int64_t id = place(e, (int)a[0], (int32_t)a[1], (int32_t)a[2], (int)a[3], a + 4,
                       (int32_t)a[6], mask, limits.rows ? &limits : NULL);
    if (view.obj) PyBuffer_Release(&view);
    if (rows.obj) PyBuffer_Release(&rows);
    if (id >= 0 && e->arrivals >= e->learn_at) id |= LEARN_FLAG;
    return PyLong_FromLongLong(id);
}

/* take(node, shape, account, traits, granted, expires, gang, devices or -1) */
METHOD(py_take) {
    int64_t a[8];
    Engine *e = &self->e;
    if (!integers(args, n, 8, a) || !node_ok(e, a[0]) || !shape_ok(e, a[1])) return NULL;
    if (!account_ok(e, a[2]) || !traits_ok(a[3])) return NULL;
    const Node *x = &e->node[a[0]];
    const Shape *s = &e->shape[a[1]];
    const Class *c = &e->cls[x->cls];
    if (!fits(e, x, s)) return PyLong_FromLong(NO_CAPACITY);
    unsigned devices = s->count ? choose_devices(e, x, s, ALL_DEVICES) : 0;
    if (a[7] >= 0) {
        devices = (unsigned)a[7];
        int ok = __builtin_popcount(devices) == s->count && !(devices >> c->devices);
        for (unsigned left = ok ? devices : 0; left; left &= left - 1) {
            int i = __builtin_ctz(left);
            ok &= x->device[i] >= s->milli && (s->kinds >> c->kind[i] & 1);
        }
        if (!ok) return PyLong_FromLong(NO_CAPACITY);
    }
    return PyLong_FromLongLong(take(e, (int32_t)a[0], (int32_t)a[1], (int32_t)a[2], (int)a[3],
                                    a + 4, (int32_t)a[6], devices));
}

METHOD(py_release) {
    int64_t a[1];
    if (!integers(args, n, 1, a)) return NULL;
    return PyBool_FromLong(release(&self->e, a[0]));
}

/* untake(id): exactly undo the newest take, so that the id is given out again */
METHOD(py_untake) {
    int64_t a[1];
    Engine *e = &self->e;
    if (!integers(args, n, 1, a)) return NULL;
    if (!release(e, a[0])) { bad("lease"); return NULL; }
    e->lease[a[0] & 0xffffffff].reuse = (int32_t)(a[0] >> 32);
    Py_RETURN_NONE;
}

/* cursor() -> where round robin looks next; cursor(x) sets it */
METHOD(py_cursor) {
    int64_t a[1];
    if (n && !integers(args, n, 1, a)) return NULL;
    if (n) self->e.cursor = self->e.nodes ? (int32_t)(a[0] % self->e.nodes) : 0;
    return PyLong_FromLong(self->e.cursor);
}

/* find_victims(shape, evictable, now, run_min, fresh, depth_max, mask, exclude)
 * -> (cost, node, ids, exact), or six counts of nodes by what was in the way */
METHOD(py_find_victims) {
    int64_t a[6], last[1]; Py_buffer view; VictimAnswer found;
    Engine *e = &self->e;
    if (n < 8) { PyErr_SetString(PyExc_TypeError, "expected 8 arguments"); return NULL; }
    if (!integers(args, n, 6, a) || !integers(args + 7, 1, 1, last)) return NULL;
    if (!shape_ok(e, a[0])) return NULL;
    if (a[1] & ~(int64_t)EVICTABLE_ALL) { bad("victims"); return NULL; }
    VictimQuery q = { .shape = (int32_t)a[0], .evictable = a[1], .now = a[2], .run_min = a[3],
                      .fresh = a[4], .depth_max = a[5], .exclude = (int32_t)last[0] };
    q.below = a[1] >> 6 & 1 ? 3 : a[1] >> 5 & 1 ? 2 : a[1] != 0;
    if (!mask_of(e, args[6], &view, &q.mask)) return NULL;
    int ok = find_victims(e, &q, &found);
    if (view.obj) PyBuffer_Release(&view);
    if (ok < 0) return PyErr_NoMemory();
    const int32_t *b = found.blocked;
    if (!ok) return Py_BuildValue("iiiiii", b[0], b[1], b[2], b[3], b[4], b[5]);
    PyObject *ids = PyList_New(found.count);
    for (int32_t i = 0; ids && i < found.count; i++) {
        int32_t slot = found.slot[i];
        PyObject *id = PyLong_FromLongLong((int64_t)e->lease[slot].reuse << 32 | slot);
        if (id) PyList_SET_ITEM(ids, i, id); else Py_CLEAR(ids);
    }
    if (!ids) return NULL;
    return Py_BuildValue("LiNO", found.cost, found.node, ids, found.exact ? Py_True : Py_False);
}

METHOD(py_lease) {
    int64_t a[1];
    if (!integers(args, n, 1, a)) return NULL;
    const Lease *l = lease_at(&self->e, a[0]);
    if (!l) Py_RETURN_NONE;
    return Py_BuildValue("iiiiiiiiiiiLLL", l->node, l->account, l->shape, l->gang, l->devices,
                         l->priority, l->lease_class, l->state, l->flags, l->depth,
                         l->generation, l->granted, l->expires, l->checkpoint);
}

/* update_lease(id, state, flags, generation, expires, checkpoint) */
METHOD(py_update_lease) {
    int64_t a[6];
    if (!integers(args, n, 6, a)) return NULL;
    Lease *l = lease_at(&self->e, a[0]);
    if (!l) { bad("lease"); return NULL; }
    int renewed = l->state == a[1] && l->flags == a[2] && l->checkpoint == a[5];
    if (!renewed) { reclaim_add(&self->e, l, -1); self->e.node[l->node].version++; }
    l->state = (uint8_t)a[1]; l->flags = (uint8_t)a[2]; l->generation = (int32_t)a[3];
    if (l->expires != a[4]) { self->e.node[l->node].terms++; node_moved(&self->e, l->node); }
    l->expires = a[4]; l->checkpoint = a[5];
    if (!renewed) reclaim_add(&self->e, l, 1);
    expiry_note(&self->e, (int32_t)(a[0] & 0xffffffff), a[4]);
    Py_RETURN_NONE;
}

/* move_lease(id, account): the lease is charged to another account from now on */
METHOD(py_move_lease) {
    int64_t a[2];
    Engine *e = &self->e;
    if (!integers(args, n, 2, a) || !account_ok(e, a[1])) return NULL;
    Lease *l = lease_at(e, a[0]);
    if (!l) { bad("lease"); return NULL; }
    const Shape *s = &e->shape[l->shape];
    quota_charge(e, e->account[l->account].row, s, l, -1);
    account_leave(e, (int32_t)(a[0] & 0xffffffff));
    account_enter(e, (int32_t)(a[0] & 0xffffffff), (int32_t)a[1]);
    quota_charge(e, e->account[l->account].row, s, l, 1);
    Py_RETURN_NONE;
}

/* place_batch(strategy, rows of (shape, account, traits, expires), now, out ids) -> done.
 * Stops before a request that needs Python (a burst, a hook, statistics to learn). */
METHOD(py_place_batch) {
    int64_t a[1], now[1];
    Engine *e = &self->e;
    Py_buffer rows, out;
    if (n < 4 || !integers(args, n, 1, a) || !integers(args + 2, n - 2, 1, now)) return NULL;
    if (PyObject_GetBuffer(args[1], &rows, PyBUF_SIMPLE) < 0) return NULL;
    if (PyObject_GetBuffer(args[3], &out, PyBUF_WRITABLE) < 0) {
        PyBuffer_Release(&rows);
        return NULL;
    }
    int64_t count = rows.len / 32, done = 0, *id = out.buf;
    int ok = out.len / 8 >= count;
    const int64_t *row = rows.buf;
    for (int64_t i = 0; ok && i < count; i++, row += 4)
        ok = shape_ok(e, row[0]) && account_ok(e, row[1]) && traits_ok(row[2]);
    if (ok) {
        for (row = rows.buf; done < count; done++, row += 4) {
            const int64_t when[2] = { now[0], row[3] };
            id[done] = place(e, (int)a[0], (int32_t)row[0], (int32_t)row[1], (int)row[2], when,
                             -1, NULL, NULL);
            if (id[done] == ASK_PYTHON || id[done] == LEARN_FIRST) break;
        }
    } else if (!PyErr_Occurred()) {
        PyErr_SetString(PyExc_ValueError, "out is shorter than rows");
    }
    PyBuffer_Release(&rows); PyBuffer_Release(&out);
    return ok ? PyLong_FromLongLong(done) : NULL;
}

METHOD(py_release_batch) {
    Py_buffer ids;
    if (n < 1 || PyObject_GetBuffer(args[0], &ids, PyBUF_SIMPLE) < 0) return NULL;
    int64_t done = 0, *id = ids.buf;
    for (Py_ssize_t i = 0; i < ids.len / 8; i++) done += id[i] >= 0 && release(&self->e, id[i]);
    PyBuffer_Release(&ids);
    return PyLong_FromLongLong(done);
}

METHOD(py_counters) {
    (void)args; (void)n;
    const Engine *e = &self->e;
    return Py_BuildValue("{s:i,s:i,s:i,s:L,s:L,s:L}", "nodes", e->nodes, "leases", e->lease_live,
                         "caches", e->caches, "probes", e->probes, "scans", e->scans,
                         "rescored", e->rescored);
}

static int engine_init(PyEngine *self, PyObject *args, PyObject *kw) {
    (void)args; (void)kw;
    if (engine_start(&self->e)) return 0;
    PyErr_NoMemory();
    return -1;
}

static void engine_dealloc(PyEngine *self) {
    if (self->quota.obj) PyBuffer_Release(&self->quota);
    engine_clear(&self->e);
    PyTypeObject *type = Py_TYPE(self);
    type->tp_free((PyObject *)self);
    Py_DECREF(type);
}

#define FAST(name, f) { name, (PyCFunction)(void (*)(void))f, METH_FASTCALL, NULL }
static PyMethodDef methods[] = {
    FAST("add_kind", py_add_kind), FAST("add_class", py_add_class),
    FAST("add_node", py_add_node), FAST("remove_node", py_remove_node),
    FAST("set_eligible", py_set_eligible), FAST("node", py_node),
    FAST("leases_on", py_leases_on), FAST("add_shape", py_add_shape),
    FAST("set_shape_kinds", py_set_shape_kinds), FAST("free_shape", py_free_shape),
    FAST("shape_use", py_shape_use), FAST("set_arrivals", py_set_arrivals),
    FAST("add_account", py_add_account), FAST("set_account", py_set_account),
    FAST("account_refs", py_account_refs), FAST("attach_quota", py_attach_quota),
    FAST("set_headroom", py_set_headroom), FAST("free_totals", py_free_totals),
    FAST("set_weights", py_set_weights), FAST("learning", py_learning),
    FAST("set_workload", py_set_workload), FAST("survey", py_survey), FAST("find", py_find),
    FAST("score", py_score), FAST("filter_counts", py_filter_counts),
    FAST("leases_of", py_leases_of),
    FAST("place", py_place), FAST("take", py_take), FAST("release", py_release),
    FAST("untake", py_untake), FAST("cursor", py_cursor),
    FAST("lease", py_lease), FAST("update_lease", py_update_lease),
    FAST("shift", py_shift), FAST("move_lease", py_move_lease), FAST("expired", py_expired),
    FAST("place_batch", py_place_batch), FAST("release_batch", py_release_batch),
    FAST("counters", py_counters), FAST("find_victims", py_find_victims), FAST("dump", py_dump),
    FAST("versions", py_versions),
    FAST("room_time", py_room_time), FAST("room_nodes", py_room_nodes),
    FAST("room_on", py_room_on), FAST("room_steps", py_room_steps),
    { NULL, NULL, 0, NULL }
};

static PyType_Slot slots[] = {
    { Py_tp_init, engine_init }, { Py_tp_dealloc, engine_dealloc }, { Py_tp_methods, methods },
    { Py_tp_new, PyType_GenericNew },
    { Py_tp_doc, "Tables and searches of one fleet, in C; the twin of pure.PureEngine." },
    { 0, NULL }
};
static PyType_Spec spec = { "bailiwick.scheduler.engine._compiled.Engine", sizeof(PyEngine), 0,
                            Py_TPFLAGS_DEFAULT, slots };
static struct PyModuleDef definition = { PyModuleDef_HEAD_INIT, "_compiled", NULL, -1, NULL,
                                         NULL, NULL, NULL, NULL };

PyMODINIT_FUNC PyInit__compiled(void) {
    PyObject *module = PyModule_Create(&definition);
    PyObject *type = module ? PyType_FromSpec(&spec) : NULL;
    if (!type || PyModule_AddObject(module, "Engine", type) < 0) {
        Py_XDECREF(type);
        Py_XDECREF(module);
        return NULL;
    }
    return module;
}
