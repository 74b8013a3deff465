/* allowed.c - rights of clients that operators set, and what is checked of them (node/rules.h; I34).
 *
 * Every client has one of a few keys. A client of an agent has the key of its agent, and some agents are operators, too. Operators set rules,
 * which allow the clients of each key some locks and forbid them others; with SOAK_RIGHTS also limits. They do so while clients hold locks and wait
 * for them, and while kept sessions have no client.
 *
 * Checks, each by a second, naive parser of the text of rights in the member's view:
 *   - A client is granted a lock, also one of a token, only if the rights allow that. An operation with a token begins only if the rights allow it.
 *   - A client is not refused a lock that the rights allow it to have.
 *   - A lock is taken away only by an operator, or by a client that the rights allow to do so.
 *   - A kept session that began while there were rules is resumed by a client with the same key, and by no other.
 *   - When a request begins, the locks that clients with its key hold and wait for at this member, counted one by one, are within their limit.
 *   - When some member has said that no change is under way, no member that still has earlier rights grants anything. */
#include "world.h"

#include "base/sha1.h"
#include "command/permit.h"
#include "node/audit.h"
#include "node/keep_inside.h"
#include "node/rules.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

enum { KEYS = 3, LINE_MAX_BYTES = 80, LABEL_MAX_BYTES = 8 };

/* ------------------------------------------------------------------------------------------------------------ identity */

uint32_t allowed_key(const struct world *w, uint32_t client)
{
    return (relays_serve(w, client) ? client % w->relays : client) % KEYS;
}

void allowed_meet(struct world *w, struct soak_conn *x)
{
    char key[LABEL_MAX_BYTES];
    struct rights_who who = {.key = key, .operates = x->uplink && x->client % w->relays % 2};

    if (!x->end || (!w->mix.rights && !x->uplink))
        return;
    snprintf(key, sizeof key, "k%u", allowed_key(w, x->client));
    if (x->uplink)
        permit_relay(x->end, w->mix.rights ? &who : NULL);
    else
        permit_meet(x->end, rights_copy(&who));
}

/* The id by which members know a session that a client with this key has begun while rules applied. */
static struct keep_id allowed_bind(uint32_t key, struct keep_id shown)
{
    uint8_t text[sizeof shown + LABEL_MAX_BYTES], digest[SHA1_SIZE];
    int len = snprintf((char *)text + sizeof shown, LABEL_MAX_BYTES, "key:k%u", key);

    memcpy(text, &shown, sizeof shown);
    sha1_digest(text, sizeof shown + (size_t)len, digest);
    memcpy(&shown, digest, sizeof shown);
    return shown;
}

static struct soak_owned *allowed_find(const struct world *w, struct keep_id id)
{
    for (uint32_t k = 0; k < SOAK_OWNED_MAX; k++)
        if (w->owned[k].id.high == id.high && w->owned[k].id.low == id.low)
            return (struct soak_owned *)&w->owned[k];
    return NULL;
}

struct keep_id allowed_session(const struct world *w, uint32_t key, struct keep_id shown)
{
    struct keep_id bound = allowed_bind(key, shown);

    return w->mix.rights && allowed_find(w, bound) ? bound : shown;
}

bool allowed_is_foreign(const struct world *w, uint32_t client, uint32_t key, struct keep_id shown)
{
    return w->mix.rights && key != allowed_key(w, client) && allowed_find(w, allowed_bind(key, shown));
}

/* The client of this connection has just begun its kept session, or has resumed it. */
static void allowed_check_session(struct world *w, const struct soak_conn *x)
{
    const struct keep_session *e = x->end->session->kept;
    struct soak_owned *o = e && !keep_is_token(e) ? allowed_find(w, e->id) : NULL;
    uint32_t key = allowed_key(w, x->client);

    if (!e || keep_is_token(e))
        return;
    if (!o)
        w->owned[w->owners++ % SOAK_OWNED_MAX] =
            (struct soak_owned){.id = e->id, .key = key, .bound = w->machine[x->machine].node.view.rights.len > 0};
    else if (o->bound && o->key != key)
        world_fail(w, "I34: client %u has the key k%u, and a kept session that one with the key k%u has begun",
                   x->client, key, o->key);
}

/* -------------------------------------------------------------------------------------------------------------- reading */

/* Finds the first line of the text that is about this key and the name. Returns its rights; or "". */
static const char *allowed_rights(const char *text, uint32_t key, const char *name, char rights[40])
{
    char who[16], pattern[40], label[16];
    int used;

    snprintf(label, sizeof label, "key:k%u", key);
    for (; sscanf(text, "allow %15s %39s %39s\n%n", who, rights, pattern, &used) == 3; text += used)
        if ((strcmp(who, "any") == 0 || strcmp(who, label) == 0) && fnmatch(pattern, name, 0) == 0)
            return rights;
    return strcpy(rights, "");
}

