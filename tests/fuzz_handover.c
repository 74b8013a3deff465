/* Whatever bytes a previous process has left: they are taken over or refused, and the process goes on. Sessions that were taken over are
 * handed over again (I33). */
#include "fuzz.h"

#include "alg/list.h"
#include "node/handover.h"
#include "step/step.h"

#define XXH_INLINE_ALL
#include <string.h>
#include <xxhash.h>

static void fuzz_begin(struct node *node, const struct bytes *b, uint32_t *taken)
{
    const char *wrong;
    struct view view;

    node_init(node, &(struct node_conf){.name = "ant",
                                        .summary = "same",
                                        .algorithm = alg_find("ricart-agrawala"),
                                        .slots_algorithm = alg_find("central"),
                                        .incarnation = 1,
                                        .fence = 1});
    *taken = handover_read(node, "b", 1000, b->at + b->start, bytes_len(b), &wrong);
    FUZZ_EXPECT(!wrong || (!*taken && !node->keep.count), "it is wrong, and taken over");
    view_begin(&view);
    view_add(&view, "ant", "-", VIEW_MEMBER);
    view.number = view.member[0].incarnation = 1;
    node_install(node, &view);
    FUZZ_EXPECT((node->keep.records == 0 || wrong) && node->keep.count == *taken, "what was taken over is not there");
}

static void fuzz_number(struct bytes *b, uint64_t x, unsigned len)
{
    for (unsigned k = 0; k < len; k++)
        *bytes_add(b, 1) = (uint8_t)(x >> 8 * k);
}

static void fuzz_text(struct bytes *b, const char *text)
{
    fuzz_number(b, strlen(text), 1);
    memcpy(bytes_add(b, strlen(text)), text, strlen(text));
}

/* A handover with some sessions; here and there a number is not what it should be. */
static void fuzz_make(struct fuzz_input *in, struct bytes *b)
{
    static const char *const names[] = {"x", "y", "a lock with a longer name", "", "x\n"};
    unsigned sessions = fuzz_take(in) % 4;

    fuzz_text(b, "dibs handover 1");
    fuzz_text(b, "ant");
    fuzz_text(b, "b");
    fuzz_number(b, fuzz_take(in) * 5u, 8);
    fuzz_number(b, fuzz_take(in), 8);
    fuzz_number(b, sessions + (fuzz_take(in) == 7), 4);
    for (; sessions; sessions--) {
        bool token = fuzz_take(in) % 4 == 0;
        unsigned locks = token ? 1 : 1 + fuzz_take(in) % 3;

        fuzz_number(b, fuzz_take(in) % 8, 8);
        fuzz_number(b, fuzz_take(in) % 8, 8);
        fuzz_number(b, token ? 0 : 1000 * (fuzz_take(in) % 64), 4);
        fuzz_text(b, token == (fuzz_take(in) % 16 > 0) ? "mine" : "");
        fuzz_number(b, 900 + fuzz_take(in) * 4u, 8);
        fuzz_number(b, 4 * fuzz_take(in), 8);
        fuzz_number(b, locks - (fuzz_take(in) == 7), 4);
        for (; locks; locks--) {
            fuzz_number(b, fuzz_take(in), 8);
            fuzz_number(b, fuzz_take(in), 4);
            fuzz_number(b, fuzz_take(in) % 4 == 3 ? 2 : 0, 2);
            fuzz_number(b, fuzz_take(in) % 3, 4);
            fuzz_text(b, names[fuzz_take(in) % 32 < 30 ? fuzz_take(in) % 3 : 3 + fuzz_take(in) % 2]);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, data + size};
    unsigned how = fuzz_take(&in);
    struct bytes b = {0}, next = {0};
    struct node node;
    uint32_t taken, again;

    if (how % 8)
        fuzz_make(&in, &b);
    if (how % 3 == 0 && bytes_len(&b))
        b.at[b.start + (fuzz_take(&in) | (size_t)fuzz_take(&in) << 8) % bytes_len(&b)] ^= fuzz_take(&in);
    while (how % 16 < 2 && in.at < in.end)
        *bytes_add(&b, 1) = fuzz_take(&in);
    if (!bytes_len(&b))
        return 0;
    if (how % 64) /* else the sum is wrong */
        fuzz_number(&b, XXH3_64bits(b.at + b.start, bytes_len(&b)), 8);
    fuzz_begin(&node, &b, &taken);
    node_step(&node, &(struct node_input){.type = NODE_LEAVE, .now_ms = 1000});
    again = handover_write(&node, "b", &next);
    FUZZ_EXPECT(again <= taken, "there are more sessions than before");
    node_free(&node);
    if (again) {
        fuzz_begin(&node, &next, &taken);
        FUZZ_EXPECT(taken == again, "it does not read again");
        node_free(&node);
    }
    bytes_free(&b);
    bytes_free(&next);
    return 0;
}
