/* The compiled twin of bailiwick.metering.core.Core: the same answers, charge by charge.
 *
 * A part is a row of integers; a switch charges the time since its cursor to the account that held
 * it. Sums are 128 bits wide, because bytes times milliseconds pass 64. Every number that comes
 * from Python is checked before anything changes. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef __int128 wide;
enum { REFUSED = -1, GONE = -2, SHORT = -1 };

typedef struct { int64_t pool, amount, cursor, holder, account, since; } Part;
typedef struct { wide used; int64_t count, first, last; } Sum;
typedef struct { wide measured; int64_t free; } Pool;

typedef struct {
    PyObject_HEAD
    Part *part; Py_ssize_t parts, part_room;
    int64_t *spare; Py_ssize_t spares, spare_room;
    Sum *sum; Py_ssize_t accounts, sum_room;        /* accounts x windows */
    Pool *pool; Py_ssize_t pools, pool_room;
    int64_t *edge; Py_ssize_t windows;              /* one more window than edges */
    int64_t at, seq;
    PyObject *log;                                  /* a list, or None */
} Core;

#define METHOD(name) static PyObject *name(Core *self, PyObject *const *args, Py_ssize_t n)

static int grow(void **array, Py_ssize_t wanted, Py_ssize_t *room, size_t size) {
    if (wanted <= *room) return 1;
    Py_ssize_t more = *room * 2 > wanted ? *room * 2 : wanted + 64;
    void *p = realloc(*array, (size_t)more * size);
    if (!p) { PyErr_NoMemory(); return 0; }
    *array = p;
    *room = more;
    return 1;
}

static int given(Py_ssize_t n, Py_ssize_t wanted) {
    if (n == wanted) return 1;
    PyErr_Format(PyExc_TypeError, "expected %zd arguments, got %zd", wanted, n);
    return 0;
}

static int number(PyObject *o, int64_t *out) {
    *out = PyLong_AsLongLong(o);
    return *out != -1 || !PyErr_Occurred();
}

/* The integers of a tuple of exactly this size. */
static int row_of(PyObject *o, Py_ssize_t size, int64_t *out) {
    if (!PyTuple_Check(o) || PyTuple_GET_SIZE(o) != size) {
        PyErr_Format(PyExc_TypeError, "expected a tuple of %zd integers", size);
        return 0;
    }
    for (Py_ssize_t i = 0; i < size; i++)
        if (!number(PyTuple_GET_ITEM(o, i), &out[i])) return 0;
    return 1;
}

static int has_part(const Core *c, int64_t p) {
    if (p >= 0 && p < c->parts && c->part[p].holder != GONE) return 1;
    PyErr_SetString(PyExc_IndexError, "no such part");
    return 0;
}

static int has_account(const Core *c, int64_t a) {
    if (a >= 0 && a < c->accounts) return 1;
    PyErr_SetString(PyExc_IndexError, "no such account");
    return 0;
}

/* A tuple of rows, read and checked into memory that the caller frees; parts come first in each. */
static int64_t *rows_of(const Core *c, PyObject *o, Py_ssize_t size, Py_ssize_t *count) {
    PyObject *all = PySequence_Tuple(o);
    if (!all) return NULL;
    *count = PyTuple_GET_SIZE(all);
    int64_t *rows = malloc(sizeof(int64_t) * (size_t)(*count * size + 1));
    if (!rows) PyErr_NoMemory();
    for (Py_ssize_t i = 0; rows && i < *count; i++) {
        int64_t *row = rows + i * size;
        if (!row_of(PyTuple_GET_ITEM(all, i), size, row) || !has_part(c, row[0])) {
            free(rows);
            rows = NULL;
        }
    }
    Py_DECREF(all);
    return rows;
}

