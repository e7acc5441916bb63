// scaleprof.h from C++, as a program would use it: test_marks.py knows what it leaves.
#include <scaleprof.h>

#include <thread>

namespace
{
class Range
{
  public:
    explicit Range(const char *name)
    {
        scaleprof_range_begin(name);
    }
    ~Range()
    {
        scaleprof_range_end();
    }
    Range(const Range &) = delete;
    Range &operator=(const Range &) = delete;
};
} // namespace

int main()
{
    const uint32_t group = scaleprof_communicator("pair", 1, 2);
    for (int64_t step = 10; step < 12; step++) {
        scaleprof_step_begin(step);
        {
            Range forward("forward");
            Range layer("layer");
        }
        const uint64_t token = scaleprof_collective_begin("allreduce", group, -1, 4096);
        scaleprof_counter("loss", 0.5);
        std::thread other([token] { scaleprof_collective_end(token); });
        other.join();
        scaleprof_step_end();
    }
    return scaleprof_recording() ? 0 : 3;
}
