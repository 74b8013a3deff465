/* Clients of three members that say whatever they like, while links between members carry bytes in pieces, break and are made
 * again, members leave the view and come back, and time passes. Members install a view at different times, and may skip one. No
 * member crashes or takes another's message for nonsense, and no two clients hold a lock that excludes them. At the end all
 * letters arrive, and every member has records of what the kept sessions of the others hold, and no other records. Then clients go, time
 * passes, and every wait ends.
 * Invariants: I19, I33. */
#include "fuzz.h"

#include "alg/list.h"
#include "cluster.h"
#include "node/keep_inside.h"

#include <string.h>

enum { MEMBERS = 3, CLIENTS = 6 };

static const char *const fuzz_names[MEMBERS] = {"ant", "bee", "cat"};
static const char *const fuzz_words[] = {"LOCK x\n",
                                         "LOCK x WAIT 0\n",
                                         "LOCK x SHARED\n",
                                         "LOCK x GROUP g\n",
                                         "LOCK x TTL 5\n",
                                         "LOCK y WAIT 20\n",
                                         "LOCK s SLOTS 2\n",
                                         "UNLOCK x\n",
                                         "UNLOCK y\n",
                                         "UNLOCK s\n",
                                         "CONFIRM\n",
                                         "MEANWHILE UNLOCK x\n",
                                         "HOLDERS x\n",
                                         "WAITERS x\n",
                                         "FORCE-UNLOCK x\n",
                                         "LOCKS *\n",
                                         "SUBSCRIBE x\n",
                                         "PSUBSCRIBE *\n",
                                         "UNSUBSCRIBE\n",
                                         "PUNSUBSCRIBE\n",
                                         "HELLO 3\n",
                                         "STATUS\n",
                                         "RENEW x TTL 9\n",
                                         "UPGRADE x\n",
                                         "UPGRADE x WAIT 0\n",
                                         "DOWNGRADE x\n",
                                         "LOCK x SHARED\nUPGRADE x\nDOWNGRADE x\n",
                                         "QUIT\n",
                                         "SESSION KEEP 1000\n",
                                         "SESSION KEEP 1000\nLOCK x\n",
                                         "SESSION KEEP 1000\nLOCK y\nLOCK x\n",
                                         "SESSION END\n",
                                         "SESSION DETACH\n",
                                         "LOCK x TOKEN t TTL 9\n",
                                         "LOCK y TOKEN u TTL 20 WAIT 5\n",
                                         "RENEW x TOKEN t TTL 30\n",
                                         "UNLOCK x TOKEN t\n",
                                         "SET x t NX PX 9\n",
                                         "SET y u XX PX 50\n",
                                         "GET x\n",
                                         "PTTL y\n",
                                         "DEL x y\n",
                                         "EVALSHA 96da70f7716f27d278a5218544df37fd8b0a5e4c 2 y x t 9\n",
                                         "EVALSHA aed6f382e410db8ba7926d4e5e9aab410bf2a78a 2 y x t 90\n",
                                         "EVALSHA e4612211c9f8f51c257e26e056b0a654b3187242 2 y x t\n",
                                         "EVALSHA 149c5a8bf18676fd99e9e6e24923bd64d9b62f94 1 x 40 u\n",
                                         "EVALSHA 6866459238a13a701d42f4971f12d9f3a50e2442 3 x c l 0 50 u\n",
                                         "EVALSHA 6a3d31570dc6f4b0bd32bcdc8e75667747c6f635 2 y x 60 t u\n",
                                         "SUBSCRIBE redisson_lock__channel:{x}\n",
                                         "UNSUBSCRIBE\n",
                                         "SESSION RESUME "};
static const char *const fuzz_token_words[] = {"LOCK x TOKEN t TTL 100\n",  "LOCK x TOKEN u TTL 50 WAIT 0\n",
                                               "LOCK y TOKEN u TTL 500\n",  "UNLOCK x TOKEN t\n",
                                               "UNLOCK x TOKEN u\n",        "UNLOCK y TOKEN u\n",
                                               "RENEW x TOKEN t TTL 300\n", "RENEW x TOKEN u TTL 20\n"};
