/* Jobs of random rows, all kinds of collectives and messages over each other, against a painter. */
#include "reduce/reduce.h"

#include <stdlib.h>

#include "trace/vocabulary.h"
#include "unit/check.h"
#include "unit/random_job.h"

static const struct reduce_options options = {.step_patterns = "", .tool_version = "test"};

static void check_partition(const struct job *j, const struct partition_rows *p)
{
    CHECK_EQUAL(p->count, j->ranks * JOB_STEPS);
    for (size_t i = 0; i < p->count; i++) {
        int64_t compute = 0, wait = 0, transfer = 0, call = 0, hidden = 0;
        int64_t begin_ns = p->step[i] ? j->step_ends_ns[p->rank[i]][p->step[i] - 1] : 0;
        int64_t end_ns = j->step_ends_ns[p->rank[i]][p->step[i]];
        for (int64_t t = begin_ns; t < end_ns; t++) {
            struct job_cell c = j->cells[p->rank[i]][t];
            compute += !c.in_call;
            transfer += c.in_call && c.moves;
            wait += c.in_call && !c.moves && c.waits;
            call += c.in_call && !c.moves && !c.waits;
            hidden += !c.in_call && (c.moves || c.waits);
        }
        CHECK_EQUAL(p->begin_ns[i], begin_ns);
        CHECK_EQUAL(p->end_ns[i], end_ns);
        CHECK_EQUAL(p->compute_ns[i], compute);
        CHECK_EQUAL(p->transfer_ns[i], transfer);
        CHECK_EQUAL(p->wait_ns[i], wait);
        CHECK_EQUAL(p->mpi_call_ns[i], call);
        CHECK_EQUAL(p->hidden_ns[i], hidden);
    }
}

static int sends_to_itself(const struct job *j, int rank)
{
    for (int i = 1; i < j->operation_count; i++)
        if (j->operations[i].is_message && j->operations[i].rank == rank &&
            j->operations[i - 1].rank == rank &&
            j->operations[i].instance == j->operations[i - 1].instance)
            return 1;
    return 0;
}

/* Every wait that the partition shows is charged once to somebody, or to nobody that can be named.
 */
static void check_waits(const struct job *j, const struct analysis_tables *a)
{
    int64_t left[JOB_RANKS] = {0}, caused = 0, named = 0;
    for (size_t i = 0; i < a->partition.count; i++) {
        left[a->partition.rank[i]] += a->partition.wait_ns[i];
        caused += a->partition.caused_wait_ns[i];
    }
    for (size_t i = 0; i < a->waits.count; i++) {
        int of_itself = a->waits.waiter[i] == a->waits.waited_for[i];
        CHECK(!of_itself || sends_to_itself(j, a->waits.waiter[i]));
        left[a->waits.waiter[i]] -= a->waits.wait_ns[i];
        named += a->waits.waited_for[i] >= 0 && !of_itself ? a->waits.wait_ns[i] : 0;
    }
    for (int r = 0; r < j->ranks; r++)
        CHECK_EQUAL(left[r], 0);
    CHECK_EQUAL(caused, named);
}

static size_t find_instance(const struct instances_rows *n, const struct job_instance *wanted)
{
    for (size_t i = 0; i < n->count; i++)
        if (n->communicator[i] == (uint32_t)wanted->communicator &&
            n->sequence[i] == wanted->sequence)
            return i;
    return SIZE_MAX;
}

static void check_instances(const struct job *j, const struct instances_rows *n)
{
    size_t collectives = 0;
    for (int i = 0; i < j->instance_count; i++) {
        const struct job_instance *wanted = &j->instances[i];
        if (wanted->is_message)
            continue;
        size_t row = find_instance(n, wanted);
        CHECK(row != SIZE_MAX);
        if (row == SIZE_MAX)
            return;
        CHECK_EQUAL(n->present[row], wanted->present);
        CHECK_EQUAL(n->missing_rank[row], wanted->missing_rank);
        CHECK_EQUAL(n->kind[row], wanted->kind);
        CHECK_EQUAL(n->wait_ns[row], wanted->wait_ns);
        CHECK_EQUAL(n->transfer_ns[row], wanted->transfer_ns);
        collectives++;
    }
    CHECK_EQUAL(n->count, collectives);
}

/* Where all take part in all, what operations leave exposed and hidden is what the partition shows;
 * each row is cut to whole nanoseconds of a mean. */
static void check_operations(const struct job *j, const struct analysis_tables *a)
{
    const struct partition_rows *p = &a->partition;
    int64_t exposed = 0, most = 0, least = 0;
    for (size_t i = 0; i < p->count; i++)
        exposed += p->wait_ns[i] + p->transfer_ns[i];
    for (size_t i = 0; i < a->operations.count; i++) {
        least += a->operations.exposed_ns[i] * j->ranks;
        most += (a->operations.exposed_ns[i] + a->operations.times[i]) * j->ranks;
    }
    CHECK(exposed >= least && exposed <= most);
}

static void check_quality(const struct job *j, const struct quality_rows *q)
{
    for (int r = 0; r < j->ranks; r++) {
        CHECK_EQUAL(q->unmatched_collectives[r], j->unmatched[r]);
        CHECK_EQUAL(q->unmatched_messages[r], j->unmatched_messages[r]);
        CHECK_EQUAL(q->mismatched_collectives[r], 0);
    }
}

int main(int argc, char **argv)
{
    static struct job j;
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    for (uint64_t seed = first; seed <= (argc > 1 ? first : 1000) && checks_failed == 0; seed++) {
        struct analysis_tables a = {0};
        struct strings *added;
        strings_open(&added);
        random_job_open(&j, seed);
        CHECK_EQUAL(reduce_run(&j.source, &options, &a, added), ERR_OK);
        check_partition(&j, &a.partition);
        check_waits(&j, &a);
        check_instances(&j, &a.instances);
        check_quality(&j, &a.quality);
        if (j.plain)
            check_operations(&j, &a);
        if (checks_failed > 0)
            fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
        analysis_tables_free(&a);
        random_job_close(&j);
        strings_close(added);
    }
    return check_result();
}
