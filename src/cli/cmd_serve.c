/* dibs serve - runs the lock daemon of one machine. */
#include "ask.h"
#include "cli.h"
#include "dibs.h"
#include "serve/serve.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The default of --data. */
static const char *serve_data(void)
{
    static char path[4096];
    const char *state = getenv("XDG_STATE_HOME");

    if (!state || !*state)
        return "/var/lib/dibs";
    snprintf(path, sizeof path, "%s/dibs", state);
    return path;
}

static const char serve_about[] =
    "Runs the lock daemon of this machine. Without --members it serves alone, and is not part of a cluster.\n\n"
    "Clients of this machine connect to its Unix socket, which only its owner may use, or a group. Without a key or "
    "certificates, members and clients over TCP are accepted on loopback only. Locks are granted while a majority of "
    "the members can reach each other. SIGTERM and SIGINT end the daemon; SIGHUP makes it read its keys, certificates "
    "and rights again, and open the file of the audit trail anew. An ADDRESS is numeric (10.0.0.1, [fd00::1]) or the "
    "name of a machine, which is resolved at each connection attempt.\n\n"
    "A configuration file has the same settings, one in a line: \"lease 2000\" for --lease 2000. Lines \"member "
    "NAME=ADDRESS:PORT\" take the place of --members. The first line \"policy PATTERN [algorithm=NAME] "
    "[slots-algorithm=NAME] [slots=K | slots=none]\" whose PATTERN matches the name of a lock applies to it. Options "
    "override the file.\n\n"
    "With --agent the daemon is no member: it serves its socket through one of the members of --connect, and through "
    "the next one when that is lost. In this way three or five members can serve very many machines.\n\n"
    "Rights are lines of the file, too: \"allow WHO RIGHTS PATTERN\". The first one that is about the client and the "
    "name of the lock decides. WHO is any, user:NAME, group:NAME, key:NAME, cert:NAME or auth:NAME; RIGHTS are lock, "
    "shared, watch, force-unlock and admin, with commas between them, or all, or none. Without any such line every "
    "client may lock and watch. \"dibs may\" explains what a client may do. If the members have agreed on rights "
    "(\"dibs config set rights\"), these count, and those of the file do not.";

/* Makes the system's directory for the socket if systemd has not. Warns if this machine has another daemon, because the
 * two do not share their locks. */
static void serve_prepare_socket(const char *path)
{
    const char *other = ask_other_socket(path);

    if (strcmp(path, "/run/dibs/dibs.sock") == 0)
        (void)!mkdir("/run/dibs", 0755); /* if it cannot be made, the socket says so */
    if (other)
        fprintf(stderr,
                "dibs: there is another daemon at %s, which does not share its locks; choose with --socket, or "
                "DIBS_SOCKET\n",
                other);
}

/* A daemon of a user is not that of the system, whatever clients look for first. */
static const char *serve_socket(void)
{
    static char path[128];
    const char *chosen = getenv("DIBS_SOCKET"), *runtime = getenv("XDG_RUNTIME_DIR");

    if (chosen && *chosen)
        return chosen;
    snprintf(path, sizeof path, "%s/dibs.sock", runtime && *runtime ? runtime : "/run/dibs");
    return path;
}

