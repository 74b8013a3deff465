/* machine.c - the processes of a soak, and their disks. A disk keeps the writes that it has finished. If a process crashes in the middle
 * of a write, a part of the write remains: some of its sectors, with zeros in the place of the others. In some seeds disks are
 * slow: a write is finished later, while the process goes on. */
#include "world.h"

#include "alg/list.h"
#include "node/handover.h"

#include <stdlib.h>

static uint64_t machine_random(void *user)
{
    struct soak_machine *m = user;

    return world_random(&m->random);
}

/* ------------------------------------------------------------------------------------------------------------- disks */

/* A write that the disk has not finished; `anew`: it replaces the content of the disk. */
struct soak_write {
    struct ring in_machine;
    bool anew;
    size_t len;
    uint8_t bytes[];
};

/* The bytes reach the disk. */
static void machine_put(struct soak_machine *m, const uint8_t *bytes, size_t len, bool anew)
{
    struct bytes next = {0};

    if (!anew) {
        memcpy(bytes_add(&m->disk, len), bytes, len);
        return;
    }
    if (len)
        memcpy(bytes_add(&next, len), bytes, len);
    bytes_free(&m->disk);
    m->disk = next;
}

/* The process crashes in the middle of this write: the file ends somewhere in it, and some of its sectors did not reach the disk. */
static void machine_spoil(struct soak_machine *m, const uint8_t *bytes, size_t len)
{
    enum { SECTOR = 512 };
    size_t from = bytes_len(&m->disk), left = world_below(m->world, len);
    uint8_t *at = left ? bytes_add(&m->disk, left) : NULL;
    uint64_t dice = m->world->now_us + from; /* the draws of the rest of the run do not depend on what is lost */

    for (size_t k = 0, part; k < left; k += part) {
        part = SECTOR - (from + k) % SECTOR;
        part = part < left - k ? part : left - k;
        if (world_random(&dice) % 4)
            memcpy(at + k, bytes + k, part);
        else
            memset(at + k, 0, part);
    }
}

/* Returns when a write that is requested now will be finished, if the disk needs `takes_us` for one. Writes that are requested while the disk is
 * busy are written together, afterwards. */
static uint64_t machine_write_end_us(struct soak_machine *m, uint64_t takes_us)
{
    uint64_t now_us = m->world->now_us;

    if (now_us >= m->busy_us) {
        m->busy_us = m->waiting_us > now_us ? m->waiting_us : 0;
        m->waiting_us = 0;
    }
    if (!m->busy_us)
        return m->busy_us = now_us + takes_us;
    if (!m->waiting_us)
        m->waiting_us = m->busy_us + takes_us;
    return m->waiting_us;
}

/* A disk of a seed with slow disks finishes a write later: mostly within milliseconds, sometimes after leases. */
static enum disk_status machine_write_later(struct soak_machine *m, const uint8_t *bytes, size_t len, bool anew)
{
    struct world *w = m->world;
    struct soak_write *write = malloc(sizeof *write + len);
    bool slow = !w->calm && world_below(w, w->mix.slow) == 0;
    uint64_t in_us = world_below(w, slow ? 3000 * SOAK_LEASE_MS : 10000);

    *write = (struct soak_write){.anew = anew, .len = len};
    memcpy(write->bytes, bytes, len);
    ring_push(&m->writes, &write->in_machine);
    if (slow)
        world_trace(w, "the disk of %s takes %llu ms", m->name, (unsigned long long)in_us / 1000);
    world_plan(w, machine_write_end_us(m, in_us) - w->now_us, SOAK_WRITTEN, (uint32_t)(m - w->machine), 0)->generation =
        m->process;
    return DISK_WRITING;
}

static enum disk_status machine_write(struct soak_machine *m, const uint8_t *bytes, size_t len, bool anew)
{
    struct world *w = m->world;

    if ((!m->runs && m->process) || m->doomed) /* the process has crashed: it writes nothing */
        return DISK_WRITTEN;
    if (!ring_empty(&m->writes) || (w->mix.slow && !w->calm && !m->opens))
        return machine_write_later(m, bytes, len, anew);
    m->opens = false;
    m->doomed = !anew && w->mix.torn && !w->calm && world_below(w, w->mix.torn) == 0;
    if (m->doomed)
        machine_spoil(m, bytes, len);
    else
        machine_put(m, bytes, len, anew);
    return DISK_WRITTEN;
}

