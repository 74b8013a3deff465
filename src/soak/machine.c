/* machine.c - processes of a soak, and the disks under them. A disk keeps what was written; a process that crashes in
 * the middle of a write leaves a part of it. Some disks take their time now and then, and their processes do nothing else. */
#include "world.h"

static uint64_t machine_random(void *user)
{
    struct soak_machine *m = user;

    return world_random(&m->random);
}

static void machine_maybe_slow(struct soak_machine *m)
{
    struct world *w = m->world;

    if (w->mix.slow && !w->calm && world_below(w, w->mix.slow) == 0)
        m->writes_ms = 1 + world_below(w, 3 * SOAK_LEASE_MS);
}

/* A crash in the middle of it: a part is written, and the process does not get to do anything more (world_settle). */
static bool machine_append(void *user, const uint8_t *bytes, size_t len)
{
    struct soak_machine *m = user;

    if ((!m->runs && m->process) || m->doomed) /* what a dead process writes does not count */
        return true;
    if (m->world->mix.torn && !m->world->calm && world_below(m->world, m->world->mix.torn) == 0) {
        len = world_below(m->world, len);
        m->doomed = true;
    }
    memcpy(bytes_add(&m->disk, len), bytes, len);
    machine_maybe_slow(m);
    return true;
}

static bool machine_replace(void *user, const uint8_t *bytes, size_t len)
{
    struct soak_machine *m = user;
    struct bytes next = {0};

    if ((!m->runs && m->process) || m->doomed)
        return true;
    if (len)
        memcpy(bytes_add(&next, len), bytes, len);
    bytes_free(&m->disk);
    m->disk = next;
    machine_maybe_slow(m);
    return true;
}

/* The first machine runs a daemon alone: without members, agreement or lease. */
static void machine_start_alone(struct world *w, struct soak_machine *m)
{
    struct view view;

    view_begin(&view);
    view_add(&view, m->name, m->address, VIEW_MEMBER);
    view.member[0].incarnation = 1;
    node_install(&m->node, &view);
    world_trace(w, "%s runs alone", m->name);
}

void machine_start(struct world *w, uint32_t i)
{
    struct soak_machine *m = &w->machine[i];
    struct view roster;
    struct bytes journal = {0};
    char line[256];
    struct dme_text why;
    bool begun = true;

    if (w->now_us < w->founding_us || (w->alone && i > 0)) { /* not yet */
        world_plan(w, w->alone ? 1000000 : w->founding_us - w->now_us, SOAK_START, i, 0);
        return;
    }
    view_begin(&roster);
    for (uint32_t k = 0; k < (m->joins ? w->n : w->founders); k++)
        view_add(&roster, w->machine[k].name, w->machine[k].address, VIEW_MEMBER);
    m->runs = true;
    m->doomed = false;
    m->process = ++w->processes;
    m->timer_us = 0;
    m->writes_ms = 0;
    m->thaws_us = 0;
    m->leave_by_ms = 0;
    m->led_ms = m->drops = m->stills = 0;
    m->disk_calls = (struct disk){m, machine_append, machine_replace};
    node_init(&m->node, &(struct node_conf){.name = m->name,
                                            .summary = "soak",
                                            .modes = w->modes,
                                            .slots = w->slots,
                                            .names_max = w->mix.forgetful ? SOAK_NAMES + 1 : 0,
                                            .lease_ms = w->alone ? 0 : SOAK_LEASE_MS,
                                            .join_ms = 5 * SOAK_LEASE_MS,
                                            /* Some calendars are of no use: then the journal has to know. */
                                            .incarnation = w->alone                            ? 1
                                                           : w->conf->roster || m->boot_us % 2 ? w->now_us / 1000
                                                                                               : 0,
                                            .fence = w->mix.no_calendar ? 0 : SOAK_CALENDAR_US + w->now_us,
                                            .fence_leap = w->mix.short_leap ? 1 << 8 : 0,
                                            .user = m,
                                            .random = machine_random});
    world_trace(w, "%s starts", m->name);
    if (bytes_len(&m->disk))
        memcpy(bytes_add(&journal, bytes_len(&m->disk)), m->disk.at + m->disk.start, bytes_len(&m->disk));
    dme_text_init(&why, line, sizeof line);
    if (w->alone)
        machine_start_alone(w, m);
    else
        begun = node_agree(&m->node, &m->disk_calls, journal.at, bytes_len(&journal), &roster, m->joins,
                           world_clock_ms(w, i, w->now_us), &why);
    bytes_free(&journal);
    if (!begun || m->doomed) {
        if (!begun)
            world_fail(w, "%s cannot start: %s", m->name, line);
        machine_crash(w, i);
        return;
    }
    for (uint32_t k = 0; k < w->n; k++) {
        if (i < k)
            wires_dial(w, i, k);
        else if (k < i && w->machine[k].runs)
            wires_dial(w, k, i);
    }
    world_settle(w, i);
}

/* All daemons are ended, and a new cluster is founded on empty disks, when an operator has waited for long enough. */
void machines_found(struct world *w)
{
    world_trace(w, "a new cluster is founded");
    w->alone = false;
    w->founders = w->n;
    w->newest.number = 0;
    for (uint32_t i = 0; i < w->n; i++) {
        if (w->machine[i].runs)
            machine_crash(w, i);
        bytes_free(&w->machine[i].disk);
        w->machine[i].joins = w->machine[i].absent = false;
        w->machine[i].added_us = 0;
    }
    w->founding_us = w->now_us + 3000 * SOAK_LEASE_MS;
}

void machine_crash(struct world *w, uint32_t i)
{
    struct soak_machine *m = &w->machine[i];

    world_trace(w, "%s %s", m->name, m->leave_by_ms ? "ends" : "crashes");
    m->runs = false;
    m->leave_by_ms = 0;
    conns_drop_process(w, i);
    wires_drop_process(w, i);
    node_free(&m->node);
    if (!w->calm)
        world_plan(w, world_below(w, world_below(w, 2) ? 300000 : 4000000), SOAK_START, i, 0);
    else
        world_plan(w, 0, SOAK_START, i, 0);
}

void machine_leave(struct world *w, uint32_t i)
{
    struct soak_machine *m = &w->machine[i];

    world_trace(w, "%s is told to end", m->name);
    world_wake(w, i);
    m->leave_by_ms = m->node.now_ms + SOAK_LEASE_MS / 4;
    node_leave(&m->node);
    world_settle(w, i);
}

bool machine_has_left(const struct world *w, uint32_t i)
{
    const struct soak_machine *m = &w->machine[i];

    return m->leave_by_ms && (node_has_left(&m->node) || m->node.now_ms >= m->leave_by_ms);
}
