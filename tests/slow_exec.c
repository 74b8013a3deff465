/* slow_exec.c - loaded before a program (LD_PRELOAD), runs no other program while there is a file SLOW_EXEC: as if the file of the command were on a
 * network that does not answer. Its socket pairs have room for a few messages only. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int socketpair(int domain, int type, int protocol, int pair[2])
{
    int (*real)(int, int, int, int[2]);
    void *symbol = dlsym(RTLD_NEXT, "socketpair");
    int little = 1, result;

    memcpy(&real, &symbol, sizeof real);
    result = real(domain, type, protocol, pair);
    for (int k = 0; k < 2 && result == 0; k++)
        setsockopt(pair[k], SOL_SOCKET, SO_SNDBUF, &little, sizeof little);
    return result;
}

int execvp(const char *path, char *const words[])
{
    int (*real)(const char *, char *const[]);
    void *symbol = dlsym(RTLD_NEXT, "execvp");
    const char *file = getenv("SLOW_EXEC");

    memcpy(&real, &symbol, sizeof real);
    while (file && access(file, F_OK) == 0)
        usleep(10000);
    return real(path, words);
}
