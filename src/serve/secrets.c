/* secrets.c - the files with keys and certificates that a configuration names. See conf.h.
 *
 * Members and clients connect at different ports, with different keys: see tls/key.h. If there are both a key and
 * certificates, members use the key, which only members have. Clients can use either. */
#include "conf.h"

#include "tls/tls.h"

#include <string.h>

static struct tls_keys *secrets_load(struct conf_draft *d, struct tls_conf *conf, bool cert)
{
    char why[512];
    struct tls_keys *keys;

    if (cert) {
        conf->cert = d->set[CONF_CERT].text;
        conf->cert_key = d->set[CONF_CERT_KEY].text;
        conf->ca = d->set[CONF_CA].text;
    }
    keys = tls_keys_new(conf, why, sizeof why);
    if (!keys)
        conf_mistake(d, &d->set[CONF_CERT], "%s", why);
    return keys;
}

/* Derives the keys for members and for clients from the cluster key. */
static bool secrets_derive(const struct key *cluster, struct tls_conf *members, struct tls_conf *clients,
                           struct key *member, struct key *daemon, struct key *names)
{
    struct key operators = key_derive(cluster, KEY_OPERATORS), client = key_derive(cluster, KEY_CLIENTS);
    bool good = key_public(&operators, clients->trusted[CONF_TRUST_OPERATORS]) &&
                key_public(&client, clients->trusted[CONF_TRUST_CLIENTS]);

    *member = key_derive(cluster, KEY_MEMBERS);
    *daemon = key_derive(cluster, KEY_DAEMONS);
    *names = key_derive(cluster, KEY_NAMES);
    clients->names = names;
    members->key = member;
    clients->proof = daemon;
    clients->trusts = 2;
    explicit_bzero(&operators, sizeof operators);
    explicit_bzero(&client, sizeof client);
    return good;
}

/* A group may be able to read the private key of a certificate, but not every user. */
static bool secrets_are_secret(struct conf_draft *d)
{
    const struct conf_setting *file = &d->set[CONF_CERT_KEY];
    char why[512];

    if (!file->text || tls_cert_key_is_secret(file->text, why, sizeof why))
        return true;
    conf_mistake(d, file, "%s", why);
    return false;
}

bool conf_read_secrets(struct conf_draft *d, struct secrets *fresh)
{
    struct serve_conf conf = {.n = 0};
    bool good;

    d->mistakes = 0;
    good = conf_secrets(d, &conf);
    if (!good)
        tls_keys_free(conf.members_tls);
    *fresh = (struct secrets){.members = good ? conf.members_tls : NULL, .clients = good ? conf.clients_tls : NULL};
    return good;
}

void conf_use_secrets(struct serve_conf *conf, const struct secrets *fresh)
{
    tls_keys_free(conf->members_tls);
    tls_keys_free(conf->clients_tls);
    conf->members_tls = fresh->members;
    conf->clients_tls = fresh->clients;
}

/* An agent is a client of the members: a client key or a certificate has all that is needed, and a cluster key proves that of an operator. */
static bool secrets_of_agent(struct conf_draft *d, struct serve_conf *conf)
{
    const struct conf_setting *file = &d->set[CONF_KEY];
    struct key key, proof, daemon;
    struct tls_conf tls = {.proof = &proof, .trusts = 1};
    char why[512];

    if (conf->has_cert) {
        tls = (struct tls_conf){.trusts = 0};
        conf->members_tls = secrets_are_secret(d) ? secrets_load(d, &tls, true) : NULL;
        return conf->members_tls;
    }
    if (!file->text)
        return true;
    if (!key_read(&key, file->text, why, sizeof why)) {
        conf_mistake(d, file, "%s", why);
        return false;
    }
    proof = key.client ? key : key_derive(&key, KEY_OPERATORS);
    daemon = key.client ? key : key_derive(&key, KEY_DAEMONS);
    tls.name = key.name;
    memcpy(tls.trusted[0], key.daemon, KEY_LEN);
    if (key.client || key_public(&daemon, tls.trusted[0]))
        conf->members_tls = secrets_load(d, &tls, false);
    explicit_bzero(&key, sizeof key);
    explicit_bzero(&proof, sizeof proof);
    explicit_bzero(&daemon, sizeof daemon);
    return conf->members_tls;
}

bool conf_secrets(struct conf_draft *d, struct serve_conf *conf)
{
    const struct conf_setting *file = &d->set[CONF_KEY];
    struct tls_conf members = {.identity = TLS_MEMBERS}, clients = {.trusts = 0};
    struct key key, member, daemon, names;
    char why[512];

    conf->has_key = file->text;
    conf->has_cert = d->set[CONF_CERT].text;
    if (d->set[CONF_CONNECT].text)
        return secrets_of_agent(d, conf);
    if (!conf->has_key && !conf->has_cert)
        return true;
    if (!secrets_are_secret(d))
        return false;
    if (conf->has_key && !key_read(&key, file->text, why, sizeof why)) {
        conf_mistake(d, file, "%s", why);
        return false;
    }
    if (conf->has_key && key.client) {
        conf_mistake(d, file, "%s is a key for clients only; a daemon needs that of the cluster", file->text);
        return false;
    }
    if (!conf->has_key || secrets_derive(&key, &members, &clients, &member, &daemon, &names))
        conf->members_tls = secrets_load(d, &members, !conf->has_key);
    if (conf->members_tls)
        conf->clients_tls = secrets_load(d, &clients, conf->has_cert);
    explicit_bzero(&key, sizeof key);
    explicit_bzero(&member, sizeof member);
    explicit_bzero(&daemon, sizeof daemon);
    explicit_bzero(&names, sizeof names);
    return conf->members_tls && conf->clients_tls;
}
