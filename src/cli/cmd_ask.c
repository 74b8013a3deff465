/* dibs holders, waiters, status, views, force-unlock - one question to the daemon, and its answer as text or JSON. */
#include "ask.h"

#include "base/plain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---------------------------------------------------------------------------------------------------------- answers */

static void ask_json(struct cli_json *j, const struct dibs_reply *r);

static void ask_json_fields(struct cli_json *j, const struct dibs_reply *map)
{
    for (size_t k = 0; k + 1 < map->count; k += 2) {
        json_key(j, map->item[k]->text);
        ask_json(j, map->item[k + 1]);
    }
}

static void ask_json(struct cli_json *j, const struct dibs_reply *r)
{
    switch (r->type) {
    case DIBS_NUMBER:
        json_count(j, r->number);
        break;
    case DIBS_BOOLEAN:
        json_bool(j, r->number);
        break;
    case DIBS_MAP:
        json_object(j);
        ask_json_fields(j, r);
        json_end(j, '}');
        break;
    case DIBS_LIST:
        json_array(j);
        for (size_t k = 0; k < r->count; k++)
            ask_json(j, r->item[k]);
        json_end(j, ']');
        break;
    default:
        json_text(j, r->text);
    }
}

/* What a terminal would obey becomes question marks; as does all that is not ASCII, if it is not UTF-8. */
static void ask_tame(char *text)
{
    bool plain = plain_text(text, strlen(text));

    for (; !plain && *text; text++)
        if ((unsigned char)*text < ' ' || (unsigned char)*text >= 0x7f)
            *text = '?';
}

const char *ask_clean(const char *text)
{
    static char clean[2][4 * DIBS_VALUE_MAX + 1]; /* the longest text is a value */
    static unsigned turn;
    char *to = clean[turn ^= 1];

    snprintf(to, sizeof clean[0], "%s", text ? text : "-");
    ask_tame(to);
    return to;
}

static void ask_key(const char *key)
{
    for (; *key; key++)
        putchar(*key == '_' ? ' ' : *key);
}

/* A map: "key value", and so on, with something in between; lists of maps a line each. */
static void ask_text(const struct dibs_reply *r, const char *between)
{
    const char *before = "";

    for (size_t k = 0; k + 1 < r->count; k += 2, before = between) {
        const struct dibs_reply *value = r->item[k + 1];

        printf("%s", before);
        ask_key(ask_clean(r->item[k]->text));
        if (value->type == DIBS_BOOLEAN)
            printf(" %s", value->number ? "yes" : "no");
        if (value->type == DIBS_NUMBER)
            printf(" %" PRIu64, value->number);
        else if (value->type == DIBS_TEXT)
            printf(" %s", *value->text ? ask_clean(value->text) : "-");
        for (size_t i = 0; i < value->count; i++) {
            printf("\n    ");
            ask_text(value->item[i], "  ");
        }
    }
}

static void ask_print(const struct dibs_reply *r)
{
    for (size_t k = 0; r->type == DIBS_LIST && k < r->count; k++) {
        ask_text(r->item[k], "  ");
        printf("\n");
    }
    if (r->type == DIBS_MAP) {
        ask_text(r, "\n");
        printf("\n");
    }
}

void ask_show(const struct dibs_reply *r, bool json)
{
    struct cli_json j = {.to = stdout, .first = true};

    if (json)
        ask_json(&j, r);
    else
        ask_print(r);
}

/* -------------------------------------------------------------------------------------------------------- questions */

static bool ask_is_chosen(const struct ask_place *place)
{
    const char *connect = getenv("DIBS_CONNECT"), *socket = getenv("DIBS_SOCKET");

    return place->socket || place->address || (socket && *socket) || (connect && *connect);
}

