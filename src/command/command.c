/* command.c - the commands of clients, one function for each: the client's locks, the member, the connection; and the
 * table of all commands. See client.h. */
#include "command.h"
#include "permit.h"

#include "node/audit.h"

#include "base/memory.h"
#include "base/plain.h"
#include "node/drain.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------------------------- words */

bool command_number(struct resp_word word, uint64_t max, uint64_t *x)
{
    *x = 0;
    if (word.len == 0 || word.len > 19)
        return false;
    for (size_t k = 0; k < word.len; k++) {
        if (word.at[k] < '0' || word.at[k] > '9')
            return false;
        *x = 10 * *x + (uint64_t)(word.at[k] - '0');
    }
    return *x <= max;
}

const char *command_objects_to(struct resp_word name)
{
    if (name.len < 1 || name.len > LOCK_NAME_MAX)
        return "a name has 1 to 255 bytes";
    if (!plain_text(name.at, name.len))
        return "a name is UTF-8, without control characters and marks that change the direction of text";
    return NULL;
}

bool command_is_name(struct client *c, struct resp_word name)
{
    const char *wrong = command_objects_to(name);

    if (wrong)
        resp_error(&c->out, "ERR", wrong);
    return !wrong;
}

/* ----------------------------------------------------------------------------------------------------- locks of one */

bool command_fence(struct client *c, const struct resp_request *r, size_t words, uint64_t *fence)
{
    *fence = 0;
    if (r->count < words || (r->count == words && command_number(r->word[2], UINT64_MAX, fence) && *fence))
        return true;
    resp_error(&c->out, "ERR", "a fence is a number, as LOCK has told it");
    return false;
}

void command_tell_loss(struct client *c, const struct client_loss *loss)
{
    char line[LOCK_NAME_MAX + CLIENT_WHY_MAX + 64], why[CLIENT_WHY_MAX];

    client_tell_why(loss->why, loss->by, why);
    snprintf(line, sizeof line, "\"%.*s\" (fence %" PRIu64 ") is lost: %s", loss->name_len, loss->name, loss->fence,
             why);
    resp_error(&c->out, "LOST", line);
}

void command_not_held(struct client *c, struct resp_word name, uint64_t fence)
{
    const struct client_loss *loss = client_loss(c, name.at, name.len, fence);
    char line[LOCK_NAME_MAX + 96], with[40] = "";

    if (loss) {
        command_tell_loss(c, loss);
        return;
    }
    if (fence)
        snprintf(with, sizeof with, " with fence %" PRIu64, fence);
    snprintf(line, sizeof line, "this connection does not hold \"%.*s\"%s", (int)name.len, name.at, with);
    resp_error(&c->out, "NOTHELD", line);
}

static void command_unlock(struct client *c, const struct resp_request *r)
{
    struct resp_word name = r->word[1];
    uint64_t fence;

    if (command_with_token(c, r) || !command_is_name(c, name) || !command_fence(c, r, 3, &fence))
        return;
    if (session_unlock(c->session, name.at, name.len, fence)) {
        resp_simple(&c->out, "OK");
    } else {
        command_not_held(c, name, fence);
        client_forget_loss(c, client_loss(c, name.at, name.len, fence));
    }
}

static void command_renew(struct client *c, const struct resp_request *r)
{
    const struct resp_word *ttl = &r->word[r->count - 2];
    uint64_t ttl_ms, fence;

    if (command_with_token(c, r))
        return;
    if (!resp_is(ttl[0], "TTL") || !command_number(ttl[1], COMMAND_MS_MAX, &ttl_ms) || ttl_ms == 0)
        resp_error(&c->out, "ERR", "usage: RENEW name [fence] TTL ms, with ms from 1 to 1000000000");
    else if (!command_is_name(c, r->word[1]) || !command_fence(c, r, 5, &fence))
        return;
    else if (session_renew(c->session, r->word[1].at, r->word[1].len, fence, ttl_ms))
        resp_simple(&c->out, "OK");
    else
        command_not_held(c, r->word[1], fence);
}

