/* prove_rows.c - see prove.h. docs/proofs.md is made of this table by docs/make-proofs. */
#include "prove.h"

#include <stddef.h>

/* Canonical forms of states: src/check/canon.c. */
#define ANY_REQUESTS(name, sites, count, slow, broken)                                                                 \
    {                                                                                                                  \
        .part = PROVE_REQUESTS, .subject = name, .claim = "exclusion, no deadlock, no starvation",                     \
        .bounds = #sites " sites, unlimited requests", .how = "every state",                                           \
        .command = "check " name " --sites " #sites " --requests unlimited", .states = count, .takes_long = slow,      \
        .mutant = broken                                                                                               \
    }

const struct prove_row prove_rows[] = {
    ANY_REQUESTS("ricart-agrawala", 3, 2622, false, "mutant: ricart-agrawala: a site inside answers at once"),
    ANY_REQUESTS("suzuki-kasami", 3, 882, false, "mutant: suzuki-kasami: a site that gives the token away keeps it"),
    ANY_REQUESTS("naimi-trehel", 3, 318, false,
                 "check naimi-trehel-tempting --sites 3 --requests unlimited --set mistake=overwrites-next"),
    {.subject = NULL},
};
