/* Whatever bytes come: decoding reads none beyond the end, and accepts only what encodes to the same bytes again.
 * Invariant: I7. */
#include "fuzz.h"

#include "alg/list.h"
#include "core/text.h"
#include "core/wire.h"

#include <string.h>

static struct dme_conf wire_conf(struct fuzz_input *in)
{
    unsigned algorithms = 0, rule = 0;
    const struct dme_alg *alg;
    struct dme_conf conf;

    while (alg_list[algorithms])
        algorithms++;
    alg = alg_list[fuzz_take(in) % algorithms];
    for (unsigned skip = fuzz_take(in); skip || !(alg->rules & 1u << rule); rule = (rule + 1) % DME_RULES)
        skip -= skip && alg->rules & 1u << rule;
    dme_conf_init(&conf, alg, 2 + fuzz_take(in) % 5, rule, rule == DME_SLOTS || rule == DME_GROUP ? 3 : 0);
    return conf;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, data + size};
    struct dme_conf conf = wire_conf(&in);
    struct dme_msg *m = malloc(dme_msg_size_max(&conf));
    size_t len = (size_t)(in.end - in.at);
    dme_id from = len ? in.at[0] % conf.n : 0;

    /* The same bytes, cut at every length: in all but one case there is something to reject. */
    for (size_t cut = 0; cut <= len && cut <= dme_wire_max(&conf); cut++) {
        uint8_t *bytes = malloc(cut ? cut : 1), *again;
        char line[512];
        struct dme_text text;

        memcpy(bytes, in.at, cut);
        if (!dme_decode(&conf, from, (from + 1) % conf.n, bytes, cut, m)) {
            again = malloc(dme_wire_size(m));
            FUZZ_EXPECT(dme_wire_size(m) == cut && dme_encode(m, again) == cut, "%zu bytes", cut);
            FUZZ_EXPECT(memcmp(again, bytes, cut) == 0, "%zu bytes", cut);
            free(again);
            dme_text_init(&text, line, sizeof line);
            dme_print_msg(&conf, m, &text);
        }
        free(bytes);
    }
    free(m);
    return 0;
}
