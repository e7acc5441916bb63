"""What the report says of the samples: text within its bounds, JSON that Python reads, and the same
numbers in both. argv: print_report."""
import json
import re
import statistics
import subprocess
import sys
import unicodedata

PROGRAM = sys.argv.pop(1)
RANDOM_SEEDS = range(1, 40)
EXPECTED = {
    "late_cpu": ("late", "Rank 3 makes the others wait 41 % of each step (4.10 ms): it does 4.10 ms more CPU work"),
    "late_sleeps": ("late", "From step 1 on, rank 1 makes the other wait 50 % of each step (5.00 ms): it comes "
                            "5.00 ms after the median rank with only 50.0 µs more CPU work, so it sleeps"),
    "late_unseen": ("late", "From step 1 on, rank 3 holds the others up, which costs 30 % of the mean step (3.00 ms)"),
    "late_crowded": ("late", "of the 5.00 ms that it comes late only 50.0 µs are CPU work of its own"),
    "late_below_clock": ("resolution", "Who is late is below clock resolution: 70 % of a step is compute, 20 % wait"),
    "quiet": ("compute", "Nobody stands out: 90 % of a step is compute, 10 % transfer."),
    "no_steps": ("turns", "Nobody stands out, but ranks wait for one another in turn: 70 % of the run is compute"),
    "no_collectives": ("compute", "Nobody stands out"),
    "one_rank": ("alone", "One rank alone"),
    "empty": ("empty", "Nothing was recorded"),
    "damaged": ("turns", "Nobody stands out"),
    "many_ranks": ("late", "Rank 7777 makes the others wait 10 % of each step (1.00 ms): the same work takes it "
                           "1.00 ms longer"),
    "hostile_names": ("late", "Rank 1 makes the others wait 20 % of each step"),
}
failures = 0


def check(holds, what):
    global failures
    if not holds:
        failures += 1
        print("failed:", what)


def run(*arguments):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, check=False)
    check(done.returncode == 0, f"{arguments}: exit code {done.returncode} {done.stderr[-300:]}")
    return done.stdout


def read_json(name):
    text = run(name, "json")
    check(all(byte == 10 or 32 <= byte < 127 for byte in text), f"{name}: JSON is ASCII")

    def refuse(word):
        raise ValueError(word)
    try:
        return json.loads(text, parse_constant=refuse)
    except ValueError as error:
        check(False, f"{name}: {error}")
        return None


def width(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def check_page(name, text, bound=100):
    lines = text.split("\n")
    check(lines[-1] == "", f"{name}: ends with a newline")
    first = next((i for i, line in enumerate(lines) if re.match("──|-- ", line)), len(lines))
    check(first - 1 <= 24, f"{name}: the first screen has {first - 1} lines")
    for line in lines:
        check(line == line.rstrip(), f"{name}: trailing space in {line!r}")
        check(width(line) <= bound, f"{name}: {width(line)} columns in {line!r}")
        check(all(ord(c) >= 32 and not 127 <= ord(c) < 160 for c in line), f"{name}: control in {line!r}")
    check(not re.search(r"\b(nan|inf)\b", text, re.I), f"{name}: not a number in the text")


def time(ns):
    """As units.h says: three digits and a unit."""
    units = [("ns", 1), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)]
    name, size = [u for i, u in enumerate(units) if i == 0 or abs(ns) >= 0.9995 * u[1]][-1]
    value = ns / size
    decimals = 0 if size == 1 else 2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0
    return f"{value:,.{decimals}f} {name}"


def check_same_numbers(name, text, report):
    summary = report["summary"]
    steps = summary["steps"]
    flat = " ".join(text.split())
    check(" ".join(summary["verdict"]["text"].split()) in flat, f"{name}: the verdict is the same")
    if summary["verdict"]["kind"] == "empty":
        return
    check(time(steps["median_ns"]) in flat, f"{name}: median {time(steps['median_ns'])}")
    if steps["total"] > 1:
        for key in ("mean_ns", "p95_ns"):
            check(time(steps[key]) in flat, f"{name}: {key} {time(steps[key])}")
        check(f"{steps['kept']:,} of {steps['total']:,} kept" in flat, f"{name}: steps kept")
    for part, ns in summary["parts"].items():
        if ns > 0 and part != "hidden_ns":
            check(time(ns) in flat, f"{name}: {part} {time(ns)}")
    quality = summary["quality"]
    check(f"{quality['events']:,} events, {quality['dropped']:,} dropped" in flat, f"{name}: events")
    operations = report["analysis"]["operations"]
    if operations["exposed_ns"]:
        exposed = max(operations["exposed_ns"]) / steps["kept"]
        check(re.search(f"{re.escape(time(exposed))} (a step|in all): ", flat), f"{name}: the costliest operation {time(exposed)}")
    parts = sum(ns for part, ns in summary["parts"].items() if part not in ("step_ns", "hidden_ns"))
    check(abs(parts - summary["parts"]["step_ns"]) < 1, f"{name}: the parts add up")