/* Parts by number, read and checked into memory that the caller frees. */
static int64_t *numbers_of(const Core *c, PyObject *o, Py_ssize_t *count) {
    PyObject *all = PySequence_Tuple(o);
    if (!all) return NULL;
    *count = PyTuple_GET_SIZE(all);
    int64_t *out = malloc(sizeof(int64_t) * (size_t)(*count + 1));
    int ok = out && row_of(all, *count, out);
    for (Py_ssize_t i = 0; ok && i < *count; i++) ok = has_part(c, out[i]);
    if (!out) PyErr_NoMemory();
    if (!ok) { free(out); out = NULL; }
    Py_DECREF(all);
    return out;
}

static PyObject *wide_out(wide value) {
    if (value == (int64_t)value) return PyLong_FromLongLong((int64_t)value);
    PyObject *high = PyLong_FromLongLong((int64_t)(value >> 64));
    PyObject *low = PyLong_FromUnsignedLongLong((uint64_t)value);
    PyObject *bits = PyLong_FromLong(64);
    PyObject *shifted = high && bits ? PyNumber_Lshift(high, bits) : NULL;
    PyObject *out = shifted && low ? PyNumber_Or(shifted, low) : NULL;
    Py_XDECREF(high); Py_XDECREF(low); Py_XDECREF(bits); Py_XDECREF(shifted);
    return out;
}

static int wide_in(PyObject *o, wide *out) {
    PyObject *bits = PyLong_FromLong(64), *mask = PyLong_FromUnsignedLongLong(UINT64_MAX);
    PyObject *high = bits ? PyNumber_Rshift(o, bits) : NULL;
    PyObject *low = mask ? PyNumber_And(o, mask) : NULL;
    int64_t top = 0;
    uint64_t rest = 0;
    int ok = high && low && number(high, &top);
    if (ok) rest = PyLong_AsUnsignedLongLong(low);
    *out = (wide)(((unsigned __int128)(uint64_t)top << 64) | rest);
    Py_XDECREF(bits); Py_XDECREF(mask); Py_XDECREF(high); Py_XDECREF(low);
    return ok && !PyErr_Occurred();
}

/* -- what is charged ------------------------------------------------------------------------- */

static int log_row(Core *c, const Part *p, int64_t from, int64_t to) {
    int64_t v[8] = { p->pool, p->amount, p->account, p->holder, from, to, p->since, c->seq };
    PyObject *row = PyTuple_New(8);
    for (int i = 0; row && i < 8; i++) {
        PyObject *o = PyLong_FromLongLong(v[i]);
        if (!o) Py_CLEAR(row); else PyTuple_SET_ITEM(row, i, o);
    }
    int ok = row && PyList_Append(c->log, row) == 0;
    Py_XDECREF(row);
    return ok;
}

/* Charge a part up to then, as what it is. */
static int settle(Core *c, Part *p, int64_t at) {
    int64_t from = p->cursor;
    if (at <= from) return 1;
    p->cursor = at;
    if (!p->amount) return 1;
    if (c->log != Py_None && !log_row(c, p, from, at)) return 0;
    c->pool[p->pool].measured += (wide)p->amount * (at - from);
    Sum *sums = c->sum + p->account * c->windows;
    Py_ssize_t w = 0;
    while (w < c->windows - 1 && c->edge[w] <= from) w++;
    while (from < at) {   /* once for each window that it reaches into */
        int64_t end = w < c->windows - 1 && c->edge[w] < at ? c->edge[w] : at;
        Sum *s = &sums[w++];
        s->used += (wide)p->amount * (end - from);
        if (!s->count++ || p->since < s->first) s->first = p->since;
        s->last = c->seq;
        from = end;
    }
    return 1;
}

static int64_t shift(Core *c, Part *p, int64_t holder, int64_t account) {
    int64_t before = p->cursor;
    if (!settle(c, p, c->at)) return REFUSED;
    if (p->holder != holder || p->account != account) p->since = c->seq;
    p->holder = holder;
    p->account = account;
    return p->cursor - before;
}

static int64_t new_part(Core *c, Part value) {
    int64_t number = c->parts;
    if (c->spares) number = c->spare[--c->spares];
    else if (grow((void **)&c->part, c->parts + 1, &c->part_room, sizeof(Part))) c->parts++;
    else return -1;
    c->part[number] = value;
    return number;
}

