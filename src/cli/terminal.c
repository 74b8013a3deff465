/* terminal.c - see terminal.h. */
#include "terminal.h"

#include "cli.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static struct termios terminal_before, terminal_raw;
static pid_t terminal_owner;                   /* a child of the program does not put the terminal in order */
static volatile sig_atomic_t terminal_changed; /* it was resized, or has been taken again */
static int terminal_kept = KEY_NONE;           /* the key that was pressed right behind Escape */

/* The other screen, without lines that go on in the next one; and back. */
static const char terminal_enter[] = "\033[?1049h\033[?7l", terminal_leave[] = "\033[?7h\033[?1049l";

static void terminal_write(const char *text)
{
    ssize_t written = write(STDOUT_FILENO, text, strlen(text));

    (void)written;
}

static void terminal_restore(void)
{
    if (getpid() != terminal_owner)
        return;
    fflush(stdout);
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &terminal_before);
    terminal_write(terminal_leave);
}

/* The signal ends the program as it would have, but the terminal is put in order first. */
static void terminal_on_end(int number)
{
    if (getpid() == terminal_owner) {
        tcsetattr(STDIN_FILENO, TCSANOW, &terminal_before);
        terminal_write(terminal_leave);
    }
    raise(number); /* SA_RESETHAND: now by default */
}

static void terminal_set(const struct termios *how)
{
    while (tcsetattr(STDIN_FILENO, TCSANOW, how) != 0 && errno == EINTR)
        ;
}

/* The program stops here, and goes on behind that, unless no shell could continue it: then the system ignores the signal. */
static void terminal_on_stop(int number)
{
    struct sigaction stop = {.sa_handler = SIG_DFL}, mine;
    sigset_t only;
    int error = errno;

    terminal_set(&terminal_before);
    terminal_write(terminal_leave);
    sigaction(number, &stop, &mine);
    sigemptyset(&only);
    sigaddset(&only, number);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &only, NULL);
    sigprocmask(SIG_BLOCK, &only, NULL);
    sigaction(number, &mine, NULL);
    terminal_set(&terminal_raw);
    terminal_write(terminal_enter);
    terminal_changed = 1;
    errno = error;
}

static void terminal_on_change(int number)
{
    (void)number;
    terminal_changed = 1;
}

void terminal_take(const char *who)
{
    static const int ends[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
    struct sigaction action = {.sa_handler = terminal_on_end, .sa_flags = (int)SA_RESETHAND};
    struct sigaction stop = {.sa_handler = terminal_on_stop, .sa_flags = SA_RESTART};
    struct sigaction change = {.sa_handler = terminal_on_change, .sa_flags = SA_RESTART};

    if (tcgetattr(STDIN_FILENO, &terminal_before) != 0)
        cli_die("%s: the terminal cannot be used", who);
    terminal_raw = terminal_before;
    terminal_raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG);
    terminal_raw.c_cc[VMIN] = 1;
    terminal_raw.c_cc[VTIME] = 0;
    terminal_owner = getpid();
    for (unsigned k = 0; k < sizeof ends / sizeof ends[0]; k++)
        sigaction(ends[k], &action, NULL);
    sigaction(SIGTSTP, &stop, NULL);
    sigaction(SIGWINCH, &change, NULL);
    sigaction(SIGCONT, &change, NULL); /* behind SIGSTOP, which no program sees: the screen may have been written on */
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &terminal_raw);
    terminal_write(terminal_enter);
    atexit(terminal_restore);
}

void terminal_size(unsigned *columns, unsigned *lines)
{
    struct winsize size = {0};

    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    *columns = size.ws_col ? size.ws_col : 80;
    *lines = size.ws_row ? size.ws_row : 24;
}

bool terminal_is_waited_for(void)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};

    return terminal_changed || terminal_kept != KEY_NONE || poll(&in, 1, 0) != 0;
}

/* A byte; KEY_NONE if none comes within the time, or a signal does. */
static int terminal_byte(const struct timespec *wait, const sigset_t *meanwhile)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    unsigned char byte;
    int ready = ppoll(&in, 1, wait, meanwhile);

    if (ready == 0 || (ready < 0 && errno == EINTR))
        return KEY_NONE;
    return ready == 1 && read(STDIN_FILENO, &byte, 1) == 1 ? byte : KEY_GONE;
}

/* The next byte of a key that has several. */
static int terminal_rest(void)
{
    return terminal_byte(&(struct timespec){.tv_nsec = 50000000}, NULL);
}

/* The first byte of a key. A signal that comes before the wait begins ends the wait, too. */
static int terminal_first(int wait_ms)
{
    struct timespec wait = {.tv_sec = wait_ms / 1000, .tv_nsec = wait_ms % 1000 * 1000000L};
    sigset_t ours, before;
    int key = terminal_kept;

    terminal_kept = KEY_NONE;
    if (key != KEY_NONE)
        return key;
    sigemptyset(&ours);
    sigaddset(&ours, SIGWINCH);
    sigaddset(&ours, SIGCONT);
    sigaddset(&ours, SIGTSTP);
    sigprocmask(SIG_BLOCK, &ours, &before);
    if (!terminal_changed)
        key = terminal_byte(wait_ms < 0 ? NULL : &wait, &before);
    terminal_changed = 0;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return key;
}

int terminal_key(int wait_ms)
{
    int key = terminal_first(wait_ms);

    if (key == 26) { /* Ctrl-Z */
        kill(0, SIGTSTP);
        return KEY_NONE;
    }
    if (key != 27)
        return key;
    key = terminal_rest();
    if (key != '[' && key != 'O') {
        terminal_kept = key;
        return KEY_ESCAPE;
    }
    switch (terminal_rest()) {
    case 'A':
        return KEY_UP;
    case 'B':
        return KEY_DOWN;
    case 'C':
        return KEY_RIGHT;
    case 'D':
        return KEY_LEFT;
    case '5':
        terminal_rest(); /* ~ */
        return KEY_PAGE_UP;
    case '6':
        terminal_rest();
        return KEY_PAGE_DOWN;
    default:
        return KEY_NONE;
    }
}
