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
    {.part = PROVE_SERVICE,
     .subject = "views and leases",
     .claim = "no two clients believe in a lock",
     .bounds = "2 members, all faults",
     .how = "model, every state",
     .command = "model leases --members 2",
     .states = 3216,
     .mutant = "model leases --mistake short-promise"},
    {.part = PROVE_SERVICE,
     .subject = "views and leases",
     .claim = "no two clients believe in a lock",
     .bounds = "3 members, all faults",
     .how = "model, every state",
     .command = "model leases",
     .states = 1246499,
     .takes_long = true,
     .mutant = "model leases --mistake minority"},
    {.subject = NULL},
};
