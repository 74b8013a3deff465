/* Clients that are refused some locks say whatever they like to a member that has rules; another member answers now and then. They get no lock that the rules refuse
 * them, and no mode of it; they take no lock away from the owner; no answer shows the name, the value, the token or the holder of a lock that they may not
 * see; and all of them together use no more than their limit.
 * Invariant: I34. */
#include "fuzz.h"

#include "alg/list.h"
#include "cluster.h"
#include "command/permit.h"

#include "base/memory.h"

#include <string.h>

enum { MEMBERS = 2, THIEVES = 4, LOCKS_MAX = 6, WAITERS_MAX = 3 };

static const char *const fuzz_members[MEMBERS] = {"ant", "bee"};
/* The last one is either of the two behind it. */
static const char *const fuzz_rules[] = {
    "key:thief none dark-*", "key:thief none hidden-*",      "key:thief shared read-*", "key:thief watch seen-*",
    "key:thief lock open-*", "key:thief lock,watch,admin *", "key:thief none *"};
/* What the clients say. A % is one of the names below. */
static const char *const fuzz_lines[] = {
    "LOCK % WAIT 0",
    "LOCK % WAIT 50",
    "LOCK % SHARED WAIT 0",
    "LOCK % SHARED",
    "LOCK % GROUP g WAIT 0",
    "LOCK % SLOTS 2 WAIT 0",
    "LOCK % SHARED REENTRANT WAIT 0",
    "LOCK % REENTRANT WAIT 0",
    "LOCK % AND % WAIT 0",
    "LOCK open-0 AND % AND % WAIT 50",
    "LOCK open-0 AND open-1 AND open-2 AND open-3",
    "LOCK open-0 AND open-4 AND open-5",
    "LOCK % TOKEN t TTL 90 WAIT 0",
    "LOCK % TOKEN t TTL 90 WAIT 50",
    "UNLOCK %",
    "UNLOCK % TOKEN t",
    "RENEW % TTL 60",
    "RENEW % TOKEN t TTL 60",
    "UPGRADE % WAIT 0",
    "UPGRADE % WAIT 50",
    "DOWNGRADE %",
    "CONFIRM",
    "CONFIRM %",
    "HELLO 3",
    "HELLO 2",
    "MEANWHILE CANCEL",
    "MEANWHILE UNLOCK %",
    "SESSION KEEP 1000",
    "SESSION END",
    "SESSION DETACH",
    "SET % t NX PX 90",
    "SET % u NX PX 90",
    "SET % t XX PX 90",
    "SET % t XX KEEPTTL",
    "SETNX % t",
    "GET %",
    "GET %:fence",
    "DEL % %",
    "UNLINK %",
    "EXISTS % %",
    "PTTL %",
    "TTL %",
    "PEXPIRE % 5",
    "PEXPIRE % 0",
    "EXPIRE % 1",
    "HEXISTS % t",
    "HGET % t",
    "EVALSHA 96da70f7716f27d278a5218544df37fd8b0a5e4c 2 % % t 90",
    "EVALSHA 96da70f7716f27d278a5218544df37fd8b0a5e4c 5 open-1 open-2 open-3 open-4 open-5 t 90",
    "EVALSHA aed6f382e410db8ba7926d4e5e9aab410bf2a78a 2 % % t 90",
    "EVALSHA e4612211c9f8f51c257e26e056b0a654b3187242 2 % % t",
    "EVALSHA 149c5a8bf18676fd99e9e6e24923bd64d9b62f94 1 % 40 t",
    "EVALSHA 6866459238a13a701d42f4971f12d9f3a50e2442 3 % c l 0 50 t",
    "EVALSHA 6a3d31570dc6f4b0bd32bcdc8e75667747c6f635 2 % % 60 t u",
    "EVALSHA 605e338249a7a1d40df83b04f7658354f883b41b 2 % c 0",
    "EVALSHA 175897a4e379e99e79a54937be09226f76cdcfe5 1 % t 60",
    "HOLDERS %",
    "WAITERS %",
    "LOCKS",
    "LOCKS h* USED",
    "LOCKS * USED CURSOR 0",
    "REPLAY %",
    "FORCE-UNLOCK %",
    "SUBSCRIBE % %",
    "SUBSCRIBE redisson_lock__channel:{%}",
    "PSUBSCRIBE *",
    "PSUBSCRIBE hid*",
    "UNSUBSCRIBE",
    "PUNSUBSCRIBE",
    "MAY me lock %",
    "MAY key:other all %",
    "STATUS",
    "VIEWS",
    "MEMBER LIST",
    "MEMBER REMOVE other",
    "CONFIG SHOW",
    "CONFIG SET lease 500",
    "DRAIN",
    "PAGE-TOKEN",
    "INFO",
    "CLIENT ID",
    "AGENT 1 x",
    "COMMAND",
    "WAIT 1 1",
    "SCRIPT EXISTS x",
};
static const char *const fuzz_names[] = {"dark-1", "dark-2", "dark-3", "dark-4", "seen-1", "seen-2", "read-1",
                                         "read-2", "open-0", "open-1", "open-2", "open-3", "open-8", "other"};
