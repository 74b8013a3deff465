/* dibs soak - simulates clusters under faults, one for each seed. */
#include "alg/list.h"
#include "cli.h"
#include "interrupt.h"
#include "progress.h"
#include "soak/soak.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static double soak_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static const char *const focuses[] = {"all",     "squeeze",  "reborn", "sharing", "slots",    "disks",  "alone",
                                      "kept",    "resume",   "hoards", "roster",  "moves",    "redis",  "several",
                                      "outage",  "hasty",    "lease",  "leaders", "config",   "exiles", "agents",
                                      "upgrade", "versions", "kinds",  "rights",  "barriers", NULL};
_Static_assert(sizeof focuses / sizeof focuses[0] == SOAK_BARRIERS + 2, "a case has a name");

static void soak_failed(const struct soak_conf *conf, const struct soak_report *r)
{
    progress_clear();
    printf("%sFAILED%s: seed %" PRIu64 ": %s\n  %s\n", colour_of(VERDICT_BAD), colour_end(), conf->seed, r->failure,
           r->mix);
    printf("  replay: dibs soak --first %" PRIu64 " --seeds 1 --seconds %u%s%s%s --focus %s --trace\n", conf->seed,
           conf->chaos_s, conf->roster ? " --roster" : "", conf->patient ? " --patient" : "",
           conf->rolling ? " --rolling" : "", focuses[conf->focus]);
    fflush(stdout);
}

static void soak_add(struct soak_report *sum, const struct soak_report *r)
{
    sum->simulated_ms += r->simulated_ms;
    sum->events += r->events;
    sum->grants += r->grants;
    sum->losses += r->losses;
    sum->views += r->views;
    sum->crashes += r->crashes;
    sum->pauses += r->pauses;
    sum->cuts += r->cuts;
    sum->breaks += r->breaks;
    sum->deadlocks += r->deadlocks;
}

