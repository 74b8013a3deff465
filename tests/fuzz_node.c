/* Whatever bytes a peer sends, in whatever pieces: a member takes them or ends the connection with a reason. It does
 * not crash, does not keep more than it must, and still serves its clients. The peer has said a right HELLO before,
 * else little would be reached. */
#include "fuzz.h"

#include "alg/list.h"
#include "base/pack.h"
#include "members.h"
#include "node/session.h"

#include <string.h>

static const char *const fuzz_names[] = {"a", "b"};

static void fuzz_start(struct node *node, uint32_t self, const struct dme_alg *modes)
{
    members_start(node, (struct node_conf){.summary = "", .modes = modes, .slots = alg_find("central")}, fuzz_names, 2,
                  self);
}

/* A real HELLO of a real peer. */
static void fuzz_meet(struct node *a, const struct dme_alg *modes)
{
    struct node b;
    const uint8_t *bytes;
    size_t len;

    fuzz_start(&b, 1, modes);
    link_connected(&b.member[0]->link);
    link_connected(&a->member[1]->link);
    for (unsigned k = 0; k < 4; k++) { /* both say hello, and what their clients hold */
        bytes = link_output(&b.member[0]->link, &len);
        link_input(&a->member[1]->link, bytes, len);
        link_wrote(&b.member[0]->link, len);
        node_pump(a);
        bytes = link_output(&a->member[1]->link, &len);
        link_input(&b.member[0]->link, bytes, len);
        link_wrote(&a->member[1]->link, len);
        node_pump(&b);
    }
    FUZZ_EXPECT(node_is_open(a), "%s", a->member[1]->link.reason);
    node_free(&b);
}

/* A frame whose head is right and whose body is the fuzzer's, or bytes as they are. */
static void fuzz_feed(struct node *a, struct fuzz_input *in)
{
    uint8_t frame[300], type = fuzz_take(in) % 8, *at = frame;
    size_t body = fuzz_take(in) % 64;

    if (type == 7) { /* a note: of the members, or beside locks */
        at = pack_number(at, 1 + 1 + body, 4);
        at = pack_number(at, 5, 1);
        at = pack_number(at, fuzz_take(in) % 2 ? TALK_INTEREST + fuzz_take(in) % 4 : 1 + fuzz_take(in) % 4, 1);
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

        link_input(&a->member[1]->link, from, some);
        node_pump(a);
        from += some;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, data + size};
    const struct dme_alg *modes = alg_find(fuzz_take(&in) % 2 ? "suzuki-kasami" : "central");
    struct node a;
    struct session *s;
    struct node_event e;
    char line[256];
    struct dme_text why;
    size_t len;

    fuzz_start(&a, 0, modes);
    s = session_open(&a, NULL);
    fuzz_meet(&a, modes);
    dme_text_init(&why, line, sizeof line);
    session_lock(s, &(struct session_wish){.name = "x", .name_len = 1, .wait_ms = 10}, &why);
    question_ask(s, ASK_WAITERS, "x", 1, 0, 0); /* the first: its id is 1 */
    watch_subscribe(s, true, "*", 1);
    while (in.at < in.end && a.member[1]->link.state == LINK_UP) {
        fuzz_feed(&a, &in);
        while (node_next(&a, &e))
            ;
        link_output(&a.member[1]->link, &len);
        link_wrote(&a.member[1]->link, len);
    }
    FUZZ_EXPECT(a.member[1]->link.state == LINK_UP || a.member[1]->link.reason[0], "no reason given");
    node_advance(&a, 20);
    while (node_next(&a, &e))
        ;
    session_close(s);
    node_free(&a);
    return 0;
}
