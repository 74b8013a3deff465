/* Ricart and Agrawala on FIFO channels, one handler as one atomic step: what "dibs check ricart-agrawala --order fifo"
 * explores. SITES and REQUESTS come from the command line; site() has a branch for each of up to four senders. */
#define REQUEST 1
#define REPLY 2
#define IDLE 0
#define WAITING 1
#define INSIDE 2

chan q[SITES * SITES] = [3] of { byte, byte };
byte highest[SITES], mine[SITES], missing[SITES], phase[SITES], left[SITES] = REQUESTS;
bit deferred[SITES * SITES];
byte inside;
hidden byte j, kind, num;

inline enter(i)
{
    phase[i] = INSIDE;
    inside++;
    assert(inside == 1)
}

inline receive(from, i)
{
    if
    :: kind == REQUEST ->
        if
        :: num > highest[i] -> highest[i] = num
        :: else
        fi;
        if
        :: phase[i] != IDLE && (mine[i] < num || (mine[i] == num && i < from)) -> deferred[i * SITES + from] = 1
        :: else -> q[i * SITES + from]!REPLY, 0
        fi
    :: else ->
        missing[i]--;
        if
        :: missing[i] == 0 -> enter(i)
        :: else
        fi
    fi
}

active [SITES] proctype site()
{
end:
    do
    :: d_step {
        phase[_pid] == IDLE && left[_pid] > 0 ->
        left[_pid]--;
        phase[_pid] = WAITING;
        highest[_pid]++;
        mine[_pid] = highest[_pid];
        missing[_pid] = SITES - 1;
        j = 0;
        do
        :: j < SITES ->
            if
            :: j != _pid -> q[_pid * SITES + j]!REQUEST, mine[_pid]
            :: else
            fi;
            j++
        :: else -> break
        od
    }
    :: d_step {
        phase[_pid] == INSIDE ->
        phase[_pid] = IDLE;
        inside--;
        j = 0;
        do
        :: j < SITES ->
            if
            :: deferred[_pid * SITES + j] -> deferred[_pid * SITES + j] = 0; q[_pid * SITES + j]!REPLY, 0
            :: else
            fi;
            j++
        :: else -> break
        od
    }
    :: d_step { q[0 * SITES + _pid]?kind, num -> receive(0, _pid) }
    :: d_step { q[1 * SITES + _pid]?kind, num -> receive(1, _pid) }
    :: d_step { q[2 * SITES + _pid]?kind, num -> receive(2, _pid) }
#if SITES > 3
    :: d_step { q[3 * SITES + _pid]?kind, num -> receive(3, _pid) }
#endif
    od
}
