/* Whatever bytes a peer sends, in whatever pieces: a member takes them or ends the connection with a reason. It does
 * not crash, does not keep more than it must, and still serves its clients. The peer has said a right HELLO before,
 * else little would be reached. */
#include "fuzz.h"

#include "alg/list.h"
#include "base/pack.h"
#include "cluster.h"

#include <string.h>

static const char *const fuzz_names[] = {"a", "b"};

static uint64_t fuzz_random(void *user)
{
    (void)user;
    return 7; /* both halves of the only id */
}

static void fuzz_start(struct node *node, uint32_t self, const struct dme_alg *algorithm)
{
    members_start(
        node,
        (struct node_conf){
            .summary = "", .algorithm = algorithm, .slots_algorithm = alg_find("central"), .random = fuzz_random},
        fuzz_names, 2, self);
}

/* A real peer says a real HELLO, and what its clients hold; and is gone, though the other side does not know. */
static void fuzz_meet(struct cluster *c, const struct dme_alg *algorithm)
{
    fuzz_start(&c->node[1], 1, algorithm);
    c->n = 2;
    cluster_connect_all(c);
    cluster_settle(c);
    FUZZ_EXPECT(node_is_open(&c->node[0]), "%s", c->node[0].member[1]->link.reason);
    node_free(&c->node[1]);
    c->n = 1;
}

/* A frame whose head is right and whose body is the fuzzer's, or bytes as they are. */
static void fuzz_feed(struct cluster *c, struct fuzz_input *in)
{
    struct node *a = &c->node[0];
    uint8_t frame[300], type = fuzz_take(in) % 9, *at = frame;
    size_t body = fuzz_take(in) % 64;

    if (type == 8) { /* a letter about a kept session: of the client here, or of the peer, with a lock or without */
        uint8_t what = KEEP_LETTER + fuzz_take(in) % KEEP_LETTERS, lock = fuzz_take(in) % 2 ? 4 + 8 + 4 + 2 + 4 + 2 : 0;

        at = pack_number(at, 1 + 4 + 1 + 8 + 16 + lock + body, 4);
        at = pack_number(pack_number(at, 2, 1), a->member[1]->link.received + 1, 4);
        at = pack_number(pack_number(at, what, 1), fuzz_take(in) % 8, 8);
        at = pack_number(pack_number(at, 7, 8), fuzz_take(in) % 2 ? 7 : fuzz_take(in), 8);
        if (lock) {
            at = pack_number(pack_number(pack_number(at, 1000, 4), fuzz_take(in), 8), 0, 4);
            at = pack_text(pack_number(pack_number(at, fuzz_take(in) % 3, 2), fuzz_take(in) % 3, 4), "x", 1);
        }
    } else if (type == 7) { /* a note: of the members, or beside locks */
        at = pack_number(at, 1 + 1 + body, 4);
        at = pack_number(at, 5, 1);
        at = pack_number(at, fuzz_take(in) % 2 ? ADMIN_INTEREST + fuzz_take(in) % 4 : 1 + fuzz_take(in) % 4, 1);
    } else if (type == 6) { /* a letter about a view */
        at = pack_number(at, 1 + 4 + 1 + body, 4);
        at = pack_number(pack_number(at, 2, 1), a->member[1]->link.received + 1, 4);
        at = pack_number(at, 16 + fuzz_take(in) % 2, 1);
    } else if (type == 2) { /* a letter about a lock */
        at = pack_number(at, 1 + 4 + 4 + body, 4);
        at = pack_number(pack_number(at, type, 1), a->member[1]->link.received + 1, 4);
        at = pack_number(at, 1 + fuzz_take(in) % 5, 1);
        at = pack_text(at, fuzz_take(in) % 2 ? "x" : "y", 1);
        at = pack_number(at, fuzz_take(in) % 4, 1);
    } else if (type < 6) {
        at = pack_number(pack_number(at, 1 + body, 4), type, 1);
    }
    for (size_t k = 0; k < body; k++)
        *at++ = fuzz_take(in);
    for (const uint8_t *from = frame; from < at;) {
        size_t some = 1 + fuzz_take(in) % (size_t)(at - from);

        cluster_tell(c, 0,
                     (struct node_input){.type = NODE_PEER_BYTES, .member = a->member[1], .bytes = from, .len = some});
        from += some;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, data + size};
    const struct dme_alg *algorithm = alg_find(fuzz_take(&in) % 2 ? "suzuki-kasami" : "central");
    struct node node[2], *a = &node[0];
    struct cluster c = {.node = node, .deaf = true};
    struct cluster_client user[4];
    static const char *const said[4] = {"LOCK x WAIT 10\n", "WAITERS x\n", /* a question: its id is 1 */
                                        "PSUBSCRIBE *\n", "SESSION KEEP 1000\r\nLOCK z\n"};

    fuzz_start(a, 0, algorithm);
    fuzz_meet(&c, algorithm);
    for (unsigned k = 0; k < 4; k++) {
        cluster_come(&c, &user[k], 0);
        cluster_say(&c, &user[k], said[k]);
    }
    while (in.at < in.end && a->member[1]->link.state == LINK_UP)
        fuzz_feed(&c, &in);
    FUZZ_EXPECT(a->member[1]->link.state == LINK_UP || a->member[1]->link.reason[0], "no reason given");
    cluster_pass(&c, 20);
    cluster_end(&c);
    return 0;
}
