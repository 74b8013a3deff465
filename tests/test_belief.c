/* The decisions of the client library (client/belief.h) as a table of cases. A case is a run of steps: at a time, the program
 * calls, or the daemon says something, or time passes; and what the program hears and what is sent must be as expected.
 *
 * What is expected is a line: requests that are sent in brackets (those sent as MEANWHILE begin with ~), the result of the
 * call (".." while it waits), "lost NAME: WHY" for each loss, and "by T" for the next deadline.
 * Invariant: I20. */
#include "test.h"

#include "client/belief.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct step {
    uint64_t at_ms;
    const char *act, *expected;
};

/* What the daemon says. */
#define VOUCHES(ms) "<>2\r\n$9\r\nmeanwhile\r\n:" #ms "\r\n"
#define ASIDE(reply) "<>2\r\n$9\r\nmeanwhile\r\n" reply "\r\n"
#define GRANT(name, fence) "<*2\r\n$1\r\n" #name "\r\n:" #fence "\r\n"
#define LOSS(name, fence) "<>4\r\n$4\r\nlost\r\n$1\r\n" #name "\r\n:" #fence "\r\n$5\r\ntaken\r\n"

/* Connected at 1000, vouched for until 1900. */
#define CONNECTED                                                                                                      \
    {1000, "hello", "[HELLO 3 SETNAME me] [~CONFIRM] .. by 11000"}, {1010, "<%0\r\n", ".. by 11000"},                  \
    {                                                                                                                  \
        1020, VOUCHES(900), "ok"                                                                                       \
    }
#define HOLDS_X                                                                                                        \
    CONNECTED, {1100, "lock x", "[LOCK x] .. by 1300"},                                                                \
    {                                                                                                                  \
        1110, GRANT(x, 7), "ok 7 by 1300"                                                                              \
    }

/* The same with a session that is kept for 5000. */
#define KEPT                                                                                                           \
    {1000, "keep", "[HELLO 3 SETNAME me] [SESSION KEEP 5000] [~CONFIRM] .. by 11000"},                                 \
        {1010, "<%0\r\n$6\r\nsecret\r\n", ".. by 11000"},                                                              \
    {                                                                                                                  \
        1020, VOUCHES(900), "ok"                                                                                       \
    }
#define KEPT_X                                                                                                         \
    KEPT, {1100, "lock x", "[LOCK x] .. by 1300"},                                                                     \
    {                                                                                                                  \
        1110, GRANT(x, 7), "ok 7 by 1300"                                                                              \
    }

