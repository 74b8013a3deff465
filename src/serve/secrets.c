/* secrets.c - the files with keys and certificates that a configuration names. See conf.h.
 *
 * Members and clients have a door each, and what opens one does not open the other: see tls/key.h. Among members the key
 * is enough, and better than certificates: nobody else has it. Clients may have either, if both are there. */
#include "conf.h"

#include "tls/tls.h"

#include <openssl/crypto.h>
#include <sys/stat.h>

static struct tls_keys *secrets_load(struct conf_draft *d, const char *identity, const struct key *key, bool cert)
{
    char why[512];
    struct tls_conf conf = {.identity = identity, .key = key};
    struct tls_keys *keys;

    if (cert) {
        conf.cert = d->set[CONF_CERT].text;
        conf.cert_key = d->set[CONF_CERT_KEY].text;
        conf.ca = d->set[CONF_CA].text;
    }
    keys = tls_keys_new(&conf, why, sizeof why);
    if (!keys)
        conf_mistake(d, &d->set[CONF_CERT], "%s", why);
    return keys;
}

/* A group may be made for those who need the private key of a certificate; all the world is none. */
static bool secrets_are_secret(struct conf_draft *d)
{
    const struct conf_setting *file = &d->set[CONF_CERT_KEY];
    struct stat mode;

    if (!file->text || stat(file->text, &mode) != 0 || !(mode.st_mode & 07))
        return true;
    conf_mistake(d, file, "everybody can read %s; take that away with chmod 600", file->text);
    return false;
}

bool conf_renew_secrets(struct conf_draft *d, struct serve_conf *conf)
{
    struct serve_conf fresh = {.n = 0};

    d->mistakes = 0;
    if (!conf_secrets(d, &fresh)) {
        tls_keys_free(fresh.members_tls);
        return false;
    }
    tls_keys_free(conf->members_tls);
    tls_keys_free(conf->clients_tls);
    conf->members_tls = fresh.members_tls;
    conf->clients_tls = fresh.clients_tls;
    return true;
}

bool conf_secrets(struct conf_draft *d, struct serve_conf *conf)
{
    const struct conf_setting *file = &d->set[CONF_KEY];
    struct key key, members, clients;
    char why[512];

    conf->has_key = file->text;
    conf->has_cert = d->set[CONF_CERT].text;
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
    if (conf->has_key) {
        members = key_for_members(&key);
        clients = key_for_clients(&key);
    }
    conf->members_tls = secrets_load(d, TLS_MEMBERS, conf->has_key ? &members : NULL, !conf->has_key);
    if (conf->members_tls)
        conf->clients_tls = secrets_load(d, TLS_CLIENTS, conf->has_key ? &clients : NULL, conf->has_cert);
    OPENSSL_cleanse(&key, sizeof key);
    OPENSSL_cleanse(&members, sizeof members);
    OPENSSL_cleanse(&clients, sizeof clients);
    return conf->members_tls && conf->clients_tls;
}