/* May a client with this key have the lock in this mode, or (`force`) take it away? */
static bool allowed_by(const char *text, uint32_t key, const char *name, uint32_t mode, bool force)
{
    char rights[40];

    allowed_rights(text, key, name, rights);
    return strcmp(rights, "all") == 0 ||
           (!force && (strstr(rights, "lock") || (mode == LOCK_SHARED && strstr(rights, "shared"))));
}

/* How many locks may all clients with this key use together, and for how many may they wait? UINT32_MAX: no limit. */
static uint32_t allowed_limit(const char *text, uint32_t key, uint32_t *waiters)
{
    uint32_t locks;
    char line[32];

    snprintf(line, sizeof line, "limit key:k%u ", key);
    text = strstr(text, line);
    if (text && sscanf(text + strlen(line), "locks=%u waiters=%u", &locks, waiters) == 2)
        return locks;
    return *waiters = UINT32_MAX;
}

/* -------------------------------------------------------------------------------------------------------------- setting */

void allowed_draw_mix(struct world *w)
{
    struct soak_mix *m = &w->mix;

    m->rights = m->kept = true;
    m->evict = m->evict ? m->evict : 20;
    m->agents = w->conf->seed % 3 == 0;
    m->tokens = w->conf->seed % 2;
    m->redis = w->conf->seed % 4 == 1;
}

/* Draws some rules for each key, in an order in which each rule can decide for some name. */
static void allowed_draw(struct world *w, char *text, size_t size)
{
    static const char *const patterns[] = {"apple", "m*", "2?pears", "[a-p]*", "*"};
    static const char *const rights[] = {"lock,watch", "lock,watch", "all", "shared", "watch", "none"};
    size_t len = 0;

    *text = '\0';
    for (unsigned key = 0; key < KEYS; key++)
        for (unsigned p = 0; p < sizeof patterns / sizeof patterns[0]; p++)
            if (world_below(w, 2))
                len += (size_t)snprintf(text + len, size - len, "allow key:k%u %s %s\n", key,
                                        rights[world_below(w, sizeof rights / sizeof rights[0])], patterns[p]);
    if (len == 0 || world_below(w, 3))
        len += (size_t)snprintf(text + len, size - len, "allow any lock,watch *\n");
    for (unsigned key = 0; w->conf->focus == SOAK_RIGHTS && key < KEYS; key++)
        if (world_below(w, 3) == 0)
            len += (size_t)snprintf(text + len, size - len, "limit key:k%u locks=%u waiters=%u\n", key,
                                    1 + (unsigned)world_below(w, 4), 1 + (unsigned)world_below(w, 3));
}

/* A client with some key, which is not an operator, tries to take a lock away. */
struct client *allowed_steal(struct world *w, uint32_t i, int name)
{
    struct soak_machine *m = &w->machine[i];
    char key[LABEL_MAX_BYTES];
    struct rights_who who = {.key = key};

    snprintf(key, sizeof key, "k%u", i % KEYS);
    if (!m->steals) {
        m->steals = client_open(&m->node, NULL);
        permit_meet(m->steals, rights_copy(&who));
    }
    if (m->node.view.rights.len &&
        allowed_by(m->node.view.rights.text, i % KEYS, clients_names[name], LOCK_ALONE, true))
        w->history[name].evicted_us = w->now_us;
    world_trace(w, "a client of %s with the key k%u wants to take %s away", m->name, i % KEYS, clients_names[name]);
    return m->steals;
}

void allowed_set(struct world *w)
{
    uint32_t i = (uint32_t)world_below(w, w->n);
    bool unset = world_below(w, 6) == 0;
    char text[KEYS * 6 * LINE_MAX_BYTES];

    allowed_draw(w, text, sizeof text);
    if (operators_say(w, i, "rights", unset ? NULL : text) && !w->mix.standstill && world_below(w, 2))
        operators_harm_by_shorter(w);
}

/* --------------------------------------------------------------------------------------------------------------- checks */

void allowed_check_grant(struct world *w, uint32_t i, const struct soak_conn *x, int name, uint32_t mode)
{
    const struct settings_text *rights = &w->machine[i].node.view.rights;

    if (!w->mix.rights)
        return;
    if (rights->len && !allowed_by(rights->text, allowed_key(w, x->client), clients_names[name], mode, false))
        world_fail(w, "I34: client %u of %s is granted %s, which the rights of view %llu do not allow", x->client,
                   w->machine[i].name, clients_names[name], (unsigned long long)rights->set);
    if (rights->set < w->told_rights && !w->mix.wild_clocks && !w->mix.standstill)
        world_fail(
            w,
            "I34: client %u of %s is granted %s by the rights of view %llu, though an operator was told that all "
            "members have those of view %llu",
            x->client, w->machine[i].name, clients_names[name], (unsigned long long)rights->set,
            (unsigned long long)w->told_rights);
}

/* Does the claim count for clients with this label? */
static bool allowed_counts(const struct claim *c, const char *label)
{
    return (c->state == CLAIM_HELD || c->state == CLAIM_WAITING) && !c->other && c->session && c->session->party &&
           strcmp(c->session->party->label, label) == 0;
}