/* What the owner has; and words of it that no thief may see. */
static const char fuzz_owner[] = "HELLO 3 SETNAME secret-who\n"
                                 "LOCK dark-1 VALUE secret-value\n"
                                 "LOCK dark-2 TOKEN secret-token TTL 1000000000\n"
                                 "SET dark-3 secret-token NX PX 1000000000\n"
                                 "EVALSHA 149c5a8bf18676fd99e9e6e24923bd64d9b62f94 1 dark-4 1000000000 secret-token\n"
                                 "LOCK hidden-1 VALUE secret-value\n"
                                 "LOCK hidden-2 TOKEN secret-token TTL 1000000000\n";
/* A second one, whose locks the thieves may see, or use. */
static const char fuzz_friend[] = "HELLO 3 SETNAME friend\nLOCK seen-1 TOKEN secret-token TTL 1000000000\n"
                                  "SET open-8 secret-token NX PX 1000000000\nLOCK open-0\n";
static const char *const fuzz_owned[] = {"dark-1",   "dark-2",   "dark-3", "dark-4",
                                         "hidden-1", "hidden-2", "seen-1", "open-8"};

static struct node node[MEMBERS];
static struct cluster two = {.n = MEMBERS, .node = node};
static struct cluster_client owner, friend, thief[THIEVES];
static struct rights fuzz_rights;
static uint64_t fuzz_ms;

static void fuzz_come(struct cluster_client *me)
{
    struct rights_who *who = mem_new(sizeof *who);

    cluster_come(&two, me, 0);
    who->key = memcpy(mem_new(6), "thief", 6);
    permit_meet(me->end, who);
}

static void fuzz_start(bool admin)
{
    const struct dme_alg *alg = alg_find("central");
    char why[RIGHTS_WHY_MAX];

    memset(&fuzz_rights, 0, sizeof fuzz_rights);
    for (unsigned k = 0; k < 6; k++)
        FUZZ_EXPECT(rights_parse_rule(&fuzz_rights.rule[k], fuzz_rules[k + (k == 5 && !admin)], why), "%s", why);
    fuzz_rights.rules = 6;
    FUZZ_EXPECT(rights_parse_limit(&fuzz_rights.limit[0], "key:thief locks=6 waiters=3", why), "%s", why);
    fuzz_rights.limits = 1;
    for (uint32_t k = 0; k < MEMBERS; k++)
        members_start(&node[k],
                      (struct node_conf){.summary = "",
                                         .algorithm = alg,
                                         .slots_algorithm = alg,
                                         .fence = 99,
                                         .expiry_optional = true,
                                         .rights = &fuzz_rights},
                      fuzz_members, MEMBERS, k);
    cluster_connect_all(&two);
    cluster_settle(&two);
    fuzz_ms = 1;
    cluster_come(&two, &owner, 0);
    cluster_say(&two, &owner, fuzz_owner);
    cluster_come(&two, &friend, 0);
    cluster_say(&two, &friend, fuzz_friend);
    cluster_settle(&two);
    for (unsigned k = 0; k < THIEVES; k++)
        fuzz_come(&thief[k]);
}

/* Says a line. */
static void fuzz_say(struct fuzz_input *in, struct cluster_client *me)
{
    const char *line = fuzz_lines[fuzz_take(in) % (sizeof fuzz_lines / sizeof fuzz_lines[0])];
    char text[256];
    size_t len = 0;

    for (; *line; line++)
        if (*line == '%')
            len += (size_t)snprintf(text + len, sizeof text - len, "%s",
                                    fuzz_names[fuzz_take(in) % (sizeof fuzz_names / sizeof fuzz_names[0])]);
        else
            text[len++] = *line;
    text[len++] = '\n';
    text[len] = '\0';
    cluster_say(&two, me, text);
}

