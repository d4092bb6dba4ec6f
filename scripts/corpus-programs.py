"""Parts of corpus-programs.sh: makes inputs, merges, compares samples, takes times, writes results and the table."""

import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys

REPOSITORY = str(pathlib.Path(__file__).resolve().parent.parent) + "/"  # left out of what is said of samples
SAMPLE_SECONDS = 300
RUNS = 3


def make_inputs(directory):
    """Files that samples and workloads read: the same on every machine."""
    directory.mkdir(parents=True)
    draw = random.Random(1)
    words = ["".join(draw.choice("etaoinshrdlu") for _ in range(draw.randint(2, 9))) for _ in range(800)]

    def prose(lines):
        return "".join(" ".join(draw.choice(words) for _ in range(draw.randint(0, 12))) + "\n" for _ in range(lines))

    text = prose(3000)
    files = {
        "empty": b"",
        "text": text.encode(),
        "changed": "".join(l for i, l in enumerate(text.splitlines(True)) if i % 97 != 5).replace(" the", " thy").encode(),
        "noeol": b"one line without an end",
        "short": b"one\ntwo\nthree\nfour five\n\nsix\n",
        "binary": bytes(draw.randrange(256) for _ in range(60000)),
        "zeros": bytes(100000),
        "table.csv": "".join(f"{i},{draw.choice(words)},{draw.random() * 1e4:.3f}\n" for i in range(2000)).encode(),
        "data.json": json.dumps([{"id": i, "name": draw.choice(words), "tags": draw.sample(words, 3),
                                  "value": draw.random()} for i in range(400)]).encode(),
        "large": prose(30000).encode(),
    }
    for name, content in files.items():
        (directory / name).write_bytes(content)


def environment(out, which, shown):
    """What samples run with: the executable first on PATH."""
    variables = {"PATH": f"{out / which}:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": "/nonexistent", "TZ": "UTC",
                 "TMPDIR": os.environ.get("TMPDIR", "/tmp")}
    if shown:
        variables.update(P3_SHOW=str(shown), P3_STATUS=str(shown))
    return variables