/* If the client has lost a lock without being told, sends the error of that loss, and returns true: then a CONFIRM of all its locks fails. */
static bool command_has_lost(struct client *c)
{
    if (c->loss_count)
        command_tell_loss(c, RING_OF(c->losses.next, struct client_loss, in_client));
    else if (c->losses_forgotten)
        resp_error(&c->out, "LOST", "more locks are lost than this connection is told of; close it");
    return c->loss_count || c->losses_forgotten;
}

/* The answer is a number of milliseconds. For that time, counted from the moment when the client sent CONFIRM, the
 * client surely holds the named lock, or all locks of its connection, including those that it is granted within that
 * time (I20). */
static void command_confirm(struct client *c, const struct resp_request *r)
{
    uint64_t ms, fence;

    if (!command_fence(c, r, 3, &fence) || (r->count == 1 && command_has_lost(c)))
        return;
    if (session_resumes(c->session)) { /* a validity would say nothing of the locks of that session */
        resp_error(&c->out, "ERR", "CONFIRM has to wait until the session is resumed");
        return;
    }
    if (r->count > 1 && !command_is_name(c, r->word[1]))
        return;
    if (r->count > 1 && !session_holds(c->session, r->word[1].at, r->word[1].len, fence)) {
        command_not_held(c, r->word[1], fence);
        return;
    }
    ms = session_confirm(c->session);
    if (ms)
        resp_integer(&c->out, ms);
    else
        resp_error(&c->out, "NOQUORUM", "this member cannot vouch for locks: it does not reach enough of the others");
}

/* ------------------------------------------------------------------------------------------------------ the member */

static const char *command_link_state(const struct node *node, uint32_t j)
{
    static const char *const names[] = {"away", "greeting", "connected", "refused"};

    _Static_assert(sizeof names / sizeof names[0] == LINK_ENDING + 1, "a state of a link has a name");
    return j == node->place ? "this" : names[node->member[j]->link.state];
}

static void command_status(struct client *c, const struct resp_request *r)
{
    const struct node *node = c->session->node;
    struct bytes *out = &c->out;
    const struct {
        const char *key;
        uint64_t value;
    } numbers[] = {
        {"view", node->view.number},
        {"lease_ms", node->conf.lease_ms},
        {"locks", node->locks.count},
        {"grants", node->grants},
        {"losses", node->losses},
        {"memory_bytes", node->stats.memory},
        {"memory_max_bytes", node->stats.memory_max},
        {"log_lines_dropped", node->stats.log_dropped},
        {"protocol", node_version(node)},
    };

    (void)r;
    resp_map(out, c->protocol, 6 + sizeof numbers / sizeof numbers[0] + (c->agent ? 2 : 0));
    if (c->agent) {
        resp_text(out, "agent");
        resp_text(out, c->agent);
        resp_text(out, "agent_ms");
        resp_integer(out, node->now_ms - c->agent_ms);
    }
    resp_text(out, "member");
    resp_text(out, node->self.name);
    resp_text(out, "ready");
    resp_boolean(out, c->protocol, node_state(node) == NODE_GRANTS);
    resp_text(out, "reason");
    resp_text(out, node_why_not(node));
    resp_text(out, "algorithm");
    resp_text(out, node->conf.algorithm->name);
    resp_text(out, "slots_algorithm");
    resp_text(out, node->conf.slots_algorithm->name);
    for (unsigned k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
        resp_text(out, numbers[k].key);
        resp_integer(out, numbers[k].value);
    }
    resp_text(out, "members");
    resp_array(out, node->view.count);
    for (uint32_t j = 0; j < node->view.count; j++) {
        resp_map(out, c->protocol, 5);
        resp_text(out, "name");
        resp_text(out, node->view.member[j].name);
        resp_text(out, "address");
        resp_text(out, node->view.member[j].address);
        resp_text(out, "takes_part");
        resp_boolean(out, c->protocol, node->view.member[j].incarnation);
        resp_text(out, "state");
        resp_text(out, command_link_state(node, j));
        resp_text(out, "reason");
        resp_text(out, j == node->place ? "" : node->member[j]->link.reason);
    }
}

