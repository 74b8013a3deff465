/* contend.h - locks of several makers, as a benchmark sees them: a client connects, and then takes and releases. */
#ifndef DIBS_BENCH_CONTEND_H
#define DIBS_BENCH_CONTEND_H

struct maker {
    const char *name;
    /* Client number k, to the servers at these places. A failure ends the program: die. */
    void *(*connect)(char **place, int places, int k);
    void (*lock)(void *client, const char *name);
    void (*unlock)(void *client, const char *name);
};

extern const struct maker maker_dibs, maker_kept, maker_token, maker_ping, maker_redis, maker_redis_list, maker_redlock,
    maker_postgres, maker_etcd, maker_bare;

/* The maker of this name, or death. */
const struct maker *maker_find(const char *name);
double now_s(void);
void die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
/* A stream: to a path if there is a slash in it, else to HOST:PORT, without delay. */
int reach(const char *place);
void write_all(int fd, const void *bytes, unsigned long len);

#endif