static enum disk_status machine_append(void *user, const uint8_t *bytes, size_t len)
{
    return machine_write(user, bytes, len, false);
}

static enum disk_status machine_replace(void *user, const uint8_t *bytes, size_t len)
{
    return machine_write(user, bytes, len, true);
}

static struct soak_write *machine_take_write(struct soak_machine *m)
{
    struct soak_write *write;

    if (ring_empty(&m->writes))
        return NULL;
    write = RING_OF(m->writes.next, struct soak_write, in_machine);
    ring_cut(&write->in_machine);
    return write;
}

/* The process has crashed. Of the writes that its disk had not finished, the disk keeps the first ones, and perhaps a part of the next one. */
static void machine_tear_writes(struct soak_machine *m)
{
    struct soak_write *write;
    bool torn = m->world->mix.amnesia;

    while ((write = machine_take_write(m))) {
        if (!torn && world_below(m->world, 2)) {
            torn = true;
            if (!write->anew)
                machine_spoil(m, write->bytes, write->len);
        } else if (!torn) {
            machine_put(m, write->bytes, write->len, write->anew);
        }
        free(write);
    }
    m->busy_us = m->waiting_us = 0;
}

void machine_written(struct world *w, uint32_t i)
{
    struct soak_machine *m = &w->machine[i];
    struct soak_write *write;

    world_step_node(w, i, (struct node_input){.type = NODE_TIME});
    if (!m->doomed) { /* else it crashes, and the write may be torn */
        write = machine_take_write(m);
        machine_put(m, write->bytes, write->len, write->anew);
        free(write);
        world_step_node(w, i, (struct node_input){.type = NODE_WRITTEN, .writes = 1});
    }
    world_finish_step(w, i);
}

/* --------------------------------------------------------------------------------------------------------- processes */

/* After the disk has failed, no other process learns of what this process still does during the same event. */
static void machine_told(void *user, struct client *c, const struct node_event *event)
{
    struct soak_machine *m = user;
    uint32_t i = (uint32_t)(m - m->world->machine);

    if (m->doomed)
        return;
    if (session_is_forgotten(c->session) && !event->watched && !event->answered && !event->token)
        world_fail(m->world, "a client is told about its kept session, which %s has forgotten", m->name);
    if (c == m->world->hoard[i].end)
        hoards_hear(m->world, i, event);
    else if (c == m->operates || c == m->steals)
        clients_tell_operator(m->world, event);
    else if (c == m->twin)
        tokens_told_twin(m->world, i, event->token);
    else if (c == m->looks)
        values_hear(m->world, i, event->answered);
    else
        clients_told(m->world, i, client_user(c), event);
}

static void machine_ran(void *user, struct client *c, const struct claim *asked)
{
    struct soak_machine *m = user;

    if (!m->doomed && client_user(c))
        conns_ran(m->world, client_user(c), asked);
}

static void machine_audit(void *user, const struct audit *a)
{
    struct soak_machine *m = user;

    if (!m->doomed)
        allowed_audit(m->world, (uint32_t)(m - m->world->machine), a);
}

/* The first machine runs a daemon alone: without members, agreement or lease. */
static void machine_start_alone(struct world *w, struct soak_machine *m)
{
    const char *wrong = NULL;
    uint32_t sessions = 0;
    struct view view;

    if (bytes_len(&m->handover))
        sessions = handover_read(&m->node, "soak", world_clock_ms(w, (uint32_t)(m - w->machine), w->now_us),
                                 m->handover.at + m->handover.start, bytes_len(&m->handover), &wrong);
    if (wrong)
        world_fail(w, "%s cannot take over the sessions of the process before: %s", m->name, wrong);
    m->handover.start = m->handover.end; /* it is used once */
    view_begin(&view);
    view_add(&view, m->name, m->address, VIEW_MEMBER);
    view.number = view.member[0].incarnation = 1;
    node_install(&m->node, &view);
    world_trace(w, "%s runs alone, with %u kept sessions", m->name, sessions);
}

