/* All that is known of many leases at once: how a million of them get into a snapshot. And which
 * nodes have changed, for who keeps books on their leases. */
#include "module.h"

enum { COLUMNS = 14 };

/* The fields of a lease, each into its own column of n rows. */
static void put_lease(const Lease *l, int64_t *out, Py_ssize_t n) {
    const int64_t field[COLUMNS] = { l->node, l->account, l->shape, l->gang, l->devices,
                                     l->priority, l->lease_class, l->state, l->flags, l->depth,
                                     l->generation, l->granted, l->expires, l->checkpoint };
    for (int c = 0; c < COLUMNS; c++) out[c * n] = field[c];
}

/* dump(ids) */
METHOD(py_dump) {
    Py_buffer ids;
    if (n < 1) { PyErr_SetString(PyExc_TypeError, "expected an array of ids"); return NULL; }
    if (PyObject_GetBuffer(args[0], &ids, PyBUF_SIMPLE) < 0) return NULL;
    const Py_ssize_t count = ids.len / 8;
    const int64_t *id = ids.buf;
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, count * COLUMNS * 8);
    int64_t *out = bytes ? (int64_t *)PyBytes_AS_STRING(bytes) : NULL;
    for (Py_ssize_t i = 0; out && i < count; i++) {
        const Lease *l = lease_at(&self->e, id[i]);
        if (!l) { Py_CLEAR(bytes); bad("lease"); break; }
        put_lease(l, out + i, count);
    }
    PyBuffer_Release(&ids);
    return bytes;
}

/* versions(): a number for each node, another one after a lease there came, went or changed */
METHOD(py_versions) {
    (void)args; (void)n;
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)self->e.nodes * 4);
    char *out = bytes ? PyBytes_AS_STRING(bytes) : NULL;
    for (int32_t x = 0; out && x < self->e.nodes; x++)
        memcpy(out + 4 * (size_t)x, &self->e.node[x].version, 4);
    return bytes;
}
