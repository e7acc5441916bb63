"""The top level holds the drawing of the tree and nothing else."""
import tree

ALLOWED = set("CMakeLists.txt src collectives topology reduce jobs tests docs README.md LICENSE".split())


def check(tree_):
    for name in sorted({file.split("/")[0] for file in tree_.files}):
        if name not in ALLOWED and not name.startswith("."):
            yield f"{name}: is not of the top level: {' '.join(sorted(ALLOWED))}"
    for file in tree_.files:
        if file.startswith("src/") and file.count("/") == 1 and file != "src/scaleprof.h":
            yield f"{file}: lies in no module's folder"


CLEAN = {"README.md": "", "src/base/a.c": "", "src/scaleprof.h": "", ".gitignore": ""}
PLANTED = [("a file dumped", {"notes.txt": ""}, "notes.txt"), ("a folder", {"utils/a.c": ""}, "utils"),
           ("a source in no module", {"src/a.c": ""}, "lies in no module's folder")]

if __name__ == "__main__":
    tree.main(check, CLEAN, PLANTED)