/* Nothing is left of the process before but what is on the disk. */
static void machine_begin(struct world *w, uint32_t i)
{
    struct soak_machine *m = &w->machine[i];

    m->runs = true;
    m->doomed = false;
    m->process = ++w->processes;
    m->timer_us = m->turn_us = m->lease_us = 0;
    m->flushes = false;
    m->opens = bytes_len(&m->disk) > 0; /* when a journal is opened, it is written anew at once */
    m->thaws_us = 0;
    m->leave_by_ms = 0;
    m->led_ms = m->drops = m->stills = m->view = m->incarnation = 0;
    m->disk_calls = (struct disk){m, machine_append, machine_replace};
}

static void machine_init_node(struct world *w, uint32_t i)
{
    struct soak_machine *m = &w->machine[i];

    node_init(&m->node,
              &(struct node_conf){
                  .name = m->name,
                  .summary = w->mix.config                  ? "soak, lease 1000 ms"
                             : w->lease_ms == SOAK_LEASE_MS ? "soak"
                                                            : "soak, with a short lease",
                  .version = w->conf->focus == SOAK_VERSIONS ? LINK_VERSION + (unsigned)world_below(w, 2) : 0,
                  .algorithm = w->algorithm,
                  .slots_algorithm = w->slots_algorithm,
                  .find_algorithm = alg_find,
                  .algorithms = alg_digest(),
                  .names_max = !w->mix.forgetful ? 0 : SOAK_NAMES + 1 + (w->mix.hoard ? SOAK_HOARD_FEW : 0),
                  .piece = machine_is_slow(w, i) ? w->mix.piece : 0,
                  .recent = w->mix.piece,
                  .digest_bits = w->mix.piece,
                  .lease_ms = w->alone ? 0 : w->lease_ms,
                  .deadlock_ms = w->mix.several ? SOAK_DEADLOCK_MS : 0,
                  .join_ms = 5 * SOAK_LEASE_MS,
                  /* Some machines do not know the time of day: then only the journal ensures that incarnations grow. */
                  .incarnation = w->alone                            ? 1
                                 : w->conf->roster || m->boot_us % 2 ? w->now_us / 1000
                                                                     : 0,
                  .fence = w->mix.no_calendar ? 0 : SOAK_CALENDAR_US + w->now_us,
                  .fence_leap = w->mix.short_leap ? 1 << 8 : 0,
                  .patient = w->mix.patient >> i & 1,
                  .without_settings =
                      !(w->mix.config || w->mix.policies || w->mix.rights) || w->mix.without_settings >> i & 1,
                  .without_policies = w->mix.without_policies >> i & 1,
                  .without_rights = w->mix.without_rights >> i & 1,
                  .user = m,
                  .random = machine_random,
                  .audit = machine_audit,
                  .told = machine_told,
                  .ran = machine_ran});
    node_let_wait(&m->node, w->mix.waits);
}

/* Reads its journal, and takes part in the cluster. Returns false, with a line in `why`, if it cannot. */
static bool machine_join(struct world *w, uint32_t i, struct dme_text *why)
{
    struct soak_machine *m = &w->machine[i];
    struct view roster;
    struct bytes journal = {0};
    bool begun;

    view_begin(&roster);
    for (uint32_t k = 0; k < (m->joins ? w->n : w->founders); k++)
        view_add(&roster, w->machine[k].name, w->machine[k].address, VIEW_MEMBER);
    if (bytes_len(&m->disk)) /* a copy: the disk is written while the journal is read */
        memcpy(bytes_add(&journal, bytes_len(&m->disk)), m->disk.at + m->disk.start, bytes_len(&m->disk));
    begun = node_agree(&m->node, &m->disk_calls, journal.at, bytes_len(&journal), &roster, m->joins,
                       world_clock_ms(w, i, w->now_us), why);
    bytes_free(&journal);
    return begun;
}