def observe(command, directory, inputs, variables):
    """Output, messages, status and files of a shell command in a new directory with links to the inputs."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()
    for file in inputs.iterdir():
        if file.name != "large":
            shutil.copy2(file, directory)  # with their times, which gzip puts into its output
    process = subprocess.Popen(["bash", "-c", command], cwd=directory, env=variables, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    try:
        output, messages = process.communicate(timeout=SAMPLE_SECONDS)
        status = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, messages = process.communicate()
        status = "timeout"
    files = {}
    for path in sorted(directory.rglob("*")):
        name = str(path.relative_to(directory))
        if path.is_symlink():
            files[name] = "link to " + os.readlink(path)
        elif path.is_file():
            files[name] = hashlib.sha256(path.read_bytes()).hexdigest()
        else:
            files[name] = "directory"
    return {"stdout": output, "stderr": messages, "status": status, "files": files}


def samples(out, first, second, product_directory, inputs):
    """Every sample with the plain programs of two directories and their product, as version 1 and as version 2."""
    names = {file.name for which in (first, second, product_directory) for file in (out / which).iterdir()}
    if len(names) != 1:
        sys.exit(f"not one executable in each directory, but {names}")
    passed = {1: 0, 2: 0}
    failures = []
    commands = [line for line in (out / "samples").read_text().splitlines() if line] if (out / "samples").exists() else []
    unusable = different = 0
    for command in commands:
        plains = [observe(command, out / "directory", inputs, environment(out, which, 0))
                  for which in (first, second, second)]
        if plains[1] != plains[2] or any(p["status"] in ("timeout", 127) for p in plains):
            print(f"  not usable (status {plains[1]['status']}): {command}\n{plains[1]['stderr'][-300:]}")
            unusable += 1
            continue
        different += plains[0] != plains[1]
        for shown in passed:
            plain = plains[shown - 1]
            product = observe(command, out / "directory", inputs, environment(out, product_directory, shown))
            wrong = [kind for kind in plain if plain[kind] != product[kind]]
            if wrong:
                failures.append({"command": command.replace(REPOSITORY, ""), "version": shown, "differs": wrong})
                print(f"  DIFFERS as version {shown}: {command}: {', '.join(wrong)}"
                      f" (status {plain['status']}, {product['status']}; {product['stderr'][-200:]})")
            else:
                passed[shown] += 1
    return {"count": len(commands) - unusable, "different": different, "version1": passed[1], "version2": passed[2], "failures": failures}


def usage_of(arguments, **options):
    """Status, user time, processor time and peak memory (KiB) of a command."""
    process = subprocess.Popen(arguments, **options)
    usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(usage[1])
    times = usage[2]
    return process.returncode, times.ru_utime, times.ru_utime + times.ru_stime, times.ru_maxrss


def merge(out, p3_ir, first, second, product):
    """PRODUCT.bc, what it took, and the report."""
    status, _, seconds, memory = usage_of(
        ["timeout", "1800", p3_ir, "merge", str(out / f"{first}.bc"), str(out / f"{second}.bc"),
         "-o", str(out / f"{product}.bc"), "--report", str(out / f"{product}-report.json")])
    if status != 0:
        sys.exit(f"status {status}")
    found = {"seconds": seconds, "memory_mb": memory / 1024, "commit": os.environ["P3_IR_COMMIT"]}
    (out / f"{product}-merge.json").write_text(json.dumps(found))


def function_texts(module):
    """The functions of a module as text without what other functions change: numbers of names, attributes, metadata."""
    text = subprocess.run(["llvm-dis-16", str(module), "-o", "-"], capture_output=True, text=True, check=True).stdout
    constants = dict(re.findall(r"^(@[\w.]+) = private [^\n]*constant ([^\n]*)$", text, re.M))
    texts = {}
    for head, name, body in re.findall(r'^(define [^\n]*@("[^"]*"|[\w.$]+)\([^\n]*\{)\n(.*?)^\}', text, re.M | re.S):
        code = head + body
        code = re.sub(r", ![\w.]+ !\d+|#\d+|, !srcloc !\d+", "", code)
        code = re.sub(r"(%(?:struct|union)\.\w+)\.\d+", r"\1", code)
        code = re.sub(r"@[\w.]+", lambda m: constants.get(m[0], re.sub(r"\.\d+$", "", m[0])), code)
        texts[name.strip('"')] = code
    return texts


def pair(out, p3_ir, program, without):
    """How much of changed and of unchanged functions p3-ir align matches between old.bc and plain.bc: pair-result.json."""
    modules = [out / "old.bc", out / "plain.bc"]
    aligned = json.loads(subprocess.run([p3_ir, "align", *map(str, modules), "--format", "json"], capture_output=True,
                                        text=True, check=True, timeout=900).stdout)
    texts = [function_texts(m) for m in modules]
    share = {kind: {"functions": 0, "nodes": 0, "matched": 0, "whole": 0} for kind in ("unchanged", "changed")}
    single, sequential = 0, 0
    for function in aligned["functions"]:
        members = [m for m in function["members"] if m]
        if len(members) < 2:
            single += 1
            continue
        if function["sequential"]:
            sequential += 1
        codes = [text.get(member["name"]) for text, member in zip(texts, members)]
        if None in codes:
            raise SystemExit(f"no text of {[m['name'] for m in members]}")
        row = share["unchanged" if codes[0] == codes[1] else "changed"]
        nodes = [node["group"] is not None for member in members for node in member["nodes"]]
        row["functions"] += 1
        row["nodes"] += len(nodes)
        row["matched"] += sum(nodes)
        row["whole"] += all(nodes)
    report = json.loads((out / "pair-report.json").read_text())
    found = {"program": program, "without": without, "share": share, "single": single, "sequential": sequential,
             "samples": json.loads((out / "pair-samples.json").read_text()),
             "merge": json.loads((out / "pair-merge.json").read_text()),
             "product_instructions": report["product_instructions"]}
    (out / "pair-result.json").write_text(json.dumps(found, indent=1))
    print(f"{program}: pair: {share}, samples {found['samples']}")


def take_time(out, inputs):
    """User time of the workload in turns: plain, product, plain, ... The median of the ratios counts."""
    command = (out / "workload").read_text()
    pairs = []
    for _ in range(RUNS):
        pair = []
        for which in ("alone", "product"):
            directory = out / "directory"
            shutil.rmtree(directory, ignore_errors=True)
            directory.mkdir()
            variables = environment(out, which, which == "product" and 1) | {"INPUTS": str(inputs)}
            status, user, _, _ = usage_of(["timeout", "300", "bash", "-c", command], cwd=directory, env=variables,
                                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                          stderr=subprocess.DEVNULL)
            pair.append({"status": status, "user": user})
        if pair[0]["status"] != pair[1]["status"] or pair[0]["status"] != 0:
            return {"failed": f"status {pair[0]['status']} of the program, {pair[1]['status']} of the product"}
        pairs.append((pair[0]["user"], pair[1]["user"]))
    return {"alone": statistics.median(a for a, _ in pairs), "product": statistics.median(p for _, p in pairs),
            "ratio": statistics.median(p / (2 * a) for a, p in pairs)}


def suite_results(file):
    lines = [line.split(None, 1) for line in file.read_text().splitlines()]
    return {name.strip(): result for result, name in lines}


def result(out, code, program, package, version):
    """Everything that was found out about a program, in result.json."""
    report = json.loads((out / "product-report.json").read_text())
    together = [f for f in report["woven"] if len(f["versions"]) > 1]
    woven = [f for f in together if f["sequential"] is None]
    reasons = {}
    for function in together:
        if function["sequential"]:
            reasons[function["sequential"]] = reasons.get(function["sequential"], 0) + 1
    prepared = sum(v["instructions"] for v in report["versions"])
    found = {
        "code": f"-O{code}", "program": program, "package": package, "version": version,
        "functions": len(report["woven"]), "woven": len(woven), "sequential": reasons,
        "nodes": sum(sum(f["nodes"]) for f in woven), "matched": sum(f["matched"] * len(f["nodes"]) for f in woven),
        "prepared_instructions": prepared, "product_instructions": report["product_instructions"],
        "runtime_instructions": report["product_size"]["runtime"],
        "merge": json.loads((out / "product-merge.json").read_text()),
        "samples": optional(out / "product-samples.json"), "time": optional(out / "time.json"),
        "bytes": {"alone": text_size(out / "alone"), "product": text_size(out / "product")},
    }
    found["suite_failed"] = (out / "suite-failed").exists()
    if (out / "suite-merge.json").exists():
        alone = suite_results(out / "suite-alone.results")
        product = suite_results(out / "suite-product.results") if (out / "suite-product.results").exists() else {}
        found["suite"] = {
            "commit": json.loads((out / "suite-merge.json").read_text())["commit"],
            "count": len(alone), "alone": sum(r == "PASS" for r in alone.values()),
            "product": sum(product.get(t) == "PASS" for t in alone),
            "differences": {t: [r, product.get(t, "none")] for t, r in alone.items() if product.get(t) != r},
        }
    (out / "result.json").write_text(json.dumps(found, indent=1))
    print(f"{program}: {len(woven)} of {len(together)} functions woven, {found['matched']} of {found['nodes']} nodes matched; "
          f"samples {found['samples']}; "
          f"suite {found.get('suite')}; time {found['time']}")


def optional(file):
    """What a step found, or nothing if it has not run."""
    return json.loads(file.read_text()) if file.exists() else None


def text_size(directory):
    """Size of the code in the one executable of a directory."""
    (executable,) = directory.iterdir()
    lines = subprocess.run(["size", str(executable)], capture_output=True, text=True, check=True).stdout.splitlines()
    return int(lines[1].split()[0])


def percent(row):
    """Matched nodes of all; no row of no nodes is a success."""
    return f"{100 * row['matched'] / row['nodes']:.2f} %" if row["nodes"] else "none"


MADE_BY = "by the p3-ir of commit"


def made_by(commits):
    """Which p3-ir made the products of programs: one line if it was the same for all."""
    programs = {}
    for program, commit in commits.items():
        programs.setdefault(commit, []).append(program)
    if len(programs) == 1:
        return f"All products are made {MADE_BY} {next(iter(programs))}."
    return "\n".join(f"- {MADE_BY} {commit}: {', '.join(names)}" for commit, names in programs.items())


def lines_of(section, program, is_pair):
    """Notes of a program, or of its pair of versions, in a section of the table."""
    return re.findall(rf"^- {'pair ' if is_pair else ''}{re.escape(program)}[,:] .*$", section, re.M)


def earlier(file):
    """What the table that is there says, by program: results that are not on this machine stay in it."""
    text = file.read_text() if file.exists() else ""
    alone, _, rest = text.partition("\n## Two versions\n")
    pairs, _, rest = rest.partition("\n## Differences and failures\n")
    notes, _, reasons = rest.partition("\n## Why functions are not woven\n")
    kept = []
    for section, is_pair in ((alone, False), (pairs, True)):
        rows = {row.split()[1]: row for row in re.findall(r"^\| [\w-]+ .*\d.*\|$", section, re.M)}
        commits = {}
        for commit, names in re.findall(rf"^- {MADE_BY} (.*): ([\w, -]*)$", section, re.M):
            commits.update(dict.fromkeys(names.split(", "), commit))
        for commit in re.findall(rf"{MADE_BY} (.*)\.$", section, re.M):
            commits = dict.fromkeys(rows, commit)
        kept.append({program: {"row": row, "commit": commits[program], "notes": lines_of(notes, program, is_pair),
                               "reasons": lines_of(reasons, program, is_pair)}
                     for program, row in rows.items() if program in commits})
    return kept


def kept_suite(kept):
    """Own tests take long. Without results of them here: the column of an earlier row, with its commit, and its notes."""
    own = kept["row"].split("|")[6].strip()
    if own and not own.endswith(")"):
        own += f" ({kept['commit']})"
    return own, [note for note in kept["notes"] if ", own test `" in note]


NO_SAMPLES = {"count": 0, "version1": 0, "version2": 0, "failures": []}


def suite_column(suite, commit):
    """Own tests of the product, of the program, of all."""
    if not suite:
        return ""
    other = f" ({suite['commit']})" if suite["commit"] != commit else ""
    return f"{suite['product']} / {suite['alone']} / {suite['count']}{other}"


def sample_notes(name, samples):
    """One line for each sample on which the product differs."""
    return [f"- {name}, sample as version {failure['version']}: `{failure['command']}`: {', '.join(failure['differs'])}"
            for failure in samples["failures"]]


def program_row(r, kept):
    """The row of a result, and notes of what differs or failed."""
    name, commit = r["program"], r["merge"]["commit"]
    samples, suite, times = r["samples"] or NO_SAMPLES, r.get("suite"), r["time"] or {"failed": "not taken"}
    own, notes = suite_column(suite, commit), sample_notes(name, samples)
    if r.get("suite_failed"):
        notes.append(f"- {name}, own tests: no results with the program or the product")
    elif not suite and kept:
        own, kept_notes = kept_suite(kept)
        notes += kept_notes
    for test, (alone, product) in (suite["differences"] if suite else {}).items():
        notes.append(f"- {name}, own test `{test}`: {alone} of the program, {product} of the product")
    run = f"{times['alone']:.2f} s | {times['ratio']:.2f}" if "ratio" in times else f"{times['failed']} |"
    return (f"| {name} {r['version']} | {r['woven']} / {sum(r['sequential'].values())} | {r['nodes']:,} | {percent(r)} | "
            f"{samples['version1']}, {samples['version2']} / {samples['count']} | {own} | "
            f"{r['merge']['seconds']:.1f} s | {r['merge']['memory_mb']:.0f} MB | {r['prepared_instructions']:,} | "
            f"{r['product_instructions'] / r['prepared_instructions']:.1f} | "
            f"{r['bytes']['product'] / (2 * r['bytes']['alone']):.1f} ({r['code']}) | {run} |"), notes


def pair_row(r):
    """The same of two versions."""
    unchanged, changed, samples = r["share"]["unchanged"], r["share"]["changed"], r["samples"]
    return (f"| {r['program']} without `{r['without']}` | {unchanged['functions']:,} | {percent(unchanged)} | "
            f"{changed['functions']} | {changed['nodes']:,} | {percent(changed)} | {r['single']} | "
            f"{samples['different']} | {samples['version1']}, {samples['version2']} / {samples['count']} |",
            sample_notes(f"pair {r['program']}", samples))


def table(programs, file):
    """The results of all programs as Markdown; exit status 1 if one failed or differs."""
    wanted = sorted(path.stem for path in (pathlib.Path(__file__).parent / "programs").glob("*.sh"))
    kept, kept_pairs = earlier(pathlib.Path(file))
    sections = {"rows": [], "pairs": [], "notes": [], "reasons": []}
    commits, pair_commits, missing = {}, {}, []
    good = True
    for section, earlier_rows, made, name_of in (("rows", kept, commits, "result.json"),
                                                 ("pairs", kept_pairs, pair_commits, "pair-result.json")):
        is_pair = section == "pairs"
        for name in wanted:
            r = optional(programs / name / name_of)
            if not r and name in earlier_rows:
                old = earlier_rows[name]
                made[name] = old["commit"]
                sections[section].append(old["row"])
                sections["notes"] += old["notes"]
                sections["reasons"] += old["reasons"]
            elif not r:
                missing += [] if is_pair else [name]
            elif "failed" in r:
                good = False
                sections[section].append(f"| {name} | {r['failed']} failed |" + " |" * (7 if is_pair else 11))
                sections["notes"].append(f"- {'pair ' if is_pair else ''}{name}: {r['failed']}: {r['message']}")
            else:
                row, notes = pair_row(r) if is_pair else program_row(r, kept.get(name))
                made[name] = r["merge"]["commit"]
                sections[section].append(row)
                sections["notes"] += notes
                if not is_pair:
                    sections["reasons"] += [f"- {name}: {count}: {reason}" for reason, count in r["sequential"].items()]
                good = good and not notes and (r.get("time") or {}).get("failed") is None
    text = TEXT.format(missing="Not run: " + ", ".join(missing) + "." if missing else "All have run.",
                       made_by=made_by(commits), pairs_made_by=made_by(pair_commits),
                       **{name: "\n".join(lines) or "None." for name, lines in sections.items()})
    pathlib.Path(file).write_text(text)
    print(f"{file}: {len(commits)} programs, {len(sections['notes'])} differences or failures")
    sys.exit(0 if good else 1)


TEXT = """# Real programs

