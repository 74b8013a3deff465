/* Whatever bytes a peer sends, in whatever pieces: a member takes them or ends the connection with a reason. It does
 * not crash, does not keep more than it must, and still serves its clients. The peer has said a right HELLO before,
 * else little would be reached. */
#include "fuzz.h"

#include "alg/list.h"
#include "node/pack.h"
#include "node/session.h"

#include <string.h>

static const char *const fuzz_names[] = {"a", "b"};

static struct node_conf fuzz_conf(uint32_t self, const struct dme_alg *modes)
{
    return (struct node_conf){.n = 2,
                              .self = self,
                              .name = fuzz_names,
                              .summary = "",
                              .modes = modes,
                              .slots = alg_find("central"),
                              .incarnation = 1 + self};
}

/* A real HELLO of a real peer. */
static void fuzz_meet(struct node *a, const struct dme_alg *modes)
{
    struct node_conf conf = fuzz_conf(1, modes);
    struct node b;
    const uint8_t *bytes;
    size_t len;

    node_init(&b, &conf);
    link_connected(&b.link[0]);
    link_connected(&a->link[1]);
    bytes = link_output(&b.link[0], &len);
    link_input(&a->link[1], bytes, len);
    node_pump(a);
    FUZZ_EXPECT(a->link[1].state == LINK_UP, "%s", a->link[1].reason);
    node_free(&b);
}

/* A frame whose head is right and whose body is the fuzzer's, or bytes as they are. */
static void fuzz_feed(struct node *a, struct fuzz_input *in)
{
    uint8_t frame[300], type = fuzz_take(in) % 8, *at = frame;
    size_t body = fuzz_take(in) % 64;

    if (type == 7) { /* DATA, and what members tell each other beside locks */
        at = pack_number(at, 1 + 4 + 1 + body, 4);
        at = pack_number(pack_number(at, 2, 1), a->link[1].received + 1, 4);
        at = pack_number(at, TALK_INTEREST + fuzz_take(in) % 4, 1);
    } else if (type == 2) { /* DATA about a lock */
        at = pack_number(at, 1 + 4 + 4 + body, 4);
        at = pack_number(pack_number(at, type, 1), a->link[1].received + 1, 4);
        at = pack_number(at, 1 + fuzz_take(in) % 3, 1);
        at = pack_text(at, fuzz_take(in) % 2 ? "x" : "y", 1);
        at = pack_number(at, fuzz_take(in) % 4, 1);
    } else if (type < 6) {
        at = pack_number(pack_number(at, 1 + body, 4), type, 1);
    }
    for (size_t k = 0; k < body; k++)
        *at++ = fuzz_take(in);
    for (const uint8_t *from = frame; from < at;) {
        size_t some = 1 + fuzz_take(in) % (size_t)(at - from);

        link_input(&a->link[1], from, some);
        node_pump(a);
        from += some;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, data + size};
    const struct dme_alg *modes = alg_find(fuzz_take(&in) % 2 ? "suzuki-kasami" : "central");
    struct node_conf conf = fuzz_conf(0, modes);
    struct node a;
    struct session *s;
    struct node_event e;
    char line[256];
    struct dme_text why;
    size_t len;

    node_init(&a, &conf);
    s = session_open(&a, NULL);
    fuzz_meet(&a, modes);
    dme_text_init(&why, line, sizeof line);
    session_lock(s, &(struct session_wish){.name = "x", .name_len = 1, .wait_ms = 10}, &why);
    question_ask(s, ASK_WAITERS, "x", 1, 0, 0); /* the first: its id is 1 */
    watch_subscribe(s, true, "*", 1);
    while (in.at < in.end && a.link[1].state == LINK_UP) {
        fuzz_feed(&a, &in);
        while (node_next(&a, &e))
            ;
        link_output(&a.link[1], &len);
        link_wrote(&a.link[1], len);
    }
    FUZZ_EXPECT(a.link[1].state == LINK_UP || a.link[1].reason[0], "no reason given");
    node_advance(&a, 20);
    while (node_next(&a, &e))
        ;
    session_close(s);
    node_free(&a);
    return 0;
}
