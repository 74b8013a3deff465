/* conf.c - reads settings from the command line and from a file. See conf.h. */
#include "conf.h"

#include "alg/list.h"
#include "core/text.h"
#include "lab/meant.h"
#include "lock/policy.h"

#include <grp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name, *value;
    bool of_agents; /* an agent has it, too; the others are for members only */
} conf_keys[CONF_KEYS] = {
    [CONF_NAME] = {"name", "NAME", true},
    [CONF_MEMBERS] = {"members", "LIST", false},
    [CONF_LISTEN] = {"listen", "ADDRESS:PORT", false},
    [CONF_SOCKET] = {"socket", "PATH", true},
    [CONF_SOCKET_GROUP] = {"socket-group", "GROUP", true},
    [CONF_CLIENTS] = {"clients", "ADDRESS:PORT", false},
    [CONF_CONNECT] = {"connect", "LIST", true},
    [CONF_HTTP] = {"http", "ADDRESS:PORT", true},
    [CONF_KEY] = {"key", "FILE", true},
    [CONF_CERT] = {"cert", "FILE", true},
    [CONF_CERT_KEY] = {"cert-key", "FILE", true},
    [CONF_CA] = {"ca", "FILE", true},
    [CONF_DATA] = {"data", "DIRECTORY", false},
    [CONF_LEASE] = {"lease", "TIME", false},
    [CONF_DEADLOCK_AFTER] = {"deadlock-after", "TIME", false},
    [CONF_MEMORY_MAX] = {"memory-max", "SIZE", true},
    [CONF_EXPIRY] = {"expiry", "required|optional", false},
    [CONF_LOG_LEVEL] = {"log-level", "error|warning|info|debug", true},
    [CONF_LOG_FORMAT] = {"log-format", "text|json|journal", true},
    [CONF_AUDIT] = {"audit", "FILE", false},
    [CONF_AUDIT_SCOPE] = {"audit-scope", "orders|locks", false},
    [CONF_ALGORITHM] = {"algorithm", "NAME", false},
    [CONF_SLOTS_ALGORITHM] = {"slots-algorithm", "NAME", false},
};

/* --------------------------------------------------------------------------------------------------------- mistakes */

void conf_mistake(struct conf_draft *d, const struct conf_setting *at, const char *format, ...)
{
    unsigned k = d->mistakes++;
    struct conf_said said = {.line = at ? at->line : 0};
    struct dme_text text;
    va_list args;

    if (k >= CONF_MISTAKES_MAX)
        return;
    dme_text_init(&text, said.text, sizeof said.text);
    if (at && !at->line)
        dme_print(&text, "--%s: ", at->key);
    else if (at)
        dme_print(&text, "%s:%u: ", d->file, at->line);
    else if (d->file)
        dme_print(&text, "%s: ", d->file);
    va_start(args, format);
    vsnprintf(said.text + text.len, sizeof said.text - text.len, format, args);
    va_end(args);
    for (char *c = said.text; *c; c++) /* it may quote control characters */
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    for (; k > 0 && d->mistake[k - 1].line > said.line; k--)
        d->mistake[k] = d->mistake[k - 1];
    d->mistake[k] = said;
}

void conf_tell(const struct conf_draft *d, FILE *to)
{
    for (unsigned k = 0; k < d->mistakes && k < CONF_MISTAKES_MAX; k++)
        fprintf(to, "dibs: %s\n", d->mistake[k].text);
    if (d->mistakes > CONF_MISTAKES_MAX)
        fprintf(to, "dibs: and so on; there are %u more\n", d->mistakes - CONF_MISTAKES_MAX);
}

void conf_unknown(struct conf_draft *d, const struct conf_setting *at, const char *what, const char *word,
                  const char *const *names, const char *remedy)
{
    const char *close = meant(word, names);

    if (close)
        conf_mistake(d, at, "unknown %s \"%.80s\"; did you mean \"%s\"? (%s)", what, word, close, remedy);
    else
        conf_mistake(d, at, "unknown %s \"%.80s\" (%s)", what, word, remedy);
}

/* ---------------------------------------------------------------------------------------------------------- the file */