static void allowed_check_limit(struct world *w, const struct soak_conn *x)
{
    const struct node *node = &w->machine[x->machine].node;
    const struct locks *l = &node->locks;
    uint32_t held = 0, waiting = 0, waiters, most;
    char label[16];

    if (!node->view.rights.len)
        return;
    most = allowed_limit(node->view.rights.text, allowed_key(w, x->client), &waiters);
    snprintf(label, sizeof label, "key:k%u", allowed_key(w, x->client));
    for (size_t k = 0; k < l->held_count; k++)
        held += allowed_counts(l->held[k].claim, label);
    for (const struct ring *r = l->waiting.next; r != &l->waiting; r = r->next)
        waiting += allowed_counts(RING_OF((struct ring *)r, struct claim, in_list), label);
    if (held + waiting > most || waiting > waiters)
        world_fail(w, "I34: clients with the key k%u hold %u locks at %s and wait for %u, and one more could ask",
                   allowed_key(w, x->client), held, w->machine[x->machine].name, waiting);
}

void allowed_ran(struct world *w, struct soak_conn *x, const struct claim *asked)
{
    const struct token_op *op = x->end->session->asks;
    const struct settings_text *rights = &w->machine[x->machine].node.view.rights;

    if (!w->mix.rights)
        return;
    allowed_check_session(w, x);
    if (asked && !asked->other)
        allowed_check_limit(w, x);
    if (!op || op->number == x->operation)
        return;
    x->operation = op->number;
    if (rights->len &&
        !allowed_by(rights->text, allowed_key(w, x->client),
                    clients_names[clients_find_name(op->key[0].name, op->key[0].name_len)], LOCK_ALONE, false))
        world_fail(w, "I34: client %u of %s uses a token for %.*s, which the rights of view %llu do not allow",
                   x->client, w->machine[x->machine].name, op->key[0].name_len, op->key[0].name,
                   (unsigned long long)rights->set);
}

void allowed_resumed(struct world *w, const struct soak_conn *x)
{
    if (w->mix.rights)
        allowed_check_session(w, x);
}

/* The key of the client that has this session at machine `i`; or KEYS: it is not one of the clients with keys. */
static uint32_t allowed_key_of(const struct world *w, uint32_t i, const struct session *s)
{
    if (w->machine[i].steals && s == w->machine[i].steals->session)
        return i % KEYS;
    for (uint32_t k = 0; k < SOAK_CONNS_MAX; k++)
        if (w->conn[k].id && w->conn[k].end && w->conn[k].end->session == s)
            return allowed_key(w, w->conn[k].client);
    return KEYS;
}

void allowed_audit(struct world *w, uint32_t i, const struct audit *a)
{
    const struct settings_text *rights = &w->machine[i].node.view.rights;
    const struct client *steals = w->machine[i].steals;
    bool force = a->what == AUDIT_FORCE_UNLOCK, denied = a->what == AUDIT_DENIED && a->name_len, allowed;
    uint32_t key = w->mix.rights && (force || denied) ? allowed_key_of(w, i, a->session) : KEYS;
    char name[LOCK_NAME_MAX + 1] = "";

    if (key == KEYS)
        return;
    memcpy(name, a->name, a->name_len);
    if (force || (steals && a->session == steals->session))
        allowed = rights->len && allowed_by(rights->text, key, name, LOCK_ALONE, true);
    else
        allowed = !rights->len || allowed_by(rights->text, key, name, LOCK_ALONE, false);
    if (force && !allowed)
        world_fail(w, "I34: a client with the key k%u takes %s away, which the rights of view %llu do not allow", key,
                   name, (unsigned long long)rights->set);
    if (denied && allowed)
        world_fail(w, "I34: a client with the key k%u is refused %s, which the rights of view %llu allow", key, name,
                   (unsigned long long)rights->set);
}

void allowed_look(struct world *w, uint32_t i)
{
    const struct node *node = &w->machine[i].node;

    if (w->mix.rights && w->machine[i].runs && node->view.rights.set > w->told_rights && !rules_are_changing(node))
        w->told_rights = node->view.rights.set;
}

/* A machine has installed this view. */
void allowed_check(struct world *w, const struct view *view)
{
    if (view->number > w->newest.number && w->newest.number && view->rights.set < w->newest.rights.set)
        world_fail(w, "I34: the rights that were agreed are forgotten in view %llu", (unsigned long long)view->number);
    for (uint32_t k = 0; view->rights.set == view->number && k < w->n; k++) {
        uint32_t place = view_find_name(view, w->machine[k].name, strlen(w->machine[k].name));

        if ((w->mix.without_settings | w->mix.without_policies | w->mix.without_rights) >> k & 1 &&
            place != VIEW_MEMBERS_MAX && view->member[place].incarnation)
            world_fail(w, "I34: rights are agreed, though %s is of an earlier build", w->machine[k].name);
    }
}