static void command_list_members(struct client *c)
{
    static const char *const standings[] = {"being added", "member", "being removed"};
    const struct node *node = c->session->node;

    _Static_assert(sizeof standings / sizeof standings[0] == VIEW_REMOVED + 1, "a standing has a name");
    resp_array(&c->out, node->view.count);
    for (uint32_t k = 0; k < node->view.count; k++) {
        const struct view_member *m = &node->view.member[k];

        resp_map(&c->out, c->protocol, 5);
        resp_text(&c->out, "name");
        resp_text(&c->out, m->name);
        resp_text(&c->out, "address");
        resp_text(&c->out, m->address);
        resp_text(&c->out, "standing");
        resp_text(&c->out, standings[m->standing]);
        resp_text(&c->out, "takes_part");
        resp_boolean(&c->out, c->protocol, m->incarnation);
        resp_text(&c->out, "incarnation");
        resp_integer(&c->out, m->incarnation);
    }
}

/* The last views of this member, the latest first. */
static void command_views(struct client *c, const struct resp_request *r)
{
    const struct node *node = c->session->node;
    const struct history_views *h = &node->history;
    uint64_t count = h->count < HISTORY_VIEWS ? h->count : HISTORY_VIEWS;

    (void)r;
    resp_array(&c->out, count);
    for (uint64_t k = 0; k < count; k++) {
        const struct history_view *v = history_at(h, k);

        resp_map(&c->out, c->protocol, 6);
        resp_text(&c->out, "view");
        resp_integer(&c->out, v->number);
        resp_text(&c->out, "age_ms");
        resp_integer(&c->out, node->now_ms - v->installed_ms);
        resp_text(&c->out, "takes_part");
        resp_boolean(&c->out, c->protocol, v->takes_part);
        resp_text(&c->out, "opened");
        resp_boolean(&c->out, c->protocol, v->opened);
        resp_text(&c->out, "opened_after_ms");
        resp_integer(&c->out, v->opened ? v->opened_ms - v->installed_ms : 0);
        resp_text(&c->out, "members");
        resp_string(&c->out, bytes_len(&v->members) ? (const char *)v->members.at : "", bytes_len(&v->members));
    }
}

/* A change of the members takes some time. The answer only says that it was requested: MEMBER LIST shows when it has
 * happened. */
static void command_member(struct client *c, const struct resp_request *r)
{
    bool add = resp_is(r->word[1], "ADD"), list = resp_is(r->word[1], "LIST");
    struct node_wish wish = {.add = add, .force = r->count == 4 && resp_is(r->word[3], "FORCE")};
    size_t words = list ? 2 : add || wish.force ? 4 : 3;
    char text[LINK_NAME_MAX + VIEW_ADDRESS_MAX + 32];
    const char *wrong;

    if (r->count != words || (!list && !add && !resp_is(r->word[1], "REMOVE"))) {
        resp_error(&c->out, "ERR", "usage: MEMBER LIST | ADD name address | REMOVE name [FORCE]");
        return;
    }
    if (list) {
        command_list_members(c);
        return;
    }
    if (!permit_admin(c, "changing the members"))
        return;
    if (r->word[2].len > LINK_NAME_MAX || (add && r->word[3].len > VIEW_ADDRESS_MAX)) {
        resp_error(&c->out, "ERR", "a name has 1 to 63 bytes, an address at most 71");
        return;
    }
    memcpy(wish.name, r->word[2].at, r->word[2].len);
    if (add)
        memcpy(wish.address, r->word[3].at, r->word[3].len);
    wrong = node_change_roster(c->session->node, &wish);
    if (wrong) {
        resp_error(&c->out, "ERR", wrong);
        return;
    }
    snprintf(text, sizeof text, "%s %s%s%s",
             add          ? "add"
             : wish.force ? "remove by force"
                          : "remove",
             wish.name, add ? " at " : "", wish.address);
    audit_tell(&(struct audit){.what = AUDIT_MEMBER, .session = c->session, .name = "", .text = text});
    resp_simple(&c->out, "OK");
}

/* How many clients of this member hold locks; then, for some of them, a lock and the client's description. A client with the right `admin`
 * alone is told nothing of locks (I34). */