static bool conf_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Removes the comment, and the blanks at both ends. */
static char *conf_trim(char *line)
{
    char *end;

    for (char *c = line; *c; c++)
        if (*c == '#' && (c == line || conf_is_blank(c[-1]))) {
            *c = '\0';
            break;
        }
    while (conf_is_blank(*line))
        line++;
    for (end = line + strlen(line); end > line && conf_is_blank(end[-1]);)
        *--end = '\0';
    return line;
}

/* Adds a setting that may be repeated. */
static void conf_add(struct conf_draft *d, struct conf_setting *list, uint32_t *count, uint32_t max,
                     struct conf_setting setting)
{
    if (*count < max)
        list[(*count)++] = setting;
    else
        conf_mistake(d, &setting, "there are more than %u lines with \"%s\"", max, setting.key);
}

static void conf_set(struct conf_draft *d, enum conf_key k, struct conf_setting setting)
{
    struct conf_setting *old = &d->set[k];

    if (old->text && old->line)
        conf_mistake(d, &setting, "\"%s\" was set in line %u already; keep one of them", setting.key, old->line);
    else if (!old->text)
        *old = setting;
}

/* An option that a file cannot have is known, but not as a setting. */
static void conf_unknown_key(struct conf_draft *d, const struct conf_setting *at, const char *key,
                             const char *const *names)
{
    static const struct {
        const char *key, *remedy;
    } options[] = {
        {"join", "give it once, as dibs serve --join"},
        {"config", "a file has all settings"},
        {"check-config", "use dibs serve --config FILE --check-config"},
        {"members", "write a line member NAME=ADDRESS:PORT for each"},
        {"agent", "a line connect makes the daemon an agent"},
    };

    for (size_t k = 0; k < sizeof options / sizeof options[0]; k++)
        if (strcmp(key, options[k].key) == 0) {
            conf_mistake(d, at, "\"%s\" is an option of the command line, and no setting: %s", key, options[k].remedy);
            return;
        }
    conf_unknown(d, at, "setting", key, names, "dibs serve --help lists all");
}

static void conf_line(struct conf_draft *d, char *line, unsigned number)
{
    const struct {
        const char *name;
        struct conf_setting *list;
        uint32_t *count, max;
    } repeated[] = {
        {"member", d->member, &d->members, NODE_MEMBERS_MAX}, {"policy", d->policy, &d->policies, LOCK_POLICIES_MAX},
        {"allow", d->allow, &d->allows, RIGHTS_RULES_MAX},    {"limit", d->limit, &d->limits, RIGHTS_LIMITS_MAX},
        {"login", d->login, &d->logins, RIGHTS_LOGINS_MAX},
    };
    enum { REPEATED = sizeof repeated / sizeof repeated[0] };
    const char *names[CONF_KEYS + REPEATED] = {0}; /* --members has no line, so there is a null at the end */
    char *value = line + strcspn(line, " \t");
    struct conf_setting setting = {.key = line, .line = number};
    unsigned count = 0;
    int found = -1;

    if (*value)
        *value++ = '\0';
    setting.text = conf_trim(value);
    for (unsigned k = 0; k < CONF_KEYS; k++)
        if (k != CONF_MEMBERS) {
            found = strcmp(conf_keys[k].name, line) == 0 ? (int)k : found;
            names[count++] = conf_keys[k].name;
        }
    for (unsigned k = 0; k < REPEATED; k++) {
        names[count++] = repeated[k].name;
        if (strcmp(line, repeated[k].name) == 0) {
            conf_add(d, repeated[k].list, repeated[k].count, repeated[k].max, setting);
            return;
        }
    }
    if (found < 0)
        conf_unknown_key(d, &setting, line, names);
    else if (!*setting.text)
        conf_mistake(d, &setting, "\"%s\" needs a value: %s %s", line, line, conf_keys[found].value);
    else
        conf_set(d, (enum conf_key)found, setting);
}

void conf_read(struct conf_draft *d, const char *file, char *text)
{
    unsigned number = 0;

    d->file = file;
    if (strncmp(text, "\xef\xbb\xbf", 3) == 0) /* a byte order mark, as some editors write */
        text += 3;
    while (*text) {
        char *end = strchrnul(text, '\n'), *next = *end ? end + 1 : end, *line;

        *end = '\0';
        number++;
        line = conf_trim(text);
        if (*line)
            conf_line(d, line, number);
        text = next;
    }
}