const char *ask_other_socket(const char *path)
{
    static const char of_system[] = "/run/dibs/dibs.sock";
    static char of_user[128];
    const char *runtime = getenv("XDG_RUNTIME_DIR");

    if (runtime && *runtime)
        snprintf(of_user, sizeof of_user, "%s/dibs.sock", runtime);
    else
        snprintf(of_user, sizeof of_user, "/run/user/%u/dibs.sock", (unsigned)getuid());
    if (strcmp(path, of_system) != 0 && access(of_system, F_OK) == 0)
        return of_system;
    return strcmp(path, of_user) != 0 && access(of_user, F_OK) == 0 ? of_user : NULL;
}

/* What to do about it, if there is no daemon. A daemon that was started by the system is not where a login shell looks for
 * it. The text only names its socket: a client that took locks at another daemon than all others would have none. */
static const char *ask_remedy(const struct ask_place *place)
{
    static char line[200];
    const char *other = ask_is_chosen(place) ? NULL : ask_other_socket(dibs_socket_path());

    if (place->address || (!place->socket && getenv("DIBS_CONNECT")))
        return "; check the address, and that a daemon accepts clients there (dibs serve --clients)";
    if (!other)
        return "; start one with \"dibs serve\", or name it with --socket, or --connect and --key";
    snprintf(line, sizeof line, "; there is one at %s: to use that, name it with --socket, or DIBS_SOCKET", other);
    return line;
}

/* Two daemons of one machine that do not know each other have different locks of the same names. */
static void ask_warn_of_others(const struct ask_place *place)
{
    const char *other = ask_is_chosen(place) ? NULL : ask_other_socket(dibs_socket_path());

    if (other)
        fprintf(
            stderr,
            "dibs: this is the daemon at %s; there is another one at %s, which does not share its locks: choose with "
            "--socket, or DIBS_SOCKET\n",
            dibs_socket_path(), other);
}

void ask_complain(const struct ask_place *place, const struct dibs *d)
{
    static const struct {
        const char *said, *remedy;
    } known[] = {
        {"does not speak TLS, perhaps because it has no key", "; if it accepts clients without a key, leave out --key"},
        {"has another key", "; use the key of its cluster, or a client key that was made from it (--key, DIBS_KEY)"},
        {"our key is another one", "; use the key of its cluster, or a client key that was made from it"},
        {"without the right key", "; use a key of its cluster, at the address of its --clients"},
        {"perhaps because this client has no key", "; name one with --key, or DIBS_KEY"},
        {"no majority can be reached", "; dibs member list shows which members are missing"},
    };
    const char *why = dibs_message(d), *remedy = strncmp(why, "no daemon", 9) == 0 ? ask_remedy(place) : "";

    for (size_t k = 0; !*remedy && k < sizeof known / sizeof *known; k++)
        if (strstr(why, known[k].said))
            remedy = known[k].remedy;
    fprintf(stderr, "dibs: %s%s\n", why, remedy);
}

int ask_try_connect(const struct ask_place *place, const char *name, struct dibs **d)
{
    char path[256], who[96] = "";
    const struct dibs_options options = {.name = name ? who : NULL,
                                         .key = place->key,
                                         .keep_ms = place->keep_ms,
                                         .cert = place->cert,
                                         .cert_key = place->cert_key,
                                         .ca = place->ca};
    const char *where = place->address;
    int code;

    if (place->socket && place->address)
        cli_die("only one of --socket and --connect is possible");
    if (place->socket && strchr(place->socket, ','))
        cli_die("--socket \"%s\": a comma would separate two places; choose a path without one", place->socket);
    if (place->socket) {
        snprintf(path, sizeof path, "unix:%s", place->socket);
        where = path;
    }
    if (name)
        memcpy(who, name, plain_cut(name, strlen(name), sizeof who - 1));
    ask_tame(who);
    code = dibs_connect(d, where, &options);
    if (code == DIBS_MISUSE)
        cli_die("%s", dibs_message(*d));
    return code;
}

struct dibs *ask_connect(const struct ask_place *place, const char *name, int status)
{
    struct dibs *d;

