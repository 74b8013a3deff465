/* dibs lead - run a command as the leader: while holding a lock whose value tells others where the leader is. See lock.h. */
#include "lock.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char lead_about[] =
    "Waits to become the leader, for as long as that takes, and runs COMMAND while it leads. The leader is the client "
    "that holds the exclusive lock NAME. Others see the value with \"dibs leader NAME\" and \"dibs holders NAME\". "
    "COMMAND finds the term in DIBS_FENCE: a number that grows from leader to leader. A resource to which COMMAND "
    "writes should refuse a smaller number than it has seen.\n\n"
    "The wait also outlasts a daemon that is not there and members without a majority. TERM, INT, QUIT or HUP end the "
    "wait, or hand the lead over: COMMAND and all processes that it has started get TERM and, after --grace, KILL. As "
    "soon as they have ended, the lock is released, and the next leader begins. Other signals are passed on to "
    "COMMAND.\n\n"
    "If the lead is lost (the lock was taken away, or no daemon vouches for it any more), COMMAND and its processes "
    "are ended in the same way. While a daemon is restarted, or fails, the lead is kept for --keep, and no other "
    "client becomes the leader. When COMMAND ends, so does dibs: a service manager can start it again. A time T is in "
    "seconds, or has a unit: 250ms, 10s, 5m, 2h.\n\n"
    "Exit status: that of COMMAND, or\n"
#define LOCK_STATUS(name, number, text) #number "\t" text "\n"
    LOCK_RUN_STATUSES(LOCK_STATUS)
#undef LOCK_STATUS
        "2\tthe command line is wrong";

int cmd_lead(int argc, char **argv)
{
    struct lock_run w = {.forever = true, .yields = true, .wait_s = -1, .ttl_s = -1, .keep_s = 60, .grace_s = 5};
    static const char *const backgrounds[] = {"wait", "end", "leave", NULL}; /* enum wrap_background */
    _Static_assert(sizeof backgrounds / sizeof backgrounds[0] == WRAP_LEAVE + 2, "a way to treat processes has a name");
    static char host[256];
    const char **words = calloc((size_t)argc + 1, sizeof *words);
    const char *value = NULL;
    int count, status;
    const struct cli_option options[] = {
        {"--value", CLI_TEXT, &value, "V",
         "what others see of the leader, such as its address; at most 4096 bytes (default: the name of this host)", 0,
         0, NULL},
        {"--verbose", CLI_FLAG, &w.verbose, NULL,
         "print which clients hold the lock if the wait takes more than two seconds (default: only at a terminal), and "
         "when the connection to the daemon is made again",
         0, 0, NULL},
        {"--keep", CLI_SPAN, &w.keep_s, "T",
         "let the members keep the lock for T while there is no connection to a daemon, from 1s to 1h; 0: the lock is "
         "lost with the connection (default 60s)",
         0, 3600, NULL},
        {"--grace", CLI_SPAN, &w.grace_s, "T", "time from TERM to KILL when processes are ended (default 5s)", 0, 1e6,
         NULL},
        {"--background", CLI_CHOICE, &w.background, "B",
         "what to do with processes that COMMAND leaves running: wait for them, end them, or leave them running "
         "without the lock (default wait)",
         0, 0, backgrounds},
        ASK_PLACE_OPTIONS(w.place),
        {0},
    };
    static const char line[] = "dibs lead NAME [OPTION...] -- COMMAND...";
    const struct cli_usage usage = {line,
                                    lead_about,
                                    options,
                                    {{"Run a scheduler on one machine at a time, and tell the others where it is:",
                                      "dibs lead scheduler --value 10.0.0.1:8080 -- ./scheduler"},
                                     {"See where it is, from any machine:", "dibs leader scheduler"}}};
    int names = 1;

    count = words ? cli_parse_before(argc, argv, &usage, words, argc, &names) : 0;
    if (names > 1)
        cli_die("a leader has one name, and these are %d: leave \"%s\" out (usage: %s)", names, words[1], line);
    if (names != 1 || count <= names)
        cli_die("no %s (usage: %s)", count && names ? "command is given" : "leader is named", line);
    if (w.keep_s > 0 && w.keep_s < 1)
        cli_die("--keep is 0, or from 1s to 1h");
    if (!value) {
        gethostname(host, sizeof host - 1);
        value = host;
    }
    if (strlen(value) > DIBS_VALUE_MAX)
        cli_die("--value has %zu bytes, and at most %d are possible", strlen(value), DIBS_VALUE_MAX);
    w.place.keep_ms = (uint64_t)(w.keep_s * 1000);
    w.count = 1;
    w.part[0] = (struct dibs_part){.name = words[0], .value = value, .value_len = strlen(value)};
    w.command = (char *const *)(words + 1);
    status = lock_all(&w);
    free(words);
    return status;
}