static struct node node[MEMBERS];
static struct cluster three = {.n = MEMBERS, .node = node, .deaf = true};
static struct cluster_client user[CLIENTS];
static struct view fuzz_view;
static uint64_t fuzz_ms, fuzz_dice;
static struct keep_id fuzz_id; /* of the session that was kept last */

static uint64_t fuzz_random(void *nothing)
{
    (void)nothing;
    return ++fuzz_dice * 0x9e3779b97f4a7c15u;
}

/* Does this member take its clients' locks away, piece by piece? Then none of them believes in a lock. */
static bool fuzz_is_losing(unsigned i)
{
    return !node[i].takes_part || node[i].locks.losing || keep_is_forgetting(&node[i]);
}

/* No two clients, at whatever members, hold this lock in ways that exclude each other. */
static void fuzz_check(const char *name)
{
    uint32_t alone = 0, all = 0;

    for (unsigned i = 0; i < MEMBERS; i++) {
        const struct lock *lock = locks_find(&node[i].locks, name, strlen(name));

        for (const struct claim *c = lock && !fuzz_is_losing(i) ? lock_next_holder(lock, NULL) : NULL; c;
             c = lock_next_holder(lock, c)) {
            if (c->state != CLAIM_HELD || (c->session->kept && c->session->kept->leaves))
                continue; /* the last: the session is about to move, and may be at its next owner already */
            all++;
            alone += c->mode == LOCK_ALONE;
        }
    }
    FUZZ_EXPECT(alone == 0 || all == 1, "%u hold %s, %u of them alone", all, name, alone);
}

/* Some of the bytes that one has for the other, or all. */
static void fuzz_carry(unsigned from, unsigned to, uint8_t piece)
{
    const struct member *m = cluster_member(&three, to, from);

    while (cluster_carry(&three, from, to, piece ? piece : SIZE_MAX) && !piece)
        ;
    FUZZ_EXPECT(!m || !m->link.banned, "%s refuses %s: %s", fuzz_names[to], fuzz_names[from], m->link.reason);
}

static void fuzz_connect(unsigned i, unsigned k)
{
    for (unsigned side = 0; side < 2; side++)
        cluster_tell(&three, side ? k : i,
                     (struct node_input){.type = NODE_PEER_CLOSED,
                                         .member = cluster_member(&three, side ? k : i, side ? i : k)});
    cluster_connect(&three, i, k);
}

/* The member installs the newest view. */
static void fuzz_bring(unsigned i)
{
    if (node[i].view.number == fuzz_view.number)
        return;
    node[i].conf.fence = fuzz_view.number << 32; /* I29 */
    node_install(&node[i], &fuzz_view);
    cluster_tell(&three, i, (struct node_input){.type = NODE_TIME});
}

/* The next view, in which one member takes part or not. Members that leave it install it at once, as only they could still grant
 * what belongs to the view before; of the others those that are not in the set `late`. */
static void fuzz_install(unsigned who, unsigned late)
{
    struct view_member *m = &fuzz_view.member[who];

    if (!m->incarnation)
        fuzz_bring(who); /* a member is let in if it has installed the view before */
    m->incarnation = m->incarnation ? 0 : node[who].self.incarnation;
    m->since = ++fuzz_view.number;
    for (unsigned i = 0; i < MEMBERS; i++)
        if (!fuzz_view.member[i].incarnation)
            fuzz_bring(i);
    for (unsigned i = 0; i < MEMBERS; i++)
        if (!(late >> i & 1))
            fuzz_bring(i);
}

/* All members take the same token for the one that owns a lock. */
static void fuzz_check_tokens(void)
{
    static const char *const names[] = {"x", "y"};

    for (unsigned k = 0; k < 2; k++) {
        const struct lock_value *first = NULL;

        for (unsigned i = 0; i < MEMBERS; i++) {
            const struct keep_session *e = keep_find(&node[i].keep, token_id(names[k], 1));
            const struct lock_value *value = e ? keep_value(e) : NULL;

            FUZZ_EXPECT(
                !i || (value ? first && first->len == value->len && !memcmp(first->text, value->text, value->len)
                             : !first),
                "%s takes %s for the lock of \"%.*s\", and ant of \"%.*s\"", fuzz_names[i], names[k],
                value ? value->len : 0, value ? value->text : "", first ? first->len : 0, first ? first->text : "");
            first = i ? first : value;
        }
    }
}

