/* permit.c - see permit.h. */
#include "permit.h"

#include "command.h"

#include "base/memory.h"
#include "base/sha1.h"
#include "node/audit.h"
#include "node/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct rights *permit_rules(const struct client *c)
{
    return rules_in_use(c->session->node);
}

bool permit_operates(const struct client *c)
{
    return c->session->operates || rights_operates(permit_rules(c), c->session->proved);
}

static struct rights_verdict permit_decide(const struct client *c, unsigned any_of, const char *name, size_t len)
{
    struct rights_verdict v = {.allowed = true, .by_default = true};

    if (!c->session->operates)
        v = rights_decide(permit_rules(c), c->session->proved, any_of, name, len);
    c->session->steps += (uint32_t)(v.steps / PERMIT_STEPS);
    return v;
}

/* Sends the error, and tells the audit trail. */
static void permit_refuse(struct client *c, struct resp_word name, const char *why)
{
    bool unknown = permit_has_logins(c) &&
                   (!c->session->proved ||
                    (!c->session->proved->has_user && !c->session->proved->key && !c->session->proved->certs));

    /* Redis clients ask for a password after NOAUTH. */
    resp_error(&c->out, unknown && !(c->session->proved && c->session->proved->auth[0]) ? "NOAUTH" : "NOPERM", why);
    audit_tell(&(struct audit){
        .what = AUDIT_DENIED, .session = c->session, .name = name.at, .name_len = name.len, .text = why});
}

static bool permit_or(struct client *c, unsigned any_of, struct resp_word name, const char *what)
{
    struct rights_verdict v = permit_decide(c, any_of, name.at, name.len);
    char why[RIGHTS_WHY_MAX];

    if (v.allowed)
        return true;
    if (v.by_default)
        snprintf(why, sizeof why,
                 "%s needs an operator: use the daemon's socket as its owner or root, or the cluster key, or a "
                 "certificate for operator.dibs",
                 what);
    else
        rights_explain(permit_rules(c), c->session->proved, any_of, name.at, name.len, v, why);
    permit_refuse(c, name, why);
    return false;
}

bool permit(struct client *c, unsigned any_of, struct resp_word name)
{
    return c->session->operates || permit_or(c, any_of, name, "FORCE-UNLOCK");
}

bool permit_admin(struct client *c, const char *what)
{
    return permit_or(c, RIGHT_ADMIN, (struct resp_word){"", 0}, what);
}

bool permit_allows(const struct client *c, unsigned any_of, const char *name, size_t len)
{
    return permit_decide(c, any_of, name, len).allowed;
}

bool permit_sees(const struct client *c, const char *name, size_t len, bool free)
{
    return permit_decide(c, free ? RIGHT_WATCH | RIGHT_LOCK : RIGHT_WATCH, name, len).allowed;
}

bool permit_more(struct client *c, size_t count)
{
    const struct rights *t;
    const struct party *p = c->session->party;
    const struct rights_limit *l;
    bool locks, waiters;
    char line[RIGHTS_WHY_MAX], place[RIGHTS_PLACE_MAX];

    if (!p || c->session->operates)
        return true;
    t = permit_rules(c);
    if (!(l = rights_limit(t, c->session->proved)))
        return true;
    locks = l->locks && p->locks + p->waiters + p->promised + count > l->locks;
    waiters = l->waiters && p->waiters + 1 > l->waiters;
    if (!locks && !waiters)
        return true;
    rights_place(t, l->line, place);
    snprintf(line, sizeof line, "%s may %s at most %u locks at this member, by the limit in %s", p->label,
             locks ? "use" : "wait for", (unsigned)(locks ? l->locks : l->waiters), place);
    resp_error(&c->out, "BUSY", line);
    audit_tell(&(struct audit){.what = AUDIT_DENIED, .session = c->session, .name = "", .text = line});
    return false;
}

