/* The compiled twin of ../pure.py: same tables, same decisions, plain structs in flat arrays.
 *
 * Rules that every function here keeps:
 *  - all amounts are int64; a node never offers 2^50 or more of anything, so sums stay exact;
 *  - a change to a node goes through node_changed(), which writes the change log; every index
 *    (best-fit lists, score caches) is a cache of the nodes with a position in that log, so
 *    "position == log_end" is the proof that it is fresh;
 *  - nothing below module.c knows Python; the interpreter's lock is the engine's lock.
 */
#ifndef BAILIWICK_ENGINE_H
#define BAILIWICK_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#define MILLI 1000
#define DEVICES 16       /* per node */
#define ALL_DEVICES 0xffffu
#define KINDS 64         /* kinds of device in a fleet: a request names them as a bit set */
#define LOG_SIZE 65536   /* changes an index may lag behind before it is rebuilt */
#define MOVED_SIZE 4096  /* the same for rooms.c, which follows terms too */
#define BUCKETS 1024     /* steps of a free fraction in the best-fit lists */
#define LISTS 12         /* per class: 3 list sets x 4 dimensions */
#define BLOCK 64         /* nodes under one head of a cache; leases under an expiry minimum */
#define CACHES 256       /* score caches kept; the least recently asked shape gives its up */
#define UNFIT INT16_MIN

/* Rows of the quota table, shared with Python (see ../../quota_rows.py). */
enum { Q_WIDTH = 48, Q_PARENT = 0, Q_FLAGS = 1, Q_USED = 2, Q_LIMIT = 8, Q_DIMS = 6, Q_VRAM = 4,
       Q_GEN_USED = 14, Q_GEN_LIMIT = 30, Q_FLAG_ASK = 1, Q_FLAG_GENERATIONS = 2 };

enum { ROUND_ROBIN = 0, BEST_FIT = 1, WEIGHTED = 2, FRAGMENTATION_AWARE = 3 };

/* Why place() granted nothing. */
enum { NO_CAPACITY = -1, OVER_QUOTA = -2, ASK_PYTHON = -3, NO_HEADROOM = -4, LEARN_FIRST = -5,
       NO_MEMORY = -6 };

#define LEARN_FLAG (1ll << 62)   /* on the id from place(): enough has arrived to learn from */

enum { FLAG_RESERVED = 1, FLAG_ON_BUDGET = 2, FLAG_PINNED = 4 };
enum { CLASS_GUARANTEED = 0, CLASS_STANDARD = 1, CLASS_SPOT = 2, STATE_ACTIVE = 0 };

typedef struct { int32_t bucket, next, prev; } Link;

typedef struct {
    int64_t cpu, mem, block;       /* free */
    int16_t device[DEVICES];       /* free milli of each device */
    int32_t cls, first_lease, leases, idle;
    int16_t whole, top;            /* devices wholly free; largest free share */
    uint8_t alive, eligible;
    uint8_t profiled;              /* victims.c knows its leases as they are */
    uint32_t version, terms;       /* terms: changes of expiry */
    int32_t position;              /* in the mirror of its class */
    Link link[3];
    int64_t usable;                /* usable_milli() at (usable_version, usable_epoch) */
    uint32_t usable_version, usable_epoch;
} Node;

/* What evicting every evictable lease of one level would give back. */
typedef struct { int64_t cpu, mem, block; int32_t gpu, count; } Reclaim;

typedef struct {
    int64_t cpu, mem, block;
    int32_t devices;
    uint8_t kind[DEVICES];
    uint64_t kinds;
    int32_t fabrics;               /* 0 where it makes no difference which devices go together */
    uint16_t fabric[DEVICES];      /* the devices of each, in order of their first */
    double step[4];                /* BUCKETS / capacity of cpu, mem, block, one device set */
    int32_t count, room;
    int32_t *member;               /* mirror of the members, column by column, for fast scans */
    int32_t *cpu_free, *mem_mib;
    int16_t *whole, *top;
} Class;