static int forget(Core *c, int64_t part) {
    if (!grow((void **)&c->spare, c->spares + 1, &c->spare_room, sizeof(int64_t))) return 0;
    c->part[part].amount = 0;
    c->part[part].holder = GONE;
    c->spare[c->spares++] = part;
    return 1;
}

static int64_t add_pool(Core *c) {
    if (!grow((void **)&c->pool, c->pools + 1, &c->pool_room, sizeof(Pool))) return -1;
    c->pool[c->pools] = (Pool){ 0, -1 };
    return c->pools++;
}

/* -- methods --------------------------------------------------------------------------------- */

METHOD(core_now) {
    int64_t at, seq;
    if (!given(n, 2) || !number(args[0], &at) || !number(args[1], &seq)) return NULL;
    self->at = at;
    self->seq = seq;
    Py_RETURN_NONE;
}

METHOD(core_add_account) {
    (void)args;
    Py_ssize_t wanted = (self->accounts + 1) * self->windows;
    if (!given(n, 0)) return NULL;
    if (!grow((void **)&self->sum, wanted, &self->sum_room, sizeof(Sum))) return NULL;
    memset(self->sum + self->accounts * self->windows, 0, sizeof(Sum) * (size_t)self->windows);
    return PyLong_FromSsize_t(self->accounts++);
}

METHOD(core_open) {
    int64_t amount, held[2];
    if (!given(n, 2) || !number(args[0], &amount) || !row_of(args[1], 2, held)) return NULL;
    if (!has_account(self, held[1])) return NULL;
    int64_t pool = add_pool(self);
    if (pool < 0) return NULL;
    int64_t part = new_part(self, (Part){ pool, amount, self->at, held[0], held[1], self->seq });
    self->pool[pool].free = part;
    return part < 0 ? NULL : PyLong_FromLongLong(part);
}

METHOD(core_take) {
    int64_t holder;
    Py_ssize_t count;
    if (!given(n, 2) || !number(args[0], &holder)) return NULL;
    int64_t *wants = rows_of(self, args[1], 3, &count);
    if (!wants) return NULL;
    PyObject *taken = NULL;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!has_account(self, wants[3 * i + 2])) goto done;
        if (self->part[wants[3 * i]].amount < wants[3 * i + 1]) {
            taken = PyLong_FromSsize_t(SHORT - i);
            goto done;
        }
    }
    taken = PyTuple_New(count);
    for (Py_ssize_t i = 0; taken && i < count; i++) {
        int64_t free_part = wants[3 * i], amount = wants[3 * i + 1];
        if (!settle(self, &self->part[free_part], self->at)) { Py_CLEAR(taken); break; }
        Part *f = &self->part[free_part];
        f->amount -= amount;
        Part part = { f->pool, amount, f->cursor, holder, wants[3 * i + 2], self->seq };
        int64_t made = new_part(self, part);
        PyObject *o = made < 0 ? NULL : PyLong_FromLongLong(made);
        if (!o) Py_CLEAR(taken); else PyTuple_SET_ITEM(taken, i, o);
    }
done:
    free(wants);
    return taken;
}

/* Whether all of these parts have the holder that they should have. */
static int all_held(const Core *c, const int64_t *rows, Py_ssize_t count, int64_t expected) {
    for (Py_ssize_t i = 0; i < count; i++)
        if (c->part[rows[2 * i]].holder != expected) return 0;
    return 1;
}

/* The free part of a part's pool, or none. */
static int64_t free_of(const Core *c, int64_t part) {
    int64_t found = c->pool[c->part[part].pool].free;
    return found >= 0 && found < c->parts && found != part
        && c->part[found].pool == c->part[part].pool ? found : -1;
}

