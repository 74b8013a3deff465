/* identify.c - what a client has proved to be: by the kernel at the Unix socket, by TLS over the network. See
 * rights/rights.h. Users and groups are known by number, since looking up their names may need the network. */
#include "serve.h"

#include "base/memory.h"
#include "base/plain.h"
#include "command/permit.h"
#include "tls/tls.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { NAMES_MAX = 1024 };

static char *identify_copy(const char *text, size_t len)
{
    return memcpy(mem_new(len + 1), text, len);
}

/* All groups of the process at the other end, `first` included. */
static void identify_groups(int fd, gid_t first, struct rights_who *who)
{
    socklen_t len = 0;
    gid_t *groups = NULL;

    if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &len) < 0 && errno == ERANGE && len) {
        groups = mem_new(len);
        if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &len) < 0)
            len = 0;
    }
    who->group = mem_new(len + sizeof *who->group);
    for (size_t k = 0; k < len / sizeof *groups; k++)
        who->group[who->groups++] = groups[k];
    who->group[who->groups++] = first;
    free(groups);
}

static void identify_process(const struct stream *stream, struct rights_who *who, pid_t *process)
{
    struct ucred peer;
    socklen_t len = sizeof peer;
    uv_os_fd_t fd;

    if (uv_fileno((const uv_handle_t *)&stream->uv.any, &fd) != 0 ||
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0)
        return;
    *process = peer.pid;
    who->has_user = true;
    who->user = peer.uid;
    who->operates = peer.uid == geteuid() || peer.uid == 0;
    identify_groups(fd, peer.gid, who);
}

static void identify_secure(const struct tls *tls, struct rights_who *who)
{
    char names[NAMES_MAX];

    switch (tls_proved(tls)) {
    case CONF_TRUST_OPERATORS:
        who->operates = true;
        who->key = identify_copy("cluster", 7);
        break;
    case CONF_TRUST_CLIENTS:
        who->key = identify_copy("client", 6);
        break;
    case TLS_PROVED_NAME:
        who->key = identify_copy(tls_key_name(tls), strlen(tls_key_name(tls)));
        break;
    default:
        who->certified = tls_is_named(tls, CONF_OPERATOR);
        if (tls_cert_names(tls, names, sizeof names)) {
            size_t len = 0;

            while (names[len])
                len += strlen(names + len) + 1;
            who->certs = identify_copy(names, len);
        }
    }
}

bool serve_identify(struct client *c, const struct stream *stream, pid_t *process)
{
    struct rights_who *who = mem_new(sizeof *who);
    char from[128] = "", label[RIGHTS_LABEL_MAX];
    struct sockaddr_storage address;

    if (stream->uv.any.type == UV_NAMED_PIPE) {
        identify_process(stream, who, process);
        if (who->has_user)
            snprintf(from, sizeof from, "user %u", (unsigned)who->user);
    } else if (serve_peer_address(stream, &address)) {
        uv_ip_name((struct sockaddr *)&address, from, sizeof from);
    }
    if (stream->tls) {
        identify_secure(stream->tls, who);
        rights_label(who, label);
        if (who->key || who->certs)
            snprintf(from + strlen(from), sizeof from - strlen(from), ", %.*s",
                     (int)plain_cut(label, strlen(label), 60), label);
    }
    memcpy(c->session->from, from, plain_cut(from, strlen(from), sizeof c->session->from - 1));
    return permit_meet(c, who);
}
