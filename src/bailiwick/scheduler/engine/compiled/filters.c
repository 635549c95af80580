/* What denials and explanations count: nodes that could serve, and the filters nodes fall at. */
#include "module.h"

enum { KIND = 0, LABELS, POLICY, CPU, MEMORY, BLOCK_STORAGE, GPU, FITTING, FILTERS };

static int falls_at(const Engine *e, const Node *k, const Shape *s) {
    if (k->cpu < s->cpu) return CPU;
    if (k->mem < s->mem) return MEMORY;
    if (k->block < s->block) return BLOCK_STORAGE;
    const Class *c = &e->cls[k->cls];
    int usable = 0;
    for (int i = 0; s->count && i < c->devices; i++)
        usable += k->device[i] >= s->milli && s->kinds >> c->kind[i] & 1;
    return usable < s->count ? GPU : FITTING;
}

/* filter_counts(shape, labels, permitted) -> open nodes by the first filter they fail, and fitting */
METHOD(py_filter_counts) {
    int64_t a[1]; Py_buffer views[2]; const uint8_t *labels, *permitted;
    const Engine *e = &self->e;
    int32_t count[FILTERS] = { 0 };
    if (n < 3 || !integers(args, n, 1, a) || !shape_ok(e, a[0])) return NULL;
    if (!mask_of(e, args[1], &views[0], &labels)) return NULL;
    if (!mask_of(e, args[2], &views[1], &permitted)) {
        if (views[0].obj) PyBuffer_Release(&views[0]);
        return NULL;
    }
    const Shape *s = &e->shape[a[0]];
    for (int32_t x = 0; x < e->nodes; x++) {
        const Node *k = &e->node[x];
        if (!k->alive || !k->eligible) continue;
        int at = s->count && !(e->cls[k->cls].kinds & s->kinds) ? KIND
               : !allowed(labels, x) ? LABELS
               : !allowed(permitted, x) ? POLICY
               : falls_at(e, k, s);
        count[at]++;
    }
    for (int i = 0; i < 2; i++)
        if (views[i].obj) PyBuffer_Release(&views[i]);
    return Py_BuildValue("iiiiiiii", count[KIND], count[LABELS], count[POLICY], count[CPU],
                         count[MEMORY], count[BLOCK_STORAGE], count[GPU], count[FITTING]);
}

static int could_hold(const Class *c, const Shape *s) {
    int serving = 0;
    for (int i = 0; i < c->devices; i++) serving += s->kinds >> c->kind[i] & 1;
    return c->cpu >= s->cpu && c->mem >= s->mem && c->block >= s->block && serving >= s->count;
}

/* survey(shape, mask) -> nodes with the devices, those open; nodes large enough, those open; what is
 * free on nodes with the devices that are open */
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
    return Py_BuildValue("iiiiLLLL", nodes, taking, able, able_open, sum[0], sum[1], sum[2], sum[3]);
}