typedef struct {
    int16_t *score, *head;
    uint64_t seen;                 /* position in the change log */
    uint32_t epoch;
    int32_t room;
} Cache;

typedef struct {
    int64_t cpu, mem, block;
    int64_t vram;                  /* what its devices count for at least */
    int32_t count, milli;          /* devices, and milli of each */
    uint64_t kinds;
    int32_t generation;            /* declared, or -1 */
    int32_t refs, asks;
    uint8_t live;
    int64_t arrivals;
    int64_t denied_at;             /* log position of the last proven denial, or -1 */
    uint64_t asked;                /* serial of the last question, for cache eviction */
    Cache cache[2];                /* weighted, fragmentation aware */
} Shape;

typedef struct { int32_t row, refs, first; } Account;   /* first: of its leases, or -1 */
typedef struct { int32_t next, prev; } Beside;           /* leases of one account */

typedef struct {                   /* 64 bytes: one cache line */
    int32_t node, account, shape, gang, next, prev;
    uint16_t devices;
    uint8_t priority, lease_class, state, flags, depth, spare;
    int32_t generation, reuse;
    int64_t granted, expires, checkpoint;
} Lease;

typedef struct { int32_t n, m; uint64_t kinds; int32_t first, last; } Group;
typedef struct { int64_t cpu, weight; } Item;

typedef struct {
    Node *node;         int32_t nodes, node_room, node_free;
    Reclaim (*reclaim)[4];
    Class *cls;         int32_t classes, class_room;
    Shape *shape;       int32_t shapes, shape_room, shape_free;
    Account *account;   int32_t accounts, account_room;
    Lease *lease;       int32_t leases, lease_room, lease_free, lease_live;
    Beside *beside;     /* a row for each lease */
    int64_t *expiry_min, *expiry_group;   /* see expiries.c */
    int32_t generation_of_kind[KINDS];
    int64_t vram_of_kind[KINDS];
    int64_t free_total[4], headroom[4];
    int32_t headroom_priority;
    int32_t log[LOG_SIZE]; uint64_t log_end;
    int32_t moved[MOVED_SIZE]; uint64_t moved_end;   /* nodes with other amounts or terms */
    int64_t *quota;     int32_t quota_rows;
    /* best-fit lists */
    int32_t *head;      uint64_t *bitmap; int32_t list_classes; uint64_t lists_seen;
    int lists_live;
    /* scored strategies */
    uint32_t epoch[2];  uint32_t *stamp, stamp_serial; uint64_t ask_serial; int32_t caches;
    int64_t weight[4];
    Group *group; Item *item; int32_t groups;
    int64_t inverse_kappa, pressure[KINDS];
    int64_t arrivals, learn_at;
    int32_t cursor;     /* round robin */
    int64_t probes, scans, rescored;
    struct Victims *victims;
    struct Rooms *rooms;
} Engine;

/* Nodes of which only some devices may be used, by handle: pairs of a node and its devices. A mask
 * leaves them out; they are looked at one by one. */
typedef struct { const int64_t *row; int32_t rows; } Limits;

/* arena.c */
int engine_start(Engine *e);
void engine_clear(Engine *e);
int32_t add_class(Engine *e, const int64_t cap[3], int devices, const uint8_t *kind,
                  const uint8_t *fabric);
int32_t add_node(Engine *e, int32_t cls);
void remove_node(Engine *e, int32_t x);
void set_eligible(Engine *e, int32_t x, int eligible);
int shift(Engine *e, int32_t x, const int64_t more[3], int devices, const int64_t *milli);
int32_t add_shape(Engine *e, const Shape *s);
void free_shape(Engine *e, int32_t s);
int32_t add_account(Engine *e, int32_t row);
int fits(const Engine *e, const Node *n, const Shape *s);
int fits_within(const Engine *e, const Node *n, const Shape *s, unsigned within);
unsigned choose_devices(const Engine *e, const Node *n, const Shape *s, unsigned within);
int is_spread(const Class *c, unsigned devices);
int64_t take(Engine *e, int32_t x, int32_t shape, int32_t account, int traits,
             const int64_t when[2], int32_t gang, unsigned devices);
