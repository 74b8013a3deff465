/* tokens.c - the clients of a soak whose locks are owned by tokens (node/token.h). They speak the protocol themselves, as
 * those of clients.c do.
 *
 * Such a client makes a new token for each lock that it wants. Its connections end and break as those of all clients do. It then
 * connects anew at any machine, and repeats a request that was not answered, or forgets it. It renews and
 * releases its lock at any machine, twice if it has not heard the answer, or leaves the lock to its TTL. Whatever happens to the daemon that
 * has answered, the client believes in its lock until the TTL, counted from the request, is over on its own clock, which may be as slow as A1 allows. A
 * request that was not answered may be carried out at any later time: so the client counts the shortest TTL of these, if it is shorter than
 * that of the request that was answered (token.h). Now and then such a client tries to release a lock with a token that does not own it.
 * In some seeds half of these clients use the commands of Redis lock libraries: SET NX PX, and scripts that renew or release a lock
 * if the token owns it; or the scripts of Redisson, which count how often a token has been granted the lock. These clients are not told the fence.
 *
 * Checks, besides those of clients.c for all that believe in a lock: the fence grows with each token; every process in the
 * view of the daemon knows the lock, and its TTL, before its client is told; a token that is renewed or released before its TTL is over
 * is found, unless an operator took the lock away, or every process that should have had a record has crashed or was
 * excluded; and a foreign token is refused. */
#include "world.h"

#include "base/memory.h"
#include "node/keep_inside.h"

#include <stdlib.h>

struct soak_agent {
    char token[24];
    uint64_t made;       /* the number of its tokens so far */
    struct soak_use use; /* use.holds: the client has requested the lock, and has not released it since */
    int name;
    bool granted;        /* the client has heard that it is granted the lock */
    bool foreign;        /* its present request has a token that is not its own */
    bool released;       /* it has sent a request to release the lock, which may have been carried out */
    bool excused;        /* the lock may be lost */
    uint64_t ttl_ms;     /* of the last request or renewal */
    uint64_t least_ms;   /* the shortest TTL of a request that was not answered, and may be carried out yet; or 0 */
    uint64_t asked_us;   /* when the last request or renewal was sent */
    uint64_t until_us;   /* once it is granted the lock: it believes in it until then */
    uint64_t lasts_us;   /* its token owns the lock until then, unless the client releases it */
    unsigned unlocks;    /* how often it has sent that it releases the lock */
    uint64_t told_fence; /* the fence that a daemon has told, whether the client has heard it or not */
};

bool tokens_believes(const struct world *w, uint32_t k, int name)
{
    const struct soak_agent *a = w->client[k].agent;

    return a->granted && a->name == name && w->now_us < a->until_us;
}

/* How the client holds its lock. If an operator may have taken the lock away, no check applies: the client is not told of that. */
struct soak_use tokens_use(const struct world *w, const struct soak_client *c)
{
    const struct soak_agent *a = c->agent;
    struct soak_use u = a->use;

    u.dazed |= a->excused || (a->granted && clients_may_be_evicted(w, a->name, u.since_us));
    return u;
}

/* ------------------------------------------------------------------------------------------------------------- checks */

static struct keep_id tokens_id(const struct soak_agent *a)
{
    return token_id(clients_names[a->name], strlen(clients_names[a->name]));
}

bool tokens_knows(const struct world *w, uint32_t k, uint32_t i)
{
    const struct soak_agent *a = w->client[k].agent;

    return a->name >= 0 && kept_is_in_view(w, i, &w->newest) && keep_knows(&w->machine[i].node, tokens_id(a));
}

void tokens_excuse(struct world *w, uint32_t k, uint32_t i)
{
    bool known = false;

    for (uint32_t j = 0; j < w->n; j++)
        known |= j != i && tokens_knows(w, k, j);
    w->client[k].agent->excused |= !known;
}

void tokens_excuse_all(struct soak_client *c)
{
    c->agent->excused = true;
}

/* Has the owner withdrawn the lock after its answer, so that some members have no record any more? No other client is granted the lock before all
 * members know of that (I33). */