static void machine_dial(struct world *w, uint32_t i)
{
    for (uint32_t k = 0; k < w->n; k++) {
        if (i < k)
            wires_dial(w, i, k);
        else if (k < i && w->machine[k].runs)
            wires_dial(w, k, i);
    }
}

void machine_start(struct world *w, uint32_t i)
{
    struct soak_machine *m = &w->machine[i];
    char line[256];
    struct dme_text why;
    bool begun = true;

    assert(i < w->n && !m->runs);
    if (w->now_us < w->founding_us || (w->alone && i > 0)) { /* not yet */
        world_plan(w, w->alone ? 1000000 : w->founding_us - w->now_us, SOAK_START, i, 0);
        return;
    }
    machine_begin(w, i);
    machine_init_node(w, i);
    world_trace(w, "%s starts", m->name);
    dme_text_init(&why, line, sizeof line);
    if (w->alone)
        machine_start_alone(w, m);
    else
        begun = machine_join(w, i, &why);
    if (!begun || m->doomed) {
        if (!begun)
            world_fail(w, "%s cannot start: %s", m->name, line);
        machine_crash(w, i);
        return;
    }
    machine_dial(w, i);
    hoards_open(w, i);
    world_deliver(w, i, (struct node_input){.type = NODE_TIME});
}

/* An operator ends all daemons, waits, and founds a new cluster on empty disks. */
void machines_found(struct world *w)
{
    world_trace(w, "a new cluster is founded");
    kept_excuse_all(w);
    checks_begin(w);
    w->founders = w->n;
    w->newest.number = w->opened = w->told_rights = 0;
    for (uint32_t i = 0; i < w->n; i++) {
        if (w->machine[i].runs)
            machine_crash(w, i);
        bytes_free(&w->machine[i].disk);
        bytes_free(&w->machine[i].handover);
        w->machine[i].joins = w->machine[i].absent = false;
        w->machine[i].added_us = 0;
    }
    w->alone = false;
    w->founding_us = w->now_us + 3000 * SOAK_LEASE_MS;
}

void machine_crash(struct world *w, uint32_t i)
{
    struct soak_machine *m = &w->machine[i];

    world_trace(w, "%s %s", m->name, m->leave_by_ms ? "ends" : "crashes");
    if (w->alone && m->leave_by_ms) {
        bytes_free(&m->handover);
        handover_write(&m->node, "soak", &m->handover);
    } else if (w->alone)
        kept_lose_all(w);
    else
        kept_forgotten(w, i);
    m->runs = false;
    m->leave_by_ms = 0;
    conns_drop_process(w, i);
    hoards_close(w, i);
    m->operates = m->looks = m->twin = m->steals = NULL;
    wires_drop_process(w, i);
    node_free(&m->node);
    machine_tear_writes(m);
    if (!w->calm)
        world_plan(w,
                   world_below(w, w->conf->focus && w->conf->focus != SOAK_ALONE ? 20000
                                  : world_below(w, 2)                            ? 300000
                                                                                 : 4000000),
                   SOAK_START, i, 0);
    else
        world_plan(w, 0, SOAK_START, i, 0);
}

bool machine_is_slow(const struct world *w, uint32_t i)
{
    return !w->mix.crowd || w->mix.focus >> i & 1;
}

bool machine_tells_late(const struct world *w, uint32_t i)
{
    const struct soak_machine *m = &w->machine[i];

    return w->now_us >= m->lease_us && (w->mix.turn_us || m->node.locks.losing);
}

void machine_leave(struct world *w, uint32_t i)
{
    struct soak_machine *m = &w->machine[i];

    world_trace(w, "%s is told to end", m->name);
    kept_leave(w, i);
    m->leave_by_ms = world_clock_ms(w, i, w->now_us) +
                     (w->alone && w->conf->seed % 4 == 1 ? 0 : SOAK_LEASE_MS / 4); /* or it is told so twice */
    world_deliver(w, i, (struct node_input){.type = NODE_LEAVE});
}

bool machine_has_left(const struct world *w, uint32_t i)
{
    const struct soak_machine *m = &w->machine[i];

    return m->leave_by_ms && (node_has_left(&m->node) || m->node.now_ms >= m->leave_by_ms);
}
