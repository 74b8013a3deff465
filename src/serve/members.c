/* members.c - reads the members of a cluster and their addresses from settings. See conf.h. */
#include "conf.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Without a cluster key a daemon cannot tell a member of another machine from an intruder: all members are on
 * loopback. */
bool conf_is_on_loopback(const char *host)
{
    struct in_addr v4;
    struct in6_addr v6;

    if (inet_pton(AF_INET, host, &v4) == 1)
        return ntohl(v4.s_addr) >> 24 == 127;
    return inet_pton(AF_INET6, host, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

bool conf_is_number(const char *host)
{
    struct in6_addr any;

    return inet_pton(AF_INET, host, &any) == 1 || inet_pton(AF_INET6, host, &any) == 1;
}

/* The name of a machine has a letter after its last dot. Otherwise it would be a mistyped IP address. */
static bool members_is_address(const char *host)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    const char *dot = strrchr(host, '.'), *last = dot ? dot + 1 : host;

    return conf_is_number(host) ||
           (host[0] != '.' && host[0] != '-' && !host[strspn(host, allowed)] && last[strspn(last, "0123456789")]);
}

/* Is it an address at which a daemon can listen, but to which no other can connect? */
static bool members_is_everywhere(const char *host)
{
    static const struct in6_addr nothing;
    struct in6_addr any = nothing;

    return (inet_pton(AF_INET, host, &any) == 1 || inet_pton(AF_INET6, host, &any) == 1) &&
           memcmp(&any, &nothing, sizeof any) == 0;
}

void conf_split_address(struct serve_member *m, const char *text)
{
    const char *colon = strrchr(text, ':');
    bool brackets = text[0] == '[';
    int len = colon ? (int)(colon - text) - 2 * brackets : 0;

    snprintf(m->host, sizeof m->host, "%.*s", len > 0 ? len : 0, text + brackets);
    m->port = colon ? (int)strtol(colon + 1, NULL, 10) : 0;
}

void conf_join_address(const struct serve_member *m, char *text, size_t size)
{
    snprintf(text, size, strchr(m->host, ':') ? "[%s]:%d" : "%s:%d", m->host, m->port);
}

void conf_beyond_loopback(struct conf_draft *d, const struct conf_setting *at, const char *host)
{
    conf_mistake(
        d, at,
        "%s is not on loopback; without a key any process could connect: make a key with \"dibs keygen FILE\", "
        "and give it to all members with --key FILE",
        host);
}

/* Parses "10.0.0.1:7400", "[fd00::1]:7400" or "ant.example:7400". */
void conf_address(struct conf_draft *d, const struct conf_setting *at, struct serve_member *m, const char *text)
{
    const char *colon = strrchr(text, ':');
    char *end = NULL;
    long port;

    if (!colon || colon == text || (size_t)(colon - text) >= sizeof m->host) {
        conf_mistake(d, at, "\"%.100s\" is not an address; write ADDRESS:PORT, the address with up to %d characters",
                     text, (int)sizeof m->host - 1);
        return;
    }
    if (text[0] == '[' && colon[-1] == ']')
        snprintf(m->host, sizeof m->host, "%.*s", (int)(colon - text - 2), text + 1);
    else
        snprintf(m->host, sizeof m->host, "%.*s", (int)(colon - text), text);
    port = strtol(colon + 1, &end, 10);
    if (colon[1] < '0' || colon[1] > '9' || *end || port < 1 || port > 65535) {
        conf_mistake(d, at, "\"%.100s\" is not a port; it is a number from 1 to 65535", colon + 1);
        return;
    }
    m->port = (int)port;
    if (!members_is_address(m->host))
        conf_mistake(d, at, "\"%s\" is not an address; write 10.0.0.1:7400, [fd00::1]:7400 or ant.example:7400",
                     m->host);
    else if (conf_is_number(m->host) && !conf_is_on_loopback(m->host) && !conf_is_secret(d))
        conf_beyond_loopback(d, at, m->host);
}

/* A member's name appears in logs and in file names. */
static bool members_is_name(const char *name, size_t len)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

    return len >= 1 && len <= LINK_NAME_MAX && strspn(name, allowed) >= len && name[0] != '.' && name[0] != '-';
}

static const char name_remedy[] = "it has up to 63 letters, digits and . _ -, and begins with a letter or digit";

const char *conf_objects(const struct serve_conf *conf, const char *name, const char *address)
{
    struct serve_member m;
    char again[VIEW_ADDRESS_MAX + 1];

    conf_split_address(&m, address);
    conf_join_address(&m, again, sizeof again);
    if (!members_is_name(name, strlen(name)))
        return "that is not a name for a member; it has up to 63 letters, digits and . _ -";
    if (strcmp(again, address) != 0 || !members_is_address(m.host) || m.port < 1 || m.port > 65535)
        return "that is not an address; write 10.0.0.1:7400, [fd00::1]:7400 or ant.example:7400";
    if (members_is_everywhere(m.host))
        return "that is no address to which others can connect";
    if (!conf_is_on_loopback(m.host) && !conf->has_key && !conf->has_cert)
        return "without a key, the addresses of members are numbers on loopback, such as 127.0.0.1";
    return NULL;
}