int cmd_serve(int argc, char **argv)
{
    static struct serve_conf conf;
    static struct conf_draft draft;
    struct conf_setting *set = draft.set;
    const char *file = NULL;
    bool only_check = false;
    const struct cli_option options[] = {
        {"--config", CLI_TEXT, &file, "FILE",
         "read the settings that are not on the command line from FILE (default: no file)", 0, 0, NULL},
        {"--check-config", CLI_FLAG, &only_check, NULL,
         "print what the daemon would do, and end; the exit status is 2 if there are mistakes", 0, 0, NULL},
        {"--name", CLI_TEXT, &set[CONF_NAME].text, "NAME",
         "name of this member in the list (default: the name of the machine)", 0, 0, NULL},
        {"--members", CLI_TEXT, &set[CONF_MEMBERS].text, "LIST",
         "all members of the cluster, NAME=ADDRESS:PORT,..., the same list on each (default: this member alone)", 0, 0,
         NULL},
        {"--listen", CLI_TEXT, &set[CONF_LISTEN].text, "ADDRESS:PORT",
         "listen for other members here (default: the address of this member in the list)", 0, 0, NULL},
        {"--socket", CLI_TEXT, &set[CONF_SOCKET].text, "PATH",
         "Unix socket for clients of this machine (default: $DIBS_SOCKET, $XDG_RUNTIME_DIR/dibs.sock or "
         "/run/dibs/dibs.sock)",
         0, 0, NULL},
        {"--socket-group", CLI_TEXT, &set[CONF_SOCKET_GROUP].text, "GROUP",
         "let the users of GROUP use the socket, too (default: its owner only)", 0, 0, NULL},
        {"--clients", CLI_TEXT, &set[CONF_CLIENTS].text, "ADDRESS:PORT",
         "accept clients over TCP here; without a key on loopback only (default: do not)", 0, 0, NULL},
        {"--agent", CLI_FLAG, &conf.agent, NULL,
         "be no member, but serve the clients of this machine through the members of --connect", 0, 0, NULL},
        {"--connect", CLI_TEXT, &set[CONF_CONNECT].text, "LIST",
         "an agent: where the members accept clients (their --clients), ADDRESS:PORT,...; one of them is used at a "
         "time; NAME=ADDRESS:PORT if a member's certificate is for NAME (default: this daemon is no agent)",
         0, 0, NULL},
        {"--http", CLI_TEXT, &set[CONF_HTTP].text, "ADDRESS:PORT",
         "serve /metrics, /healthz, /status.json and the web page here, an agent the first two; without a key on "
         "loopback only (default: do not)",
         0, 0, NULL},
        {"--key", CLI_TEXT, &set[CONF_KEY].text, "FILE",
         "read the cluster key, made by dibs keygen and the same on each member, from FILE; an agent: a client key "
         "(default: no key)",
         0, 0, NULL},
        {"--cert", CLI_TEXT, &set[CONF_CERT].text, "FILE",
         "use the certificate in FILE, a PEM file, for this member's name instead of a key (default: none)", 0, 0,
         NULL},
        {"--cert-key", CLI_TEXT, &set[CONF_CERT_KEY].text, "FILE",
         "read the private key of the certificate from FILE, a PEM file (default: none)", 0, 0, NULL},
        {"--ca", CLI_TEXT, &set[CONF_CA].text, "FILE",
         "trust certificates that the authority in FILE, a PEM file, has issued (default: none)", 0, 0, NULL},
        {"--data", CLI_TEXT, &set[CONF_DATA].text, "DIR",
         "keep what must survive a restart in DIR (default: $XDG_STATE_HOME/dibs or /var/lib/dibs)", 0, 0, NULL},
        {"--join", CLI_FLAG, &conf.join, NULL,
         "join a running cluster, to which \"dibs member add\" has added this member", 0, 0, NULL},
        {"--lease", CLI_TEXT, &set[CONF_LEASE].text, "TIME",
         "length of a member's lease, the same on each member: a member that is silent for longer is excluded; "
         "\"2s\" is two seconds, a number alone is milliseconds; \"dibs config set lease\" changes it for all members "
         "while they run (default 1000)",
         0, 0, NULL},
        {"--deadlock-after", CLI_TEXT, &set[CONF_DEADLOCK_AFTER].text, "TIME",
         "look for a deadlock when a client that holds locks has waited for another one for TIME, written as that of "
         "--lease; 0: never (default 1000)",
         0, 0, NULL},
        {"--memory-max", CLI_TEXT, &set[CONF_MEMORY_MAX].text, "SIZE",
         "while SIZE bytes of memory are allocated, refuse requests of clients that need more; 512M for instance "
         "(default: no bound)",
         0, 0, NULL},
        {"--expiry", CLI_TEXT, &set[CONF_EXPIRY].text, "WORD",
         "\"optional\" allows Redis clients locks without an expiry (SETNX), which stay until they are deleted "
         "(default required)",
         0, 0, NULL},
        {"--log-level", CLI_TEXT, &set[CONF_LOG_LEVEL].text, "WORD",
         "leave out of the log what is less important: error, warning, info or debug (default info)", 0, 0, NULL},
        {"--log-format", CLI_TEXT, &set[CONF_LOG_FORMAT].text, "WORD",
         "write the log as text, as json, one object in a line, or for the journal, with priorities (default: journal "
         "if systemd's journal reads it, else text)",
         0, 0, NULL},
        {"--audit", CLI_TEXT, &set[CONF_AUDIT].text, "FILE",
         "append the audit trail to FILE, as JSON, one object in a line; SIGHUP opens it again (default: no file; the "
         "trail is in the log, with at most 50 lines of a kind in a second)",
         0, 0, NULL},
        {"--audit-scope", CLI_TEXT, &set[CONF_AUDIT_SCOPE].text, "WORD",
         "\"orders\": what operators order, logins, refusals and losses of locks; \"locks\": also grants and releases, "
         "in FILE only (default orders)",
         0, 0, NULL},
        {"--algorithm", CLI_TEXT, &set[CONF_ALGORITHM].text, "ALGORITHM",
         "algorithm of exclusive, shared and group locks (default swaroop-singh)", 0, 0, NULL},
        {"--slots-algorithm", CLI_TEXT, &set[CONF_SLOTS_ALGORITHM].text, "ALGORITHM",
         "algorithm of locks with slots (default central)", 0, 0, NULL},
        {0},
    };
    const struct cli_usage usage = {
        "dibs serve [--config FILE] [OPTION...]",
        serve_about,
        options,
        {{"Run a daemon for this machine alone:", "dibs serve"},
         {"Run one member of a cluster of three:",
          "dibs serve --key dibs.key --name ant --members ant=10.0.0.1:7400,bee=10.0.0.2:7400,cat=10.0.0.3:7400"}},
    };
    char *text = NULL;
    int status;

    conf_begin(&draft);
    cli_parse(argc, argv, &usage, NULL, 0);
    if (file)
        conf_read(&draft, file, text = cli_read_file(file));
    conf.socket = serve_socket();
    conf.data = serve_data();
    if (!conf_understand(&draft, &conf) || !conf_resolve(&draft, &conf) || !conf_secrets(&draft, &conf)) {
        conf_tell(&draft, stderr);
        free(text);
        return CLI_USAGE;
    }
    if (only_check)
        conf_print(&conf, stdout);
    else if (!set[CONF_SOCKET].text)
        serve_prepare_socket(conf.socket);
    status = only_check ? CLI_OK : serve_run(&conf, &draft);
    tls_keys_free(conf.members_tls);
    tls_keys_free(conf.clients_tls);
    conf_free(&conf);
    free(text);
    return status;
}
