/* conf.h - the configuration of a daemon: the settings as an operator writes them, and as the daemon uses them.
 *
 * Settings come from the command line or from the lines of a file. The same code reads both, so an error has the same
 * words in both cases, after the place where the mistake was made ("--lease: ..." or "dibs.conf:7: ..."). All mistakes
 * are reported, not only the first one. A setting on the command line overrides the file.
 *
 * The file has a line for each setting: a key, which is the name of an option without its dashes, and a value. There
 * are more keys, which may be repeated: `member`, one line for each member; `policy`, of which the first that matches a name
 * applies; `allow`, `limit` and `login`, the rights of clients (rights/rights.h). A comment begins with #. examples/dibs.conf is a complete example. */
#ifndef DIBS_SERVE_CONF_H
#define DIBS_SERVE_CONF_H

#include "record.h"

#include "node/node.h"
#include "rights/rights.h"

#include <stdio.h>
#include <sys/types.h>

struct tls_keys;

enum { CONF_MEMORY_MIN = 1 << 23 };
enum { CONF_LEASE_MS = 1000, CONF_LEASE_MS_MIN = SETTINGS_LEASE_MS_MIN, CONF_LEASE_MS_MAX = SETTINGS_LEASE_MS_MAX };
enum { CONF_DEADLOCK_MS_MIN = 10, CONF_DEADLOCK_MS_MAX = 3600000 };

/* A member's name and address; or an address without a name. Port 0: no address. */
struct serve_member {
    char name[LINK_NAME_MAX + 1];
    char host[64]; /* an IP address, or the name of a machine: see resolve.c */
    int port;
};

/* Indices of the keys that are trusted where clients connect. */
enum { CONF_TRUST_CLIENTS, CONF_TRUST_OPERATORS };
/* A certificate for this name is an operator's. */
#define CONF_OPERATOR "operator.dibs"

struct serve_conf {
    uint32_t n, self;
    struct serve_member member[NODE_MEMBERS_MAX]; /* in the order of their names */
    struct serve_member listen;                   /* where this member listens, if not at its address in the list */
    const char *socket;                           /* path of the Unix socket for clients of this machine */
    const char *socket_group;                     /* the group that may use the socket besides its owner; or null */
    gid_t socket_gid;                             /* the number of that group */
    struct serve_member clients;                  /* where clients connect over TCP; port 0: nowhere */
    struct serve_member http;                     /* where metrics are served; port 0: nowhere */
    const char *data;                             /* the data directory */
    struct tls_keys *members_tls, *clients_tls;   /* see secrets.c; null: no encryption, and loopback only */
    bool has_key, has_cert;                       /* which of the two the TLS keys are made from */
    bool join;                                    /* join an existing cluster */
    bool agent; /* this daemon is no member: see agent.c; then members_tls are its keys */
    struct serve_member connect[NODE_MEMBERS_MAX]; /* where members accept clients, and so agents */
    uint32_t connects;
    uint64_t lease_ms;
    uint64_t deadlock_ms;        /* see struct node_conf */
    uint64_t memory_max;         /* bytes; 0: no bound */
    bool expiry_optional;        /* see struct node_conf */
    enum record_level log_level; /* records of later levels are left out of the log */
    enum record_format log_format;
    const char *audit; /* the file of the audit trail; or null */
    bool audit_locks;  /* .. with grants and releases */
    const struct dme_alg *algorithm, *slots_algorithm;
    struct lock_policy policy[LOCK_POLICIES_MAX];
    uint32_t policies;
    struct rights *rights; /* the rules for clients; see allow.c */
    char *summary;         /* the part that must be the same on all members, as text */
};

/* ----------------------------------------------------------------------------------------------- what is written */

enum conf_key {
    CONF_NAME,
    CONF_MEMBERS,
    CONF_LISTEN,
    CONF_SOCKET,
    CONF_SOCKET_GROUP,
    CONF_CLIENTS,
    CONF_CONNECT,
    CONF_HTTP,
    CONF_KEY,
    CONF_CERT,
    CONF_CERT_KEY,
    CONF_CA,
    CONF_DATA,
    CONF_LEASE,
    CONF_DEADLOCK_AFTER,
    CONF_MEMORY_MAX,
    CONF_EXPIRY,
    CONF_LOG_LEVEL,
    CONF_LOG_FORMAT,
    CONF_AUDIT,
    CONF_AUDIT_SCOPE,
    CONF_ALGORITHM,
    CONF_SLOTS_ALGORITHM,
    CONF_KEYS
};

struct conf_setting {
    const char *text; /* or null */
    const char *key;
    unsigned line; /* the line of the file; 0: on the command line */
};