static void command_drain(struct client *c, const struct resp_request *r)
{
    enum { SHOWN = 4 };
    const struct session *s = NULL, *shown[SHOWN];
    char text[LOSS_BY_MAX + 1];
    uint32_t count, seen = 0;

    (void)r;
    if (!permit_admin(c, "DRAIN"))
        return;
    if (c->session->node->drainer != c->session)
        audit_tell(&(struct audit){.what = AUDIT_DRAIN, .session = c->session, .name = "", .text = ""});
    count = drain_go_on(c->session);
    for (uint32_t k = 0; k < SHOWN && (s = drain_next(c->session->node, s)); k++) {
        const struct claim *claim = RING_OF(s->claims.next, struct claim, in_session);

        if (permit_sees(c, claim->name, claim->name_len, false))
            shown[seen++] = s;
    }
    resp_array(&c->out, 1 + 2 * seen);
    resp_integer(&c->out, count);
    for (uint32_t k = 0; k < seen; k++) {
        const struct claim *claim = RING_OF(shown[k]->claims.next, struct claim, in_session);

        session_describe(shown[k], text);
        resp_string(&c->out, claim->name, claim->name_len);
        resp_text(&c->out, text);
    }
}

/* The address of the member's web page, with a token that works once and has the rights of this client. */
static void command_page_token(struct client *c, const struct resp_request *r)
{
    const struct node_conf *conf = &c->session->node->conf;
    char url[256];
    const char *wrong = conf->invite ? conf->invite(conf->user, c, url, sizeof url) : "this member has no page";

    (void)r;
    if (wrong) {
        resp_error(&c->out, "ERR", wrong);
        return;
    }
    resp_map(&c->out, c->protocol, 2);
    resp_text(&c->out, "url");
    resp_text(&c->out, url);
    resp_text(&c->out, "operator");
    resp_boolean(&c->out, c->protocol, permit_operates(c));
}

static void command_info(struct client *c, const struct resp_request *r)
{
    const struct node *node = c->session->node;
    char text[512];

    (void)r;
    snprintf(text, sizeof text,
             "# dibs\r\nversion:%s\r\nmember:%s\r\nmembers:%u\r\nready:%d\r\nlocks:%zu\r\nsessions:%" PRIu64
             "\r\ngrants:%" PRIu64 "\r\nlosses:%" PRIu64 "\r\n",
             DIBS_VERSION, node->self.name, node->view.count, node_is_open(node), node->locks.count,
             node->session_count, node->grants, node->losses);
    resp_text(&c->out, text);
}

/* --------------------------------------------------------------------------------------------------- the connection */

static void command_ping(struct client *c, const struct resp_request *r)
{
    if (c->session->subscribed && c->protocol == 2) { /* as in Redis: a subscribed client receives messages only */
        resp_array(&c->out, 2);
        resp_text(&c->out, "pong");
        resp_string(&c->out, r->count == 1 ? "" : r->word[1].at, r->count == 1 ? 0 : r->word[1].len);
    } else if (r->count == 1)
        resp_simple(&c->out, "PONG");
    else
        resp_string(&c->out, r->word[1].at, r->word[1].len);
}

/* The name that a client gives itself is shown to people, so it must be printable text of bounded length. */
static bool command_name_client(struct client *c, struct resp_word who)
{
    if (!plain_text(who.at, who.len)) {
        resp_error(
            &c->out, "ERR",
            "the name of a client is UTF-8, without control characters and marks that change the direction of text");
        return false;
    }
    who.len = plain_cut(who.at, who.len, SESSION_WHO_MAX);
    memcpy(c->session->who, who.at, who.len);
    c->session->who[who.len] = '\0';
    return true;
}

/* The locks under which the client runs, as DIBS_LOCKS has them: in each line a fence, a space and a name. A line of another form is
 * ignored. So is a lock that the client could not use itself: a client that says that it runs under a lock can make waits of others
 * end. */