Made by `scripts/corpus-programs.sh`, which says how; not to be edited. Debian's source packages, compiled at -O1 with
`clang-16`, each merged with itself and woven.

- functions: woven / run one version after the other
- nodes: of both versions; matched: that have a counterpart
- samples: command lines whose output, messages, status and files must be those of the plain program: how many are, with
  the product in place of the program as version 1, as version 2 / of how many
- own tests: of the program's own tests, how many the product passes as version 1 / how many the plain program passes / of
  how many (commit of the p3-ir, where that is another one)
- merge: processor time and peak memory of `p3-ir merge`
- instructions: of the two prepared inputs; product: its instructions, runtime included, as a multiple;
  code: machine code of the product as a multiple of twice the program's, both made at the level that stands there, as for the run
  times
- run: user time of the plain program; ratio: of the product against twice the program, the median of 3 pairs

| program | functions | nodes | matched | samples | own tests | merge | memory | instructions | product | code | run | ratio |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
{rows}

{missing}
{made_by}

## Two versions

Each program without one of Debian's patches and all later ones, and with them. Matched: nodes of both versions that have
a counterpart. A function counts as changed if its LLVM instructions are not the same text, apart from numbers; callees that
clang put into it count, too. Samples as above: as version 1 against the old program, as version 2 against the new one; on
some the two differ.