static const struct {
    const char *name;
    struct step step[16];
} cases[] = {
    {"a lock is granted, confirmed at a third of its validity, and unlocked",
     {HOLDS_X,
      {1300, "clock", "[~CONFIRM] by 1900"},
      {1350, VOUCHES(900), "by 1600"},
      {1400, "unlock x", "[UNLOCK x 7] .. by 1600"},
      {1410, "<+OK\r\n", "ok"}}},
    {"validity counts from the question, not from the answer",
     {HOLDS_X,
      {1300, "clock", "[~CONFIRM] by 1900"},
      {1890, VOUCHES(900), "[~CONFIRM] by 2200"},
      {2199, "fence x", "7 by 2200"},
      {2200, "fence x", "0 lost x: the daemon does not vouch for its locks any more"}}},
    {"a loss that the daemon pushes is told at once, and once",
     {HOLDS_X,
      {1200, LOSS(x, 7), "lost x: taken"},
      {1201, LOSS(x, 7), ""},
      {1202, "fence x", "0"},
      {1203, "unlock x", "[~UNLOCK x 7] lost"}}},
    {"a loss of another fence is none of this lock", {HOLDS_X, {1200, LOSS(x, 6), "by 1300"}}},
    {"when the connection ends, all locks are lost at once",
     {HOLDS_X,
      {1120, "lock y", "[LOCK y] .. by 1300"},
      {1130, GRANT(y, 8), "ok 8 by 1300"},
      {1150, "end", "lost y: ended lost x: ended"},
      {1151, "fence x", "0"},
      {1152, "confirm x", "gone"},
      {1153, "lock z", "gone"}}},
    {"a program that was stopped for longer than the validity has lost its locks",
     {HOLDS_X, {5000, "fence x", "0 lost x: the daemon does not vouch for its locks any more"}}},
    {"a stopped program that then waits for an answer hears first whether its locks are held",
     {HOLDS_X, {5000, "confirm x", "[~CONFIRM] .. by 15000"}, {5100, VOUCHES(900), "ok by 5300"}}},
    {"and loses them if the daemon does not answer",
     {HOLDS_X,
      {5000, "wait y", "[~CONFIRM] [LOCK y WAIT 500] .. by 15000"},
      {15000, "clock", "gone lost x: the daemon does not vouch for its locks any more"}}},
    {"an older question does not answer a call of confirm",
     {HOLDS_X,
      {1300, "clock", "[~CONFIRM] by 1900"},
      {1310, "confirm x", ".. by 1900"},
      {1320, VOUCHES(900), "[~CONFIRM] .. by 2200"},
      {1330, VOUCHES(900), "ok by 1620"}}},
    {"unless the answer is that the locks are lost",
     {HOLDS_X,
      {1300, "clock", "[~CONFIRM] by 1900"},
      {1310, "confirm x", ".. by 1900"},
      {1320, ASIDE("-NOQUORUM alone"), "lost lost x: NOQUORUM alone"}}},
    {"a call of confirm ends although the answer is so late that the next question is due",
     {HOLDS_X, {1200, "confirm x", "[~CONFIRM] .. by 1900"}, {1800, VOUCHES(900), "[~CONFIRM] ok by 2100"}}},
    {"so does one that was silent until shortly before the end of the validity",
     {HOLDS_X, {1890, "confirm x", "[~CONFIRM] .. by 11890"}, {1910, VOUCHES(900), "ok by 2190"}}},
    {"a lock is lost in time though a call waits for an answer of the daemon",
     {HOLDS_X,
      {1200, "confirm x", "[~CONFIRM] .. by 1900"},
      {1900, "clock", "gone lost x: the daemon does not vouch for its locks any more"}}},
    {"a grant is not told before the daemon vouches for it",
     {CONNECTED,
      {3000, "start x", "[~CONFIRM] [LOCK x] ok"},
      {3010, GRANT(x, 7), "by 13000"},
      {3020, "result", "waiting by 13000"},
      {3030, VOUCHES(900), "by 3300"},
      {3040, "result", "ok 7 by 3300"},
      {3050, "fence x", "7 by 3300"}}},
    {"a grant for which no answer vouches in time is given back, so that others are served",
     {CONNECTED,
      {1100, "start x", "[LOCK x] ok by 1300"},
      {2500, GRANT(x, 7), "[~CONFIRM] by 12500"},
      {3500, VOUCHES(900), "[~CONFIRM] by 12500"},
      {4500, VOUCHES(900), "[~CONFIRM] by 12500"},
      {12499, VOUCHES(900), "[~CONFIRM] by 12500"},
      {12500, "clock", "[~UNLOCK x 7]"},
      {12510, "result", "lost"},
      {12520, "fence x", "0"},
      {12530, "start x", "[~UNLOCK x 7] [LOCK x] ok"}}},
    {"but not because there was no connection",
     {KEPT,
      {1100, "start x", "[LOCK x] ok by 1300"},
      {1110, GRANT(x, 7), "by 1300"},
      {1120, "break", "by 6000"},
      {2000, "result", "waiting by 6000"},
      {5900, "return", "[HELLO 3 SETNAME me] [SESSION RESUME secret] by 6000"},
      {5990, "<%0\r\n*3\r\n$7\r\nRESUMED\r\n$1\r\nx\r\n:7\r\n", "[~CONFIRM] by 15990"},
      {15900, VOUCHES(900), "[~CONFIRM] by 15990"},
      {15980, VOUCHES(900), "by 16200"},
      {15985, "result", "ok 7 by 16200"}}},
    {"it is not given back while the daemon answers in time that it cannot vouch: the members keep the session",
     {KEPT,
      {1100, "start x", "[LOCK x] ok by 1300"},
      {2500, GRANT(x, 7), "[~CONFIRM] by 12500"},
      {2600, ASIDE("-NOQUORUM alone"), "by 2700"}, /* after a pause: else client and daemon would do nothing else */
      {2700, "clock", "[~CONFIRM] by 12600"},
      {12500, ASIDE("-NOQUORUM alone"), "[~CONFIRM] by 22500"},
      {12600, "result", "waiting by 22500"},
      {13500, VOUCHES(900), "[~CONFIRM] by 22500"},
      {13600, VOUCHES(900), "by 13800"},
      {13700, "result", "ok 7 by 13800"}}},
    {"a grant that is fetched late is not told unless it is still vouched for",
     {CONNECTED,
      {1100, "start x", "[LOCK x] ok by 1300"},
      {1110, GRANT(x, 7), "by 1300"},
      {4000, "result", "[~CONFIRM] waiting by 14000"},
      {4010, VOUCHES(900), "by 4300"},
      {4020, "result", "ok 7 by 4300"}}},
    {"a grant that is lost before it is fetched was never held",
     {CONNECTED,
      {1100, "start x", "[LOCK x] ok by 1300"},
      {1110, GRANT(x, 7), "by 1300"},
      {1120, LOSS(x, 7), ""},
      {1130, "result", "lost"}}},
    {"a lock that the program holds is lost in time though a grant of another one is in doubt",
     {HOLDS_X,
      {1120, "start y", "[LOCK y] ok by 1300"},
      {1900, GRANT(y, 8), "[~CONFIRM] lost x: the daemon does not vouch for its locks any more"},
      {1901, "result", "lost"}}},
    {"a refused question loses all locks, and the connection stays",
     {HOLDS_X,
      {1300, "clock", "[~CONFIRM] by 1900"},
      {1310, ASIDE("-NOQUORUM alone"), "lost x: NOQUORUM alone"},
      {1320, "lock y", "[LOCK y] [~CONFIRM] .."},
      {1330, "<-NOQUORUM alone\r\n", "no quorum"}}},
    {"a renewal that is refused is a loss",
     {HOLDS_X,
      {1200, "start_renew x", "[~RENEW x 7 TTL 100] ok by 1300"},
      {1210, ASIDE("-NOTHELD no"), "lost x: NOTHELD no"}}},
    {"a renewal of a lock that the daemon does not know says that it is lost",
     {HOLDS_X, {1200, "renew x", "[RENEW x 7 TTL 100] .. by 1300"}, {1210, "<-NOTHELD no\r\n", "lost"}}},
    {"and it is told once",
     {HOLDS_X,
      {1200, "renew x", "[RENEW x 7 TTL 100] .. by 1300"},
      {1210, "<-LOST its TTL\r\n", "lost"},
      {1220, "end", ""}}},
    {"a lock that is not granted in time",
     {CONNECTED, {1100, "wait x", "[LOCK x WAIT 500] .. by 1300"}, {1600, "<_\r\n", "timeout"}}},
    {"a daemon that does not answer in time is gone",
     {CONNECTED,
      {1100, "wait x", "[LOCK x WAIT 500] .. by 1300"},
      {1300, "clock", "[~CONFIRM] .. by 11600"},
      {11600, "clock", "gone"}}},
    {"what is lost is asked for anew: the daemon hears first that the program has let go",
     {HOLDS_X, {1200, LOSS(x, 7), "lost x: taken"}, {1210, "lock x", "[~UNLOCK x 7] [LOCK x] .. by 1300"}}},
    {"a daemon that refuses the connection",
     {{1000, "hello", "[HELLO 3 SETNAME me] [~CONFIRM] .. by 11000"},
      {1001, "<-ERR no\r\n", ".. by 11000"},
      {1002, "end", "refused"}}},
    {"an answer without a question ends the connection",
     {HOLDS_X, {1200, "<:1\r\n", "lost x: this is not a daemon of dibs, or not one of this version"}}},
    {"a grant without a fence ends the connection",
     {CONNECTED, {1100, "lock x", "[LOCK x] .. by 1300"}, {1110, GRANT(x, 0), "gone"}}},
    {"a kept session is asked for with the connection",
     {KEPT, {1100, "lock x", "[LOCK x] .. by 1300"}, {1110, GRANT(x, 7), "ok 7 by 1300"}}},
    {"a daemon that keeps no session is refused",
     {{1000, "keep", "[HELLO 3 SETNAME me] [SESSION KEEP 5000] [~CONFIRM] .. by 11000"},
      {1010, "<%0\r\n-ERR unknown command\r\n", ".. by 11000"},
      {1020, VOUCHES(900), "refused"}}},
    {"the connection breaks, and the lock is valid for as long as the daemon has vouched for it",
     {KEPT_X,
      {1200, "break", "by 1900"},
      {1201, "fence x", "7 by 1900"},
      {1202, "confirm x", "in doubt by 1900"},
      {1203, "renew x", "in doubt by 1900"},
      {1500, "return", "[HELLO 3 SETNAME me] [SESSION RESUME secret] by 1900"},
      {1510, "<%0\r\n", "by 1900"},
      {1520, "<*3\r\n$7\r\nRESUMED\r\n$1\r\nx\r\n:7\r\n", "[~CONFIRM] by 1900"},
      {1540, VOUCHES(900), "by 1820"},
      {1550, "fence x", "7 by 1820"}}},
    {"then it is in doubt, until the session has been resumed and the daemon vouches for it",
     {KEPT_X,
      {1200, "break", "by 1900"},
      {1900, "clock", "doubt by 6000"},
      {1900, "fence x", "0 by 6000"},
      {2500, "return", "[HELLO 3 SETNAME me] [SESSION RESUME secret] by 6000"},
      {2520, "<%0\r\n*3\r\n$7\r\nRESUMED\r\n$1\r\nx\r\n:7\r\n", "[~CONFIRM] by 3520"},
      {2530, "fence x", "0 by 3520"},
      {2540, VOUCHES(900), "no doubt by 2820"},
      {2550, "fence x", "7 by 2820"}}},
    {"what the daemon does not tell of is lost, and so is what it tells of with another fence",
     {KEPT_X,
      {1120, "lock y", "[LOCK y] .. by 1300"},
      {1130, GRANT(y, 8), "ok 8 by 1300"},
      {1200, "break", "by 1900"},
      {1500, "return", "[HELLO 3 SETNAME me] [SESSION RESUME secret] by 1900"},
      {1520, "<%0\r\n*3\r\n$7\r\nRESUMED\r\n$1\r\nx\r\n:6\r\n",
       "[~UNLOCK x 6] [~CONFIRM] lost y: it was lost while there was no connection lost x: it was lost while there was "
       "no connection"}}},
    {"a session that is not resumed in time is lost, counted from the question that was answered last",
     {KEPT_X,
      {1300, "clock", "[~CONFIRM] by 1900"},
      {1310, "break", "by 1900"},
      {5999, "clock", "doubt by 6000"},
      {6000, "clock", "lost x: the session could not be resumed in time"}}},
    {"a question is sent at a third of the keep time if the daemon vouches for longer: a connection that breaks ends "
     "no session",
     {{1000, "keep", "[HELLO 3 SETNAME me] [SESSION KEEP 5000] [~CONFIRM] .. by 11000"},
      {1010, "<%0\r\n$6\r\nsecret\r\n", ".. by 11000"},
      {1020, VOUCHES(30000), "ok"},
      {1100, "lock x", "[LOCK x] .. by 2666"},
      {1110, GRANT(x, 7), "ok 7 by 2666"},
      {2666, "clock", "[~CONFIRM] by 31000"},
      {2670, VOUCHES(30000), "by 4332"},
      {4332, "clock", "[~CONFIRM] by 32666"},
      {4340, VOUCHES(30000), "by 5998"},
      {6100, "break", "by 9332"},
      {6200, "return", "[HELLO 3 SETNAME me] [SESSION RESUME secret] by 9332"},
      {6210, "<%0\r\n*3\r\n$7\r\nRESUMED\r\n$1\r\nx\r\n:7\r\n", "[~CONFIRM] by 34332"}}},
    {"so is one that the members do not know any more",
     {KEPT_X,
      {1310, "break", "by 1900"},
      {1500, "return", "[HELLO 3 SETNAME me] [SESSION RESUME secret] by 1900"},
      {1510, "<%0\r\n-NOSESSION none\r\n",
       "[SESSION KEEP 5000] lost x: it was lost while there was no connection by 11500"},
      {1520, "<$5\r\nother\r\n", "[~CONFIRM]"}}},
    {"and a lock of the new session is not held on the word of the daemon of the old one",
     {KEPT_X,
      {1310, "break", "by 1900"},
      {1500, "return", "[HELLO 3 SETNAME me] [SESSION RESUME secret] by 1900"},
      {1510, "<%0\r\n-NOSESSION none\r\n",
       "[SESSION KEEP 5000] lost x: it was lost while there was no connection by 11500"},
      {1520, "<$5\r\nother\r\n", "[~CONFIRM]"},
      {1530, "lock y", "[LOCK y] .."},
      {1540, GRANT(y, 8), ".. by 11520"},
      {1550, VOUCHES(900), "ok 8 by 1820"}}},
    {"a daemon that does not resume it is left, and the library tries again",
     {KEPT_X,
      {1310, "break", "by 1900"},
      {1500, "return", "[HELLO 3 SETNAME me] [SESSION RESUME secret] by 1900"},
      {1510, "<%0\r\n-NOQUORUM none\r\n", "by 1900"},
      {1600, "return", "[HELLO 3 SETNAME me] [SESSION RESUME secret] by 1900"}}},
    {"a daemon that cannot vouch is asked again, while the members keep the lock",
     {KEPT_X,
      {1300, "clock", "[~CONFIRM] by 1900"},
      {1310, ASIDE("-NOQUORUM alone"), "by 1500"},
      {1500, "clock", "[~CONFIRM] by 1900"},
      {1510, ASIDE("-NOQUORUM alone"), "by 1700"},
      {1900, "clock", "[~CONFIRM] doubt by 2900"},
      {1910, VOUCHES(900), "no doubt by 2200"}}},
    {"and left after a second, if there are others",
     {KEPT_X,
      {1200, "elsewhere", "by 1300"},
      {1890, "clock", "[~CONFIRM] by 1900"},
      {1895, ASIDE("-NOQUORUM alone"), "by 1900"},
      {1900, "clock", "doubt by 2090"},
      {2090, "clock", "[~CONFIRM] by 3090"},
      {2095, ASIDE("-NOQUORUM alone"), "by 2290"},
      {2900, "clock", "by 6000"},
      {2910, "return", "[HELLO 3 SETNAME me] [SESSION RESUME secret] by 6000"}}},
    {"a daemon that does not answer any more is given up",
     {KEPT_X,
      {1300, "clock", "[~CONFIRM] by 1900"},
      {1900, "clock", "doubt by 2300"},
      {2300, "clock", "by 6000"},
      {2310, "return", "[HELLO 3 SETNAME me] [SESSION RESUME secret] by 6000"}}},
    {"a program that was stopped for longer than the keep time asks before it gives its locks up",
     {KEPT_X,
      {20000, "clock", "[~CONFIRM] doubt by 21000"},
      {20010, VOUCHES(900), "no doubt by 20300"},
      {20020, "fence x", "7 by 20300"},
      {40000, "clock", "[~CONFIRM] doubt by 41000"},
      {41000, "clock", "lost x: the daemon does not vouch for its locks any more"}}},
    {"also if it was stopped while it waited for an answer",
     {KEPT_X,
      {1300, "clock", "[~CONFIRM] by 1900"},
      {20000, "clock", "doubt by 20100"},
      {20001, VOUCHES(900), "[~CONFIRM] by 21000"},
      {20010, VOUCHES(900), "no doubt by 20301"}}},
    {"a program that asks in doubt hears that its locks are held when a question of its own was answered, not an "
     "earlier one",
     {KEPT_X,
      {1300, "clock", "[~CONFIRM] by 1900"},
      {1900, "clock", "doubt by 2300"},
      {1950, "confirm x", ".. by 2300"},
      {1960, VOUCHES(900), "[~CONFIRM] .. by 2960"},
      {1980, VOUCHES(900), "ok no doubt by 2260"}}},
    {"a program that waits for an answer after a silence is in doubt, too",
     {KEPT_X,
      {1850, "renew x", "[~CONFIRM] [RENEW x 7 TTL 100] .. by 1900"},
      {1900, "clock", ".. doubt by 2850"},
      {2850, "clock", "in doubt by 6000"}}},
    {"a daemon is not left on behalf of a lock that the program has unlocked",
     {KEPT_X,
      {1300, "clock", "[~CONFIRM] by 1900"},
      {1900, "clock", "doubt by 2300"},
      {1910, "unlock x", "[UNLOCK x 7] .. by 2300"},
      {1920, "<+OK\r\n", "ok by 2300"},
      {2300, "clock", "no doubt"},
      {2400, "lock y", "[LOCK y] .."}}},
    {"a session that the daemon has taken from the connection is resumed by another one",
     {KEPT_X,
      {1200, "<>2\r\n$7\r\nsession\r\n$7\r\ncut off\r\n", "doubt by 6000"},
      {1201, "fence x", "0 by 6000"},
      {1210, "return", "[HELLO 3 SETNAME me] [SESSION RESUME secret] by 6000"},
      {1220, "<%0\r\n*3\r\n$7\r\nRESUMED\r\n$1\r\nx\r\n:7\r\n", "[~CONFIRM] by 2220"},
      {1230, VOUCHES(900), "no doubt by 1520"}}},
    {"a request that waits goes on waiting, for the rest of its time",
     {KEPT,
      {1100, "wait y", "[LOCK y WAIT 500] .. by 1300"},
      {1150, "break", ".. by 6150"},
      {1300, "return", "[HELLO 3 SETNAME me] [SESSION RESUME secret] .. by 6150"},
      {1310, "<%0\r\n*1\r\n$7\r\nRESUMED\r\n", "[~CONFIRM] [LOCK y WAIT 290] .. by 11600"},
      {1320, GRANT(y, 9), "ok 9 by 1900"}}},
    {"for as long as the session would be kept, counted from the break",
     {KEPT,
      {1100, "lock y", "[LOCK y] .. by 1300"},
      {1300, "clock", "[~CONFIRM] .."},
      {1310, VOUCHES(99000), ".. by 2966"},
      {20000, "break", ".. by 25000"},
      {25000, "clock", "gone"}}},
    {"a lock that was granted while the connection broke is the answer",
     {KEPT,
      {1100, "lock y", "[LOCK y] .. by 1300"},
      {1150, "break", ".. by 6150"},
      {2300, "return", "[HELLO 3 SETNAME me] [SESSION RESUME secret] .. by 6150"},
      {2310, "<%0\r\n*3\r\n$7\r\nRESUMED\r\n$1\r\ny\r\n:9\r\n", "[~CONFIRM] .. by 12310"},
      {2330, VOUCHES(900), "ok 9 by 2610"}}},
    {"but not one with the fence of a lock that it has released before: it is released again",
     {KEPT_X,
      {1120, "unlock x", "[UNLOCK x 7] .. by 1300"},
      {1125, "<+OK\r\n", "ok"},
      {1130, "lock x", "[LOCK x] .. by 1300"},
      {1150, "break", ".. by 6150"},
      {2300, "return", "[HELLO 3 SETNAME me] [SESSION RESUME secret] .. by 6150"},
      {2310, "<%0\r\n*3\r\n$7\r\nRESUMED\r\n$1\r\nx\r\n:7\r\n", "[~UNLOCK x 7] [~CONFIRM] [LOCK x] .."},
      {2320, ASIDE("+OK"), ".."},
      {2330, VOUCHES(900), ".. by 2610"},
      {2340, GRANT(x, 9), "ok 9 by 2610"}}},
    {"what is unlocked without a connection is released when there is one",
     {KEPT_X,
      {1200, "break", "by 1900"},
      {1210, "unlock x", "in doubt"},
      {1500, "return", "[HELLO 3 SETNAME me] [SESSION RESUME secret] by 11500"},
      {1510, "<%0\r\n*3\r\n$7\r\nRESUMED\r\n$1\r\nx\r\n:7\r\n", "[~UNLOCK x 7] [~CONFIRM]"}}},
    {"a daemon that does not answer whether the session is resumed is given up",
     {KEPT,
      {1200, "break", ""},
      {1500, "return", "[HELLO 3 SETNAME me] [SESSION RESUME secret] by 11500"},
      {11500, "clock", ""},
      {11600, "return", "[HELLO 3 SETNAME me] [SESSION RESUME secret] by 21600"}}},
    {"an upgrade waits, its lock is confirmed meanwhile, and it has a new fence then",
     {HOLDS_X,
      {1110, "upgrade x", "[UPGRADE x 7] .. by 1300"},
      {1300, "clock", "[~CONFIRM] .. by 1900"},
      {1310, VOUCHES(900), ".. by 1600"},
      {1400, GRANT(x, 9), "ok by 1600"},
      {1410, "fence x", "9 by 1600"},
      {1420, "downgrade x", "[DOWNGRADE x 9] .. by 1600"},
      {1430, "<+OK\r\n", "ok by 1600"}}},
    {"an upgrade whose connection breaks is in doubt; the session has it, and the fence is the new one",
     {KEPT,
      {1100, "share x", "[LOCK x SHARED] .. by 1300"},
      {1110, GRANT(x, 7), "ok 7 by 1300"},
      {1120, "upgrade x", "[UPGRADE x 7] .. by 1300"},
      {1130, "break", "in doubt by 1900"},
      {1200, "return", "[HELLO 3 SETNAME me] [SESSION RESUME secret] by 1900"},
      {1210, "<%0\r\n*3\r\n$7\r\nRESUMED\r\n$1\r\nx\r\n:9\r\n", "[~CONFIRM] by 1900"},
      {1220, "fence x", "9 by 1900"},
      {1230, LOSS(x, 9), "lost x: taken"}}},
    {"also if another lock of the program has a larger fence: those of two locks have nothing to do with each other",
     {KEPT,
      {1100, "lock y", "[LOCK y] .. by 1300"},
      {1105, GRANT(y, 20), "ok 20 by 1300"},
      {1110, "share x", "[LOCK x SHARED] .. by 1300"},
      {1115, GRANT(x, 7), "ok 7 by 1300"},
      {1120, "upgrade x", "[UPGRADE x 7] .. by 1300"},
      {1130, "break", "in doubt by 1900"},
      {1200, "return", "[HELLO 3 SETNAME me] [SESSION RESUME secret] by 1900"},
      {1210, "<%0\r\n*5\r\n$7\r\nRESUMED\r\n$1\r\ny\r\n:20\r\n$1\r\nx\r\n:9\r\n", "[~CONFIRM] by 1900"},
      {1220, "fence x", "9 by 1900"},
      {1230, "fence y", "20 by 1900"}}},
    {"the session has it as before, and the lock is shared",
     {KEPT,
      {1100, "share x", "[LOCK x SHARED] .. by 1300"},
      {1110, GRANT(x, 7), "ok 7 by 1300"},
      {1120, "upgrade x", "[UPGRADE x 7] .. by 1300"},
      {1130, "break", "in doubt by 1900"},
      {1200, "return", "[HELLO 3 SETNAME me] [SESSION RESUME secret] by 1900"},
      {1210, "<%0\r\n*3\r\n$7\r\nRESUMED\r\n$1\r\nx\r\n:7\r\n", "[~CONFIRM] by 1900"},
      {1220, "fence x", "7 by 1900"}}},
    {"a larger fence of a lock that was not to be upgraded is not its own",
     {KEPT,
      {1100, "share x", "[LOCK x SHARED] .. by 1300"},
      {1110, GRANT(x, 7), "ok 7 by 1300"},
      {1120, "upgrade x", "[UPGRADE x 7] .. by 1300"},
      {1130, "<_\r\n", "timeout by 1300"},
      {1140, "break", "by 1900"},
      {1200, "return", "[HELLO 3 SETNAME me] [SESSION RESUME secret] by 1900"},
      {1210, "<%0\r\n*3\r\n$7\r\nRESUMED\r\n$1\r\nx\r\n:9\r\n",
       "[~UNLOCK x 9] [~CONFIRM] lost x: it was lost while there was no connection"}}},
    {"an upgrade that ends leaves the lock as it is",
     {HOLDS_X,
      {1110, "try_upgrade x", "[UPGRADE x 7 WAIT 0] .. by 1300"},
      {1120, "<_\r\n", "timeout by 1300"},
      {1130, "upgrade x", "[UPGRADE x 7] .. by 1300"},
      {1140, "<-DEADLOCK another\r\n", "deadlock by 1300"},
      {1150, "fence x", "7 by 1300"}}},
    {"a lock that is lost with its new fence before the program knows that is lost",
     {HOLDS_X,
      {1110, "upgrade x", "[UPGRADE x 7] .. by 1300"},
      {1120, "<*2\r\n$1\r\nx\r\n:9\r\n>4\r\n$4\r\nlost\r\n$1\r\nx\r\n:9\r\n$5\r\ntaken\r\n", "lost lost x: taken"},
      {1130, "fence x", "0"}}},
    {"an upgrade of a lock that the daemon does not know is a loss",
     {HOLDS_X,
      {1110, "upgrade x", "[UPGRADE x 7] .. by 1300"},
      {1120, "<-NOTHELD no\r\n", "lost"},
      {1130, "fence x", "0"}}},
    {"a lock is held once more as it is held, and an exclusive one also as shared",
     {HOLDS_X,
      {1111, "again x", "ok by 1300"},
      {1112, "again_shared x", "ok by 1300"},
      {1113, "again_red x", "misuse by 1300"},
      {1114, "share y", "[LOCK y SHARED] .. by 1300"},
      {1115, GRANT(y, 8), "ok 8 by 1300"},
      {1116, "again y", "misuse by 1300"},
      {1117, "again_shared y", "ok by 1300"}}},
    {"a group is not another group, and two slots are not three",
     {CONNECTED,
      {1100, "red x", "[LOCK x GROUP red] .. by 1300"},
      {1110, GRANT(x, 7), "ok 7 by 1300"},
      {1111, "again_red x", "ok by 1300"},
      {1112, "again_blue x", "misuse by 1300"},
      {1113, "slot y", "[LOCK y SLOTS 2] .. by 1300"},
      {1114, GRANT(y, 8), "ok 8 by 1300"},
      {1115, "again_2_slots y", "ok by 1300"},
      {1116, "again_3_slots y", "misuse by 1300"}}},
    {"a lock that was granted while the connection broke is held as it was wanted",
     {KEPT,
      {1100, "share y", "[LOCK y SHARED] .. by 1300"},
      {1150, "break", ".. by 6150"},
      {2300, "return", "[HELLO 3 SETNAME me] [SESSION RESUME secret] .. by 6150"},
      {2310, "<%0\r\n*3\r\n$7\r\nRESUMED\r\n$1\r\ny\r\n:9\r\n", "[~CONFIRM] .. by 12310"},
      {2330, VOUCHES(900), "ok 9 by 2610"},
      {2340, "again y", "misuse by 2610"},
      {2350, "again_shared y", "ok by 2610"}}},
    {"a lock that was granted to a request that the program has cancelled is released, not taken for the next one",
     {KEPT,
      {1100, "start_share x", "[LOCK x SHARED] ok by 1300"},
      {1110, "break", "by 6110"},
      {1120, "cancel", "ok"},
      {1130, "result", "timeout"},
      {1140, "start x", "ok by 6140"},
      {1200, "return", "[HELLO 3 SETNAME me] [SESSION RESUME secret] by 6140"},
      {1210, "<%0\r\n*3\r\n$7\r\nRESUMED\r\n$1\r\nx\r\n:9\r\n", "[~UNLOCK x 9] [~CONFIRM] [LOCK x]"},
      {1220, "break", "by 6220"},
      {1230, "return", "[HELLO 3 SETNAME me] [SESSION RESUME secret] by 6220"},
      {1240, "<%0\r\n*3\r\n$7\r\nRESUMED\r\n$1\r\nx\r\n:9\r\n", "[~UNLOCK x 9] [~CONFIRM] [LOCK x]"}}},
    {"so is one whose mode is not certain, since it was to be upgraded when the connection broke",
     {KEPT,
      {1100, "share x", "[LOCK x SHARED] .. by 1300"},
      {1110, GRANT(x, 7), "ok 7 by 1300"},
      {1120, "upgrade x", "[UPGRADE x 7] .. by 1300"},
      {1130, "break", "in doubt by 1900"},
      {1140, "start_unlock x", "in doubt"},
      {1150, "start_share x", "ok by 6150"},
      {1200, "return", "[HELLO 3 SETNAME me] [SESSION RESUME secret] by 6150"},
      {1210, "<%0\r\n*3\r\n$7\r\nRESUMED\r\n$1\r\nx\r\n:9\r\n", "[~UNLOCK x 9] [~CONFIRM] [LOCK x SHARED]"}}},
    {"a request is cancelled although the connection breaks before the answer",
     {KEPT,
      {1100, "start x", "[LOCK x] ok by 1300"},
      {1110, "cancel", "[~CANCEL] ok by 1300"},
      {1120, "break", ""},
      {1200, "return", "[HELLO 3 SETNAME me] [SESSION RESUME secret] by 11200"},
      {1210, "<%0\r\n*3\r\n$7\r\nRESUMED\r\n$1\r\nx\r\n:9\r\n", "[~UNLOCK x 9] [~CONFIRM]"},
      {1220, "result", "timeout"}}},
    {"the lock of a token is waited for as long as the request says, while the daemon answers",
     {CONNECTED,
      {1100, "hold x", "[LOCK x TOKEN t TTL 9 WAIT 60000] .. by 1300"},
      {1300, "clock", "[~CONFIRM] .. by 11300"},
      {1310, VOUCHES(900), ".. by 1600"},
      {1600, "clock", "[~CONFIRM] .. by 11600"},
      {1610, VOUCHES(100000), ".. by 34933"},
      {34933, "clock", "[~CONFIRM] .. by 44933"},
      {34940, VOUCHES(100000), ".. by 68266"},
      {61000, GRANT(x, 7), "ok"}}},
    {"and not if it does not",
     {CONNECTED,
      {1100, "hold x", "[LOCK x TOKEN t TTL 9 WAIT 60000] .. by 1300"},
      {1300, "clock", "[~CONFIRM] .. by 11300"},
      {11300, "clock", "gone"}}},
    {"calls that cannot be",
     {HOLDS_X,
      {1110, "lock x", "misuse by 1300"},
      {1110, "result", "misuse by 1300"},
      {1110, "unlock y", "not held by 1300"},
      {1110, "start y", "[LOCK y] ok by 1300"},
      {1110, "unlock x", "misuse by 1300"},
      {1110, "start_unlock x", "[~UNLOCK x 7] ok by 1300"}}},
};