static bool tokens_is_withdrawn(const struct world *w, const struct token_key *key)
{
    for (uint32_t j = 0; j < w->n; j++) {
        const struct ring *all = &w->machine[j].node.keep.withdrawn;

        for (const struct ring *at = all->next; w->machine[j].runs && at != all; at = at->next) {
            const struct claim *c = RING_OF(at, struct claim, in_session);

            if (c->name_len == key->name_len && memcmp(c->name, key->name, key->name_len) == 0)
                return true;
        }
    }
    return false;
}

/* A daemon is about to tell a client for how long the token owns the lock. Checks that the records of all other members have at least that TTL (I33), since
 * the owner may be lost. A member without a record is left out: the lock may have been released since. */
static void tokens_check_ttl(struct world *w, uint32_t i, const struct token_op *op)
{
    const struct node *node = &w->machine[i].node;

    for (uint32_t j = 0; j < w->n && !w->mix.wild_clocks; j++) {
        const struct soak_machine *m = &w->machine[j];
        bool same = kept_is_in_view(w, j, &node->view) && !m->doomed && m->node.view.number == node->view.number;
        const struct keep_session *e = same ? keep_find(&m->node.keep, op->key[0].id) : NULL;
        const struct keep_record *x =
            e && !e->session ? keep_find_record(e, op->key[0].name, op->key[0].name_len, op->fence) : NULL;

        if (x && x->ttl_ms && x->ttl_ms < op->wish.ttl_ms)
            world_fail(w, "a client of %s is told of a TTL of %.*s, and %s does not know it", w->machine[i].name,
                       op->key[0].name_len, op->key[0].name, m->name);
    }
}

/* A daemon is about to answer an operation of this client. */
void tokens_told(struct world *w, uint32_t i, struct soak_conn *x, const struct token_op *op)
{
    struct soak_agent *a = w->client[x->client].agent;
    const struct node *node = &w->machine[i].node;

    world_trace(w, "client %u of %s: %s %.*s with %.*s: %s", x->client, w->machine[i].name,
                op->wish.what == TOKEN_ACQUIRE   ? "LOCK"
                : op->wish.what == TOKEN_RELEASE ? "UNLOCK"
                                                 : "RENEW",
                op->key[0].name_len, op->key[0].name, (int)op->wish.token_len, op->wish.token,
                op->code   ? op->code
                : op->good ? "done"
                           : "no");
    if (!op->code && op->good && (op->wish.what == TOKEN_ACQUIRE || op->wish.what == TOKEN_EXTEND) && !op->wish.adds)
        tokens_check_ttl(w, i, op);
    if (op->wish.what != TOKEN_ACQUIRE || op->code || !op->good)
        return;
    w->report->grants++;
    allowed_check_grant(w, i, x, clients_find_name(op->key[0].name, op->key[0].name_len), LOCK_ALONE);
    /* Only in the newest view: a member that is excluded from it, and does not know that, may receive the grant and its withdrawal at the same time, when
     * the others have forgotten both. */
    for (uint32_t j = 0; j < w->n && !w->mix.wild_clocks && node->view.number == w->newest.number; j++)
        if (kept_is_in_view(w, j, &node->view) && !w->machine[j].doomed &&
            w->machine[j].node.view.number == node->view.number && !keep_knows(&w->machine[j].node, op->key[0].id) &&
            !tokens_is_withdrawn(w, &op->key[0]))
            world_fail(w, "client %u of %s is told of a lock of its token, and %s does not know", x->client,
                       w->machine[i].name, w->machine[j].name);
    if (a && strlen(a->token) + 1 == op->wish.token_len &&
        memcmp(a->token, op->wish.token + 1, strlen(a->token)) == 0) {
        x->name = a->name;
        x->mode = LOCK_ALONE;
        x->slots = 0;
        if (a->told_fence != op->fence) {
            clients_check_fence(w, x, op->fence);
            a->excused = false;
        }
        a->told_fence = op->fence;
    }
}

void tokens_told_twin(struct world *w, uint32_t i, const struct token_op *op)
{
    if (!op->code && op->good)
        tokens_check_ttl(w, i, op);
}