METHOD(core_give) {
    int64_t expected, late = 0;
    Py_ssize_t count;
    if (!given(n, 2) || !number(args[0], &expected)) return NULL;
    int64_t *parts = numbers_of(self, args[1], &count);
    if (!parts) return NULL;
    PyObject *answer = NULL;
    for (Py_ssize_t i = 0; i < count; i++)
        if (free_of(self, parts[i]) < 0) { has_part(self, -1); goto done; }
    for (Py_ssize_t i = 0; i < count; i++) {
        if (self->part[parts[i]].holder == expected) continue;
        answer = PyLong_FromLong(REFUSED);
        goto done;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        Part *p = &self->part[parts[i]], *f = &self->part[free_of(self, parts[i])];
        if (p->cursor - self->at > late) late = p->cursor - self->at;
        shift(self, p, f->holder, f->account);
        int64_t both = p->cursor > f->cursor ? p->cursor : f->cursor;
        if (PyErr_Occurred() || !settle(self, p, both) || !settle(self, f, both)) goto done;
        f->amount += p->amount;
        if (!forget(self, parts[i])) goto done;
    }
    answer = PyLong_FromLongLong(late);
done:
    free(parts);
    return answer;
}

METHOD(core_pass_on) {
    int64_t holders[2], late = 0;
    Py_ssize_t count;
    if (!given(n, 2) || !row_of(args[0], 2, holders)) return NULL;
    int64_t *moves = rows_of(self, args[1], 2, &count);
    if (!moves) return NULL;
    PyObject *answer = NULL;
    for (Py_ssize_t i = 0; i < count; i++)
        if (!has_account(self, moves[2 * i + 1])) goto done;
    if (!all_held(self, moves, count, holders[0])) { answer = PyLong_FromLong(REFUSED); goto done; }
    for (Py_ssize_t i = 0; i < count; i++) {
        Part *p = &self->part[moves[2 * i]];
        if (p->cursor - self->at > late) late = p->cursor - self->at;
        shift(self, p, holders[1], moves[2 * i + 1]);
        if (PyErr_Occurred()) goto done;
    }
    answer = PyLong_FromLongLong(late);
done:
    free(moves);
    return answer;
}

METHOD(core_switch) {
    int64_t part, move[3];
    if (!given(n, 2) || !number(args[0], &part) || !row_of(args[1], 3, move)) return NULL;
    if (!has_part(self, part) || !has_account(self, move[2])) return NULL;
    Part *p = &self->part[part];
    if (move[0] != -1 && p->holder != move[0]) return PyLong_FromLong(REFUSED);
    int64_t span = shift(self, p, move[1], move[2]);
    return PyErr_Occurred() ? NULL : PyLong_FromLongLong(span);
}

METHOD(core_drop) {
    int64_t part;
    if (!given(n, 1) || !number(args[0], &part) || !has_part(self, part)) return NULL;
    if (!forget(self, part)) return NULL;
    Py_RETURN_NONE;
}

static PyObject *part_row(const Core *c, int64_t i) {
    const Part *p = &c->part[i];
    return Py_BuildValue("(LLLLLLL)", (long long)i, (long long)p->pool, (long long)p->amount,
                         (long long)p->cursor, (long long)p->holder, (long long)p->account,
                         (long long)p->since);
}

METHOD(core_row) {
    int64_t part;
    if (!given(n, 1) || !number(args[0], &part)) return NULL;
    if (part < 0 || part >= self->parts || self->part[part].holder == GONE) Py_RETURN_NONE;
    return part_row(self, part);
}

METHOD(core_rows) {
    (void)args;
    PyObject *out = given(n, 0) ? PyList_New(0) : NULL;
    for (Py_ssize_t i = 0; out && i < self->parts; i++) {
        if (self->part[i].holder == GONE) continue;
        PyObject *row = part_row(self, i);
        if (!row || PyList_Append(out, row) < 0) Py_CLEAR(out);
        Py_XDECREF(row);
    }
    return out;
}

