/* What members have recorded of a lock, from hostile members: three traces of any lines and words. Merging ends, within the bounds of
 * replay.h, and its result is a scenario: it is played, or refused with a line. Nothing in it is believed: a state is refused.
 * Invariant: I19. */
#include "fuzz.h"

#include "base/bytes.h"
#include "lab/replay.h"
#include "lab/scenario.h"

#include <string.h>

static const char *const fuzz_words[] = {"lock 1 0 0 2 0 0 central group 9\n",
                                         "lock 1 0 0 2 1 0 central group 9\n",
                                         "lock 1 0 2 2 0 1 central slots 2\n",
                                         "lock 1 0 2 2 1 1 central slots 2\n",
                                         "lock 1 0 0 1 0 0 ricart-agrawala shared 0\n",
                                         "lock 1 0 0 2 0 4294967295 central group 9\n",
                                         "mark 0 -\n",
                                         "mark 9 00ff\n",
                                         "mark 12 0c0401000000ff00\n",
                                         "letters 0 0 0\n",
                                         "letters 1 0 0\n",
                                         "letters 1 3 2\n",
                                         "letters 0 2 3\n",
                                         "request 9 0 0 -",
                                         "request 9 1 0 enters",
                                         "release 8 0 -",
                                         "local 8 0 1 -",
                                         "get 7 0 1 0 1 00 -",
                                         "get 7 0 0 0 1 0000 enters",
                                         "get 7 1 1 1 2 0100 -",
                                         " 1:1",
                                         " 0:1",
                                         " 1:2",
                                         "\n",
                                         "end\n",
                                         "untraced\n",
                                         " ",
                                         "99999999999999999999",
                                         "-",
                                         ":"};

static void fuzz_write(struct fuzz_input *in, struct bytes *to)
{
    enum { WORDS = 40 };
    unsigned left = fuzz_take(in) % WORDS;

    while (left--) {
        uint8_t choice = fuzz_take(in);
        const char *word = fuzz_words[choice % (sizeof fuzz_words / sizeof fuzz_words[0])];
        char byte[2] = {(char)(' ' + fuzz_take(in) % 95), '\0'};

        if (choice > 240)
            word = byte;
        memcpy(bytes_add(to, strlen(word)), word, strlen(word));
    }
    *bytes_add(to, 1) = '\0';
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { MEMBERS = 3 };
    struct fuzz_input in = {data, data + size};
    static const char *const names[MEMBERS] = {"ant", "bee", "cat"};
    struct bytes text[MEMBERS] = {0};
    struct replay_trace trace[MEMBERS];
    unsigned count = 1 + fuzz_take(&in) % MEMBERS;
    char why[REPLAY_WHY_MAX], *merged, *played;
    struct scenario_error error;

    for (unsigned k = 0; k < count; k++) {
        fuzz_write(&in, &text[k]);
        trace[k] = (struct replay_trace){names[k], fuzz_take(&in) % 16 ? (const char *)text[k].at : NULL};
    }
    merged = replay_merge("x", trace, count, why);
    FUZZ_EXPECT(merged || *why, "no reason");
    if (merged && scenario_play("replay", merged, &played, &error)) {
        FUZZ_EXPECT(!strstr(merged, "\nstate ") && !strstr(merged, "\nbefore "), "a state was believed");
        free(played);
    }
    free(merged);
    for (unsigned k = 0; k < count; k++)
        bytes_free(&text[k]);
    return 0;
}