void permit_token(struct client *c, const struct token_wish *wish, const struct resp_word *names, size_t count,
                  bool shows)
{
    const struct rights *t = permit_rules(c);
    unsigned any_of = RIGHT_LOCK;

    if (wish->what == TOKEN_LOOK && !shows)
        any_of = RIGHT_LOCK | RIGHT_SHARED | RIGHT_WATCH;
    else if (wish->any && t && t->rules)
        any_of = RIGHT_FORCE;
    for (size_t k = 0; k < count; k++)
        if (!permit(c, any_of, names[k]))
            return;
    if (wish->what != TOKEN_ACQUIRE || polls_wait(c->session, wish, names, count) || permit_more(c, count))
        token_ask(c->session, wish, names, count);
}

/* ------------------------------------------------------------------------------------------------------ who it is */

/* The id depends on what the client has proved to be. */
static struct keep_id permit_bound(const struct client *c, struct keep_id shown)
{
    char label[RIGHTS_LABEL_MAX];
    uint8_t text[sizeof shown + RIGHTS_LABEL_MAX], digest[SHA1_SIZE];
    size_t len;

    rights_label(c->session->proved, label);
    len = strlen(label);
    memcpy(text, &shown, sizeof shown);
    memcpy(text + sizeof shown, label, len);
    sha1_digest(text, sizeof shown + len, digest);
    memcpy(&shown, digest, sizeof shown);
    return shown;
}

static bool permit_binds(const struct client *c)
{
    const struct rights *t = permit_rules(c);

    return t && t->rules && !permit_operates(c);
}

struct keep_id permit_secret(const struct client *c)
{
    struct keep_id shown = keep_secret(c->session->node);

    shown.low &= ~PERMIT_PLAIN;
    return shown;
}

struct keep_id permit_bind(const struct client *c, struct keep_id shown)
{
    return permit_binds(c) ? permit_bound(c, shown) : shown;
}

struct keep_id permit_bind_else(const struct client *c, struct keep_id shown)
{
    if (!permit_binds(c))
        return permit_bound(c, shown);
    return shown.low & PERMIT_PLAIN ? (struct keep_id){0} : shown;
}

/* The client is this one from now on. Returns the limit that applies to it, or null. */
static const struct rights_limit *permit_become(struct client *c, struct rights_who *who, char label[RIGHTS_LABEL_MAX])
{
    rights_free(c->session->proved);
    c->session->proved = who;
    c->session->operates = who->operates;
    rights_label(who, label);
    party_join(c->session, label);
    return rights_limit(permit_rules(c), who);
}

void permit_visit(struct client *c, struct rights_who *who)
{
    char label[RIGHTS_LABEL_MAX];

    permit_become(c, who, label);
    party_disconnect(c->session);
}

bool permit_meet(struct client *c, struct rights_who *who)
{
    const struct rights *t = permit_rules(c);
    char line[RIGHTS_WHY_MAX], label[RIGHTS_LABEL_MAX], place[RIGHTS_PLACE_MAX];
    const struct rights_limit *l = permit_become(c, who, label);

    if (permit_operates(c) || !l || !l->connections || c->session->party->connections <= l->connections)
        return true;
    rights_place(t, l->line, place);
    snprintf(line, sizeof line, "%s may have at most %u connections to this member, by the limit in %s", label,
             (unsigned)l->connections, place);
    resp_error(&c->out, "BUSY", line);
    audit_tell(&(struct audit){.what = AUDIT_DENIED, .session = c->session, .name = "", .text = line});
    c->closing = true;
    return false;
}

bool permit_relay(struct client *c, const struct rights_who *agent)
{
    struct rights_who *who = rights_copy(agent);

    c->session->remote = c->session->relayed = true;
    who->operates = who->certified = who->has_user = false;
    who->groups = 0;
    return permit_meet(c, who);
}

bool permit_has_logins(const struct client *c)
{
    return permit_rules(c) && permit_rules(c)->logins && c->session->node->conf.login;
}

/* Returns null, or why the client cannot become another one now: what it has was given to the one that it is. */
static const char *permit_objects_to_login(const struct client *c)
{
    const struct session *s = c->session;

    return !permit_has_logins(c) ? "there are no passwords; use the Unix socket, or TLS with the key or a certificate"
           : s->held || s->kept || s->subscribed || session_is_busy(s) || c->loss_count
               ? "log in before the first lock, subscription or kept session"
               : NULL;
}