METHOD(core_used) {
    int64_t account;
    if (!given(n, 1) || !number(args[0], &account) || !has_account(self, account)) return NULL;
    PyObject *out = PyList_New(self->windows);
    for (Py_ssize_t w = 0; out && w < self->windows; w++) {
        Sum *s = &self->sum[account * self->windows + w];
        PyObject *used = wide_out(s->used);
        PyObject *row = !used ? NULL : Py_BuildValue("(NLLL)", used, (long long)s->count,
                                                     (long long)s->first, (long long)s->last);
        if (!row) Py_CLEAR(out); else PyList_SET_ITEM(out, w, row);
    }
    return out;
}

METHOD(core_measured) {
    (void)args;
    PyObject *out = given(n, 0) ? PyList_New(self->pools) : NULL;
    for (Py_ssize_t i = 0; out && i < self->pools; i++) {
        PyObject *value = wide_out(self->pool[i].measured);
        if (!value) Py_CLEAR(out); else PyList_SET_ITEM(out, i, value);
    }
    return out;
}

/* What of each pool is there and runs until then, and the extremes; as the readable twin says. */
METHOD(core_tally) {
    int64_t at, latest = 0, least = 0;
    if (!given(n, 1) || !number(args[0], &at)) return NULL;
    wide *sum = calloc((size_t)self->pools * 2 + 1, sizeof(wide));
    if (!sum) return PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < self->parts; i++) {
        const Part *p = &self->part[i];
        if (p->holder == GONE) continue;
        sum[p->pool * 2] += p->amount;
        sum[p->pool * 2 + 1] += (wide)p->amount * (at - p->cursor);
        if (p->amount && p->cursor > latest) latest = p->cursor;
        if (p->amount < least) least = p->amount;
    }
    PyObject *out = PyList_New(self->pools);
    for (Py_ssize_t i = 0; out && i < self->pools; i++) {
        PyObject *amount = wide_out(sum[i * 2]), *running = wide_out(sum[i * 2 + 1]);
        PyObject *row = amount && running ? PyTuple_Pack(2, amount, running) : NULL;
        Py_XDECREF(amount); Py_XDECREF(running);
        if (!row) Py_CLEAR(out); else PyList_SET_ITEM(out, i, row);
    }
    free(sum);
    return out ? Py_BuildValue("(NLL)", out, (long long)latest, (long long)least) : NULL;
}

static int restore_account(Core *c, PyObject *windows) {
    PyObject *made = core_add_account(c, NULL, 0);
    PyObject *rows = made ? PySequence_Tuple(windows) : NULL;
    int ok = rows && PyTuple_GET_SIZE(rows) == c->windows;
    if (rows && !ok) PyErr_SetString(PyExc_ValueError, "another number of windows");
    for (Py_ssize_t w = 0; ok && w < c->windows; w++) {
        Sum *s = &c->sum[(c->accounts - 1) * c->windows + w];
        PyObject *row = PySequence_Tuple(PyTuple_GET_ITEM(rows, w));
        ok = row && PyTuple_GET_SIZE(row) == 4 && wide_in(PyTuple_GET_ITEM(row, 0), &s->used)
            && number(PyTuple_GET_ITEM(row, 1), &s->count)
            && number(PyTuple_GET_ITEM(row, 2), &s->first)
            && number(PyTuple_GET_ITEM(row, 3), &s->last);
        Py_XDECREF(row);
        if (!ok && !PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "no row of four numbers");
    }
    Py_XDECREF(made);
    Py_XDECREF(rows);
    return ok;
}