/* I33. */
static void fuzz_check_records(void)
{
    size_t claims = 0;

    for (unsigned i = 0; i < MEMBERS; i++)
        claims += node[i].keep.claims;
    for (unsigned i = 0; i < MEMBERS; i++)
        FUZZ_EXPECT(node[i].keep.records + node[i].keep.claims == claims,
                    "%s has %zu records, and others hold %zu locks", fuzz_names[i], node[i].keep.records,
                    claims - node[i].keep.claims);
    fuzz_check_tokens();
}

/* All members take part, and all letters arrive. */
static void fuzz_calm_down(void)
{
    for (unsigned i = 0; i < MEMBERS; i++)
        if (!fuzz_view.member[i].incarnation)
            fuzz_install(i, 0);
    for (unsigned i = 0; i < MEMBERS; i++)
        fuzz_bring(i);
    for (unsigned i = 0; i < MEMBERS; i++)
        for (unsigned k = 0; k < i; k++)
            fuzz_connect(i, k);
    cluster_settle(&three);
    for (unsigned i = 0; i < MEMBERS; i++)
        FUZZ_EXPECT(node_is_open(&node[i]), "%s does not open the last view", fuzz_names[i]);
    fuzz_check_records();
}

/* Is there a claim in this member's locks, in whatever state? */
static const struct lock *fuzz_claimed(const struct locks *l)
{
    for (uint32_t k = 0; k < l->room; k++)
        for (const struct lock *lock = l->table[k]; lock; lock = lock->next)
            if (!ring_empty(&lock->waiting) || lock_next_holder(lock, NULL))
                return lock;
    return NULL;
}

/* A client that may go now: one that waits for nothing; or, if all of them wait, one that holds a lock which others may wait for. */
static struct cluster_client *fuzz_next_to_go(bool holds)
{
    for (unsigned k = 0; k < CLIENTS; k++)
        if (user[k].end && (holds ? user[k].end->session->held > 0 : !session_is_busy(user[k].end->session)))
            return &user[k];
    return NULL;
}

/* The next view, with the same members. */
static void fuzz_renew_view(void)
{
    fuzz_view.number++;
    for (unsigned i = 0; i < MEMBERS; i++)
        fuzz_bring(i);
    cluster_settle(&three);
}

/* Longer than any promise to a client, or TTL; and until no member has anything to do, however small its pieces are. */
static void fuzz_wait(void)
{
    enum { LONG_MS = 4000000 };
    bool more = true;

    fuzz_ms += LONG_MS;
    for (unsigned k = 0; k < 1000 && more; k++) {
        cluster_pass(&three, ++fuzz_ms);
        cluster_settle(&three);
        more = false;
        for (unsigned i = 0; i < MEMBERS; i++) {
            more |= node_due_ms(&node[i]) <= fuzz_ms + 1;
            if (keep_wants_view(&node[i])) /* a session is to move */
                fuzz_renew_view();
        }
    }
}

/* Every wait ends: nothing fails any more. Clients go, with a word or without; time passes, so that sessions that were kept, locks of tokens and
 * what lingers end. A client that waits while no client holds a lock waits for ever. In the end no client is left, and then no claim is. */
