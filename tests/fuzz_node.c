/* Whatever bytes a peer sends, in whatever pieces: a member takes them or ends the connection with a reason. It does
 * not crash, does not keep more than it must, and still serves its clients. The peer has said a right HELLO before,
 * else little would be reached.
 * Invariants: I15, I19. */
#include "fuzz_messages.h"

#include "alg/list.h"
#include "cluster.h"

#include <string.h>

enum { LETTER = 2, NOTE = 5 }; /* types of frames (link.c) */

static const char *const fuzz_names[] = {"a", "b"};

static uint64_t fuzz_random(void *user)
{
    (void)user;
    return FUZZ_ID;
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

/* A frame with a message of the registry, a frame whose head is right and whose body is the fuzzer's, or just bytes. */
static void fuzz_frame(struct cluster *c, struct fuzz_input *in, struct bytes *frame)
{
    static const char *const texts[] = {"x", "y", "z"};
    uint8_t type = fuzz_take(in) % 16;
    struct bytes body = {0};

    if (type >= 6) {
        enum message_type message = fuzz_type(in, 0);

        type = registry[message].sort == LINK_LETTER ? LETTER : NOTE;
        if (type == LETTER)
            pack_number(bytes_add(&body, 4), c->node[0].member[1]->link.received + 1, 4);
        fuzz_message(in, &body, message, texts, 3, NULL);
    } else {
        fuzz_bytes(in, &body, fuzz_take(in) % 64);
    }
    if (type)
        pack_number(pack_number(bytes_add(frame, 5), 1 + bytes_len(&body), 4), type, 1);
    if (bytes_len(&body))
        memcpy(bytes_add(frame, bytes_len(&body)), body.at + body.start, bytes_len(&body));
    bytes_free(&body);
}

/* A frame arrives, in pieces. */
static void fuzz_feed(struct cluster *c, struct fuzz_input *in)
{
    struct member *m = c->node[0].member[1];
    struct bytes frame = {0};

    fuzz_frame(c, in, &frame);
    while (bytes_len(&frame)) {
        size_t some = 1 + fuzz_take(in) % bytes_len(&frame);

        cluster_tell(
            c, 0,
            (struct node_input){.type = NODE_PEER_BYTES, .member = m, .bytes = frame.at + frame.start, .len = some});
        bytes_consume(&frame, some);
    }
    bytes_free(&frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, data + size};
    const struct dme_alg *algorithm = alg_find(fuzz_take(&in) % 2 ? "suzuki-kasami" : "central");
    struct node node[2], *a = &node[0];
    struct cluster c = {.node = node, .deaf = true};
    struct cluster_client user[4] = {{0}};
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
