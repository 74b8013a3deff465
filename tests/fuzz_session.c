/* Clients of three members that say whatever they like, while links between members carry bytes in pieces, break and are made
 * again, members leave the view and come back, and time passes. No member crashes or takes another's message for nonsense, and no
 * two clients hold a lock that excludes them. */
#include "fuzz.h"

#include "alg/list.h"
#include "members.h"
#include "node/client.h"
#include "node/session.h"

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
                                         "QUIT\n",
                                         "SESSION KEEP 1000\n",
                                         "SESSION END\n",
                                         "SESSION DETACH\n",
                                         "SESSION RESUME "};
static struct node node[MEMBERS];
static struct client *client[CLIENTS];
static struct view fuzz_view;
static uint64_t fuzz_ms, fuzz_dice;
static struct keep_id fuzz_id; /* of the session that was kept last */

static uint64_t fuzz_random(void *user)
{
    (void)user;
    return ++fuzz_dice * 0x9e3779b97f4a7c15u;
}

static struct link *fuzz_link(unsigned from, unsigned to)
{
    uint32_t place = view_find_name(&node[from].view, fuzz_names[to], 3);

    return place == VIEW_MEMBERS_MAX || !node[from].member[place] ? NULL : &node[from].member[place]->link;
}

static void fuzz_hear(unsigned i)
{
    struct node_event e;

    while (node_next(&node[i], &e)) {
        struct client *c = e.session->user;

        client_hear(c, &e);
        client_run(c);
        bytes_consume(&c->out, bytes_len(&c->out));
    }
}

/* No two clients, at whatever members, hold this lock in ways that exclude each other. */
static void fuzz_check(const char *name)
{
    uint32_t alone = 0, all = 0;

    for (unsigned i = 0; i < MEMBERS; i++) {
        const struct lock *lock = locks_find(&node[i].locks, name, strlen(name));

        for (const struct claim *c = lock ? lock_next_holder(lock, NULL) : NULL; c; c = lock_next_holder(lock, c)) {
            all += c->state == CLAIM_HELD;
            alone += c->state == CLAIM_HELD && c->mode == LOCK_ALONE;
        }
    }
    FUZZ_EXPECT(alone == 0 || all == 1, "%u hold %s, %u of them alone", all, name, alone);
}

/* Some of the bytes that one has for the other, or all. */
static void fuzz_carry(unsigned from, unsigned to, uint8_t piece)
{
    struct link *out = fuzz_link(from, to), *in = fuzz_link(to, from);
    const uint8_t *bytes;
    size_t len;

    if (!out || !in || out->state == LINK_DOWN || in->state == LINK_DOWN)
        return;
    bytes = link_output(out, &len);
    if (piece && piece < len)
        len = piece;
    link_input(in, bytes, len);
    link_wrote(out, len);
    FUZZ_EXPECT(!in->banned, "%s refuses %s: %s", fuzz_names[to], fuzz_names[from], in->reason);
    node_pump(&node[to]);
    fuzz_hear(to);
}

static void fuzz_connect(unsigned i, unsigned k)
{
    if (fuzz_link(i, k) && fuzz_link(k, i)) {
        link_disconnected(fuzz_link(i, k));
        link_disconnected(fuzz_link(k, i));
        link_connected(fuzz_link(i, k));
        link_connected(fuzz_link(k, i));
    }
}

/* The next view, in which one member takes part or not, is installed by all: those that leave it first, as only they could still
 * grant what belongs to the view before. */
static void fuzz_install(unsigned who)
{
    struct view_member *m = &fuzz_view.member[who];

    m->incarnation = m->incarnation ? 0 : node[who].self.incarnation;
    fuzz_view.number++;
    for (unsigned pass = 0; pass < 2; pass++)
        for (unsigned i = 0; i < MEMBERS; i++)
            if ((fuzz_view.member[i].incarnation == 0) == (pass == 0)) {
                node_install(&node[i], &fuzz_view);
                fuzz_hear(i);
            }
}

static void fuzz_begin(void)
{
    for (unsigned i = 0; i < MEMBERS; i++)
        members_start(
            &node[i],
            (struct node_conf){
                .summary = "", .modes = alg_find("swaroop-singh"), .slots = alg_find("central"), .random = fuzz_random},
            fuzz_names, MEMBERS, i);
    fuzz_view = node[0].view;
    fuzz_ms = fuzz_dice = 0;
    fuzz_id = (struct keep_id){0, 0};
    for (unsigned k = 0; k < CLIENTS; k++) {
        client[k] = client_open(&node[k % MEMBERS], NULL);
        client[k]->session->user = client[k];
        client[k]->operates = true;
    }
    for (unsigned i = 0; i < MEMBERS; i++)
        for (unsigned k = i + 1; k < MEMBERS; k++)
            fuzz_connect(i, k);
    for (unsigned k = 0; k < 3 * MEMBERS * MEMBERS; k++)
        if (k % MEMBERS != k / MEMBERS % MEMBERS)
            fuzz_carry(k % MEMBERS, k / MEMBERS % MEMBERS, 0);
}

static void fuzz_say(unsigned k, uint8_t what)
{
    const char *word = fuzz_words[what % (sizeof fuzz_words / sizeof fuzz_words[0])];
    struct client *c = client[k];
    char id[40];

    client_input(c, (const uint8_t *)word, strlen(word));
    if (!strchr(word, '\n')) {
        snprintf(id, sizeof id, "%016llx%016llx\n", (unsigned long long)fuzz_id.high, (unsigned long long)fuzz_id.low);
        client_input(c, (const uint8_t *)id, strlen(id));
    }
    client_run(c);
    if (c->session->kept)
        fuzz_id = c->session->kept->id;
    bytes_consume(&c->out, bytes_len(&c->out));
    if (c->closing || what > 250) { /* it goes, with a word or without, and another one comes */
        if (c->goodbye)
            client_close(c);
        else
            client_break(c);
        client[k] = client_open(&node[k % MEMBERS], NULL);
        client[k]->session->user = client[k];
        client[k]->session->remote = what % 2;
        client[k]->operates = true;
    }
    node_pump(&node[k % MEMBERS]);
    fuzz_hear(k % MEMBERS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, data + size};

    fuzz_begin();
    while (in.at < in.end) {
        uint8_t what = fuzz_take(&in), which = fuzz_take(&in);
        unsigned i = which % MEMBERS, k = (i + 1 + which / MEMBERS % (MEMBERS - 1)) % MEMBERS;

        switch (what % 8) {
        case 0:
        case 1:
        case 2:
            fuzz_say(which % CLIENTS, fuzz_take(&in));
            break;
        case 3:
            fuzz_ms += which % 16 * (which >= 192 ? 100 : 1);
            for (unsigned j = 0; j < MEMBERS; j++) {
                node_advance(&node[j], fuzz_ms);
                fuzz_hear(j);
            }
            break;
        case 4:
            if (what >= 128)
                fuzz_connect(i, k);
            break;
        case 5:
            if (what >= 192)
                fuzz_install(i);
            break;
        default:
            fuzz_carry(i, k, what >= 128 ? fuzz_take(&in) : 0);
        }
        fuzz_check("x");
        fuzz_check("y");
    }
    for (unsigned k = 0; k < CLIENTS; k++)
        client_close(client[k]);
    for (unsigned i = 0; i < MEMBERS; i++)
        node_free(&node[i]);
    return 0;
}