void conf_begin(struct conf_draft *d)
{
    memset(d, 0, sizeof *d);
    for (unsigned k = 0; k < CONF_KEYS; k++)
        d->set[k].key = conf_keys[k].name;
}

/* ---------------------------------------------------------------------------------------------------- what it means */

/* The algorithm of this name, if it can run locks among `n` members; else null, after a mistake. */
static const struct dme_alg *conf_algorithm(struct conf_draft *d, const struct conf_setting *at, const char *name,
                                            bool slots, uint32_t n)
{
    const struct dme_alg *alg = alg_find(name);
    const char *names[256] = {0};
    char line[256];
    struct dme_text why;

    dme_text_init(&why, line, sizeof line);
    for (unsigned k = 0; !alg && alg_list[k]; k++)
        names[k] = alg_list[k]->name;
    if (!alg)
        conf_unknown(d, at, "algorithm", name, names, "dibs list shows all");
    else if (!policy_can_run(alg, slots, n, &why))
        conf_mistake(d, at, "%s; choose another one (dibs list shows all)", line);
    else
        return alg;
    return NULL;
}

static const struct dme_alg *conf_default(struct conf_draft *d, enum conf_key k, const char *otherwise, uint32_t n)
{
    const char *name = d->set[k].text ? d->set[k].text : otherwise;

    return conf_algorithm(d, &d->set[k], name, k == CONF_SLOTS_ALGORITHM, n);
}

bool conf_is_secret(const struct conf_draft *d)
{
    return d->set[CONF_KEY].text || d->set[CONF_CERT].text;
}

/* A certificate needs its key and an authority. */
static void conf_certificates(struct conf_draft *d)
{
    const struct conf_setting *given = NULL, *missing = NULL;

    for (unsigned k = CONF_CERT; k <= CONF_CA; k++)
        if (d->set[k].text)
            given = &d->set[k];
        else
            missing = &d->set[k];
    if (given && missing)
        conf_mistake(d, given, "without --%s it is of no use; cert, cert-key and ca belong together", missing->key);
}

bool conf_time(const char *text, uint64_t *ms)
{
    static const struct {
        const char *name;
        uint64_t ms;
    } units[] = {{"", 1}, {"ms", 1}, {"s", 1000}, {"m", 60000}};
    char *end;
    uint64_t number;

    if (*text < '0' || *text > '9')
        return false;
    number = strtoul(text, &end, 10);
    for (unsigned k = 0; k < sizeof units / sizeof units[0]; k++)
        if (number <= UINT32_MAX && strcmp(end, units[k].name) == 0) {
            *ms = number * units[k].ms;
            return true;
        }
    return false;
}

static void conf_lease(struct conf_draft *d, struct serve_conf *conf)
{
    const struct conf_setting *lease = &d->set[CONF_LEASE];

    conf->lease_ms = CONF_LEASE_MS;
    if (lease->text && (!conf_time(lease->text, &conf->lease_ms) || conf->lease_ms < CONF_LEASE_MS_MIN ||
                        conf->lease_ms > CONF_LEASE_MS_MAX))
        conf_mistake(d, lease,
                     "\"%s\" is not a lease; it is a time from %dms to %ds, such as 2000 (milliseconds) or 2s",
                     lease->text, CONF_LEASE_MS_MIN, CONF_LEASE_MS_MAX / 1000);
}

static void conf_deadlock(struct conf_draft *d, struct serve_conf *conf)
{
    const struct conf_setting *after = &d->set[CONF_DEADLOCK_AFTER];

    conf->deadlock_ms = DEADLOCK_MS;
    if (after->text && (!conf_time(after->text, &conf->deadlock_ms) || conf->deadlock_ms > CONF_DEADLOCK_MS_MAX ||
                        (conf->deadlock_ms && conf->deadlock_ms < CONF_DEADLOCK_MS_MIN)))
        conf_mistake(d, after,
                     "\"%s\" is not a time after which waits are examined; it is one from %dms to %dm, such as 1000 "
                     "(milliseconds) or 1s, or 0: deadlocks are not looked for",
                     after->text, CONF_DEADLOCK_MS_MIN, CONF_DEADLOCK_MS_MAX / 60000);
}