METHOD(core_restore) {
    PyObject *rows = NULL, *accounts = NULL, *measured = NULL, *frees = NULL, *answer = NULL;
    if (!given(n, 2)) return NULL;
    if (!PyTuple_Check(args[1]) || PyTuple_GET_SIZE(args[1]) != 3) {
        PyErr_SetString(PyExc_TypeError, "expected accounts and pools");
        return NULL;
    }
    rows = PySequence_Tuple(args[0]);
    accounts = PySequence_Tuple(PyTuple_GET_ITEM(args[1], 0));
    measured = PySequence_Tuple(PyTuple_GET_ITEM(args[1], 1));
    frees = PySequence_Tuple(PyTuple_GET_ITEM(args[1], 2));
    if (!rows || !accounts || !measured || !frees) goto done;
    if (PyTuple_GET_SIZE(frees) != PyTuple_GET_SIZE(measured)) {
        PyErr_SetString(PyExc_ValueError, "as many free parts as pools");
        goto done;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(accounts); i++)
        if (!restore_account(self, PyTuple_GET_ITEM(accounts, i))) goto done;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(measured); i++) {
        int64_t pool = add_pool(self);
        if (pool < 0) goto done;
        if (!wide_in(PyTuple_GET_ITEM(measured, i), &self->pool[pool].measured)) goto done;
        if (!number(PyTuple_GET_ITEM(frees, i), &self->pool[pool].free)) goto done;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(rows); i++) {
        int64_t v[7];
        if (!row_of(PyTuple_GET_ITEM(rows, i), 7, v) || !has_account(self, v[5])) goto done;
        if (v[1] < 0 || v[1] >= self->pools) {
            PyErr_SetString(PyExc_IndexError, "no such pool");
            goto done;
        }
        if (new_part(self, (Part){ v[1], v[2], v[3], v[4], v[5], v[6] }) < 0) goto done;
    }
    answer = Py_NewRef(Py_None);
done:
    Py_XDECREF(rows); Py_XDECREF(accounts); Py_XDECREF(measured); Py_XDECREF(frees);
    return answer;
}

/* -- the type -------------------------------------------------------------------------------- */

static void core_dealloc(Core *self) {
    PyTypeObject *type = Py_TYPE(self);
    free(self->part); free(self->spare); free(self->sum); free(self->pool); free(self->edge);
    Py_XDECREF(self->log);
    type->tp_free((PyObject *)self);
    Py_DECREF(type);
}

static PyObject *core_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *edges;
    int logs;
    (void)kwargs;
    if (!PyArg_ParseTuple(args, "O!p", &PyTuple_Type, &edges, &logs)) return NULL;
    Core *self = (Core *)type->tp_alloc(type, 0);
    if (!self) return NULL;
    self->windows = PyTuple_GET_SIZE(edges) + 1;
    self->edge = malloc(sizeof(int64_t) * (size_t)self->windows);
    self->log = logs ? PyList_New(0) : Py_NewRef(Py_None);
    if (!self->edge || !self->log || !row_of(edges, self->windows - 1, self->edge)) {
        if (!PyErr_Occurred()) PyErr_NoMemory();
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static PyObject *core_get_log(Core *self, void *unused) {
    (void)unused;
    return Py_NewRef(self->log);
}

#define ROW(name) { #name, (PyCFunction)(void (*)(void))core_##name, METH_FASTCALL, NULL }
static PyMethodDef methods[] = {
    ROW(now), ROW(add_account), ROW(open), ROW(take), ROW(give), ROW(pass_on), ROW(switch),
    ROW(drop), ROW(row), ROW(rows), ROW(used), ROW(measured), ROW(tally),
    ROW(restore), { 0 },
};
static PyGetSetDef getters[] = { { "log", (getter)core_get_log, NULL, NULL, NULL }, { 0 } };

static PyType_Slot slots[] = {
    { Py_tp_new, core_new }, { Py_tp_dealloc, core_dealloc },
    { Py_tp_methods, methods }, { Py_tp_getset, getters }, { 0, NULL },
};
static PyType_Spec spec = {
    "bailiwick.metering._compiled.Core", sizeof(Core), 0, Py_TPFLAGS_DEFAULT, slots,
};
static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, .m_name = "_compiled", .m_size = -1,
};

PyMODINIT_FUNC PyInit__compiled(void) {
    PyObject *m = PyModule_Create(&module), *type = PyType_FromSpec(&spec);
    if (!m || !type || PyModule_AddObject(m, "Core", type) < 0) {
        Py_XDECREF(m); Py_XDECREF(type);
        return NULL;
    }
    return m;
}
