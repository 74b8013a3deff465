/* The wire codec: one encoding for every message, and nothing else is accepted.
 * Invariant: I7. */
#include "test.h"

#include "alg/list.h"
#include "core/wire.h"

#include <stdlib.h>
#include <string.h>

struct wire {
    struct dme_conf conf;
    struct dme_msg *sent, *got;
    uint8_t *bytes;
    size_t len;
    uint64_t seed;
};

/* Small numbers most of the time, else of any length up to 64 bits. */
static uint64_t random_number(uint64_t *seed)
{
    uint64_t x = test_random(seed);

    return test_below(seed, 2) ? x % 3 : x >> test_below(seed, 64);
}

static void random_message(struct wire *w, uint8_t kind)
{
    uint32_t first, last;

    dme_modes(&w->conf, &first, &last);
    memset(w->sent, 0, dme_msg_size_max(&w->conf));
    w->sent->kind = kind;
    w->sent->from = test_below(&w->seed, w->conf.n);
    w->sent->to = (w->sent->from + 1) % w->conf.n;
    w->sent->fence = random_number(&w->seed);
    w->sent->count = (uint32_t)((dme_msg_size(&w->conf, kind) - sizeof *w->sent) / sizeof w->sent->ticket[0]);
    for (uint32_t k = 0; k < w->sent->count; k++) {
        uint32_t site = test_below(&w->seed, w->conf.n + 1);

        w->sent->ticket[k].clock = random_number(&w->seed);
        w->sent->ticket[k].mode = test_below(&w->seed, last + 1);
        w->sent->ticket[k].site = site == w->conf.n ? DME_NONE : site;
    }
    assert_true(dme_wire_size(w->sent) <= dme_wire_max(&w->conf));
    w->len = dme_encode(w->sent, w->bytes);
    assert_int_equal(w->len, dme_wire_size(w->sent));
}

static const char *decode(struct wire *w, const uint8_t *bytes, size_t len)
{
    /* An exact copy, so that a sanitizer sees every byte read too far. */
    uint8_t *copy = malloc(len ? len : 1);
    const char *wrong;

    memcpy(copy, bytes, len);
    memset(w->got, 0xee, dme_msg_size_max(&w->conf));
    wrong = dme_decode(&w->conf, w->sent->from, w->sent->to, copy, len, w->got);
    free(copy);
    return wrong;
}

/* The test on random messages of every kind of every algorithm under every rule. */
static void for_every_kind(void (*test)(struct wire *w))
{
    for (unsigned k = 0; alg_list[k]; k++)
        for (unsigned rule = 0; rule < DME_RULES; rule++) {
            struct wire w = {.seed = 1000 * k + rule};

            if (!(alg_list[k]->rules & 1u << rule))
                continue;
            dme_conf_init(&w.conf, alg_list[k], 5, rule, rule == DME_SLOTS || rule == DME_GROUP ? 3 : 0);
            w.sent = malloc(dme_msg_size_max(&w.conf));
            w.got = malloc(dme_msg_size_max(&w.conf));
            w.bytes = malloc(dme_wire_max(&w.conf) + 16);
            for (unsigned kind = 0; kind < dme_kinds(w.conf.alg); kind++)
                for (unsigned round = 0; round < 20; round++) {
                    random_message(&w, (uint8_t)kind);
                    test(&w);
                }
            free(w.sent);
            free(w.got);
            free(w.bytes);
        }
}

static void check_round_trip(struct wire *w)
{
    assert_null(decode(w, w->bytes, w->len));
    assert_memory_equal(w->got, w->sent, dme_msg_bytes(w->sent));
}

static void check_truncations(struct wire *w)
{
    for (size_t len = 0; len < w->len; len++)
        assert_non_null(decode(w, w->bytes, len));
}

static void check_trailing(struct wire *w)
{
    for (unsigned byte = 0; byte < 256; byte++) {
        w->bytes[w->len] = (uint8_t)byte;
        assert_non_null(decode(w, w->bytes, w->len + 1));
    }
}

static void check_byte_changes(struct wire *w)
{
    uint8_t *again = malloc(dme_wire_max(&w->conf));

    for (size_t at = 0; at < w->len; at++) {
        uint8_t kept = w->bytes[at];

        for (unsigned change = 1; change < 256; change++) {
            w->bytes[at] = (uint8_t)(kept ^ change);
            if (decode(w, w->bytes, w->len))
                continue;
            assert_memory_not_equal(w->got, w->sent,
                                    dme_msg_bytes(w->got) < dme_msg_bytes(w->sent) ? dme_msg_bytes(w->got)
                                                                                   : dme_msg_bytes(w->sent));
            assert_int_equal(dme_encode(w->got, again), w->len);
            assert_memory_equal(again, w->bytes, w->len);
        }
        w->bytes[at] = kept;
    }
    free(again);
}

