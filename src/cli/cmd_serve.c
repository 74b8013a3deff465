/* dibs serve - the daemon of one machine. */
#include "ask.h"
#include "cli.h"
#include "dibs.h"
#include "serve/serve.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Where a daemon keeps what must outlive it, unless it is told. */
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
    "The daemon of one machine. Without options it is a cluster of one. Clients find it by its socket: --socket,\n"
    "$DIBS_SOCKET, $XDG_RUNTIME_DIR/dibs.sock or /run/dibs/dibs.sock; only its owner may use it, or a group. Without a "
    "key "
    "or\n"
    "certificates, members and clients over TCP are on loopback only. Locks are granted while a majority of the\n"
    "members can reach each other; who comes back is let in again. SIGTERM and SIGINT end it;\n"
    "after SIGHUP it has read its keys and certificates again. An ADDRESS is a number, 10.0.0.1 or [fd00::1], or the\n"
    "name of a machine, which is looked up whenever it is called.\n\n"
    "A configuration file has the same settings, a line each: \"lease 2000\" for --lease 2000. In place of --members\n"
    "it has lines \"member NAME=ADDRESS:PORT\". And it may have policies, of which the first that matches the name of\n"
    "a lock is used: \"policy PATTERN [algorithm=NAME] [slots-algorithm=NAME] [slots=K | slots=none]\". Options win.";

/* The system's directory for the socket may have to be made: systemd makes it, and nothing else does. And if there is another
 * daemon, its locks are others. */
static void serve_prepare_socket(const char *path)
{
    const char *other = ask_other_socket(path);

    if (strcmp(path, "/run/dibs/dibs.sock") == 0)
        (void)!mkdir("/run/dibs", 0755); /* if it cannot be made, the socket says so */
    if (other)
        fprintf(stderr,
                "dibs: there is another daemon at %s, whose locks are others; choose with --socket, or DIBS_SOCKET\n",
                other);
}

int cmd_serve(int argc, char **argv)
{
    static struct serve_conf conf;
    static struct conf_draft draft;
    struct conf_setting *set = draft.set;
    const char *file = NULL;
    bool only_check = false;
    const struct cli_option options[] = {
        {"--config", CLI_TEXT, &file, "FILE", "settings that are not on the command line", 0, 0, NULL},
        {"--check-config", CLI_FLAG, &only_check, NULL, "say what it would do, and end; 2 if there are mistakes", 0, 0,
         NULL},
        {"--name", CLI_TEXT, &set[CONF_NAME].text, "NAME", "which of the members this is (the name of the machine)", 0,
         0, NULL},
        {"--members", CLI_TEXT, &set[CONF_MEMBERS].text, "LIST",
         "all members: NAME=ADDRESS:PORT,...; the same list on each", 0, 0, NULL},
        {"--listen", CLI_TEXT, &set[CONF_LISTEN].text, "ADDRESS:PORT",
         "where to listen, if not at the address in the list", 0, 0, NULL},
        {"--socket", CLI_TEXT, &set[CONF_SOCKET].text, "PATH", "where clients of this machine come in", 0, 0, NULL},
        {"--socket-group", CLI_TEXT, &set[CONF_SOCKET_GROUP].text, "GROUP",
         "whose members may use it, beside its owner", 0, 0, NULL},
        {"--clients", CLI_TEXT, &set[CONF_CLIENTS].text, "ADDRESS:PORT",
         "where they come in over TCP; without a key on loopback only", 0, 0, NULL},
        {"--http", CLI_TEXT, &set[CONF_HTTP].text, "ADDRESS:PORT",
         "where /metrics, /healthz and /status.json are; without a key on loopback only", 0, 0, NULL},
        {"--key", CLI_TEXT, &set[CONF_KEY].text, "FILE", "the cluster's, made by dibs keygen; the same on each", 0, 0,
         NULL},
        {"--cert", CLI_TEXT, &set[CONF_CERT].text, "FILE", "in place of a key: a certificate for the member's name,", 0,
         0, NULL},
        {"--cert-key", CLI_TEXT, &set[CONF_CERT_KEY].text, "FILE", "its private key,", 0, 0, NULL},
        {"--ca", CLI_TEXT, &set[CONF_CA].text, "FILE", "and the authority that all certificates come from; PEM files",
         0, 0, NULL},
        {"--data", CLI_TEXT, &set[CONF_DATA].text, "DIR", "what must outlive it ($XDG_STATE_HOME/dibs, /var/lib/dibs)",
         0, 0, NULL},
        {"--join", CLI_FLAG, &conf.join, NULL, "a cluster that is there already, and to which it has been added", 0, 0,
         NULL},
        {"--lease", CLI_TEXT, &set[CONF_LEASE].text, "MS",
         "how long a member that is silent is trusted (1000); the same on each", 0, 0, NULL},
        {"--algorithm", CLI_TEXT, &set[CONF_ALGORITHM].text, "NAME",
         "of exclusive, shared and group locks (swaroop-singh)", 0, 0, NULL},
        {"--slots-algorithm", CLI_TEXT, &set[CONF_SLOTS_ALGORITHM].text, "NAME", "of locks with slots (central)", 0, 0,
         NULL},
        {0},
    };
    const struct cli_usage usage = {"dibs serve [--config FILE] [OPTION...]", serve_about, options};
    char *text = NULL;
    int status;

    conf_begin(&draft);
    cli_parse(argc, argv, &usage, NULL, 0);
    if (file)
        conf_read(&draft, file, text = cli_read_file(file));
    conf.socket = dibs_socket_path();
    conf.data = serve_data();
    if (!conf_understand(&draft, &conf) || !conf_resolve(&draft, &conf) || !conf_secrets(&draft, &conf)) {
        conf_tell(&draft, stderr);
        return CLI_USAGE;
    }
    if (only_check)
        conf_print(&conf, stdout);
    else if (!set[CONF_SOCKET].text && conf.socket == dibs_socket_path())
        serve_prepare_socket(conf.socket);
    status = only_check ? CLI_OK : serve_run(&conf, &draft);
    tls_keys_free(conf.members_tls);
    tls_keys_free(conf.clients_tls);
    conf_free(&conf);
    free(text);
    return status;
}
