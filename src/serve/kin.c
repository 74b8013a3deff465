/* kin.c - see kin.h. */
#include "kin.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* An address and a port in the form of inet_diag. */
static void kin_place(const struct sockaddr_storage *from, __be16 *port, __be32 *address)
{
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;

    if (from->ss_family == AF_INET) {
        memcpy(&v4, from, sizeof v4);
        *port = v4.sin_port;
        memcpy(address, &v4.sin_addr, sizeof v4.sin_addr);
    } else {
        memcpy(&v6, from, sizeof v6);
        *port = v6.sin6_port;
        memcpy(address, &v6.sin6_addr, sizeof v6.sin6_addr);
    }
}

struct kin_question {
    struct nlmsghdr head;
    struct inet_diag_req_v2 body;
};

struct kin_answer {
    struct nlmsghdr head;
    struct inet_diag_msg body;
    uint8_t rest[1024];
};

/* Asks the kernel for the socket with these two ends. Returns false if the kernel knows none. */
static bool kin_ask(const struct sockaddr_storage *there, const struct sockaddr_storage *here,
                    struct kin_answer *answer)
{
    struct kin_question q = {
        .head = {.nlmsg_len = sizeof q, .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST},
        .body = {.sdiag_family = (uint8_t)there->ss_family, .sdiag_protocol = IPPROTO_TCP, .idiag_states = UINT32_MAX}};
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    ssize_t len = -1;

    kin_place(there, &q.body.id.idiag_sport, q.body.id.idiag_src);
    kin_place(here, &q.body.id.idiag_dport, q.body.id.idiag_dst);
    q.body.id.idiag_cookie[0] = q.body.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
    if (fd >= 0 && send(fd, &q, sizeof q, 0) == (ssize_t)sizeof q) /* the kernel answers before it returns */
        len = recv(fd, answer, sizeof *answer, MSG_DONTWAIT);
    if (fd >= 0)
        close(fd);
    return len >= (ssize_t)(sizeof answer->head + sizeof answer->body) &&
           answer->head.nlmsg_type == SOCK_DIAG_BY_FAMILY;
}

/* The kernel reports root as the user of a socket that no process has open any more; its inode number is then 0. */
const char *kin_objects(const struct stream *s)
{
    struct sockaddr_storage here = {0}, there = {0};
    int here_len = sizeof here, there_len = sizeof there;
    struct kin_answer answer;

    if (uv_tcp_getsockname(&s->uv.tcp, (struct sockaddr *)&here, &here_len) != 0 ||
        uv_tcp_getpeername(&s->uv.tcp, (struct sockaddr *)&there, &there_len) != 0)
        return "has ended the connection";
    if (!kin_ask(&there, &here, &answer))
        return "is a process whose user the kernel does not tell; give all members a key (dibs keygen, --key)";
    if (answer.body.idiag_state != TCP_ESTABLISHED || !answer.body.idiag_inode)
        return "has ended the connection";
    if (answer.body.idiag_uid != geteuid() && answer.body.idiag_uid != 0)
        return "is a process of another user; members of different users need a key (dibs keygen, --key)";
    return NULL;
}