static void fuzz_end_waits(void)
{
    enum { WAITS = 6 }; /* one may end another, as when a session is resumed, and ends later */
    struct cluster_client *next;

    for (unsigned left = CLIENTS; left; left--) {
        next = fuzz_next_to_go(false);
        for (unsigned k = 0; !next && k < WAITS; k++) {
            fuzz_wait();
            next = fuzz_next_to_go(false);
        }
        if (!next)
            next = fuzz_next_to_go(true); /* deadlocks over locks with several holders last */
        for (unsigned k = 0; !next && k < CLIENTS; k++)
            FUZZ_EXPECT(!user[k].end, "a client of %s waits for ever", fuzz_names[k % MEMBERS]);
        if (!next)
            break; /* the others were cut off */
        cluster_go(&three, next, left % 2);
        cluster_settle(&three);
    }
    for (unsigned k = 0; k < WAITS; k++)
        fuzz_wait();
    for (unsigned i = 0; i < MEMBERS; i++) {
        const struct lock *lock = fuzz_claimed(&node[i].locks);

        FUZZ_EXPECT(!lock, "%s has a claim in %s, of no client", fuzz_names[i], lock->name);
        FUZZ_EXPECT(node[i].stats.waiters == 0 && node[i].locks.held_count == 0, "%s counts %llu waiters, %llu holders",
                    fuzz_names[i], (unsigned long long)node[i].stats.waiters,
                    (unsigned long long)node[i].locks.held_count);
        FUZZ_EXPECT(node[i].keep.claims + node[i].keep.records == 0, "%s has %zu records", fuzz_names[i],
                    node[i].keep.claims + node[i].keep.records);
    }
}

static void fuzz_begin(uint32_t piece)
{
    for (unsigned i = 0; i < MEMBERS; i++)
        members_start(&node[i],
                      (struct node_conf){.summary = "",
                                         .algorithm = alg_find("swaroop-singh"),
                                         .slots_algorithm = alg_find("central"),
                                         .piece = piece,
                                         .random = fuzz_random},
                      fuzz_names, MEMBERS, i);
    fuzz_view = node[0].view;
    fuzz_ms = fuzz_dice = 0;
    fuzz_id = (struct keep_id){0, 0};
    for (unsigned k = 0; k < CLIENTS; k++)
        cluster_come(&three, &user[k], k % MEMBERS);
    cluster_connect_all(&three);
    for (unsigned k = 0; k < 3 * MEMBERS * MEMBERS; k++)
        if (k % MEMBERS != k / MEMBERS % MEMBERS)
            fuzz_carry(k % MEMBERS, k / MEMBERS % MEMBERS, 0);
}

/* A client says something. It may go, with a word or without; then another one comes. */
static void fuzz_say(unsigned k, uint8_t what, bool token)
{
    const char *word = token ? fuzz_token_words[what % (sizeof fuzz_token_words / sizeof fuzz_token_words[0])]
                             : fuzz_words[what % (sizeof fuzz_words / sizeof fuzz_words[0])];
    char id[40];

    cluster_say(&three, &user[k], word);
    if (!strchr(word, '\n')) {
        snprintf(id, sizeof id, "%016llx%016llx\n", (unsigned long long)fuzz_id.high, (unsigned long long)fuzz_id.low);
        cluster_say(&three, &user[k], id);
        if (what & 64)
            cluster_say(&three, &user[k], "UNLOCK x\n");
    }
    if (user[k].end && user[k].end->session->kept)
        fuzz_id = user[k].end->session->kept->id;
    if (what > 250)
        cluster_go(&three, &user[k], false);
    if (!user[k].end) {
        cluster_come(&three, &user[k], k % MEMBERS);
        user[k].end->session->remote = what % 2;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, data + size};

    fuzz_begin(size % 3); /* work is divided into pieces, large ones or small ones */
    while (in.at < in.end) {
        uint8_t what = fuzz_take(&in), which = fuzz_take(&in);
        unsigned i = which % MEMBERS, k = (i + 1 + which / MEMBERS % (MEMBERS - 1)) % MEMBERS;

        switch (what % 8) {
        case 0:
        case 1:
        case 2:
            fuzz_say(which % CLIENTS, fuzz_take(&in), which >= 192);
            break;
        case 3:
            fuzz_ms += which % 16 * (which >= 192 ? 100 : 1);
            cluster_pass(&three, fuzz_ms);
            break;
        case 4:
            if (what >= 128)
                fuzz_connect(i, k);
            break;
        case 5:
            if (what >= 192)
                fuzz_install(i, fuzz_take(&in) % 8);
            else if (what >= 64)
                fuzz_bring(i);
            break;
        default:
            fuzz_carry(i, k, what >= 128 ? fuzz_take(&in) : 0);
        }
        fuzz_check("x");
        fuzz_check("y");
    }
    fuzz_calm_down();
    fuzz_end_waits();
    cluster_end(&three);
    return 0;
}