static void command_under(struct client *c, struct resp_word text)
{
    struct session *s = c->session;
    const char *at = text.at, *end = text.at + text.len;
    unsigned lines = 1;

    if (s->waiting || s->unders)
        return;
    for (const char *k = at; k < end && lines < DEADLOCK_UNDER_MAX; k++)
        lines += *k == '\n';
    free(s->under); /* from an earlier HELLO */
    s->under = mem_new(lines * sizeof s->under[0]);
    while (at < end && s->unders < lines) {
        const char *line = memchr(at, '\n', (size_t)(end - at)), *stop = line ? line : end,
                   *space = memchr(at, ' ', (size_t)(stop - at));
        struct resp_word name = {space ? space + 1 : stop, space ? (size_t)(stop - space - 1) : 0};
        struct deadlock_under *u = &s->under[s->unders];

        if (space && command_number((struct resp_word){at, (size_t)(space - at)}, UINT64_MAX, &u->fence) &&
            !command_objects_to(name) && permit_allows(c, RIGHT_LOCK | RIGHT_SHARED, name.at, name.len)) {
            u->name_len = (uint8_t)name.len;
            memcpy(u->name, name.at, name.len);
            s->unders++;
        }
        at = stop + 1;
    }
}

static void command_hello(struct client *c, const struct resp_request *r)
{
    uint64_t protocol = c->protocol;
    const struct resp_word *login = NULL, *name = NULL, *under = NULL;

    if (r->count > 1 && (!command_number(r->word[1], 3, &protocol) || protocol < 2)) {
        resp_error(&c->out, "NOPROTO", "this server speaks versions 2 and 3 of the protocol");
        return;
    }
    for (size_t k = 2; k < r->count;)
        if (resp_is(r->word[k], "SETNAME") && k + 1 < r->count) {
            name = &r->word[k + 1];
            k += 2;
        } else if (resp_is(r->word[k], "AUTH") && k + 2 < r->count) {
            login = &r->word[k + 1];
            k += 3;
        } else if (resp_is(r->word[k], "UNDER") && k + 1 < r->count) {
            under = &r->word[k + 1];
            k += 2;
        } else {
            resp_error(&c->out, "ERR", "usage: HELLO [protocol [AUTH name password] [SETNAME name] [UNDER locks]]");
            return;
        }
    if ((login && !permit_login(c, login[0], login[1])) || (name && !command_name_client(c, *name)))
        return;
    if (under)
        command_under(c, *under);
    c->protocol = (unsigned)protocol;
    resp_map(&c->out, c->protocol, 4);
    resp_text(&c->out, "server");
    resp_text(&c->out, "dibs");
    resp_text(&c->out, "version");
    resp_text(&c->out, DIBS_VERSION);
    resp_text(&c->out, "proto");
    resp_integer(&c->out, protocol);
    resp_text(&c->out, "id");
    resp_integer(&c->out, c->session->id);
}

/* After the answer there are frames (relay/mux.h), in both directions. An agent needs no right: what it does for its clients, it could do as
 * itself. */
static void command_agent(struct client *c, const struct resp_request *r)
{
    const struct session *s = c->session;
    uint64_t version;

    if (!command_number(r->word[1], 1000, &version) || version != 1)
        resp_error(&c->out, "NOPROTO", "this server speaks version 1 of the protocol of agents");
    else if (!c->may_relay)
        resp_error(&c->out, "ERR",
                   "an agent connects to a member over TCP (--clients), not through a socket or an agent");
    else if (s->held || s->kept || s->subscribed || session_is_busy(s) || c->loss_count)
        resp_error(&c->out, "ERR", "AGENT comes before the first lock, subscription or kept session");
    else if (command_name_client(c, r->word[2])) {
        c->relays = true;
        resp_simple(&c->out, "OK");
    }
}

static void command_client(struct client *c, const struct resp_request *r)
{
    if (resp_is(r->word[1], "SETNAME") && r->count == 3) {
        if (command_name_client(c, r->word[2]))
            resp_simple(&c->out, "OK");
    } else if (resp_is(r->word[1], "GETNAME") && r->count == 2) {
        resp_text(&c->out, c->session->who);
    } else if (resp_is(r->word[1], "ID") && r->count == 2) {
        resp_integer(&c->out, c->session->id);
    } else if (resp_is(r->word[1], "SETINFO") && r->count == 4) { /* the name of its library, which is ignored */
        resp_simple(&c->out, "OK");
    } else {
        resp_error(&c->out, "ERR", "usage: CLIENT SETNAME name | GETNAME | ID");
    }
}