/* The client hears that its token does not own the lock. Checks that it may have lost it. */
static void tokens_check_loss(struct world *w, uint32_t k)
{
    const struct soak_agent *a = w->client[k].agent;

    if (a->granted && w->now_us < a->lasts_us && a->unlocks <= 1 && !a->excused && !a->use.dazed &&
        !w->mix.wild_clocks && !w->mix.standstill && !w->alone && !clients_may_be_evicted(w, a->name, a->use.since_us))
        world_fail(w, "client %u has lost %s, which its token should own", k, clients_names[a->name]);
}

/* -------------------------------------------------------------------------------------------------------------- doing */

static void tokens_forget(struct soak_agent *a)
{
    *a = (struct soak_agent){.name = -1, .made = a->made};
}

void tokens_begin(struct world *w, uint32_t k)
{
    w->client[k].agent = mem_new(sizeof *w->client[k].agent);
    tokens_forget(w->client[k].agent);
}

void tokens_end(struct soak_client *c)
{
    free(c->agent);
    c->agent = NULL;
}

/* The client has no connection any more. */
void tokens_be_gone(struct world *w, uint32_t k)
{
    struct soak_client *c = &w->client[k];
    struct soak_agent *a = c->agent;

    if (c->waits && !a->foreign && (!a->least_ms || a->ttl_ms < a->least_ms))
        a->least_ms = a->ttl_ms;
    if (c->waits && a->foreign) {
        a->foreign = false;
    } else if (!a->granted && world_below(w, 3) == 0) {
        tokens_forget(a); /* it forgets the request that was not answered */
    }
    c->conn = -1;
    c->waits = false;
    c->machine = (uint32_t)world_below(w, w->n);
}

/* When a TTL that was requested at this moment is over on the client's clock. */
static uint64_t tokens_end_us(const struct soak_client *c, uint64_t asked_us, uint64_t ttl_ms)
{
    return asked_us + (c->slow ? ttl_ms * 20000 / 19 : ttl_ms * 1000);
}

/* Does the client use the commands of a Redis lock library? */
static bool tokens_is_redis(const struct world *w, uint32_t k)
{
    return w->mix.redis && k % 4 == 3;
}

static bool tokens_is_redisson(const struct world *w, uint32_t k)
{
    return tokens_is_redis(w, k) && k % 8 == 7;
}

/* The TTL that a release by Redisson sets, if the lock was counted twice and so stays held. */
enum { REDISSON_MS = 500 };
static const char redisson_ttl[] = "500";

/* Writes the command as Redisson sends it. Redisson never waits at the daemon. */
static size_t tokens_put_redisson(const char *words[8])
{
    static const char lock[] = "149c5a8bf18676fd99e9e6e24923bd64d9b62f94",
                      renew[] = "8e19a1ddbdee9138df9f32a480c57addab4353d1",
                      unlock[] = "6866459238a13a701d42f4971f12d9f3a50e2442";
    const char *command = words[0], *name = words[1], *token = words[3], *ttl = words[5];
    size_t count = 4;

    words[0] = "EVALSHA";
    words[1] = strcmp(command, "LOCK") == 0 ? lock : strcmp(command, "RENEW") == 0 ? renew : unlock;
    words[2] = "1";
    words[3] = name;
    if (words[1] == unlock) {
        words[count++] = "0";
        ttl = redisson_ttl;
    }
    words[count++] = ttl;
    words[count++] = token;
    return count;
}

/* Writes the command as node-redlock sends it, which never waits at the daemon either. */
static size_t tokens_put_redis(const char *words[8])
{
    static const char extend[] = "aed6f382e410db8ba7926d4e5e9aab410bf2a78a",
                      release[] = "e4612211c9f8f51c257e26e056b0a654b3187242";
    bool unlock = strcmp(words[0], "UNLOCK") == 0;
    const char *name = words[1], *token = words[3], *ttl = words[5];

    if (strcmp(words[0], "LOCK") == 0) {
        words[0] = "SET";
        words[2] = token;
        words[3] = "NX";
        words[4] = "PX";
        return 6;
    }
    words[0] = "EVALSHA";
    words[1] = unlock ? release : extend;
    words[2] = "1";
    words[3] = name;
    words[4] = token;
    words[5] = ttl;
    return unlock ? 5 : 6;
}