/* Reports a member whose name or address is the same as that of a member before it. */
static void members_compare_all(struct conf_draft *d, const struct conf_setting *at, const struct serve_conf *conf,
                                const struct serve_member *m)
{
    for (uint32_t j = 0; j < conf->n; j++) {
        const struct serve_member *other = &conf->member[j];

        if (strcmp(other->name, m->name) == 0)
            conf_mistake(d, at, "two members are called %s; each needs a name of its own", m->name);
        else if (m->port && other->port == m->port && strcmp(other->host, m->host) == 0)
            conf_mistake(d, at, "%s and %s have the same address; each needs one of its own", other->name, m->name);
    }
    if (members_is_everywhere(m->host) && conf_is_secret(d))
        conf_mistake(d, at,
                     "%s is no address to which others can connect; write this machine's, and add \"listen %s:%d\"",
                     m->host, m->host, m->port);
}

/* Parses "ant=10.0.0.1:7400". */
static void members_add(struct conf_draft *d, const struct conf_setting *at, struct serve_conf *conf, const char *text,
                        size_t len)
{
    struct serve_member *m = &conf->member[conf->n];
    char item[160], *equals;

    snprintf(item, sizeof item, "%.*s", (int)len, text);
    equals = strchr(item, '=');
    if (conf->n == NODE_MEMBERS_MAX) {
        conf_mistake(d, at, "there are more than %d members", NODE_MEMBERS_MAX);
    } else if (!equals || len >= sizeof item) {
        conf_mistake(d, at, "\"%s\" is not a member; write NAME=ADDRESS:PORT", item);
    } else if (!members_is_name(item, (size_t)(equals - item))) {
        conf_mistake(d, at, "\"%.*s\" is not a name for a member; %s", (int)(equals - item), item, name_remedy);
    } else {
        *equals = '\0';
        *m = (struct serve_member){.port = 0};
        memcpy(m->name, item, (size_t)(equals - item) + 1);
        conf_address(d, at, m, equals + 1);
        members_compare_all(d, at, conf, m);
        conf->n++;
    }
}

static int members_compare(const void *a, const void *b)
{
    return strcmp(((const struct serve_member *)a)->name, ((const struct serve_member *)b)->name);
}

static bool members_find(struct serve_conf *conf, const char *name)
{
    for (uint32_t j = 0; j < conf->n; j++)
        if (strcmp(conf->member[j].name, name) == 0) {
            conf->self = j;
            return true;
        }
    return false;
}

/* Finds this member in the list: by --name, or by the name of this machine, so that all members can have the same
 * file. */
static void members_self(struct conf_draft *d, struct serve_conf *conf)
{
    const struct conf_setting *name = &d->set[CONF_NAME];
    char host[256] = "";

    if (name->text) {
        if (!members_find(conf, name->text))
            conf_mistake(d, name, "\"%s\" is not in the list of members; add it there, or choose one of the list",
                         name->text);
        return;
    }
    gethostname(host, sizeof host - 1);
    if (members_find(conf, host))
        return;
    host[strcspn(host, ".")] = '\0';
    if (!members_find(conf, host))
        conf_mistake(d, NULL,
                     "no member has the name of this machine, \"%.100s\"; say which one this is with --name NAME",
                     host);
}

/* The name of a daemon that is in no list. Agents are many, and people have to tell them apart: an agent has the name of its machine, if
 * that is a name. */
static void members_name_itself(struct serve_conf *conf, const char *wished)
{
    char host[256] = "";

    gethostname(host, sizeof host - 1);
    host[strcspn(host, ".")] = '\0';
    if (!wished)
        wished = conf->agent && members_is_name(host, strlen(host)) ? host : "alone";
    snprintf(conf->member[0].name, sizeof conf->member[0].name, "%.*s", (int)sizeof conf->member[0].name - 1, wished);
}

void conf_members(struct conf_draft *d, struct serve_conf *conf)
{
    const struct conf_setting *list = &d->set[CONF_MEMBERS], *name = &d->set[CONF_NAME];

    conf->n = 0;
    if (list->text && !*list->text) /* perhaps from a shell variable that is not set */
        conf_mistake(d, list, "the list of members is empty; leave it out for a daemon alone");
    for (const char *text = list->text; text && *text;) {
        size_t len = strcspn(text, ",");

        members_add(d, list, conf, text, len);
        text += len + (text[len] == ',');
    }
    for (uint32_t k = 0; k < d->members && !list->text; k++)
        members_add(d, &d->member[k], conf, d->member[k].text, strlen(d->member[k].text));
    /* Members are numbered by name, so that the order in which they are written does not matter. */
    qsort(conf->member, conf->n, sizeof conf->member[0], members_compare);
    if (conf->n) {
        members_self(d, conf);
    } else {
        conf->n = 1;
        conf->self = 0;
        conf->member[0] = (struct serve_member){.port = 0};
        members_name_itself(conf, name->text);
        if (name->text && !members_is_name(name->text, strlen(name->text)))
            conf_mistake(d, name, "\"%.100s\" is not a name for a member; %s", name->text, name_remedy);
    }
}