static void command_meanwhile(struct client *c, const struct resp_request *r)
{
    struct resp_request rest = {.count = r->count - 1};

    memcpy(rest.word, r->word + 1, rest.count * sizeof rest.word[0]);
    if (c->protocol != 3) {
        resp_error(&c->out, "ERR", "MEANWHILE is answered by news, which version 3 of the protocol has: HELLO 3");
        return;
    }
    resp_push(&c->out, 2);
    resp_text(&c->out, "meanwhile");
    many_disturb(c);
    if (command_find(rest.word[0])->when & COMMAND_MEANWHILE)
        client_execute(c, &rest);
    else
        resp_error(&c->out, "ERR",
                   "what may be done meanwhile is CANCEL, UNLOCK, RENEW, CONFIRM, SESSION END and PING");
}

/* COMMAND without arguments lists all commands. The answer to COMMAND DOCS and the like is empty. */
static void command_command(struct client *c, const struct resp_request *r)
{
    size_t count = 0;

    while (r->count == 1 && commands[count].name)
        count++;
    resp_array(&c->out, count);
    for (size_t k = 0; k < count; k++)
        resp_text(&c->out, commands[k].usage);
}

static void command_quit(struct client *c, const struct resp_request *r)
{
    (void)r;
    resp_simple(&c->out, "OK");
    c->closing = c->goodbye = true;
}