int cmd_soak(int argc, char **argv)
{
    uint64_t first = 1, seeds = 100, seconds = 30, members = 0, clients = 0, agents = 0, failed = 0;
    const char *algorithm = NULL;
    unsigned focus = SOAK_ALL;
    bool calm = false, roster = false, patient = false, rolling = false, trace = false, first_only = false;
    const struct cli_option options[] = {
        {"--first", CLI_COUNT, &first, "SEED", "begin with seed SEED (default 1)", 0, 1e18, NULL},
        {"--seeds", CLI_COUNT, &seeds, "N", "simulate N clusters, one for each seed (default 100)", 1, 1e18, NULL},
        {"--seconds", CLI_COUNT, &seconds, "S", "inject faults for S simulated seconds in each run (default 30)", 1,
         100000, NULL},
        {"--members", CLI_COUNT, &members, "N", "simulate clusters of N members (default: drawn for each seed)", 1, 7,
         NULL},
        {"--clients", CLI_COUNT, &clients, "N", "simulate N clients (default: drawn for each seed)", 1, 32, NULL},
        {"--agents", CLI_COUNT, &agents, "N", "simulate N agents, with --focus agents (default: drawn for each seed)",
         1, 1000, NULL},
        {"--algorithm", CLI_TEXT, &algorithm, "ALGORITHM",
         "use this algorithm for exclusive, shared and group locks (default: drawn for each seed)", 0, 0, NULL},
        {"--first-failure", CLI_FLAG, &first_only, NULL, "stop at the first seed that fails", 0, 0, NULL},
        {"--roster", CLI_FLAG, &roster, NULL, "let an operator add and remove members", 0, 0, NULL},
        {"--patient", CLI_FLAG, &patient, NULL,
         "members answer each other with their next heartbeat, as those of earlier builds (default: drawn for each "
         "seed)",
         0, 0, NULL},
        {"--rolling", CLI_FLAG, &rolling, NULL,
         "disturb one member at a time, and check that clients of the other members lose no lock", 0, 0, NULL},
        {"--focus", CLI_CHOICE, &focus, "CASE",
         "simulate only this hard case, again and again; src/soak/soak.h describes the cases (default all: drawn for "
         "each seed)",
         0, 0, focuses},
        {"--no-faults", CLI_FLAG, &calm, NULL, "inject no faults", 0, 0, NULL},
        {"--trace", CLI_FLAG, &trace, NULL, "print every event in a line", 0, 0, NULL},
        {0},
    };
    const struct cli_usage usage = {
        "dibs soak [OPTION...]",
        "Simulates clusters of the lock service, each from a seed. The code of the daemon runs unchanged under "
        "crashes, restarts, stopped processes, partitions, broken connections, torn writes, slow disks, drifting "
        "clocks, and clients that die or hang. Checkers that know the true time watch that holders exclude each "
        "other, that fencing tokens grow, that a client that loses a lock is told in time, and that every client is "
        "served after the faults have ended. A seed that fails is printed; the same seed repeats the same run. Ctrl-C "
        "ends the command after the seed that is running.\n\n"
        "Exit status: 0 no seed failed, 1 at least one failed, 2 the command line is wrong.",
        options,
        {{"Simulate 100 clusters:", "dibs soak --seeds 100"},
         {"Repeat one run and print its events:", "dibs soak --first 17 --seeds 1 --trace"}},
    };
    struct soak_conf conf = {0};
    struct soak_report sum = {0}, report;
    const volatile sig_atomic_t *interrupted; /* Ctrl-C ends the run after the seed, with a summary */
    uint64_t done = 0;
    double start, elapsed;

    cli_parse(argc, argv, &usage, NULL, 0);
    conf.members = (uint32_t)members;
    conf.clients = (uint32_t)clients;
    conf.agents = (uint32_t)agents;
    conf.chaos_s = (uint32_t)seconds;
    conf.calm = calm;
    conf.roster = roster || focus == SOAK_SQUEEZE || focus == SOAK_ROSTER;
    conf.patient = patient;
    conf.rolling = rolling;
    conf.focus = (enum soak_focus)focus;
    conf.algorithm = algorithm ? cli_algorithm(algorithm) : NULL;
    conf.trace = trace ? stdout : NULL;
    start = soak_now();
    if (!trace)
        progress_begin("seeds", seeds);
    interrupted = interrupt_catch();
    while (done < seeds && !(failed && first_only) && !*interrupted) {
        conf.seed = first + done;
        if (!soak_run(&conf, &report)) {
            failed++;
            soak_failed(&conf, &report);
        }
        soak_add(&sum, &report);
        progress_set(++done, seeds);
    }
    progress_end();
    elapsed = soak_now() - start;
    if (done < seeds)
        printf("%" PRIu64 " of ", done);
    printf("%" PRIu64 " seeds, %s%" PRIu64 " failed%s; %.0f simulated seconds in %.2f s, %.0f x real time\n", seeds,
           colour_of(failed ? VERDICT_BAD : VERDICT_GOOD), failed, colour_end(), (double)sum.simulated_ms / 1e3,
           elapsed, (double)sum.simulated_ms / 1e3 / elapsed);
    printf("%" PRIu64 " events, %" PRIu64 " grants, %" PRIu64 " lost, %" PRIu64 " views, %" PRIu64 " crashes, %" PRIu64
           " stops, %" PRIu64 " cuts, %" PRIu64 " broken connections",
           sum.events, sum.grants, sum.losses, sum.views, sum.crashes, sum.pauses, sum.cuts, sum.breaks);
    if (sum.deadlocks)
        printf(", %" PRIu64 " deadlocks resolved", sum.deadlocks);
    printf("\n");
    if (*interrupted) { /* a loop of the shell ends, too */
        fflush(stdout);
        signal(SIGINT, SIG_DFL);
        raise(SIGINT);
    }
    return failed ? 1 : 0;
}