| versions | unchanged functions | matched | changed functions | nodes | matched | in one only | differ | samples |
|---|---:|---:|---:|---:|---:|---:|---:|---:|
{pairs}

{pairs_made_by}

## Differences and failures

Versions share the file system: where a program itself makes, removes or appends to files, version 2 finds what version 1
has done (patch's `...reject-files`, tclsh's `exec`, `fCmd`, `ioCmd`). They sleep one after the other: the time that one
has slept passes for all (tclsh's `event`, `timer`). A hard limit of descriptors holds for the process with all versions in
it (patch's `deep-directories` sets 32).

{notes}

## Why functions are not woven

{reasons}
"""


def main():
    action, *arguments = sys.argv[1:]
    first = pathlib.Path(arguments[0]).resolve()
    if action == "inputs":
        make_inputs(first)
    elif action == "failed":
        _, program, where, message = arguments
        file = "pair-result.json" if where.startswith("pair-") else "result.json"
        (first / file).write_text(json.dumps({"program": program, "failed": where, "message": message}))
    elif action == "merge":
        merge(first, *arguments[1:])
    elif action == "samples":
        _, one, two, product, inputs = arguments
        found = samples(first, one, two, product, pathlib.Path(inputs))
        (first / f"{product}-samples.json").write_text(json.dumps(found))
    elif action == "pair":
        pair(first, *arguments[1:])
    elif action == "time":
        (first / "time.json").write_text(json.dumps(take_time(first, pathlib.Path(arguments[1]))))
    elif action == "result":
        result(first, *arguments[1:])
    elif action == "table":
        table(first, arguments[1])
    else:
        sys.exit(f"unknown action {action}")


main()