const struct command commands[] = {
    {"LOCK", 2, RESP_ARGS_MAX, command_lock,
     "LOCK name [SHARED | GROUP g | SLOTS k | TOKEN t] [VALUE v] [AND name ...] [WAIT ms] [TTL ms] [PRIORITY n] "
     "[REENTRANT]",
     COMMAND_COSTS},
    {"UNLOCK", 2, 4, command_unlock, "UNLOCK name [fence | TOKEN t]", COMMAND_MEANWHILE},
    {"UPGRADE", 2, 5, command_upgrade, "UPGRADE name [fence] [WAIT ms]", COMMAND_COSTS},
    {"DOWNGRADE", 2, 3, command_downgrade, "DOWNGRADE name [fence]", 0},
    {"CANCEL", 1, 1, command_cancel, "MEANWHILE CANCEL", COMMAND_MEANWHILE},
    {"RENEW", 4, 6, command_renew, "RENEW name [fence | TOKEN t] TTL ms", COMMAND_MEANWHILE},
    {"CONFIRM", 1, 3, command_confirm, "CONFIRM [name [fence]]", COMMAND_MEANWHILE},
    {"SESSION", 2, 3, command_session, "SESSION KEEP ms | RESUME id | DETACH | END", COMMAND_MEANWHILE},
    {"MEANWHILE", 2, RESP_ARGS_MAX, command_meanwhile, "MEANWHILE command", 0},
    {"SET", 3, 7, command_set, "SET name token NX|XX PX ms|EX s|KEEPTTL", COMMAND_COSTS},
    {"SETNX", 3, 3, command_setnx, "SETNX name token", COMMAND_COSTS},
    {"GET", 2, 2, command_get, "GET name | name:fence", 0},
    {"DEL", 2, RESP_ARGS_MAX, command_del, "DEL name ...", 0},
    {"UNLINK", 2, RESP_ARGS_MAX, command_del, "UNLINK name ...", 0},
    {"EXISTS", 2, RESP_ARGS_MAX, command_exists, "EXISTS name ...", 0},
    {"PTTL", 2, 2, command_ttl, "PTTL name", 0},
    {"TTL", 2, 2, command_ttl, "TTL name", 0},
    {"PEXPIRE", 3, 3, command_expire, "PEXPIRE name ms", 0},
    {"EXPIRE", 3, 3, command_expire, "EXPIRE name s", 0},
    {"EVAL", 3, RESP_ARGS_MAX, command_eval, "EVAL script count name ... token ...", COMMAND_COSTS | COMMAND_LOOKS},
    {"EVALSHA", 3, RESP_ARGS_MAX, command_eval, "EVALSHA sha1 count name ... token ...", COMMAND_COSTS},
    {"HEXISTS", 3, 3, command_hash, "HEXISTS name id", 0},
    {"HGET", 3, 3, command_hash, "HGET name id", 0},
    {"SCRIPT", 2, RESP_ARGS_MAX, command_script, "SCRIPT LOAD script | EXISTS sha1 ... | FLUSH", COMMAND_LOOKS},
    {"SELECT", 2, 2, command_select, "SELECT 0", 0},
    {"ECHO", 2, 2, command_echo, "ECHO text", 0},
    {"AUTH", 2, 3, command_auth, "AUTH name password", 0},
    {"WAIT", 3, 3, command_wait, "WAIT count ms", 0},
    {"HOLDERS", 2, 2, command_holders, "HOLDERS name", COMMAND_COSTS | COMMAND_LOOKS},
    {"WAITERS", 2, 2, command_waiters, "WAITERS name", COMMAND_COSTS | COMMAND_LOOKS},
    {"LOCKS", 1, 5, command_locks, "LOCKS [pattern [USED]] [CURSOR c]", COMMAND_COSTS | COMMAND_LOOKS},
    {"REPLAY", 2, 2, command_replay, "REPLAY name", COMMAND_COSTS | COMMAND_LOOKS},
    {"FORCE-UNLOCK", 2, 2, command_force_unlock, "FORCE-UNLOCK name", COMMAND_LOOKS},
    {"SUBSCRIBE", 2, RESP_ARGS_MAX, command_subscribe, "SUBSCRIBE name ...",
     COMMAND_SUBSCRIBED | COMMAND_COSTS | COMMAND_LOOKS},
    {"PSUBSCRIBE", 2, RESP_ARGS_MAX, command_subscribe, "PSUBSCRIBE pattern ...",
     COMMAND_SUBSCRIBED | COMMAND_COSTS | COMMAND_LOOKS},
    {"UNSUBSCRIBE", 1, RESP_ARGS_MAX, command_unsubscribe, "UNSUBSCRIBE [name ...]",
     COMMAND_SUBSCRIBED | COMMAND_LOOKS},
    {"PUNSUBSCRIBE", 1, RESP_ARGS_MAX, command_unsubscribe, "PUNSUBSCRIBE [pattern ...]",
     COMMAND_SUBSCRIBED | COMMAND_LOOKS},
    {"MAY", 3, 4, command_may, "MAY me|who right [name]", COMMAND_LOOKS},
    {"STATUS", 1, 1, command_status, "STATUS", COMMAND_LOOKS},
    {"VIEWS", 1, 1, command_views, "VIEWS", COMMAND_LOOKS},
    {"MEMBER", 2, 4, command_member, "MEMBER LIST | ADD name address | REMOVE name [FORCE]", COMMAND_LOOKS},
    {"CONFIG", 2, 5, command_config, "CONFIG SHOW [key] | SET key value [FORCE] | UNSET key [FORCE]", COMMAND_LOOKS},
    {"DRAIN", 1, 1, command_drain, "DRAIN", COMMAND_LOOKS},
    {"PAGE-TOKEN", 1, 1, command_page_token, "PAGE-TOKEN", COMMAND_LOOKS},
    {"INFO", 1, 2, command_info, "INFO", 0},
    {"PING", 1, 2, command_ping, "PING [text]", COMMAND_MEANWHILE | COMMAND_SUBSCRIBED},
    {"HELLO", 1, 9, command_hello, "HELLO [protocol [AUTH name password] [SETNAME name] [UNDER locks]]", 0},
    {"CLIENT", 2, 4, command_client, "CLIENT SETNAME name | GETNAME | ID", 0},
    {"AGENT", 3, 3, command_agent, "AGENT version name", COMMAND_COSTS},
    {"COMMAND", 1, RESP_ARGS_MAX, command_command, "COMMAND", COMMAND_LOOKS},
    {"QUIT", 1, 1, command_quit, "QUIT", COMMAND_SUBSCRIBED},
    {0},
};

const struct command *command_find(struct resp_word name)
{
    const struct command *command = commands;

    while (command->name && !resp_is(name, command->name))
        command++;
    return command;
}
