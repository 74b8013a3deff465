/* prove_rows.c - see prove.h. docs/proofs.md is made of this table by docs/make-proofs. */
#include "prove.h"

#include <stddef.h>

/* Every state, in canonical form where requests have numbers: src/check/canon.c. */
#define ANY_REQUESTS(name, sites, more, count, slow, broken)                                                           \
    {                                                                                                                  \
        .part = PROVE_REQUESTS, .subject = name, .claim = "exclusion, no deadlock, no starvation",                     \
        .bounds = #sites " sites, unlimited requests", .how = "every state",                                           \
        .command = "check " name " --sites " #sites " --requests unlimited" more, .states = count, .takes_long = slow, \
        .mutant = broken                                                                                               \
    }
/* The same where messages may pile up on a channel: sites make requests while fewer than a number of messages are in flight. */
#define FEW_IN_FLIGHT(name, sites, few, more, count, slow, broken)                                                     \
    {                                                                                                                  \
        .part = PROVE_REQUESTS, .subject = name, .claim = "exclusion, no deadlock, no starvation",                     \
        .bounds = #sites " sites, unlimited requests, made while fewer than " #few " messages are in flight",          \
        .how = "every state",                                                                                          \
        .command = "check " name " --sites " #sites " --requests unlimited --in-flight " #few more, .states = count,   \
        .takes_long = slow, .mutant = broken                                                                           \
    }
/* A protocol below the locks: src/model. The mutant is the row's command with a mistake. Bounds for which a mistake has another default are
 * written there. */
#define SERVICE(what, property, limits, options, count, slow, broken)                                                  \
    {                                                                                                                  \
        .part = PROVE_SERVICE, .subject = what, .claim = property, .bounds = limits, .how = "model, every state",      \
        .command = "model " options, .states = count, .takes_long = slow, .mutant = "model " options broken            \
    }
#define LEASES(limits, options, count, slow, broken)                                                                   \
    SERVICE("views and leases", "no two clients believe in a lock", limits, "leases" options, count, slow, broken)
#define SESSIONS(limits, options, count, slow, broken)                                                                 \
    SERVICE("kept sessions", "a lock is not lost, nor granted to another client", limits, "sessions" options, count,   \
            slow, broken)
/* Two sites, and all others as one: src/check/crowd.c. */
#define ANY_SITES(name, more, count, broken)                                                                           \
    {                                                                                                                  \
        .part = PROVE_SITES, .subject = name, .claim = "exclusion",                                                    \
        .bounds = "any number of sites, unlimited requests", .how = "two sites and the others",                        \
        .command = "check " name " --any-sites" more, .states = count, .mutant = broken                                \
    }
#define REFUTE(name, sites, more) "check " name " --sites " #sites " --requests unlimited" more

#define RA_EARLY "mutant: ricart-agrawala: a site inside answers at once"
#define RA_TIE "mutant: ricart-agrawala: two equal numbers have no order"
#define RA_ONE_LESS "mutant: ricart-agrawala: one reply too few is enough"

