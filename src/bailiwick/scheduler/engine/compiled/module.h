/* What the files that face Python share: the object, and the argument checks. */
#ifndef BAILIWICK_MODULE_H
#define BAILIWICK_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include "engine.h"

typedef struct {
    PyObject_HEAD
    Engine e;
    Py_buffer quota;
} PyEngine;

#define METHOD(name) \
    PyObject *name(PyEngine *self, PyObject *const *args, Py_ssize_t n); \
    PyObject *name(PyEngine *self, PyObject *const *args, Py_ssize_t n)

int integers(PyObject *const *args, Py_ssize_t given, int n, int64_t *out);
int bad(const char *what);
int node_ok(const Engine *e, int64_t x);
int shape_ok(const Engine *e, int64_t s);
PyObject *py_expired(PyEngine *self, PyObject *const *args, Py_ssize_t n);
PyObject *py_room_time(PyEngine *self, PyObject *const *args, Py_ssize_t n);
PyObject *py_room_nodes(PyEngine *self, PyObject *const *args, Py_ssize_t n);
PyObject *py_room_steps(PyEngine *self, PyObject *const *args, Py_ssize_t n);
PyObject *py_room_on(PyEngine *self, PyObject *const *args, Py_ssize_t n);
PyObject *py_leases_of(PyEngine *self, PyObject *const *args, Py_ssize_t n);
PyObject *py_survey(PyEngine *self, PyObject *const *args, Py_ssize_t n);
PyObject *py_filter_counts(PyEngine *self, PyObject *const *args, Py_ssize_t n);
PyObject *py_dump(PyEngine *self, PyObject *const *args, Py_ssize_t n);
PyObject *py_versions(PyEngine *self, PyObject *const *args, Py_ssize_t n);
int mask_of(const Engine *e, PyObject *o, Py_buffer *view, const uint8_t **mask);
int limits_of(PyObject *o, Py_buffer *view, Limits *limits);

#endif