enum { LINE = 1024 };

static const char *const run_codes[] = {"ok",        "timeout", "lost",   "gone",      "not held", "wrong kind",
                                        "no quorum", "refused", "misuse", "no memory", "in doubt", "deadlock"};

struct run {
    struct belief b;
    char said[LINE], lost[LINE];
};

static void run_add(char line[LINE], const char *word)
{
    size_t len = strlen(line);

    snprintf(line + len, LINE - len, "%s%s", len && *word ? " " : "", word);
}

/* A call. DIBS_WAITING: there is no result yet, or there will not be one. */
static int run_call(struct run *r, const struct step *s)
{
    const char *space = strchr(s->act, ' '), *name = space ? space + 1 : "";
    size_t len = space ? (size_t)(space - s->act) : strlen(s->act);
    const struct dibs_wish none = {0}, brief = {.wait_ms = 500};
    int code = DIBS_WAITING;

#define IS(text) (len == strlen(text) && memcmp(s->act, text, len) == 0)
    if (IS("hello"))
        belief_hello(&r->b, "me", 0, s->at_ms);
    else if (IS("keep"))
        belief_hello(&r->b, "me", 5000, s->at_ms);
    else if (IS("break"))
        belief_break(&r->b, "broken", s->at_ms);
    else if (IS("elsewhere"))
        r->b.elsewhere = true;
    else if (IS("return"))
        belief_return(&r->b, "me", s->at_ms);
    else if (IS("lock") || IS("wait"))
        code = belief_lock(&r->b, name, IS("wait") ? &brief : &none, true, s->at_ms);
    else if (IS("hold"))
        code =
            belief_ask(&r->b, (const char *[]){"LOCK", name, "TOKEN", "t", "TTL", "9", "WAIT", "60000"}, 8, s->at_ms);
    else if (IS("share"))
        code = belief_lock(&r->b, name, &(struct dibs_wish){.mode = DIBS_SHARED}, true, s->at_ms);
    else if (IS("red"))
        code = belief_lock(&r->b, name, &(struct dibs_wish){.mode = DIBS_GROUP, .group = "red"}, true, s->at_ms);
    else if (IS("again") || IS("again_shared"))
        code = belief_lock(&r->b, name,
                           &(struct dibs_wish){.mode = IS("again") ? DIBS_EXCLUSIVE : DIBS_SHARED, .reentrant = true},
                           true, s->at_ms);
    else if (IS("again_red") || IS("again_blue"))
        code = belief_lock(
            &r->b, name,
            &(struct dibs_wish){.mode = DIBS_GROUP, .group = IS("again_red") ? "red" : "blue", .reentrant = true}, true,
            s->at_ms);
    else if (IS("slot") || IS("again_2_slots") || IS("again_3_slots"))
        code = belief_lock(
            &r->b, name,
            &(struct dibs_wish){.mode = DIBS_SLOTS, .slots = IS("again_3_slots") ? 3 : 2, .reentrant = !IS("slot")},
            true, s->at_ms);
    else if (IS("start"))
        code = belief_lock(&r->b, name, &none, false, s->at_ms);
    else if (IS("start_share"))
        code = belief_lock(&r->b, name, &(struct dibs_wish){.mode = DIBS_SHARED}, false, s->at_ms);
    else if (IS("cancel"))
        code = belief_cancel(&r->b);
    else if (IS("result"))
        code = belief_lock_result(&r->b, s->at_ms);
    else if (IS("unlock"))
        code = belief_unlock(&r->b, name, s->at_ms);
    else if (IS("start_unlock"))
        code = belief_start_unlock(&r->b, name);
    else if (IS("renew"))
        code = belief_renew(&r->b, name, 100, s->at_ms);
    else if (IS("start_renew"))
        code = belief_start_renew(&r->b, name, 100);
    else if (IS("upgrade"))
        code = belief_upgrade(&r->b, name, 0, s->at_ms);
    else if (IS("try_upgrade"))
        code = belief_upgrade(&r->b, name, DIBS_NO_WAIT, s->at_ms);
    else if (IS("downgrade"))
        code = belief_downgrade(&r->b, name, s->at_ms);
    else if (IS("confirm"))
        code = belief_confirm(&r->b, name, s->at_ms);
    else if (IS("fence"))
        code = (int)belief_fence(&r->b, name, s->at_ms);
    else if (IS("end"))
        belief_end(&r->b, "ended");
    else if (!IS("clock"))
        fail_msg("%s", s->act);
#undef IS
    return code;
}

