"""Another profiling tool before or behind the probe: test_tool.py PROBE TOOL TWIN. It keeps all its calls, and what the
probe records does not change."""
import sys

from run import Recording, differences


def main(library, tool, twin):
    faults = []
    counted = Recording([tool], 2, [twin])
    alone = Recording(library, 2, [twin])
    if "tool: 2 sends, 3 reductions, 2 waits" not in counted.out:
        faults.append("the tool alone: " + counted.out)
    for order in ([tool, library], [library, tool]):
        both = Recording(order, 2, [twin])
        if both.code != 0 or sorted(both.out.split("\n")) != sorted(counted.out.split("\n")):
            faults.append("%s: %d %s" % (order, both.code, both.out))
        for rank in (0, 1):
            faults += differences(both.ranks[rank].lines(), alone.ranks[rank].lines(), "%s rank %d" % (order, rank))
        both.close()
    counted.close()
    alone.close()
    print("\n".join(faults) if faults else "ok")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