static void every_message_survives_the_wire(void **state)
{
    (void)state;
    for_every_kind(check_round_trip);
}

static void decoding_rejects_every_truncation(void **state)
{
    (void)state;
    for_every_kind(check_truncations);
}

static void decoding_rejects_every_trailing_byte(void **state)
{
    (void)state;
    for_every_kind(check_trailing);
}

static void a_changed_byte_is_rejected_or_is_another_message(void **state)
{
    (void)state;
    for_every_kind(check_byte_changes);
}

/* -------------------------------------------------------------------------------------------------- written by hand */

/* Decodes bytes at site 1 from site 0 of three, ricart-agrawala under the rule; what is wrong, or "". */
static const char *by_hand(enum dme_rule rule, const uint8_t *bytes, size_t len)
{
    static union {
        struct dme_msg msg;
        unsigned char room[256];
    } got;
    struct dme_conf conf;
    const char *wrong;

    dme_conf_init(&conf, alg_find("ricart-agrawala"), 3, rule, rule == DME_GROUP ? 2 : 0);
    wrong = dme_decode(&conf, 0, 1, bytes, len, &got.msg);
    return wrong ? wrong : "";
}

#define BY_HAND(rule, ...) by_hand(rule, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

/* A REQUEST is: kind 0, fence, clock, mode, site + 1. */
static void decoding_says_what_is_wrong(void **state)
{
    (void)state;
    assert_string_equal(BY_HAND(DME_SHARED, 0, 5, 1, 1, 3), "");
    assert_string_equal(by_hand(DME_SHARED, (const uint8_t *)"", 0), "the message is empty");
    assert_string_equal(BY_HAND(DME_SHARED, 2, 5), "the algorithm has no such kind of message");
    assert_string_equal(BY_HAND(DME_SHARED, 255, 5), "the algorithm has no such kind of message");
    assert_string_equal(BY_HAND(DME_SHARED, 0, 5, 1, 1), "the message ends too early");
    assert_string_equal(BY_HAND(DME_SHARED, 0, 5, 1, 1, 3, 0), "bytes follow the message");
    assert_string_equal(BY_HAND(DME_SHARED, 0, 5, 1, 2, 3), "a ticket has a mode that the rule does not allow");
    assert_string_equal(BY_HAND(DME_EXCLUSIVE, 0, 5, 1, 1, 3), "a ticket has a mode that the rule does not allow");
    assert_string_equal(BY_HAND(DME_GROUP, 0, 5, 1, 2, 3), "");
    assert_string_equal(BY_HAND(DME_SHARED, 0, 5, 1, 1, 4), "a ticket names a site that does not exist");
}

static void decoding_rejects_numbers_that_are_too_long_or_too_large(void **state)
{
    (void)state;
    assert_string_equal(BY_HAND(DME_SHARED, 1, 0x85, 0x00), "a number is longer than it has to be");
    assert_string_equal(BY_HAND(DME_SHARED, 1, 0x80, 0x00), "a number is longer than it has to be");
    assert_string_equal(BY_HAND(DME_SHARED, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01), "");
    assert_string_equal(BY_HAND(DME_SHARED, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02),
                        "a number has more than 64 bits");
    assert_string_equal(BY_HAND(DME_SHARED, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x81, 0x01),
                        "a number has more than 64 bits");
    /* Modes and sites of 32 bits do not wrap round to small ones. */
    assert_string_equal(BY_HAND(DME_SHARED, 0, 5, 1, 0x80, 0x80, 0x80, 0x80, 0x10, 3),
                        "a ticket has a mode that the rule does not allow");
    assert_string_equal(BY_HAND(DME_SHARED, 0, 5, 1, 1, 0x81, 0x80, 0x80, 0x80, 0x10),
                        "a ticket names a site that does not exist");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_message_survives_the_wire),
        cmocka_unit_test(decoding_rejects_every_truncation),
        cmocka_unit_test(decoding_rejects_every_trailing_byte),
        cmocka_unit_test(a_changed_byte_is_rejected_or_is_another_message),
        cmocka_unit_test(decoding_says_what_is_wrong),
        cmocka_unit_test(decoding_rejects_numbers_that_are_too_long_or_too_large),
    };

    return cmocka_run_group_tests_name("wire", tests, NULL, NULL);
}
