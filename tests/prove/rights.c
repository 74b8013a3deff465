/* The parsers of rules, limits and logins (src/rights/parse.c), for Frama-C's Eva: any text of any length up to BYTES, in a
 * buffer that ends with it; and the parsers of their words, which know where a word ends, with any bytes up to WORD. See
 * tests/prove/run. Invariants: I19, I34. */
#include "strings.h"

#include "rights/parse.c"

static void prove_line(size_t len)
{
    char *text = any_text(len), *why = malloc(RIGHTS_WHY_MAX);
    struct rights_rule rule;
    struct rights_limit limit;
    struct rights_login login;

    why[0] = '\0';
    rights_parse_rule(&rule, text, why);
    rights_parse_limit(&limit, text, why);
    rights_parse_login(&login, text, why);
    free(text);
    free(why);
}

static void prove_word(size_t len)
{
    char *bytes = malloc(len), *why = malloc(RIGHTS_WHY_MAX);
    struct rights_subject subject;
    unsigned rights;

    why[0] = '\0';
    Frama_C_make_unknown(bytes, len);
    rights_parse_subject(&subject, bytes, len, why);
    rights_parse_rights(&rights, bytes, len, why);
    free(bytes);
    free(why);
}

static void prove_pattern(size_t len)
{
    char *bytes = malloc(len);

    Frama_C_make_unknown(bytes, len);
    plain_text(bytes, len);
    free(bytes);
}

void prove_parser(void)
{
    //@ loop unroll WORD;
    for (size_t len = 1; len <= WORD; len++) {
        prove_pattern(len);
        prove_word(len);
    }
    //@ loop unroll BYTES + 1;
    for (size_t len = 0; len <= BYTES; len++)
        prove_line(len);
    Frama_C_show_each_end();
}
