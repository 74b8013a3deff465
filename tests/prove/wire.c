/* The decoder of messages between members (src/core/wire.c), for Frama-C's Eva: any bytes of any length up to BYTES, in a
 * buffer that ends with them. What decodes is what tests/prove/handlers.c assumes of a message. See tests/prove/run.
 *
 * Invariants: I7, I8. The algorithm is a made-up one: the decoder looks at nothing but its kinds. One kind has a ticket, and one has a ticket
 * for every site. */
#include "core/wire.h"

#include <__fc_builtin.h>
#include <stdlib.h>

static const struct dme_kind wire_kinds[] = {{"EMPTY", 0, 0}, {"ONE", 1, 0}, {"EACH", 0, 1}, {0}};
static const struct dme_alg wire_alg = {.kinds = wire_kinds};

static void prove_length(const struct dme_conf *conf, size_t len, unsigned kind)
{
    uint8_t *bytes = malloc(len);
    struct dme_msg *m = malloc(dme_msg_size_max(conf));
    const char *wrong;

    Frama_C_make_unknown((char *)bytes, len);
    bytes[0] = (uint8_t)(kind < 3 ? kind : Frama_C_unsigned_int_interval(3, 255));
    wrong = dme_decode(conf, 0, 1, bytes, len, m);
    if (!wrong) {
        /*@ assert a_known_kind: kind < 3 && m->kind == kind; */
        /*@ assert its_number_of_tickets: m->count == (kind == 0 ? 0 : kind == 1 ? 1 : SITES); */
        //@ loop unroll SITES;
        for (uint32_t k = 0; k < m->count; k++) {
            dme_id site = m->ticket[k].site;
            /*@ assert a_site_or_none: site < SITES || site == 0xffffffff; */
        }
    }
    free(m);
    free(bytes);
}

void prove_parser(void)
{
    struct dme_conf conf = {.alg = &wire_alg, .n = SITES, .rule = Frama_C_unsigned_int_interval(0, DME_RULES - 1)};

    conf.limit = Frama_C_unsigned_int_interval(0, UINT32_MAX);
    //@ loop unroll BYTES;
    for (size_t len = 1; len <= BYTES; len++)
        //@ loop unroll 4;
        for (unsigned kind = 0; kind < 4; kind++)
            prove_length(&conf, len, kind);
    Frama_C_show_each_end();
}