/* The requests that are to be sent, as words in brackets. */
static void run_sent(struct run *r)
{
    size_t len;
    const char *bytes = belief_output(&r->b, &len);
    char *copy = strndup(len ? bytes : "", len), *at = copy, word[256];

    belief_sent(&r->b, len);
    while (*at == '*') {
        unsigned long count = strtoul(at + 1, &at, 10);

        *word = 0;
        for (at += 2; count > 0; count--) {
            unsigned long size = strtoul(at + 1, &at, 10);
            bool aside = size == 9 && memcmp(at + 2, "MEANWHILE", 9) == 0;

            snprintf(word + strlen(word), sizeof word - strlen(word), "%s%.*s%s", *word ? "" : "[",
                     aside ? 1 : (int)size, aside ? "~" : at + 2,
                     aside       ? ""
                     : count > 1 ? " "
                                 : "]");
            at += 2 + size + 2;
        }
        run_add(r->said, word);
    }
    free(copy);
}

static void run_hear(struct run *r, const struct step *s)
{
    struct belief_news news;
    char word[400];

    while (belief_next(&r->b, &news, s->at_ms)) {
        if (news.type == BELIEF_DOUBT && news.in_doubt)
            assert_true(*news.why); /* people read it */
        if (news.type == BELIEF_DOUBT)
            snprintf(word, sizeof word, "%s", news.in_doubt ? "doubt" : "no doubt");
        else
            snprintf(word, sizeof word, "lost %s: %s", news.name, news.why);
        run_add(r->lost, word);
    }
}