enum { TTL_MS_MAX = 8200 };

static void tokens_say(struct world *w, uint32_t k, const char *command, const char *token, bool waits)
{
    struct soak_client *c = &w->client[k];
    struct soak_agent *a = c->agent;
    char ttl[24], wait[24];
    const char *words[8] = {command, clients_names[a->name], "TOKEN", token};
    size_t count = 4;

    if (strcmp(command, "UNLOCK") != 0) {
        a->ttl_ms = w->calm ? 100 : 200 + world_below(w, world_below(w, 2) ? 2000 : TTL_MS_MAX - 200);
        a->asked_us = w->now_us;
        if (a->until_us > tokens_end_us(c, w->now_us, a->ttl_ms))
            a->until_us = a->lasts_us = tokens_end_us(c, w->now_us, a->ttl_ms);
        snprintf(ttl, sizeof ttl, "%llu", (unsigned long long)a->ttl_ms);
        words[count++] = "TTL";
        words[count++] = ttl;
    }
    if (waits) {
        snprintf(wait, sizeof wait, "%llu", (unsigned long long)(world_below(w, 3) ? world_below(w, 3000) : 0));
        words[count++] = "WAIT";
        words[count++] = wait;
    }
    if (tokens_is_redisson(w, k))
        count = tokens_put_redisson(words);
    else if (tokens_is_redis(w, k))
        count = tokens_put_redis(words);
    c->waits = true;
    clients_say(w, c, strcmp(command, "LOCK") == 0 ? SOAK_TO_TOKEN_LOCK : SOAK_TO_TOKEN, words, count);
}

/* In some seeds, another process that has the token of this client extends the lock, too, when the client does. It extends by the longest TTL that any client
 * uses, so that the lock does not end before the client expects it. */
static void tokens_extend_as_well(struct world *w, uint32_t k)
{
    const struct soak_agent *a = w->client[k].agent;
    uint32_t i = w->client[k].machine;
    struct soak_machine *m = &w->machine[i];
    char line[80];

    if (w->conf->seed % 4 != 2 || w->calm || tokens_is_redis(w, k) || !m->runs || world_is_stopped(w, i))
        return;
    if (!m->twin)
        m->twin = client_open(&m->node, NULL);
    snprintf(line, sizeof line, "RENEW %s TOKEN %s TTL %d\n", clients_names[a->name], a->token, TTL_MS_MAX);
    world_deliver(
        w, i,
        (struct node_input){
            .type = NODE_CLIENT_BYTES, .client = m->twin, .bytes = (const uint8_t *)line, .len = strlen(line)});
}

/* The client requests a lock, or repeats its request. */
static void tokens_ask(struct world *w, uint32_t k)
{
    struct soak_agent *a = w->client[k].agent;

    if (a->name < 0) {
        a->name = (int)world_below(w, w->mix.one_name ? 1 : 3);
        snprintf(a->token, sizeof a->token, "%u-%llu", k, (unsigned long long)++a->made);
    }
    tokens_say(w, k, "LOCK", a->token, world_below(w, 2));
}

/* The client has a connection, and its earlier requests are answered. It does something next. */
void tokens_act(struct world *w, uint32_t k)
{
    struct soak_client *c = &w->client[k];
    struct soak_agent *a = c->agent;
    uint64_t dice = world_below(w, 8);

    if (a->granted && w->now_us >= a->until_us && !a->released && world_below(w, 2))
        tokens_forget(a); /* the TTL is over */
    if (w->calm && !a->granted)
        return;
    if (!a->granted && !a->released) {
        tokens_ask(w, k);
    } else if (a->released || dice <= 1 || w->calm) {
        a->released = true;
        a->unlocks++;
        a->until_us = 0;
        if (tokens_is_redisson(w, k) && a->lasts_us > tokens_end_us(c, w->now_us, REDISSON_MS))
            a->lasts_us = tokens_end_us(c, w->now_us, REDISSON_MS);
        tokens_say(w, k, "UNLOCK", a->token, false);
    } else if (dice == 2) {
        a->foreign = true;
        tokens_say(w, k, "UNLOCK", "foreign", false);
    } else if (dice == 3) {
        clients_hang_up(w, k);
    } else if (dice <= 5) {
        tokens_say(w, k, dice == 4 && (!tokens_is_redis(w, k) || tokens_is_redisson(w, k)) ? "LOCK" : "RENEW", a->token,
                   false);
        tokens_extend_as_well(w, k);
    } else { /* it works under the lock */
        clients_plan(w, k, world_below(w, 2 * a->ttl_ms));
    }
}

