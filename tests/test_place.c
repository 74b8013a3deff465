/* Connections to a daemon, as libdibs makes them (client/place.h). */
#include "test.h"

#include "client/place.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CLIENTS_MAX = 64 };

struct crowd {
    char directory[64], path[80];
    int door, client[CLIENTS_MAX];
    unsigned count;
};

static int dial(const struct crowd *c)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

    assert_true(fd >= 0);
    strcpy(address.sun_path, c->path);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    close(fd);
    return -1;
}

/* As many clients as the socket lets wait. */
static void gather(struct crowd *c)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    snprintf(c->directory, sizeof c->directory, "/tmp/dibs-test-place-XXXXXX");
    assert_non_null(mkdtemp(c->directory));
    snprintf(c->path, sizeof c->path, "%s/socket", c->directory);
    strcpy(address.sun_path, c->path);
    c->door = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_true(c->door >= 0 && bind(c->door, (struct sockaddr *)&address, sizeof address) == 0);
    assert_int_equal(listen(c->door, 4), 0);
    while (c->count < CLIENTS_MAX && (c->client[c->count] = dial(c)) >= 0)
        c->count++;
    assert_int_equal(errno, EAGAIN);
}

static void disperse(struct crowd *c)
{
    while (c->count)
        close(c->client[--c->count]);
    close(c->door);
    unlink(c->path);
    rmdir(c->directory);
}

static void a_client_waits_while_too_many_others_wait_to_be_accepted(void **state)
{
    struct crowd c = {.count = 0};
    char why[300] = "";
    bool tcp;
    pid_t daemon;
    int fd;

    (void)state;
    gather(&c);
    daemon = fork();
    if (daemon == 0) {
        usleep(100000);
        for (;;)
            accept(c.door, NULL, NULL);
    }
    fd = place_connect(c.path, &tcp, why, sizeof why);
    kill(daemon, SIGKILL);
    waitpid(daemon, NULL, 0);
    disperse(&c);
    if (fd < 0)
        fail_msg("%s", why);
    close(fd);
}

static int crowded;

/* The clients that wait are accepted, so that there is room. */
static void let_in(int number)
{
    (void)number;
    while (accept(crowded, NULL, NULL) >= 0)
        ;
}

static void one_that_connects_again_does_not_wait(void **state)
{
    struct crowd c = {.count = 0};
    char why[300] = "";
    bool tcp, pending;
    int fd;

    (void)state;
    gather(&c);
    crowded = c.door;
    assert_true(fcntl(c.door, F_SETFL, O_NONBLOCK) == 0 && signal(SIGALRM, let_in) != SIG_ERR);
    alarm(1); /* one that waited would be connected */
    fd = place_dial(c.path, 0, &tcp, &pending, why, sizeof why);
    alarm(0);
    disperse(&c);
    assert_true(fd < 0 && strstr(why, "no daemon at"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_client_waits_while_too_many_others_wait_to_be_accepted),
        cmocka_unit_test(one_that_connects_again_does_not_wait),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