/* Parses a size, such as "512M". */
static void conf_memory(struct conf_draft *d, struct serve_conf *conf)
{
    static const char units[] = "KMGT";
    const struct conf_setting *max = &d->set[CONF_MEMORY_MAX];
    const char *unit;
    char *end;

    conf->memory_max = 0;
    if (!max->text || !*max->text)
        return;
    conf->memory_max = *max->text >= '0' && *max->text <= '9' ? strtoul(max->text, &end, 10) : 0;
    if (conf->memory_max && *end && (unit = strchr(units, *end)) && !end[1]) {
        unsigned shift = 10 * (unsigned)(unit - units + 1);

        conf->memory_max = conf->memory_max < UINT64_MAX >> shift ? conf->memory_max << shift : 0;
        end++;
    }
    if (!conf->memory_max || *end || conf->memory_max < CONF_MEMORY_MIN)
        conf_mistake(d, max, "\"%s\" is not a size; it is a number of bytes, or of K, M, G or T of them, at least %dM",
                     max->text, CONF_MEMORY_MIN >> 20);
}

static void conf_expiry(struct conf_draft *d, struct serve_conf *conf)
{
    const struct conf_setting *expiry = &d->set[CONF_EXPIRY];

    conf->expiry_optional = expiry->text && strcmp(expiry->text, "optional") == 0;
    if (expiry->text && *expiry->text && !conf->expiry_optional && strcmp(expiry->text, "required") != 0)
        conf_mistake(d, expiry, "\"%s\" is neither \"required\" nor \"optional\"", expiry->text);
}

/* Which of these words the setting is. If there is none, the value stays. */
static void conf_word(struct conf_draft *d, enum conf_key key, const char *const *words, unsigned *value)
{
    const struct conf_setting *at = &d->set[key];

    if (!at->text || !*at->text)
        return;
    for (unsigned k = 0; words[k]; k++)
        if (strcmp(words[k], at->text) == 0) {
            *value = k;
            return;
        }
    conf_mistake(d, at, "\"%.80s\" is not one of %s", at->text, conf_keys[key].value);
}

static void conf_log(struct conf_draft *d, struct serve_conf *conf)
{
    static const char *const scopes[] = {"orders", "locks", NULL};
    unsigned level = RECORD_INFO, format = record_is_journal(STDERR_FILENO) ? RECORD_JOURNAL : RECORD_TEXT, scope = 0;

    conf_word(d, CONF_LOG_LEVEL, record_level_name, &level);
    conf_word(d, CONF_LOG_FORMAT, record_format_name, &format);
    conf_word(d, CONF_AUDIT_SCOPE, scopes, &scope);
    conf->log_level = (enum record_level)level;
    conf->log_format = (enum record_format)format;
    conf->audit = d->set[CONF_AUDIT].text;
    conf->audit_locks = scope;
    if (scope && !conf->audit)
        conf_mistake(d, &d->set[CONF_AUDIT_SCOPE], "grants and releases go to a file; name it with --audit");
}

static void conf_socket(struct conf_draft *d, struct serve_conf *conf)
{
    const struct conf_setting *group = &d->set[CONF_SOCKET_GROUP];
    const struct group *found = NULL;

    if (d->set[CONF_SOCKET].text)
        conf->socket = d->set[CONF_SOCKET].text;
    if (conf->socket && strchr(conf->socket, ','))
        conf_mistake(d, &d->set[CONF_SOCKET], "\"%s\": clients separate places by commas; choose a path without one",
                     conf->socket);
    conf->socket_group = group->text;
    if (group->text && *group->text && !(found = getgrnam(group->text)))
        conf_mistake(d, group, "there is no group \"%s\" on this machine; make it with \"groupadd %s\"", group->text,
                     group->text);
    if (found)
        conf->socket_gid = found->gr_gid;
}

/* Finds empty values on the command line, which may come from a shell variable that is not set. (In a file they are
 * found at their lines, and an empty list of members where it is read.) */
static void conf_empty(struct conf_draft *d)
{
    for (unsigned k = 0; k < CONF_KEYS; k++)
        if (d->set[k].text && !*d->set[k].text && k != CONF_MEMBERS)
            conf_mistake(d, &d->set[k], "that needs a value: --%s %s", conf_keys[k].name, conf_keys[k].value);
}

/* Finds settings that need a cluster of several members. */
static void conf_alone(struct conf_draft *d, const struct serve_conf *conf)
{
    if (d->set[CONF_LISTEN].text)
        conf_mistake(d, &d->set[CONF_LISTEN],
                     "no process connects there, since there is no list of members; name them with --members");
    if (conf->join)
        conf_mistake(d, NULL, "--join needs the list of the cluster's members: name them with --members");
}

