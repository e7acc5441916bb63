/* One message among three ranks, written by hand: what it costs, and whom it is blamed on. */
#include "reduce/reduce.h"

#include "trace/vocabulary.h"
#include "unit/check.h"
#include "unit/zero_rows.h"

#define RANKS     3
#define EVENTS    (RANKS + 2)
#define STEP_NS   1000000
#define SENT_NS   300000 /* the send begins; the receive was there before */
#define SENDS_NS  100000
#define POSTED_NS 100000
#define GOT_NS    450000

static struct run_tables run;
static struct reduce_rank_rows rows[RANKS];

static void *put_rows(void *table_rows, const struct table *t, size_t n)
{
    zero_rows(table_rows, t, n);
    return table_rows;
}

static void put_rank(int rank, int64_t first_event)
{
    struct events_rows *e = put_rows(&rows[rank].events, table_events, rank < 2 ? 2 : 1);
    run.ranks.rank[rank] = run.lanes.rank[rank] = run.comm_members.rank[rank] = rank;
    run.comm_members.comm_rank[rank] = rank;
    run.ranks.main_lane[rank] = (uint32_t)rank;
    run.ranks.end_ns[rank] = STEP_NS;
    run.ranks.event_first[rank] = first_event;
    run.ranks.event_count[rank] = (int64_t)e->count;
    e->kind[0] = EVENT_step;
    e->duration_ns[0] = STEP_NS;
    e->lane[0] = (uint32_t)rank;
}

/* Rank 0 sends to rank 1. */
static void put_side(int rank, uint8_t direction, int64_t begin_ns, int64_t length_ns)
{
    struct events_rows *e = &rows[rank].events;
    struct messages_rows *m = put_rows(&rows[rank].messages, table_messages, 1);
    e->kind[1] = EVENT_mpi_call;
    e->lane[1] = (uint32_t)rank;
    e->begin_ns[1] = begin_ns;
    e->duration_ns[1] = length_ns;
    m->rank[0] = rank;
    m->peer[0] = 1 - rank;
    m->direction[0] = direction;
    m->bytes[0] = 8000;
    m->event[0] = m->done_event[0] = run.ranks.event_first[rank] + 1;
    m->begin_ns[0] = m->end_ns[0] = -1;
    run.ranks.message_count[rank] = 1;
}

static enum err read_rank(void *context, size_t row, enum reduce_want want,
                          struct reduce_rank_rows *out)
{
    (void)context, (void)want;
    *out = rows[row];
    return ERR_OK;
}

static void keep_rank(void *context, struct reduce_rank_rows *read)
{
    (void)context, (void)read;
}

static void make_run(void)
{
    put_rows(&run.nodes, table_nodes, 1);
    put_rows(&run.clock_domains, table_clock_domains, 1);
    put_rows(&run.ranks, table_ranks, RANKS);
    put_rows(&run.lanes, table_lanes, RANKS);
    put_rows(&run.comms, table_comms, 1);
    put_rows(&run.comm_members, table_comm_members, RANKS);
    run.comms.size[0] = RANKS;
    for (int rank = 0; rank < RANKS; rank++)
        put_rank(rank, rank < 2 ? 2 * rank : EVENTS - 1);
    put_side(0, MESSAGE_SEND, SENT_NS, SENDS_NS);
    put_side(1, MESSAGE_RECEIVE, POSTED_NS, GOT_NS - POSTED_NS);
}

static void check_analysis(const struct analysis_tables *a, const struct strings *strings)
{
    const struct operations_rows *o = &a->operations;
    CHECK_EQUAL(o->count, 1);
    CHECK_TEXT(strings_get(strings, o->kind[0]), "send_receive");
    CHECK_EQUAL(o->times[0], 1);
    CHECK_EQUAL(o->bytes[0], 8000);
    CHECK_EQUAL(o->wait_ns[0], (SENT_NS - POSTED_NS) / RANKS);
    CHECK_EQUAL(o->exposed_ns[0], (GOT_NS - POSTED_NS + SENDS_NS) / RANKS);
    CHECK_EQUAL(o->hidden_ns[0], 0);
    CHECK_EQUAL(o->transfer_ns[0], GOT_NS - SENT_NS);
    CHECK_EQUAL(a->waits.count, 1);
    CHECK_EQUAL(a->waits.waiter[0], 1);
    CHECK_EQUAL(a->waits.waited_for[0], 0);
    CHECK_EQUAL(a->waits.wait_ns[0], SENT_NS - POSTED_NS);
    CHECK_EQUAL(a->message_pairs.count, 1);
    CHECK_EQUAL(a->message_pairs.late_sender_ns[0], SENT_NS - POSTED_NS);
    CHECK_EQUAL(a->message_pairs.late_receiver_ns[0], 0);
}

int main(void)
{
    struct analysis_tables analysis = {0};
    struct strings *texts, *added;
    strings_open(&texts);
    strings_open(&added);
    make_run();
    struct reduce_source source = {
        .tables = &run, .strings = texts, .read = read_rank, .release = keep_rank};
    struct reduce_options options = {.step_patterns = "", .tool_version = "test"};
    CHECK_EQUAL(reduce_run(&source, &options, &analysis, added), ERR_OK);
    check_analysis(&analysis, added);
    analysis_tables_free(&analysis);
    run_tables_free(&run);
    for (int rank = 0; rank < RANKS; rank++) {
        rows_free(&rows[rank].events, table_events);
        rows_free(&rows[rank].messages, table_messages);
    }
    strings_close(texts);
    strings_close(added);
    return check_result();
}