    if (ask_try_connect(place, name, &d) != DIBS_OK) {
        ask_complain(place, d);
        exit(status);
    }
    return d;
}

struct dibs_reply *ask_daemon(struct dibs *d, const char *const *words, size_t count)
{
    struct dibs_reply *r;

    if (dibs_ask(d, words, count, &r) != DIBS_OK)
        cli_fail("%s", dibs_message(d));
    return r;
}

const struct dibs_reply *ask_field(const struct dibs_reply *map, const char *key)
{
    static const struct dibs_reply nothing;

    for (size_t k = 0; k + 1 < map->count; k += 2)
        if (map->item[k]->text && strcmp(map->item[k]->text, key) == 0)
            return map->item[k + 1];
    return &nothing;
}

bool ask_takes_part(struct dibs *d, const char *member)
{
    struct dibs_reply *status = ask_daemon(d, (const char *const[]){"STATUS"}, 1);
    const struct dibs_reply *members = ask_field(status, "members");
    bool known = ask_field(status, "ready")->number, out = false;

    for (size_t k = 0; known && member && k < members->count; k++) {
        const char *name = ask_field(members->item[k], "name")->text;

        out |= name && strcmp(name, member) == 0 && !ask_field(members->item[k], "takes_part")->number;
    }
    dibs_free(status);
    return !out;
}

/* Says which members have not heard the order to take the lock away, though clients there may hold it. Returns an exit status. */
static int ask_unforced(struct dibs *d, const char *name, const struct dibs_reply *rows)
{
    size_t holders = 0;
    int status = CLI_OK;

    for (size_t k = 0; k < rows->count; k++) {
        const char *member = ask_field(rows->item[k], "member")->text;

        if (!ask_field(rows->item[k], "error")->text)
            holders++;
        else if (ask_takes_part(d, member)) {
            fprintf(stderr,
                    "dibs: %s was not heard: a client there may still hold \"%s\"; give the order again later\n",
                    ask_clean(member), ask_clean(name));
            status = CLI_FAILED;
        }
    }
    if (holders == 0 && status == CLI_OK)
        fprintf(stderr, "dibs: no client holds \"%s\"\n", ask_clean(name));
    return status;
}

/* HOLDERS or WAITERS of every lock that has some. A row says of which lock it is. */
static void ask_of_all(struct dibs *d, const char *command, bool json)
{
    size_t count;
    struct ask_lock *locks = ask_list_locks(d, "*", true, &count);
    struct cli_json j = {.to = stdout, .first = true};

    if (json)
        json_array(&j);
    for (size_t k = 0; k < count; k++) {
        const char *words[] = {command, locks[k].name};
        struct dibs_reply *r;

        if (strcmp(command, "HOLDERS") == 0 ? !locks[k].holders : !locks[k].waiters)
            continue;
        r = ask_daemon(d, words, 2);
        for (size_t i = 0; i < r->count; i++) {
            if (json) {
                json_object(&j);
                json_key(&j, "lock");
                json_text(&j, locks[k].name);
                ask_json_fields(&j, r->item[i]);
                json_end(&j, '}');
            } else {
                printf("lock %s  ", ask_clean(locks[k].name));
                ask_text(r->item[i], "  ");
                printf("\n");
            }
        }
        dibs_free(r);
    }
    if (json)
        json_end(&j, ']');
    ask_free_locks(locks, count);
}