/* A claim that is withdrawn has no session any more. */
static bool fuzz_is_thief(const struct claim *c)
{
    return c->state != CLAIM_WITHDRAWN && c->session->party && strcmp(c->session->party->label, "key:thief") == 0;
}

/* May a thief have this claim? */
static void fuzz_check_claim(const struct claim *c)
{
    struct rights_who who = {.key = (char[]){"thief"}};
    unsigned any_of = c->mode == LOCK_SHARED && !c->slots ? RIGHT_SHARED : RIGHT_LOCK;

    FUZZ_EXPECT(!fuzz_is_thief(c) || rights_decide(&fuzz_rights, &who, any_of, c->name, c->name_len).allowed,
                "a thief has \"%.*s\"", c->name_len, c->name);
}

static void fuzz_check_claims(void)
{
    const struct locks *l = &node[0].locks;
    uint32_t held = 0, waiting = 0;

    for (size_t k = 0; k < l->held_count; k++) {
        fuzz_check_claim(l->held[k].claim);
        held += fuzz_is_thief(l->held[k].claim);
    }
    for (const struct ring *r = l->waiting.next; r != &l->waiting; r = r->next) {
        const struct claim *c = RING_OF((struct ring *)r, struct claim, in_list);

        fuzz_check_claim(c);
        if (fuzz_is_thief(c) && !c->other) /* an upgrade is of a lock that is held */
            waiting++;
    }
    FUZZ_EXPECT(held + waiting <= LOCKS_MAX && waiting <= WAITERS_MAX, "thieves hold %u locks, and wait for %u", held,
                waiting);
}

static void fuzz_check_owner(void)
{
    for (unsigned k = 0; k < sizeof fuzz_owned / sizeof fuzz_owned[0]; k++) {
        const struct lock *lock = locks_find(&node[0].locks, fuzz_owned[k], strlen(fuzz_owned[k]));
        const struct claim *c = lock ? lock_next_holder(lock, NULL) : NULL;

        FUZZ_EXPECT(c && c->state == CLAIM_HELD && !fuzz_is_thief(c), "the owner has lost \"%s\"", fuzz_owned[k]);
    }
}

static void fuzz_check_answers(struct cluster_client *me)
{
    size_t len = bytes_len(&me->heard);
    const char *text = len ? (const char *)me->heard.at + me->heard.start : "";

    for (unsigned k = 0; k < 2; k++) {
        const char *word = k ? "hidden-" : "secret-", *found = memmem(text, len, word, strlen(word));

        FUZZ_EXPECT(!found, "a thief is told: %.*s", (int)(found ? len - (size_t)(found - text) : 0), found);
    }
    bytes_consume(&me->heard, len);
}

static void fuzz_check(void)
{
    fuzz_check_claims();
    fuzz_check_owner();
    for (unsigned k = 0; k < THIEVES; k++)
        fuzz_check_answers(&thief[k]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, data + size};
    bool admin = fuzz_take(&in) & 1;

    fuzz_start(admin);
    fuzz_check();
    while (in.at < in.end) {
        uint8_t what = fuzz_take(&in);
        struct cluster_client *me = &thief[what / 16 % THIEVES];

        if (what % 16 == 0)
            cluster_say(&two, &friend, what & 16 ? "UNLOCK open-0\n" : "LOCK open-0\n");
        else if (what % 16 == 1)
            cluster_tell(&two, 0, (struct node_input){.type = NODE_TIME, .now_ms = fuzz_ms += what / 16 * 10});
        else if (what % 16 == 2)
            cluster_go(&two, me, what & 128);
        else if (what % 16 == 3)
            cluster_settle(&two);
        else
            fuzz_say(&in, me);
        if (!me->end)
            fuzz_come(me);
        fuzz_check();
    }
    cluster_end(&two);
    for (unsigned k = 0; k < THIEVES; k++)
        bytes_free(&thief[k].heard);
    bytes_free(&owner.heard);
    bytes_free(&friend.heard);
    return 0;
}