/* Bytes of the daemon come in pieces: all at once, or one by one. */
static void run_feed(struct run *r, const struct step *s, size_t piece)
{
    const char *bytes = s->act + 1;

    for (size_t len = strlen(bytes), some; len > 0; len -= some, bytes += some) {
        size_t room;
        char *at = belief_room(&r->b, &room);

        some = len < piece ? len : piece;
        memcpy(at, bytes, some);
        belief_received(&r->b, some);
        run_hear(r, s);
    }
}

static void run_step(struct run *r, const struct step *s, size_t piece)
{
    char word[64] = "";
    int code = DIBS_WAITING;
    bool grant;

    *r->said = *r->lost = 0;
    if (*s->act == '<')
        run_feed(r, s, piece);
    else
        code = run_call(r, s);
    belief_clock(&r->b, s->at_ms);
    run_hear(r, s);
    run_sent(r);
    grant = r->b.call == BELIEF_LOCK || strcmp(s->act, "result") == 0;
    if (r->b.call)
        code = belief_answer(&r->b);
    if (r->b.call)
        snprintf(word, sizeof word, "..");
    else if (strncmp(s->act, "fence", 5) == 0)
        snprintf(word, sizeof word, "%d", code);
    else if (code == DIBS_OK && grant)
        snprintf(word, sizeof word, "ok %llu", (unsigned long long)r->b.fence);
    else if (code == DIBS_WAITING && grant)
        snprintf(word, sizeof word, "waiting");
    else if (code != DIBS_WAITING)
        snprintf(word, sizeof word, "%s", run_codes[-code]);
    run_add(r->said, word);
    run_add(r->said, r->lost);
    snprintf(word, sizeof word, "by %llu", (unsigned long long)belief_due_ms(&r->b));
    if (belief_due_ms(&r->b) != UINT64_MAX)
        run_add(r->said, word);
}

static void run_cases(size_t piece)
{
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct run r = {0};

        for (const struct step *s = cases[k].step; s->act; s++) {
            run_step(&r, s, piece);
            if (strcmp(r.said, s->expected) != 0)
                fail_msg("%s: at %llu, %s: \"%s\" instead of \"%s\"", cases[k].name, (unsigned long long)s->at_ms,
                         s->act, r.said, s->expected);
        }
        belief_free(&r.b);
    }
}

static void decisions_are_as_in_the_table(void **state)
{
    (void)state;
    run_cases(SIZE_MAX);
}

static void and_do_not_depend_on_how_the_bytes_are_cut(void **state)
{
    (void)state;
    for (size_t piece = 1; piece < 8; piece++)
        run_cases(piece);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decisions_are_as_in_the_table),
        cmocka_unit_test(and_do_not_depend_on_how_the_bytes_are_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