static int ask(int argc, char **argv, const char *command, const char *word, bool needed, const char *about,
               const struct cli_example *examples)
{
    const char *const formats[] = {"text", "json", NULL};
    const char *words[2] = {command, NULL};
    struct ask_place place = {0};
    unsigned format = 0;
    const struct cli_option options[] = {
        ASK_PLACE_OPTIONS(place),
        {"--format", CLI_CHOICE, &format, "F", "print in format F (default text)", 0, 0, formats},
        {0},
    };
    char line[64];
    const struct cli_usage usage = {line, about, options, {examples[0], examples[1]}};
    struct dibs_reply *r;
    struct dibs *d;
    int count, status = CLI_OK;

    snprintf(line, sizeof line, "dibs %s%s%s [OPTION...]", argv[0], *word ? " " : "", word);
    count = cli_parse(argc, argv, &usage, &words[1], *word ? 1 : 0);
    if (needed && count == 0)
        cli_die("no lock is named (usage: %s)", line);
    d = ask_connect(&place, NULL, CLI_FAILED);
    if (count == 0 && strcmp(word, "[NAME]") == 0) {
        ask_of_all(d, command, format);
    } else {
        r = ask_daemon(d, words, 1 + (size_t)count);
        ask_show(r, format);
        if (strcmp(command, "STATUS") == 0)
            ask_warn_of_others(&place);
        if (strcmp(command, "FORCE-UNLOCK") == 0 && r->type == DIBS_LIST)
            status = ask_unforced(d, words[1], r);
        dibs_free(r);
    }
    dibs_close(d);
    return status;
}

int cmd_holders(int argc, char **argv)
{
    static const struct cli_example examples[2] = {
        {"Show which clients hold the lock \"backup\":", "dibs holders backup"},
        {"Show it for a program, from the daemon of another machine:",
         "dibs holders backup --connect 10.0.0.1:7411 --key client.key --format json"}};

    return ask(argc, argv, "HOLDERS", "[NAME]", false,
               "Lists the clients that hold the lock NAME, or any lock, at all members, with their fencing tokens.",
               examples);
}

int cmd_waiters(int argc, char **argv)
{
    static const struct cli_example examples[2] = {
        {"Show which clients wait for the lock \"backup\":", "dibs waiters backup"},
        {"Show it for a program:", "dibs waiters backup --format json"}};

    return ask(argc, argv, "WAITERS", "[NAME]", false,
               "Lists the clients that wait for the lock NAME, or for any lock, at all members. The clients of one "
               "member that wait for the same lock are listed in "
               "the order in which they wait.",
               examples);
}

int cmd_status(int argc, char **argv)
{
    static const struct cli_example examples[2] = {
        {"Show whether the daemon of this machine is ready, and if not, why:", "dibs status"},
        {"Show the state of a daemon at another socket:", "dibs status --socket /run/dibs/dibs.sock"}};

    return ask(argc, argv, "STATUS", "", false,
               "Shows the state of the daemon of this machine and of its connections to the other members.", examples);
}

int cmd_views(int argc, char **argv)
{
    static const struct cli_example examples[2] = {
        {"Show the last views of the daemon of this machine, the latest first:", "dibs views"},
        {"Show them for a program:", "dibs views --format json"}};

    return ask(
        argc, argv, "VIEWS", "", false,
        "Lists the last 32 views of the daemon of this machine, the latest first: the members that took part, how "
        "long ago the view was installed here, and how long it took until locks could be granted in it.",
        examples);
}

int cmd_force_unlock(int argc, char **argv)
{
    static const struct cli_example examples[2] = {
        {"Take the lock \"backup\" away from its holder:", "dibs force-unlock backup"},
        {"Do so at the daemon of another machine, with the cluster key:",
         "dibs force-unlock backup --connect 10.0.0.1:7411 --key dibs.key"}};

    return ask(
        argc, argv, "FORCE-UNLOCK", "NAME", true,
        "Takes the lock NAME away from all clients that hold it, at all members, and lists them. The clients are "
        "told that they have lost the lock; \"dibs lock\" then ends its command.\n"
        "\n"
        "An operator may do this: the owner of the daemon's socket, root, or a holder of the cluster key; and a client "
        "to which a rule gives the right force-unlock.\n"
        "\n"
        "Exit status: 0, or 1 if the daemon has refused, or a member was not heard that takes part: a client there may "
        "still hold the lock.",
        examples);
}