enum { CONF_MISTAKES_MAX = 20 }; /* mistakes that are kept: a file that is no configuration could have thousands */

struct conf_said {
    unsigned line;
    char text[512];
};

struct conf_draft {
    const char *file; /* name of the file, or null if there is none */
    struct conf_setting set[CONF_KEYS];
    struct conf_setting member[NODE_MEMBERS_MAX];
    struct conf_setting policy[LOCK_POLICIES_MAX];
    struct conf_setting allow[RIGHTS_RULES_MAX], limit[RIGHTS_LIMITS_MAX], login[RIGHTS_LOGINS_MAX];
    uint32_t members, policies, allows, limits, logins;
    struct conf_said mistake[CONF_MISTAKES_MAX]; /* in the order of their lines */
    unsigned mistakes;                           /* their number, including those that are not kept */
};

/* Begins a draft. The caller then fills in the settings of the command line: set[k].text. */
/* Parses a time: "2s", "1m", "250ms", or milliseconds without a unit. */
bool conf_time(const char *text, uint64_t *ms);

void conf_begin(struct conf_draft *d);
/* Reads the text of a file. The text is cut into pieces, to which the draft points. */
void conf_read(struct conf_draft *d, const char *file, char *text);
/* Turns the draft into a configuration. Returns false if there were mistakes. A setting that is not in the draft keeps
 * its value in `conf`: socket and data should have one. */
bool conf_understand(struct conf_draft *d, struct serve_conf *conf);
/* Looks up the names of machines where their addresses must be known. Returns false if there were mistakes. */
bool conf_resolve(struct conf_draft *d, struct serve_conf *conf);
/* Reads the files with keys and certificates that the configuration names. Returns false if there were mistakes. */
bool conf_secrets(struct conf_draft *d, struct serve_conf *conf);
/* The same in two steps, for files that may have changed. The first step reads them, and may run in a thread of its own; it
 * returns false if there were mistakes. The second step uses what was read. */
struct secrets {
    struct tls_keys *members, *clients;
};
bool conf_read_secrets(struct conf_draft *d, struct secrets *fresh);
void conf_use_secrets(struct serve_conf *conf, const struct secrets *fresh);
/* Prints all mistakes, one line each. */
void conf_tell(const struct conf_draft *d, FILE *to);
void conf_free(struct serve_conf *conf);
/* Which members, or which clients, may connect over TCP: a phrase for people. */
const char *conf_door(const struct serve_conf *conf, bool members);
/* Prints the configuration for people. */
void conf_print(const struct serve_conf *conf, FILE *to);

/* ------------------------------------------------------------------------------------------ between files: see there */

/* Reports a mistake in the setting `at`, or in the configuration as a whole if `at` is null. */
void conf_mistake(struct conf_draft *d, const struct conf_setting *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Like conf_mistake, with the text: unknown WHAT "word"; did you mean ...? (remedy) */
void conf_unknown(struct conf_draft *d, const struct conf_setting *at, const char *what, const char *word,
                  const char *const *names, const char *remedy);
bool conf_is_number(const char *host); /* an IP address, not a name */
bool conf_is_on_loopback(const char *host);
void conf_beyond_loopback(struct conf_draft *d, const struct conf_setting *at, const char *host); /* a mistake */
/* Does the draft have a key or a certificate? */
bool conf_is_secret(const struct conf_draft *d);
void conf_members(struct conf_draft *d, struct serve_conf *conf);
void conf_address(struct conf_draft *d, const struct conf_setting *at, struct serve_member *m, const char *text);
/* Converts between "10.0.0.1:7400" and its parts. */
void conf_split_address(struct serve_member *m, const char *text);
void conf_join_address(const struct serve_member *m, char *text, size_t size);
/* Returns null if a member may have this name and address, else why not. */
const char *conf_objects(const struct serve_conf *conf, const char *name, const char *address);
/* Reads the policies of the draft, for `conf->n` members. */
void conf_policies(struct conf_draft *d, struct serve_conf *conf);
void conf_summarize(struct serve_conf *conf);
/* allow.c: the rules of the draft, as a table that the caller frees. `here`: all users and groups must exist on this machine. */
struct rights *conf_rights(struct conf_draft *d, bool here);
/* Gives the subject its number, if it is a user or a group of this machine. Returns 0; or, if the machine could not tell, the error, and does not
 * change the subject. */
int conf_ask_subject(struct rights_subject *s);
/* Reads the rules of this file again; may run in a thread of its own. Returns null if there were mistakes, which are then in the draft. The draft
 * is overwritten. */
struct rights *conf_read_rights(struct conf_draft *d, const char *file);

#endif
