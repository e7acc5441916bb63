/* Makes every wrapped call, on 1 to 4 ranks, checks what MPI answers, and says which rows the
 * recorder must write. */
#include <mpi.h>
#include <stdbool.h>
#include <string.h>

#include "mpi/tour.h"

static int rank, size, left, right;
static bool threads; /* others might receive: a receive from any source is not counted */

/* ---- messages ---- */

/* Rank 0 sends in every mode; rank 1 receives, into a buffer that may be longer than the message.
 */
static void sender(void)
{
    int value = rank, got = -1, detached_bytes;
    double three[3] = {1, 2, 3};
    char attached[1000];
    void *detached;

    MPI_Send(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
    expect("MPI_Send bytes=4");
    expect("  send mode=0 comm=world peer=1 tag=5 order=0 bytes=4 flags=0");
    MPI_Send(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
    expect("MPI_Send bytes=4");
    expect("  send mode=0 comm=world peer=1 tag=5 order=1 bytes=4 flags=0");
    MPI_Ssend(three, 3, MPI_DOUBLE, 1, 6, MPI_COMM_WORLD);
    expect("MPI_Ssend bytes=24");
    expect("  send mode=1 comm=world peer=1 tag=6 order=0 bytes=24 flags=0");
    MPI_Buffer_attach(attached, sizeof attached);
    MPI_Bsend(three, 2, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
    expect("MPI_Bsend bytes=16");
    expect("  send mode=2 comm=world peer=1 tag=7 order=0 bytes=16 flags=0");
    MPI_Buffer_detach(&detached, &detached_bytes);
    expect("MPI_Buffer_detach bytes=-1");
    MPI_Recv(&got, 1, MPI_INT, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect("MPI_Recv bytes=4");
    expect("  receive mode=0 comm=world peer=1 tag=8 order=0 bytes=4 flags=0");
    MPI_Rsend(&value, 1, MPI_INT, 1, 9, MPI_COMM_WORLD);
    expect("MPI_Rsend bytes=4");
    expect("  send mode=3 comm=world peer=1 tag=9 order=0 bytes=4 flags=0");
}

static void receiver(void)
{
    int value = rank, got = -1, count;
    double received[3] = {0};
    MPI_Status status;

    MPI_Request ready;
    MPI_Recv(&got, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, &status);
    MUST(got == 0 && status.MPI_SOURCE == 0 && status.MPI_TAG == 5);
    expect("MPI_Recv bytes=4");
    expect("  receive mode=0 comm=world peer=0 tag=5 order=0 bytes=4 flags=0");
    MPI_Recv(&got, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect("MPI_Recv bytes=4");
    expect("  receive mode=0 comm=world peer=0 tag=5 order=1 bytes=4 flags=0");
    MPI_Recv(received, 3, MPI_DOUBLE, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MUST(received[2] == 3);
    expect("MPI_Recv bytes=24");
    expect("  receive mode=0 comm=world peer=0 tag=6 order=0 bytes=24 flags=0");
    MPI_Recv(received, 3, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    MUST(count == 2);
    expect("MPI_Recv bytes=16");
    expect("  receive mode=0 comm=world peer=0 tag=7 order=0 bytes=16 flags=0");
    MPI_Irecv(&got, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, &ready);
    expect("MPI_Irecv bytes=-1");
    expect("  receive mode=0 comm=world peer=0 tag=9 order=0 bytes=4 flags=64 op=1");
    MPI_Send(&value, 1, MPI_INT, 0, 8, MPI_COMM_WORLD);
    expect("MPI_Send bytes=4");
    expect("  send mode=0 comm=world peer=0 tag=8 order=0 bytes=4 flags=0");
    MPI_Wait(&ready, MPI_STATUS_IGNORE);
    MUST(got == 0 && ready == MPI_REQUEST_NULL);
    expect("MPI_Wait bytes=-1");
    expect("  end op=1 peer=0 tag=9 bytes=4 flags=0");
}

/* Messages to and from nobody. As rank 1 has one operation too, their numbers go on alike. */
static void nobody(void)
{
    int value = rank, got = -1;
    MPI_Status status;

    if (rank == 0) {
        MPI_Request request;
        MPI_Isend(&value, 1, MPI_INT, MPI_PROC_NULL, 9, MPI_COMM_WORLD, &request);
        expect("MPI_Isend bytes=0");
        expect("  send mode=0 comm=world peer=-1 tag=9 order=-1 bytes=0 flags=96 op=1");
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        expect("MPI_Wait bytes=-1");
        expect("  end op=1 peer=-1 tag=-1 bytes=-1 flags=0");
    } else {
        MPI_Request request;
        MPI_Irecv(&got, 1, MPI_INT, MPI_PROC_NULL, 9, MPI_COMM_WORLD, &request);
        expect("MPI_Irecv bytes=-1");
        expect("  receive mode=0 comm=world peer=-1 tag=9 order=-1 bytes=0 flags=96 op=1");
        MPI_Wait(&request, &status);
        MUST(status.MPI_SOURCE == MPI_PROC_NULL);
        expect("MPI_Wait bytes=-1");
        expect("  end op=1 peer=-1 tag=-1 bytes=0 flags=0");
    }
}

static void blocking_messages(void)
{
    if (size > 1 && rank == 0)
        sender();
    if (rank == 1)
        receiver();
    else
        nobody();
}

static void both_ways(void)
{
    int value = rank, got = -1, pair[2] = {rank, rank};
    MPI_Status status;
    MPI_Sendrecv(&value, 1, MPI_INT, right, 20, &got, 1, MPI_INT, left, 20, MPI_COMM_WORLD,
                 &status);
    MUST(got == left && status.MPI_SOURCE == left);
    expect("MPI_Sendrecv bytes=4");
    expect("  send mode=0 comm=world peer=%d tag=20 order=0 bytes=4 flags=0", right);
    expect("  receive mode=0 comm=world peer=%d tag=20 order=0 bytes=4 flags=0", left);
    MPI_Sendrecv_replace(pair, 2, MPI_INT, right, 21, left, 21, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MUST(pair[0] == left && pair[1] == left);
    expect("MPI_Sendrecv_replace bytes=8");
    expect("  send mode=0 comm=world peer=%d tag=21 order=0 bytes=8 flags=0", right);
    expect("  receive mode=0 comm=world peer=%d tag=21 order=0 bytes=8 flags=0", left);
    MPI_Sendrecv(&value, 1, MPI_INT, MPI_PROC_NULL, 20, &got, 1, MPI_INT, MPI_PROC_NULL, 20,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect("MPI_Sendrecv bytes=0");
    expect("  send mode=0 comm=world peer=-1 tag=20 order=-1 bytes=0 flags=32");
    expect("  receive mode=0 comm=world peer=-1 tag=20 order=-1 bytes=0 flags=32");
}

/* Every second element of a matrix, and a message beyond 2^31 bytes that nobody has to store. */
static void sizes(void)
{
    double matrix[8] = {0};
    MPI_Datatype vector, large;
    MPI_Request request;
    MPI_Type_vector(4, 1, 2, MPI_DOUBLE, &vector);
    MPI_Type_commit(&vector);
    MPI_Irecv(matrix, 8, MPI_DOUBLE, left, 30, MPI_COMM_WORLD, &request);
    expect("MPI_Irecv bytes=-1");
    expect("  receive mode=0 comm=world peer=%d tag=30 order=0 bytes=64 flags=64 op=2", left);
    MPI_Send(matrix, 1, vector, right, 30, MPI_COMM_WORLD);
    expect("MPI_Send bytes=32");
    expect("  send mode=0 comm=world peer=%d tag=30 order=0 bytes=32 flags=0", right);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("MPI_Wait bytes=-1");
    expect("  end op=2 peer=%d tag=30 bytes=32 flags=0", left);
    MPI_Type_free(&vector);
    MPI_Type_contiguous(1 << 20, MPI_DOUBLE, &large);
    MPI_Type_commit(&large);
    MPI_Bcast(matrix, 512, large, 0, MPI_COMM_SELF);
    expect("MPI_Bcast bytes=4294967296");
    expect("  collective broadcast comm=self root=0 seq=0 sent=4294967296 received=0");
    MPI_Type_free(&large);
}

static void nonblocking(void)
{
    int value = rank, got[3] = {-1, -1, -1}, index, count, indices[3], flag;
    char attached[1000];
    void *detached;
    MPI_Request r[6];
    MPI_Status statuses[6];

    MPI_Buffer_attach(attached, sizeof attached);
    for (int i = 0; i < 3; i++) {
        MPI_Irecv(&got[i], 1, MPI_INT, left, 40 + i, MPI_COMM_WORLD, &r[i]);
        expect("MPI_Irecv bytes=-1");
        expect("  receive mode=0 comm=world peer=%d tag=%d order=0 bytes=4 flags=64 op=%d", left,
               40 + i, 3 + i);
    }
    MPI_Isend(&value, 1, MPI_INT, right, 40, MPI_COMM_WORLD, &r[3]);
    expect("MPI_Isend bytes=4");
    expect("  send mode=0 comm=world peer=%d tag=40 order=0 bytes=4 flags=64 op=6", right);
    MPI_Ibsend(&value, 1, MPI_INT, right, 41, MPI_COMM_WORLD, &r[4]);
    expect("MPI_Ibsend bytes=4");
    expect("  send mode=2 comm=world peer=%d tag=41 order=0 bytes=4 flags=64 op=7", right);
    MPI_Issend(&value, 1, MPI_INT, right, 42, MPI_COMM_WORLD, &r[5]);
    expect("MPI_Issend bytes=4");
    expect("  send mode=1 comm=world peer=%d tag=42 order=0 bytes=4 flags=64 op=8", right);
    MPI_Waitall(6, r, MPI_STATUSES_IGNORE);
    MUST(got[0] == left && got[1] == left && got[2] == left);
    expect("MPI_Waitall bytes=-1");
    for (int i = 0; i < 3; i++)
        expect("  end op=%d peer=%d tag=%d bytes=4 flags=0", 3 + i, left, 40 + i);
    for (int i = 3; i < 6; i++)
        expect("  end op=%d peer=-1 tag=-1 bytes=-1 flags=0", 3 + i);
    int detached_bytes;
    MPI_Buffer_detach(&detached, &detached_bytes);
    expect("MPI_Buffer_detach bytes=-1");

    /* nothing is open: no end, and no poll */
    MPI_Waitall(6, r, statuses);
    expect("MPI_Waitall bytes=-1");
    MPI_Waitany(6, r, &index, MPI_STATUS_IGNORE);
    MUST(index == MPI_UNDEFINED);
    expect("MPI_Waitany bytes=-1");
    MPI_Testsome(6, r, &count, indices, statuses);
    MUST(count == MPI_UNDEFINED);
    expect("MPI_Testsome bytes=-1");

    /* Irsend needs a receive that is posted: to itself */
    MPI_Irecv(&got[0], 1, MPI_INT, 0, 43, MPI_COMM_SELF, &r[0]);
    expect("MPI_Irecv bytes=-1");
    expect("  receive mode=0 comm=self peer=0 tag=43 order=0 bytes=4 flags=64 op=9");
    MPI_Irsend(&value, 1, MPI_INT, 0, 43, MPI_COMM_SELF, &r[1]);
    expect("MPI_Irsend bytes=4");
    expect("  send mode=3 comm=self peer=0 tag=43 order=0 bytes=4 flags=64 op=10");
    MPI_Waitany(1, r, &index, statuses);
    MUST(index == 0 && got[0] == rank && statuses[0].MPI_TAG == 43);
    expect("MPI_Waitany bytes=-1");
    expect("  end op=9 peer=0 tag=43 bytes=4 flags=0");
    MPI_Waitsome(2, r, &count, indices, MPI_STATUSES_IGNORE);
    MUST(count == 1 && indices[0] == 1);
    expect("MPI_Waitsome bytes=-1");
    expect("  end op=10 peer=-1 tag=-1 bytes=-1 flags=0");
    MPI_Test(&r[0], &flag, MPI_STATUS_IGNORE);
    MUST(flag);
    expect("MPI_Test bytes=-1");
}

/* Polls that find nothing until the message is sent, by this rank to itself: how many is known. */
static void polling(void)
{
    int value = rank, got = -1, flag, index, count, indices[2];
    MPI_Request r[2], s;
    MPI_Status status;

    MPI_Irecv(&got, 1, MPI_INT, 0, 50, MPI_COMM_SELF, &r[0]);
    expect("MPI_Irecv bytes=-1");
    expect("  receive mode=0 comm=self peer=0 tag=50 order=0 bytes=4 flags=64 op=11");
    r[1] = MPI_REQUEST_NULL;
    for (int i = 0; i < 7; i++) {
        MPI_Test(&r[0], &flag, MPI_STATUS_IGNORE);
        MUST(!flag);
    }
    expect("MPI_Test polls=7");
    for (int i = 0; i < 3; i++)
        MPI_Testall(2, r, &flag, MPI_STATUSES_IGNORE);
    expect("MPI_Testall polls=3");
    MPI_Testany(2, r, &index, &flag, &status);
    MUST(!flag);
    expect("MPI_Testany polls=1");
    for (int i = 0; i < 2; i++)
        MPI_Testsome(2, r, &count, indices, MPI_STATUSES_IGNORE);
    MUST(count == 0);
    expect("MPI_Testsome polls=2");
    for (int i = 0; i < 4; i++)
        MPI_Iprobe(0, 51, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    MUST(!flag);
    expect("MPI_Iprobe polls=4");

    MPI_Isend(&value, 1, MPI_INT, 0, 50, MPI_COMM_SELF, &s);
    expect("MPI_Isend bytes=4");
    expect("  send mode=0 comm=self peer=0 tag=50 order=0 bytes=4 flags=64 op=12");
    int polls = 0;
    MPI_Test(&r[0], &flag, &status);
    for (; !flag; polls++)
        MPI_Test(&r[0], &flag, &status);
    if (polls > 0)
        expect("MPI_Test polls=%d", polls);
    MUST(got == rank && status.MPI_SOURCE == 0);
    expect("MPI_Test bytes=-1");
    expect("  end op=11 peer=0 tag=50 bytes=4 flags=0");
    MPI_Wait(&s, MPI_STATUS_IGNORE);
    expect("MPI_Wait bytes=-1");
    expect("  end op=12 peer=-1 tag=-1 bytes=-1 flags=0");
}

/* The rest of the MPI_Test family, each with an operation that has ended. */
static void testing(void)
{
    int value = rank, got = -1, flag, index, count, indices[2];
    MPI_Request r[2];

    for (int way = 0; way < 3; way++) {
        MPI_Irecv(&got, 1, MPI_INT, 0, 52, MPI_COMM_SELF, &r[0]);
        expect("MPI_Irecv bytes=-1");
        expect("  receive mode=0 comm=self peer=0 tag=52 order=%d bytes=4 flags=64 op=%d", way,
               13 + way);
        MPI_Send(&value, 1, MPI_INT, 0, 52, MPI_COMM_SELF);
        expect("MPI_Send bytes=4");
        expect("  send mode=0 comm=self peer=0 tag=52 order=%d bytes=4 flags=0", way);
        int polls = -1;
        do {
            polls++;
            if (way == 0)
                MPI_Testall(1, r, &flag, MPI_STATUSES_IGNORE);
            else if (way == 1)
                MPI_Testany(1, r, &index, &flag, MPI_STATUS_IGNORE);
            else
                MPI_Testsome(1, r, &count, indices, MPI_STATUSES_IGNORE), flag = count == 1;
        } while (!flag);
        const char *name = way == 0 ? "MPI_Testall" : way == 1 ? "MPI_Testany" : "MPI_Testsome";
        if (polls > 0)
            expect("%s polls=%d", name, polls);
        expect("%s bytes=-1", name);
        expect("  end op=%d peer=0 tag=52 bytes=4 flags=0", 13 + way);
    }
}

static void probing(void)
{
    int value = rank, got = -1, flag;
    MPI_Status status;
    MPI_Request request;

    MPI_Isend(&value, 1, MPI_INT, 0, 60, MPI_COMM_SELF, &request);
    expect("MPI_Isend bytes=4");
    expect("  send mode=0 comm=self peer=0 tag=60 order=0 bytes=4 flags=64 op=17");
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &status);
    MUST(status.MPI_TAG == 60);
    expect("MPI_Probe bytes=-1");
    MPI_Iprobe(0, 60, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    MUST(flag);
    expect("MPI_Iprobe bytes=-1");
    MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MUST(got == rank);
    expect("MPI_Recv bytes=4");
    expect("  receive mode=0 comm=self peer=0 tag=60 order=%d bytes=4 flags=3", threads ? -1 : 0);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("MPI_Wait bytes=-1");
    expect("  end op=17 peer=-1 tag=-1 bytes=-1 flags=0");

    /* from now on the order of receives on this communicator is for the gather to find */
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 61, MPI_COMM_SELF, &request);
    expect("MPI_Irecv bytes=-1");
    expect("  receive mode=0 comm=self peer=-1 tag=61 order=-1 bytes=4 flags=65 op=18");
    MPI_Send(&value, 1, MPI_INT, 0, 61, MPI_COMM_SELF);
    expect("MPI_Send bytes=4");
    expect("  send mode=0 comm=self peer=0 tag=61 order=0 bytes=4 flags=0");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("MPI_Wait bytes=-1");
    expect("  end op=18 peer=0 tag=61 bytes=4 flags=0");
}

/* Messages that a probe takes out before they are received; any source is known then. */
static void matching(void)
{
    int value = rank, got = -1, flag;
    MPI_Message message;
    MPI_Request request;
    MPI_Status status;

    for (int i = 0; i < 2; i++) {
        MPI_Send(&value, 1, MPI_INT, 0, 62, MPI_COMM_SELF);
        expect("MPI_Send bytes=4");
        expect("  send mode=0 comm=self peer=0 tag=62 order=%d bytes=4 flags=0", i);
    }
    MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &message, &status);
    MUST(status.MPI_TAG == 62);
    expect("MPI_Mprobe bytes=-1");
    MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    MUST(got == rank && message == MPI_MESSAGE_NULL);
    expect("MPI_Mrecv bytes=4");
    expect("  receive mode=0 comm=self peer=0 tag=62 order=0 bytes=4 flags=16");
    MPI_Improbe(0, 63, MPI_COMM_SELF, &flag, &message, MPI_STATUS_IGNORE);
    MUST(!flag);
    expect("MPI_Improbe polls=1");
    MPI_Improbe(0, 62, MPI_COMM_SELF, &flag, &message, MPI_STATUS_IGNORE);
    MUST(flag);
    expect("MPI_Improbe bytes=-1");
    MPI_Imrecv(&got, 1, MPI_INT, &message, &request);
    expect("MPI_Imrecv bytes=-1");
    expect("  receive mode=0 comm=self peer=0 tag=62 order=1 bytes=4 flags=80 op=16");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("MPI_Wait bytes=-1");
    expect("  end op=16 peer=0 tag=62 bytes=4 flags=0");
    MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_SELF, &message, MPI_STATUS_IGNORE);
    expect("MPI_Mprobe bytes=-1");
    MPI_Mrecv(&got, 1, MPI_INT, &message, &status);
    MUST(status.MPI_SOURCE == MPI_PROC_NULL);
    expect("MPI_Mrecv bytes=0");
    expect("  receive mode=0 comm=? peer=-1 tag=-1 order=-1 bytes=0 flags=48");
}

/* Receives that never meet a message: cancelled, freed. */
static void giving_up(void)
{
    int got, flag;
    MPI_Request request;
    MPI_Status status;

    MPI_Irecv(&got, 1, MPI_INT, 0, 70, MPI_COMM_SELF, &request);
    expect("MPI_Irecv bytes=-1");
    expect("  receive mode=0 comm=self peer=0 tag=70 order=-1 bytes=4 flags=64 op=19");
    MPI_Cancel(&request);
    expect("MPI_Cancel bytes=-1");
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    MUST(flag);
    expect("MPI_Wait bytes=-1");
    expect("  end op=19 peer=-1 tag=-1 bytes=-1 flags=4");
    MPI_Irecv(&got, 1, MPI_INT, MPI_PROC_NULL, 70, MPI_COMM_SELF, &request);
    expect("MPI_Irecv bytes=-1");
    expect("  receive mode=0 comm=self peer=-1 tag=70 order=-1 bytes=0 flags=96 op=20");
    MPI_Request_free(&request);
    MUST(request == MPI_REQUEST_NULL);
    expect("MPI_Request_free bytes=-1");
}

static void persistent(void)
{
    int value = rank, got = -1;
    MPI_Request r[4];
    char attached[1000];
    void *detached;
    int detached_bytes;

    MPI_Send_init(&value, 1, MPI_INT, right, 80, MPI_COMM_WORLD, &r[0]);
    expect("MPI_Send_init bytes=-1");
    MPI_Recv_init(&got, 1, MPI_INT, left, 80, MPI_COMM_WORLD, &r[1]);
    expect("MPI_Recv_init bytes=-1");
    for (int turn = 0; turn < 2; turn++) {
        MPI_Startall(2, r);
        expect("MPI_Startall bytes=-1");
        expect("  send mode=0 comm=world peer=%d tag=80 order=%d bytes=4 flags=72 op=%d", right,
               turn, 21 + 2 * turn);
        expect("  receive mode=0 comm=world peer=%d tag=80 order=%d bytes=4 flags=72 op=%d", left,
               turn, 22 + 2 * turn);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        MUST(got == left && r[0] != MPI_REQUEST_NULL);
        expect("MPI_Waitall bytes=-1");
        expect("  end op=%d peer=-1 tag=-1 bytes=-1 flags=0", 21 + 2 * turn);
        expect("  end op=%d peer=%d tag=80 bytes=4 flags=0", 22 + 2 * turn, left);
    }
    MPI_Wait(&r[0], MPI_STATUS_IGNORE); /* inactive */
    expect("MPI_Wait bytes=-1");
    for (int i = 0; i < 2; i++) {
        MPI_Request_free(&r[i]);
        expect("MPI_Request_free bytes=-1");
    }

    MPI_Buffer_attach(attached, sizeof attached);
    MPI_Ssend_init(&value, 1, MPI_INT, 0, 81, MPI_COMM_SELF, &r[0]);
    expect("MPI_Ssend_init bytes=-1");
    MPI_Bsend_init(&value, 1, MPI_INT, 0, 82, MPI_COMM_SELF, &r[1]);
    expect("MPI_Bsend_init bytes=-1");
    MPI_Rsend_init(&value, 1, MPI_INT, 0, 83, MPI_COMM_SELF, &r[2]);
    expect("MPI_Rsend_init bytes=-1");
    for (int i = 0; i < 3; i++) {
        static const int modes[] = {1, 2, 3};
        MPI_Irecv(&got, 1, MPI_INT, 0, 81 + i, MPI_COMM_SELF, &r[3]);
        expect("MPI_Irecv bytes=-1");
        expect("  receive mode=0 comm=self peer=0 tag=%d order=-1 bytes=4 flags=64 op=%d", 81 + i,
               25 + 2 * i);
        MPI_Start(&r[i]);
        expect("MPI_Start bytes=-1");
        expect("  send mode=%d comm=self peer=0 tag=%d order=0 bytes=4 flags=72 op=%d", modes[i],
               81 + i, 26 + 2 * i);
        MPI_Wait(&r[i], MPI_STATUS_IGNORE);
        expect("MPI_Wait bytes=-1");
        expect("  end op=%d peer=-1 tag=-1 bytes=-1 flags=0", 26 + 2 * i);
        MPI_Wait(&r[3], MPI_STATUS_IGNORE);
        expect("MPI_Wait bytes=-1");
        expect("  end op=%d peer=0 tag=%d bytes=4 flags=0", 25 + 2 * i, 81 + i);
        MPI_Request_free(&r[i]);
        expect("MPI_Request_free bytes=-1");
    }
    MPI_Buffer_detach(&detached, &detached_bytes);
    expect("MPI_Buffer_detach bytes=-1");
}

enum { MANY = 300, OPERATIONS_BEFORE = 30 + 2 * MANY };

/* More requests than fit where no memory has to be asked for, ended in one call. */
static void many(void)
{
    static int values[MANY], sent[MANY];
    static MPI_Request r[2 * MANY];
    for (int i = 0; i < MANY; i++) {
        MPI_Irecv(&values[i], 1, MPI_INT, 0, 90, MPI_COMM_SELF, &r[i]);
        expect("MPI_Irecv bytes=-1");
        expect("  receive mode=0 comm=self peer=0 tag=90 order=-1 bytes=4 flags=64 op=%d", 31 + i);
    }
    for (int i = 0; i < MANY; i++) {
        sent[i] = i;
        MPI_Isend(&sent[i], 1, MPI_INT, 0, 90, MPI_COMM_SELF, &r[MANY + i]);
        expect("MPI_Isend bytes=4");
        expect("  send mode=0 comm=self peer=0 tag=90 order=%d bytes=4 flags=64 op=%d", i,
               31 + MANY + i);
    }
    MPI_Waitall(2 * MANY, r, MPI_STATUSES_IGNORE);
    MUST(values[MANY - 1] == MANY - 1);
    expect("MPI_Waitall bytes=-1");
    for (int i = 0; i < MANY; i++)
        expect("  end op=%d peer=0 tag=90 bytes=4 flags=0", 31 + i);
    for (int i = 0; i < MANY; i++)
        expect("  end op=%d peer=-1 tag=-1 bytes=-1 flags=0", 31 + MANY + i);
}

int main(int argc, char **argv)
{
    int provided, finalised = 0;
    threads = argc > 1 && strcmp(argv[1], "threads") == 0;
    if (threads)
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    else
        MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    expect_open(rank);
    expect("%s bytes=-1", threads ? "MPI_Init_thread" : "MPI_Init");
    expect("  collective initialise comm=world root=-1 seq=0 sent=0 received=0");

    blocking_messages();
    both_ways();
    sizes();
    nonblocking();
    polling();
    testing();
    matching();
    probing();
    giving_up();
    persistent();
    many();
    struct tour tour = {rank, size, 1, OPERATIONS_BEFORE};
    tour_collectives(&tour);
    tour_communicators(&tour);
    tour_windows(&tour);

    MPI_Pcontrol(0);
    MPI_Barrier(MPI_COMM_WORLD);
    tour.world_sequence++;
    MPI_Pcontrol(1);
    MPI_Barrier(MPI_COMM_WORLD);
    expect("MPI_Barrier bytes=0");
    expect("  collective barrier comm=world root=-1 seq=%ld sent=0 received=0",
           tour.world_sequence++);
    expect("MPI_Finalize bytes=-1");
    expect("  collective finalise comm=world root=-1 seq=%ld sent=0 received=0",
           tour.world_sequence);
    expect_close();
    MPI_Finalize();
    MPI_Finalized(&finalised);
    MUST(finalised);
    return expect_wrong;
}