def near(a, b):
    return abs(a - b) <= 1e-13 * max(abs(a), abs(b))


def quantile(values, p):
    place = p * (len(values) - 1)
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (place - low) * (values[high] - values[low])


def check_statistics(name, report):
    """The summary's figures follow from the tables."""
    table, summary = report["analysis"]["steps"], report["summary"]
    kept = [i for i, flags in enumerate(table["flags"]) if flags & 16] or range(len(table["flags"]))
    lengths = [table["end_ns"][i] - table["begin_ns"][i] for i in kept]
    if not lengths:
        return
    steps, ordered, third = summary["steps"], sorted(lengths), len(lengths) // 3
    mean = sum(lengths) / len(lengths)
    check(steps["kept"] == len(lengths), f"{name}: kept")
    check(near(steps["mean_ns"], mean), f"{name}: mean {steps['mean_ns']} {mean}")
    for key, p in (("median_ns", .5), ("p95_ns", .95), ("min_ns", 0), ("max_ns", 1)):
        check(near(steps[key], quantile(ordered, p)), f"{name}: {key} {steps[key]}")
    if len(lengths) > 1:
        check(abs(steps["cv"] - statistics.stdev(lengths) / mean) < 1e-9, f"{name}: cv {steps['cv']}")
    if third >= 3:
        trend = statistics.median(lengths[-third:]) / statistics.median(lengths[:third]) - 1
        check(abs(steps["trend"] - trend) < 1e-12, f"{name}: trend {steps['trend']} {trend}")
    rows = report["analysis"]["partition"]
    for part in ("compute_ns", "wait_ns", "transfer_ns"):
        values = [ns for ns, step in zip(rows[part], rows["step"]) if step in kept]
        check(near(summary["parts"][part], sum(values) / len(values)), f"{name}: {part}")


def check_columns(name, report):
    if report is None:
        return
    for group in ("run", "analysis"):
        for table, columns in report[group].items():
            lengths = {len(column) for column in columns.values()}
            check(len(lengths) == 1, f"{name}: {group}.{table} has columns of {lengths} rows")


names = run().decode().split()
for sample in names:
    wide = run(sample, "text", "utf8").decode("utf-8")
    check_page(sample, wide)
    plain = run(sample, "text").decode("ascii")
    check_page(sample, plain)
    document = read_json(sample)
    check((document["schema"], document["version"]["major"]) == ("scaleprof-report", 1), sample)
    check_columns(sample, document)
    check_same_numbers(sample, wide, document)
    check_statistics(sample, document)
    verdict = document["summary"]["verdict"]
    kind, words = EXPECTED[sample]
    check(verdict["kind"] == kind and words in verdict["text"], f"{sample}: {verdict}")
for seed in RANDOM_SEEDS:
    check_page(f"seed {seed}", run(str(seed), "text", "utf8").decode("utf-8"))
    check_page(f"seed {seed}", run(str(seed), "text", "ranks").decode("ascii"))
    check_columns(f"seed {seed}", read_json(str(seed)))

check(len(run("many_ranks", "text").split(b"\n")) < 150, "the report on 10,000 ranks is bounded")
check(len(run("many_ranks", "text", "ranks").split(b"\n")) > 10000, "all ranks when asked for")
check(b"\033[" in run("late_cpu", "text", "color") and b"\033[" not in run("late_cpu", "text"), "colour")
crowded = run("late_crowded", "text", "utf8").decode()
check("2 ranks on 1 core of node01: they take cores" in crowded, "more ranks than cores is said")
check("2 ranks on 1 core of node00: yet they rarely" in run("late_unseen", "text").decode(), "crowding without harm")
damaged = " ".join(run("damaged", "text", "utf8").decode().split())
for words in ("2 of 8 ranks missing (3, 5)", "1 of 8 ranks did not end well (6)", "4,000 events were dropped (33 %)",
              "7 of 70 collectives lack a member", "clocks of 4 hosts were not compared", "is not steady"):
    check(words in damaged, f"damaged: {words}")
hostile = read_json("hostile_names")["run"]["run"]["value"][0]
check(len(hostile) > 8000 and '</script>"\\\n\t\x01\x1b[31m\ufffd\ufffd' in hostile and "\U0001f600" in hostile,
      "hostile names are kept in JSON")
print(f"{len(names)} samples, {len(RANDOM_SEEDS)} random ones, {failures} failed checks")
sys.exit(failures > 0)