bool permit_login(struct client *c, struct resp_word name, struct resp_word password)
{
    const struct node_conf *conf = &c->session->node->conf;
    const char *wrong = permit_objects_to_login(c);
    enum node_login result;
    struct rights_who *who;

    if (wrong) {
        resp_error(&c->out, "ERR", wrong);
        return false;
    }
    c->credit -= c->credit < PERMIT_LOGIN_COST ? c->credit : PERMIT_LOGIN_COST;
    result = conf->login(conf->user, name.at, name.len, password.at, password.len);
    if (result != NODE_LOGIN_RIGHT) {
        bool later = result == NODE_LOGIN_LATER;

        resp_error(&c->out, later ? "BUSY" : "WRONGPASS",
                   later ? "too many logins have failed; try again in a moment" : "invalid username-password pair");
        audit_tell(&(struct audit){.what = AUDIT_LOGIN_REFUSED,
                                   .session = c->session,
                                   .name = "",
                                   .text = later ? "too many have failed" : "wrong name or password"});
        return false;
    }
    who = c->session->proved;
    c->session->proved = NULL;
    if (!who)
        who = mem_new(sizeof *who);
    memset(who->auth, 0, sizeof who->auth);
    memcpy(who->auth, name.at, name.len);
    if (!permit_meet(c, who))
        return false;
    audit_tell(&(struct audit){.what = AUDIT_LOGIN, .session = c->session, .name = "", .text = ""});
    return true;
}

/* ----------------------------------------------------------------------------------------------------------- MAY */

/* "user:1000,group:100": one client that is all of these. Returns false if that makes no sense. */
static bool permit_parse_who(struct resp_word text, struct rights_who *who, struct rights_subject *room, char *why)
{
    enum { SUBJECTS_MAX = 64 };
    const char *at = text.at, *end = text.at + text.len;

    for (unsigned k = 0; k < SUBJECTS_MAX; k++) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        struct rights_subject *s = &room[k];

        if (!rights_parse_subject(s, at, (size_t)((comma ? comma : end) - at), why))
            return false;
        if (s->kind == RIGHTS_USER) {
            who->has_user = s->known;
            who->user = s->number;
        } else if (s->kind == RIGHTS_GROUP && s->known) {
            who->group = mem_grow(who->group, (who->groups + 1) * sizeof *who->group);
            who->group[who->groups++] = s->number;
        } else if (s->kind == RIGHTS_KEY) {
            free(who->key);
            who->key = mem_new(strlen(s->name) + 1);
            memcpy(who->key, s->name, strlen(s->name));
        } else if (s->kind == RIGHTS_CERT) {
            free(who->certs);
            who->certs = mem_new(strlen(s->name) + 2);
            memcpy(who->certs, s->name, strlen(s->name));
        } else if (s->kind == RIGHTS_AUTH) {
            memcpy(who->auth, s->name, sizeof s->name);
        }
        if (!comma)
            return true;
        at = comma + 1;
    }
    snprintf(why, RIGHTS_WHY_MAX, "that is too many");
    return false;
}

void command_may(struct client *c, const struct resp_request *r)
{
    struct resp_word name = r->count > 3 ? r->word[3] : (struct resp_word){"", 0};
    bool me = resp_is(r->word[1], "me");
    struct rights_who *who = mem_new(sizeof *who);
    struct rights_subject *room = mem_new(64 * sizeof *room);
    struct rights_verdict v;
    char why[RIGHTS_WHY_MAX];
    unsigned right;

    if (!me && !permit_admin(c, "asking about other clients")) {
        ; /* it was told */
    } else if (!rights_parse_rights(&right, r->word[2].at, r->word[2].len, why) ||
               (!me && !permit_parse_who(r->word[1], who, room, why))) {
        resp_error(&c->out, "ERR", why);
    } else if (name.len == 0 || command_is_name(c, name)) {
        right = right == (RIGHT_LOCK | RIGHT_SHARED) ? RIGHT_LOCK : right;
        v = me ? permit_decide(c, right, name.at, name.len)
               : rights_decide(permit_rules(c), who, right, name.at, name.len);
        rights_explain(permit_rules(c), me ? c->session->proved : who, right, name.at, name.len, v, why);
        resp_array(&c->out, 2);
        resp_integer(&c->out, v.allowed);
        resp_text(&c->out, why);
    }
    rights_free(who);
    free(room);
}