/* The program ends, and remembers nothing. */
void tokens_die(struct soak_client *c)
{
    tokens_forget(c->agent);
}

/* ------------------------------------------------------------------------------------------------------------ hearing */

static void tokens_granted(struct world *w, uint32_t k, uint64_t fence)
{
    struct soak_client *c = &w->client[k];
    struct soak_agent *a = c->agent;
    bool believed = tokens_believes(w, k, a->name);

    if (!a->granted || a->use.fence != fence)
        a->use = (struct soak_use){.holds = true, .mode = LOCK_ALONE, .fence = fence, .since_us = a->asked_us};
    a->use.dazed |= w->conn[c->conn].dazed;
    a->granted = true;
    a->until_us = a->lasts_us =
        tokens_end_us(c, a->asked_us, a->least_ms && a->least_ms < a->ttl_ms ? a->least_ms : a->ttl_ms);
    if (!believed && tokens_believes(w, k, a->name))
        beliefs_check(w, k, a->name);
}

/* What a reply means. The reply of Redisson's script that locks is the other way round: null if the lock is granted, else for how long to wait. */
enum tokens_said { SAID_ELSE, SAID_DONE, SAID_NOT, SAID_AGAIN };

static enum tokens_said tokens_understand(const struct world *w, uint32_t k, enum soak_answer to,
                                          const struct soak_reply *r)
{
    bool redisson = tokens_is_redisson(w, k), released = w->client[k].agent->released;

    if (r->kind == '-')
        return strncmp(r->word[0].at, "NOTHELD ", 8) == 0 ? SAID_NOT : SAID_ELSE;
    if (redisson && to == SOAK_TO_TOKEN_LOCK)
        return r->kind == '_' ? SAID_DONE : SAID_NOT;
    if (redisson && r->kind == ':' && r->word[0].number == 0 && released)
        return SAID_AGAIN; /* its request was carried out twice, so it has to release the lock twice */
    if (r->kind == ':')    /* how many locks the token owned */
        return r->word[0].number == 1 ? SAID_DONE : SAID_NOT;
    return r->kind == '_' ? SAID_NOT : SAID_DONE;
}

void tokens_hear(struct world *w, uint32_t k, const struct soak_awaited *await, const struct soak_reply *r)
{
    struct soak_client *c = &w->client[k];
    struct soak_agent *a = c->agent;
    enum tokens_said said = tokens_understand(w, k, await->to, r);

    c->waits = false;
    if (r->kind == '-' && strncmp(r->word[0].at, "ERR ", 4) == 0)
        world_fail(w, "client %u is told: %.*s", k, (int)r->word[0].len, r->word[0].at);
    if (a->foreign) {
        if (said == SAID_DONE)
            world_fail(w, "client %u has released %s with a foreign token", k, clients_names[a->name]);
        a->foreign = false;
    } else if (await->to == SOAK_TO_TOKEN_LOCK && said == SAID_DONE) {
        tokens_granted(w, k, r->kind == '*' ? r->word[1].number : a->told_fence);
    } else if (await->to == SOAK_TO_TOKEN_LOCK && said == SAID_NOT) {
        tokens_check_loss(w, k);
        tokens_forget(a);
    } else if (await->to == SOAK_TO_TOKEN && said == SAID_DONE && !a->released) {
        tokens_granted(w, k, a->use.fence);
    } else if (await->to == SOAK_TO_TOKEN && (said == SAID_DONE || said == SAID_NOT)) {
        if (said == SAID_NOT)
            tokens_check_loss(w, k);
        tokens_forget(a);
    }
    c->generation++;
    clients_plan(w, k, world_below(w, 2 * (w->calm ? 50 : w->mix.hold_ms) + 1));
}
