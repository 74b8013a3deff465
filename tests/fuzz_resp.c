/* Whatever a client sends, in whatever pieces: it is answered, or waits, or the connection ends with an error. Words of
 * the protocol are among the bytes, else little would be reached; and the pieces do not change the answers.
 * Invariant: I19. */
#include "fuzz.h"

#include "alg/list.h"
#include "cluster.h"

#include <string.h>

static const char *const fuzz_words[] = {
    "LOCK ",
    "UNLOCK ",
    "x ",
    "y ",
    "\r\n",
    "SHARED ",
    "SLOTS 2 ",
    "GROUP g ",
    "WAIT 0 ",
    "AND ",
    "CANCEL\n",
    "LOCK y AND x WAIT 5\n",
    "TTL 9 ",
    "RENEW x TTL 5\n",
    "UPGRADE x ",
    "DOWNGRADE x\n",
    "*2\r\n$4\r\nLOCK\r\n$1\r\nx\r\n",
    "*1\r\n",
    "$4\r\n",
    "PING\r\n",
    "HELLO 3\r\n",
    "*4\r\n$5\r\nHELLO\r\n$1\r\n3\r\n$5\r\nUNDER\r\n$9\r\n7 x\n8 y\n9\r\n",
    "LOCKS\n",
    "STATUS\n",
    "INFO\n",
    "HOLDERS x\n",
    "WAITERS x\n",
    "FORCE-UNLOCK x\n",
    "COMMAND\n",
    "MEANWHILE ",
    "CONFIRM\n",
    "SUBSCRIBE x y\n",
    "PSUBSCRIBE * x*\n",
    "UNSUBSCRIBE\n",
    "PUNSUBSCRIBE x*\n",
    "CLIENT SETNAME a\n",
    "*",
    "$",
    "QUIT\n",
    "SET x t NX PX 9\n",
    "GET x\n",
    "DEL x y\n",
    "EVALSHA 96da70f7716f27d278a5218544df37fd8b0a5e4c 2 x y t 9 ",
    "EVALSHA 149c5a8bf18676fd99e9e6e24923bd64d9b62f94 1 x 9 u\n",
    "EVALSHA 6866459238a13a701d42f4971f12d9f3a50e2442 3 x c l 0 9 u\n",
    "EVALSHA 6a3d31570dc6f4b0bd32bcdc8e75667747c6f635 2 x y 9 u ",
    "HGET x u\n",
    "SUBSCRIBE redisson_lock__channel:{x}\n",
    "UNSUBSCRIBE redisson_lock__channel:{x} redisson_lock__channel:\n",
    "SCRIPT LOAD x\n",
};

/* The conversation that the input stands for. */
static size_t fuzz_script(struct fuzz_input in, uint8_t *script, size_t room)
{
    size_t len = 0;

    while (in.at < in.end) {
        const char *word = fuzz_words[fuzz_take(&in) % (sizeof fuzz_words / sizeof fuzz_words[0])];
        char byte[2] = {(char)fuzz_take(&in), 0};

        if (byte[0] & 0x40)
            word = byte;
        if (room - len < strlen(word))
            break;
        memcpy(script + len, word, strlen(word));
        len += strlen(word);
    }
    return len;
}

/* All that is answered. */
static struct bytes fuzz_talk(const uint8_t *script, size_t len, size_t piece)
{
    static const char *const names[] = {"a"};
    struct node node;
    struct cluster c = {.n = 1, .node = &node};
    struct cluster_client me = {0};

    members_start(
        &node,
        (struct node_conf){.summary = "", .algorithm = alg_find("central"), .slots_algorithm = alg_find("central")},
        names, 1, 0);
    cluster_come(&c, &me, 0);
    for (size_t at = 0; at < len && me.end; at += piece) {
        cluster_tell(&c, 0,
                     (struct node_input){.type = NODE_CLIENT_BYTES,
                                         .client = me.end,
                                         .bytes = script + at,
                                         .len = len - at < piece ? len - at : piece});
        FUZZ_EXPECT(!me.end || me.end->session->waiting || bytes_len(&me.end->in) < RESP_REQUEST_MAX, "%zu bytes kept",
                    bytes_len(&me.end->in));
    }
    cluster_go(&c, &me, true);
    cluster_pass(&c, node.now_ms + 10000); /* what was reserved for a token that polls is free again (token_polls.c) */
    FUZZ_EXPECT(node.locks.count == 0 || node.locks.lingering || node.keep.count,
                "locks are left behind"); /* but those of tokens */
    cluster_end(&c);
    return me.heard;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, data + size};
    size_t piece = 1 + fuzz_take(&in) % 32;
    static uint8_t script[8192];
    size_t len = fuzz_script(in, script, sizeof script);
    struct bytes whole = fuzz_talk(script, len, sizeof script), cut = fuzz_talk(script, len, piece);

    /* News of an eviction may come before or behind the answers to commands that came with it, and so may events of
     * locks, and the answers to what is done meanwhile. */
    if (!len || (!memmem(script, len, "FORCE", 5) && !memmem(script, len, "MEANWHILE", 9) &&
                 !memmem(script, len, "SUBSCRIBE", 9))) {
        FUZZ_EXPECT(bytes_len(&whole) == bytes_len(&cut), "pieces of %zu bytes", piece);
        FUZZ_EXPECT(!bytes_len(&cut) || memcmp(whole.at, cut.at, cut.end) == 0, "pieces of %zu bytes", piece);
    }
    bytes_free(&whole);
    bytes_free(&cut);
    return 0;
}