/* Reads where a member is, ADDRESS:PORT; and the name in its certificate, if that is another one than the address: NAME=ADDRESS:PORT. */
static void conf_place(struct conf_draft *d, const struct conf_setting *list, struct serve_member *m, const char *text)
{
    size_t len = strcspn(text, "=");

    if (text[len] && (len == 0 || len >= sizeof m->name))
        conf_mistake(d, list, "\"%.100s\" has no name before \"=\", or too long a one", text);
    else if (text[len] && !d->set[CONF_CERT].text)
        conf_mistake(d, list, "\"%.100s\": the name is that in a member's certificate, and there is no --cert", text);
    else if (text[len])
        memcpy(m->name, text, len);
    conf_address(d, list, m, text[len] ? text + len + 1 : text);
}

/* Reads where the members of an agent are, and finds settings that only members have. */
static void conf_agent(struct conf_draft *d, struct serve_conf *conf)
{
    const struct conf_setting *list = &d->set[CONF_CONNECT];
    const char *at = list->text;

    if (!conf->agent && !at)
        return;
    conf->agent = true;
    if (!at)
        conf_mistake(d, NULL, "--agent needs the places at which members accept clients: name them with --connect");
    for (unsigned k = 0; k < CONF_KEYS; k++)
        if (d->set[k].text && !conf_keys[k].of_agents) {
            conf_mistake(d, &d->set[k], "that is for members; an agent (--connect) is none");
            d->set[k].text = NULL; /* one mistake is enough */
        }
    if (d->set[CONF_KEY].text && d->set[CONF_CERT].text)
        conf_mistake(d, &d->set[CONF_CERT], "an agent proves who it is by a key or by a certificate; choose one");
    if (d->members || d->policies || d->allows || d->limits || d->logins || conf->join)
        conf_mistake(d, NULL, "an agent (--connect) is no member: members, policies and rules are settings of these");
    conf->join = false;
    while (at && *at) {
        size_t len = strcspn(at, ",");
        char place[128];

        if (conf->connects == NODE_MEMBERS_MAX) {
            conf_mistake(d, list, "there are more than %d places", NODE_MEMBERS_MAX);
            return;
        }
        snprintf(place, sizeof place, "%.*s", (int)(len < sizeof place ? len : sizeof place), at);
        conf_place(d, list, &conf->connect[conf->connects++], place);
        at += len + (at[len] == ',');
    }
}

bool conf_understand(struct conf_draft *d, struct serve_conf *conf)
{
    conf_empty(d);
    conf_agent(d, conf);
    conf_certificates(d);
    conf_members(d, conf);
    if (conf->n == 1 && !conf->member[0].port && !d->set[CONF_MEMBERS].text && !d->members)
        conf_alone(d, conf);
    if (d->set[CONF_LISTEN].text)
        conf_address(d, &d->set[CONF_LISTEN], &conf->listen, d->set[CONF_LISTEN].text);
    if (d->set[CONF_CLIENTS].text)
        conf_address(d, &d->set[CONF_CLIENTS], &conf->clients, d->set[CONF_CLIENTS].text);
    if (d->set[CONF_HTTP].text)
        conf_address(d, &d->set[CONF_HTTP], &conf->http, d->set[CONF_HTTP].text);
    conf_socket(d, conf);
    if (d->set[CONF_DATA].text)
        conf->data = d->set[CONF_DATA].text;
    conf_lease(d, conf);
    conf_deadlock(d, conf);
    conf_memory(d, conf);
    conf_expiry(d, conf);
    conf_log(d, conf);
    conf->algorithm = conf_default(d, CONF_ALGORITHM, "swaroop-singh", conf->n);
    conf->slots_algorithm = conf_default(d, CONF_SLOTS_ALGORITHM, "central", conf->n);
    conf_policies(d, conf);
    conf->rights = conf_rights(d, true);
    if (d->mistakes == 0)
        conf_summarize(conf);
    else
        conf_free(conf);
    return d->mistakes == 0;
}

void conf_free(struct serve_conf *conf)
{
    free(conf->rights);
    conf->rights = NULL;
    free(conf->summary);
    conf->summary = NULL;
}