const struct prove_row prove_rows[] = {
    ANY_REQUESTS("central", 3, "", 98, false, "mutant: central: the lock is granted while one has it"),
    ANY_REQUESTS("central", 3, " --rule slots:2", 204, false, "mutant: central: one slot too many is granted"),
    ANY_REQUESTS("ricart-agrawala", 3, "", 2622, false, RA_EARLY),
    ANY_REQUESTS("ricart-agrawala", 3, " --rule shared", 41860, true,
                 "mutant: ricart-agrawala: two writers count as compatible"),
    ANY_REQUESTS("joung-ra1", 3, "", 2622, false, RA_EARLY),
    ANY_REQUESTS("ricart-agrawala-broadcast", 3, "", 8108, false, REFUTE("ricart-agrawala-broadcast-tempting", 3, "")),
    ANY_REQUESTS("ricart-agrawala-sequenced", 3, "", 73, false,
                 "mutant: ricart-agrawala-sequenced: a site goes in as soon as it is in line"),
    ANY_REQUESTS("ricart-agrawala-ring", 3, "", 282, false, "mutant: ricart-agrawala-ring: what was held is discarded"),
    ANY_REQUESTS("ricart-agrawala-ring-notes", 3, "", 4952, false,
                 "mutant: ricart-agrawala-ring-notes: the notes of others are not copied"),
    ANY_REQUESTS("carvalho-roucairol", 3, "", 86341, true,
                 REFUTE("carvalho-roucairol-as-retold", 3, " --set mistake=keeps-permission")),
    ANY_REQUESTS("singhal-dynamic", 3, "", 51650, true,
                 REFUTE("singhal-dynamic-as-retold", 3, " --set mistake=compares-clock")),
    ANY_REQUESTS("maekawa", 3, " --order fifo", 119354, true, "mutant: maekawa: an arbiter grants every claim at once"),
    ANY_REQUESTS("agrawal-el-abbadi", 3, " --order fifo", 26565, true,
                 "mutant: maekawa: an arbiter grants every claim at once"),
    ANY_REQUESTS("suzuki-kasami", 3, "", 882, false,
                 REFUTE("suzuki-kasami-tempting", 3, " --set mistake=gives-uncompared")),
    ANY_REQUESTS("ricart-agrawala-token", 3, "", 627, false,
                 REFUTE("ricart-agrawala-token-as-retold", 3, " --set mistake=lowest-first")),
    ANY_REQUESTS("thiare-gueroui-naimi", 3, "", 318, false,
                 "mutant: thiare-gueroui-naimi: a server that gives the token away keeps it"),
    ANY_REQUESTS("le-lann", 3, "", 36, false, "mutant: le-lann: a site passes the token on while it is inside"),
    ANY_REQUESTS("raymond", 3, "", 110, false, REFUTE("raymond-tempting", 3, " --set mistake=forgets-to-ask")),
    ANY_REQUESTS("neilsen-mizuno", 3, "", 140, false, "mutant: neilsen-mizuno: a site inside gives the token away"),
    ANY_REQUESTS("naimi-trehel", 3, "", 318, false,
                 REFUTE("naimi-trehel-tempting", 3, " --set mistake=overwrites-next")),
    ANY_REQUESTS("naimi-trehel-queue", 3, "", 336, false,
                 "mutant: naimi-trehel-queue: a site inside gives the token away"),
    ANY_REQUESTS("banta-efficient", 3, "", 468, false,
                 "mutant: banta-efficient: a late request is collected instead of being put on the queue"),
    ANY_REQUESTS("banta-k", 3, " --rule slots:2", 606, false,
                 "mutant: banta-k: the good site does not wait for those before it"),
    ANY_REQUESTS("le-lann", 4, "", 96, false, "mutant: le-lann: a site passes the token on while it is inside"),
    ANY_REQUESTS("raymond", 4, "", 664, false, REFUTE("raymond-tempting", 4, " --set mistake=forgets-to-ask")),
    ANY_REQUESTS("neilsen-mizuno", 4, "", 1400, false, "mutant: neilsen-mizuno: a site inside gives the token away"),
    ANY_REQUESTS("naimi-trehel", 4, "", 10504, false,
                 REFUTE("naimi-trehel-tempting", 4, " --set mistake=overwrites-next")),
    ANY_REQUESTS("naimi-trehel-queue", 4, "", 10384, false,
                 "mutant: naimi-trehel-queue: a site inside gives the token away"),
    ANY_REQUESTS("central", 4, "", 604, false, "mutant: central: the lock is granted while one has it"),
    ANY_REQUESTS("ricart-agrawala-ring", 4, "", 4029, false,
                 "mutant: ricart-agrawala-ring: what was held is discarded"),
    ANY_REQUESTS("ricart-agrawala-sequenced", 4, "", 489, false,
                 "mutant: ricart-agrawala-sequenced: a site goes in as soon as it is in line"),
    ANY_REQUESTS("thiare-gueroui-naimi", 4, "", 10504, false,
                 "mutant: thiare-gueroui-naimi: a server that gives the token away keeps it"),
    ANY_REQUESTS("banta-efficient", 4, "", 9112, false,
                 "mutant: banta-efficient: a late request is collected instead of being put on the queue"),
    ANY_REQUESTS("banta-k", 4, " --rule slots:2", 17380, false,
                 "mutant: banta-k: the good site does not wait for those before it"),
    ANY_REQUESTS("ricart-agrawala-token", 4, "", 58820, true,
                 REFUTE("ricart-agrawala-token-as-retold", 4, " --set mistake=lowest-first")),
    ANY_REQUESTS("suzuki-kasami", 4, "", 233960, true,
                 REFUTE("suzuki-kasami-tempting", 4, " --set mistake=gives-uncompared")),
    ANY_REQUESTS("ricart-agrawala", 4, "", 2346322, true, RA_EARLY),
    FEW_IN_FLIGHT("swaroop-singh", 3, 2, "", 84504, true,
                  REFUTE("swaroop-singh-as-published", 3, " --in-flight 2 --set mistake=forgets-whom-it-told")),
    FEW_IN_FLIGHT("swaroop-singh", 3, 2, " --rule shared --order fifo", 568568, true,
                  REFUTE("swaroop-singh-as-published", 3,
                         " --in-flight 2 --rule shared --order fifo --set mistake=forgets-early-completes")),
    FEW_IN_FLIGHT(
        "swaroop-singh", 3, 3, " --order fifo", 155791, true,
        REFUTE("swaroop-singh-as-published", 3, " --in-flight 3 --order fifo --set mistake=forgets-early-requests")),
    ANY_SITES("ricart-agrawala", "", 622, RA_EARLY),
    ANY_SITES("ricart-agrawala", " --rule shared", 2510, RA_TIE),
    ANY_SITES("ricart-agrawala", " --rule group:2", 2726, RA_ONE_LESS),
    ANY_SITES("joung-ra1", "", 622, RA_TIE),
    ANY_SITES("ricart-agrawala-broadcast", "", 774, "mutant: ricart-agrawala-broadcast: a site inside answers at once"),
    ANY_SITES("carvalho-roucairol", "", 930,
              "check carvalho-roucairol-as-retold --any-sites --set mistake=keeps-permission"),
    ANY_SITES("singhal-dynamic", "", 736, "mutant: singhal-dynamic: a site inside answers at once"),
    ANY_SITES("lamport", "", 122907, "mutant: lamport: L1 is forgotten"),
    LEASES("2 members, all faults", " --members 2", 3216, false, " --lease 1 --mistake short-promise"),
    LEASES("2 members, a lease of 19 ms, clocks wrong by 1/20", " --members 2 --prompt --clocks", 48319, false,
           " --mistake short-promise"),
    LEASES("3 members, all faults", "", 1246499, true, " --lease 1 --mistake minority"),
    LEASES("1 to 3 members, changes of the roster", " --founders 1 --roster --calm", 4151654, true,
           " --lease 1 --mistake unreported"),
    LEASES("4 members, all faults, views installed at once", " --members 4 --prompt", 15813, false,
           " --lease 1 --mistake minority"),
    LEASES("4 members, all faults and changes of the roster, views installed at once", " --members 4 --prompt --roster",
           459255, true, " --lease 1 --mistake minority"),
    LEASES("5 members, changes of the roster, views installed at once", " --members 5 --roster --calm --prompt", 35841,
           false, " --lease 1 --mistake early-change"),
    SESSIONS("3 members, one change of the view", "", 71350, false, " --members 3 --views 1 --mistake tell-early"),
    SESSIONS("2 members, three changes of the view", " --members 2 --views 3", 374941, true, " --mistake leave-early"),
    SESSIONS("3 members, two changes of the view by one member each", " --views 2 --begin-held --calm", 2803897, true,
             " --members 3 --mistake move-orphan"),
    SESSIONS("3 members, one change of the view; the lock is passed on to another session", " --change follow", 296017,
             false, " --members 3 --views 1 --mistake keep-both"),
    SESSIONS("3 members, one change of the view; the lock is upgraded", " --change upgrade", 1244217, true,
             " --members 3 --views 1 --mistake upgrade-early"),
    SESSIONS("3 members, one change of the view; the lock is downgraded", " --change downgrade", 550483, true,
             " --members 3 --views 1 --mistake share-early"),
    SESSIONS("3 members, the first of which is lost, and three changes of the view; the lock is upgraded",
             " --change upgrade --lost oss,sss,sss --begin-held", 274696, false, " --members 3 --mistake keep-both"),
    SESSIONS("3 members: a session moves, its former owner restarts, and a member that reports is lost; the lock is "
             "downgraded",
             " --change downgrade --lost sss,nss,sso --begin-held", 3393477, true, " --members 3 --mistake hearsay"),
    {.subject = NULL},
};
