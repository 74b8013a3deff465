/* conf.h - the configuration of a daemon: what an operator has written, and what it means.
 *
 * What is written comes from the command line or from lines of a file, and both are understood in the same place: a
 * mistake is told in the same words, behind the place where it was made ("--lease: ..." or "dibs.conf:7: ..."). All
 * mistakes are told, not only the first one. The command line wins over the file.
 *
 * The file has a line for each setting: a key, which is the name of an option without its dashes, and its value. There
 * are two keys more, and they may be repeated: `member`, once for each, and `policy`, of which the first one that
 * matches a name is used. What follows a # is a comment. examples/dibs.conf is a complete one. */
#ifndef DIBS_SERVE_CONF_H
#define DIBS_SERVE_CONF_H

#include "node/node.h"

#include <stdio.h>
#include <sys/types.h>

struct tls_keys;

enum { CONF_MEMORY_MIN = 1 << 23 };
enum { CONF_LEASE_MS = 1000, CONF_LEASE_MS_MIN = 100, CONF_LEASE_MS_MAX = 60000 };

/* A name and an address; or an address without a name, none if the port is 0. */
struct serve_member {
    char name[LINK_NAME_MAX + 1];
    char host[64]; /* in numbers, or the name of a machine: see resolve.c */
    int port;
};

/* The places of public keys that are trusted at the door of clients. */
enum { CONF_TRUST_CLIENTS, CONF_TRUST_OPERATORS };
/* A certificate for this name is an operator's. */
#define CONF_OPERATOR "operator.dibs"

struct serve_conf {
    uint32_t n, self;
    struct serve_member member[NODE_MEMBERS_MAX]; /* in the order of their names */
    struct serve_member listen;                   /* where this one listens, if not at its address in the list */
    const char *socket;                           /* path, for clients of this machine */
    const char *socket_group;                     /* who may use it as well; or null */
    gid_t socket_gid;                             /* its number */
    struct serve_member clients;                  /* where clients come in over TCP, if anywhere */
    struct serve_member http;                     /* where metrics are served, if anywhere */
    const char *data;                             /* directory, for what must outlive the process */
    struct tls_keys *members_tls, *clients_tls;   /* see secrets.c; null: nothing is encrypted, all is on loopback */
    bool has_key, has_cert;                       /* what they consist of */
    bool join;                                    /* a cluster that is there already */
    uint64_t lease_ms;
    uint64_t memory_max; /* bytes; 0: no bound */
    const struct dme_alg *modes, *slots;
    struct lock_policy policy[LOCK_POLICIES_MAX];
    uint32_t policies;
    char *summary; /* what must be the same on all members */
};

/* ----------------------------------------------------------------------------------------------- what is written */

enum conf_key {
    CONF_NAME,
    CONF_MEMBERS,
    CONF_LISTEN,
    CONF_SOCKET,
    CONF_SOCKET_GROUP,
    CONF_CLIENTS,
    CONF_HTTP,
    CONF_KEY,
    CONF_CERT,
    CONF_CERT_KEY,
    CONF_CA,
    CONF_DATA,
    CONF_LEASE,
    CONF_MEMORY_MAX,
    CONF_ALGORITHM,
    CONF_SLOTS_ALGORITHM,
    CONF_KEYS
};

struct conf_setting {
    const char *text; /* or null */
    const char *key;
    unsigned line; /* of the file; 0: on the command line */
};

enum { CONF_MISTAKES_MAX = 20 }; /* that are kept: what is no configuration at all would have thousands */

struct conf_said {
    unsigned line;
    char text[512];
};

struct conf_draft {
    const char *file; /* its name, or null if there is none */
    struct conf_setting set[CONF_KEYS];
    struct conf_setting member[NODE_MEMBERS_MAX];
    struct conf_setting policy[LOCK_POLICIES_MAX];
    uint32_t members, policies;
    struct conf_said mistake[CONF_MISTAKES_MAX]; /* in the order of their lines */
    unsigned mistakes;                           /* all that there are */
};

/* The command line's settings are to be filled in next: set[k].text. */
void conf_begin(struct conf_draft *d);
/* The text of a file. It is cut into pieces, which stay in use. */
void conf_read(struct conf_draft *d, const char *file, char *text);
/* What it means. False: there were mistakes. Settings that are not written stay what they are in conf: socket and data
 * should have a value there. */
bool conf_understand(struct conf_draft *d, struct serve_conf *conf);
/* Names of machines become numbers, where it has to be known what they stand for. False: there were mistakes. */
bool conf_resolve(struct conf_draft *d, struct serve_conf *conf);
/* Reads the files with keys and certificates that it names. False: there were mistakes. */
bool conf_secrets(struct conf_draft *d, struct serve_conf *conf);
/* The same again, as the files may be others now. False: there were mistakes, and all is as before. */
bool conf_renew_secrets(struct conf_draft *d, struct serve_conf *conf);
/* All mistakes, a line each. */
void conf_tell(const struct conf_draft *d, FILE *to);
void conf_free(struct serve_conf *conf);
/* Who may come in, for a person. */
const char *conf_door(const struct serve_conf *conf, bool members);
/* What a daemon would do, for a person. */
void conf_print(const struct serve_conf *conf, FILE *to);

/* ------------------------------------------------------------------------------------------ between files: see there */

/* At a setting; or, where there is none to point at, at the whole: null. */
void conf_mistake(struct conf_draft *d, const struct conf_setting *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* As conf_mistake: unknown WHAT "word"; did you mean ...? (remedy) */
void conf_unknown(struct conf_draft *d, const struct conf_setting *at, const char *what, const char *word,
                  const char *const *names, const char *remedy);
/* The algorithm of this name, if it can run locks; else null, and a mistake. */
const struct dme_alg *conf_algorithm(struct conf_draft *d, const struct conf_setting *at, const char *name, bool slots,
                                     uint32_t n);
bool conf_is_number(const char *host); /* else it is a name */
bool conf_is_on_loopback(const char *host);
void conf_beyond_loopback(struct conf_draft *d, const struct conf_setting *at, const char *host); /* a mistake */
/* Is there a key, or a certificate? */
bool conf_is_secret(const struct conf_draft *d);
void conf_members(struct conf_draft *d, struct serve_conf *conf);
void conf_address(struct conf_draft *d, const struct conf_setting *at, struct serve_member *m, const char *text);
/* "10.0.0.1:7400" and its parts. */
void conf_split_address(struct serve_member *m, const char *text);
void conf_join_address(const struct serve_member *m, char *text, size_t size);
/* May somebody of this name be a member at this address? Null, or why not. */
const char *conf_objects(const struct serve_conf *conf, const char *name, const char *address);
void conf_policies(struct conf_draft *d, struct serve_conf *conf);
void conf_summarize(struct serve_conf *conf);

#endif