int release(Engine *e, int64_t id);
void account_enter(Engine *e, int32_t slot, int32_t account);
void account_leave(Engine *e, int32_t slot);
Lease *lease_at(const Engine *e, int64_t id);
void reclaim_add(Engine *e, const Lease *l, int sign);
void quota_charge(Engine *e, int32_t row, const Shape *s, const Lease *l, int sign);
int64_t place(Engine *e, int strategy, int32_t shape, int32_t account, int traits,
              const int64_t when[2], int32_t gang, const uint8_t *mask, const Limits *limits);
int32_t find(Engine *e, int strategy, int32_t shape, const uint8_t *mask, const Limits *limits);
unsigned devices_within(const Limits *limits, int32_t x);

/* expiries.c */
int expiry_grow(Engine *e, int32_t before);
void expiry_note(Engine *e, int32_t slot, int64_t expires);

/* rooms.c */
typedef struct Rooms Rooms;
void rooms_drop(Engine *e, int32_t shape);
void rooms_clear(Engine *e);

/* bestfit.c */
int64_t best_fit_key(const Node *n);
int32_t find_best_fit(Engine *e, Shape *s, const uint8_t *mask);
int32_t scan_best_fit(Engine *e, const Shape *s, const uint8_t *mask);
void bestfit_sync(Engine *e);

/* scored.c */
int32_t find_scored(Engine *e, int strategy, Shape *s, const uint8_t *mask);
int score_node(Engine *e, int strategy, const Shape *s, int32_t x, unsigned within,
               unsigned *devices);
void drop_cache(Engine *e, Shape *s);

/* victims.c */
typedef struct Victims Victims;

typedef struct {
    int32_t shape, exclude;        /* exclude: one more node left out, or -1 */
    int64_t evictable;             /* bit 4 * class + priority: such leases may be victims */
    int32_t below;                 /* and none of them has this level, or a higher one */
    int64_t now, run_min, fresh;   /* minimum run time; age at which a checkpoint is still fresh */
    int64_t depth_max;             /* a lease that already evicted this deep is no victim */
    const uint8_t *mask;
} VictimQuery;

typedef struct {
    int64_t cost;
    int32_t node, count;
    const int32_t *slot;           /* on the node, ascending; valid until the next search */
    int exact;                     /* 0: the search was cut short, there may be a cheaper plan */
    int32_t blocked[6];            /* if there is no plan: nodes by the first rule in the way */
} VictimAnswer;

int find_victims(Engine *e, const VictimQuery *q, VictimAnswer *a);
void gang_note(Engine *e, int32_t gang, int32_t slot, int comes);
void profile_note(Engine *e, const Lease *l, int sign);
void victims_clear(Engine *e);

static inline int evictable(const Lease *l) {
    return l->lease_class != CLASS_GUARANTEED && l->state == STATE_ACTIVE
        && !(l->flags & (FLAG_RESERVED | FLAG_PINNED));
}

/* Sums of what could go are kept by level: who may evict one of a level may evict any spot lease
 * (unless it is one itself), so those have the lowest. */
enum { EVICTABLE_ALL = 0xf70 };    /* never guaranteed, and of standard never the highest */

static inline int level_of(const Lease *l) {
    return l->lease_class == CLASS_SPOT ? 0 : l->priority;
}

/* Nodes whose leases end at other times, or that have other amounts: rooms.c reads them anew. */
static inline void node_moved(Engine *e, int32_t x) {
    e->moved[e->moved_end++ & (MOVED_SIZE - 1)] = x;
}

static inline int allowed(const uint8_t *mask, int32_t x) {
    return !mask || (mask[x >> 3] >> (x & 7)) & 1;
}

#endif
